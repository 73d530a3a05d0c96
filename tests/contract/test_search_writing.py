"""Search: what is put, taken away and rebuilt is found, or not, by every back end."""

from collections.abc import AsyncIterator, Sequence
from decimal import Decimal

import pytest

from penstock.products.search.ports import Document, Query, SearchIndex, Total
from tests.searches import document, find

# ── what is put


async def test_what_is_put_again_is_replaced(index: SearchIndex) -> None:
    await index.put([document("a", "Lamp", price=Decimal(5)), document("b", "Chair")])
    await index.put([document("a", "Old wooden table", price=Decimal(7))])

    assert await find(index, "lamp") == []
    assert await find(index, "table") == ["a"]
    assert await find(index, price_max=Decimal(6)) == []
    assert await index.count() == 2


async def test_of_the_same_put_twice_at_once_the_last_counts(index: SearchIndex) -> None:
    await index.put([document("a", "Lamp"), document("a", "Chair")])

    assert (await find(index, "chair"), await find(index, "lamp")) == (["a"], [])


async def test_what_is_removed_is_not_found(index: SearchIndex) -> None:
    await index.put([document("a"), document("b")])
    await index.remove(["a", "unheard of"])
    await index.remove([])

    assert await find(index, "lamp") == ["b"]
    assert await index.count() == 1


async def test_many_at_once(index: SearchIndex) -> None:
    await index.put([document(f"{each:04}", f"Lamp {each}") for each in range(1_200)])

    assert (await index.search(Query("lamp"))).total == Total(1_200, more=False)
    assert await find(index, "lamp 777") == ["0777"]
    await index.remove([f"{each:04}" for each in range(1_100)])
    assert await index.count() == 100


async def test_what_no_database_takes_is_put_and_found(index: SearchIndex) -> None:
    await index.put([document("a", "Lamp \x00 \ud800 x", description="\udfff odd", brand="\x00")])

    assert await find(index, "lamp odd") == ["a"]


async def test_long_texts_are_put_and_found(index: SearchIndex) -> None:
    words = " ".join(f"word{each}" for each in range(50_000))
    await index.put([document("a", "n" * 10_000, description=words, brand="b" * 20_000)])

    assert await find(index, "word7") == ["a"]
    assert await find(index, "n" * 500) == ["a"]


async def test_ids_are_walked_in_order(index: SearchIndex) -> None:
    await index.put([document(each) for each in ("b", "a", "c", "0f", "ff")])

    assert await index.ids("", 3) == ["0f", "a", "b"]
    assert await index.ids("b", 3) == ["c", "ff"]
    assert await index.ids("ff", 3) == []


# ── rebuild


async def test_a_rebuild_leaves_what_it_was_given(index: SearchIndex) -> None:
    await index.put([document("old"), document("both", "Lamp")])

    async def pages() -> AsyncIterator[Sequence[Document]]:
        yield [document("both", "Chair")]
        yield [document("new")]

    assert await index.rebuild(pages()) == 2
    assert set(await find(index)) == {"both", "new"}
    assert await find(index, "chair") == ["both"]
    await index.put([document("after")])
    assert await index.count() == 3


async def test_a_search_misses_nothing_while_the_index_is_rebuilt(index: SearchIndex) -> None:
    everything = [document(f"{each:02}") for each in range(30)]
    await index.put(everything)
    seen = []

    async def pages() -> AsyncIterator[Sequence[Document]]:
        for start in range(0, 30, 10):
            yield everything[start : start + 10]
            seen.append(set(await find(index, "lamp", limit=100)))

    await index.rebuild(pages())
    seen.append(set(await find(index, "lamp", limit=100)))

    assert seen == [{each.product_id for each in everything}] * 4


async def test_a_rebuild_that_fails_changes_nothing(index: SearchIndex) -> None:
    await index.put([document("a"), document("b")])

    async def pages() -> AsyncIterator[Sequence[Document]]:
        yield [document("a")]
        raise RuntimeError("the store went away")

    with pytest.raises(RuntimeError):
        await index.rebuild(pages())

    assert set(await find(index)) == {"a", "b"}
    await index.put([document("c")])
    assert await index.count() == 3


async def test_what_is_put_while_the_index_is_rebuilt_is_there_until_the_end(
    index: SearchIndex,
) -> None:
    async def pages() -> AsyncIterator[Sequence[Document]]:
        await index.put([document("meanwhile")])
        assert await find(index) == ["meanwhile"]
        yield [document("a")]

    await index.rebuild(pages())

    assert "a" in await find(index)


async def test_preparing_twice_harms_nothing(index: SearchIndex) -> None:
    await index.put([document("a")])
    await index.prepare()

    assert await find(index) == ["a"]
