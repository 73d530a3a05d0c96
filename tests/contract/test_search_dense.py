"""Search in the store where so much is found that it is not drawn, counted or sorted as a whole."""

from decimal import Decimal
from itertools import product

import pytest
from sqlalchemy import text

from penstock.products.search import sql, walking
from penstock.products.search.analysis import Analysis, analyse
from penstock.products.search.ports import Document, Filters, Query, Sort, Total
from penstock.products.search.sql import SqlSearch
from penstock.store.store import Store
from tests.searches import document, find, ids_of, walk
from tests.stores import Stores

FILTERS = [
    Filters(),
    Filters(brand=("Acme",)),
    Filters(price_min=Decimal(2)),
    Filters(price_min=Decimal(2), price_max=Decimal("2.50"), domain=("shop.test",)),
    Filters(rating_min=Decimal(4), brand=("Acme", "Zenith")),
]
GOODS = [
    document(
        f"{number:03}",
        ["Lamp", "Acme lamp", "Desk", "Lamp of a very long name"][number % 4],
        brand=["Acme", "Zenith", None][number % 3],
        price=None if number % 7 == 0 else Decimal(number % 5),
        rating=None if number % 4 == 0 else Decimal(number % 6),
        created_at=number % 9,
        description="acme lamp" if number % 5 else "nothing",
    )
    for number in range(80)
]


@pytest.fixture
async def index(store: Store) -> SqlSearch:
    index = SqlSearch(store)
    await index.put(GOODS)
    return index


def draw_only(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(sql, "DRAWN", number + 1)
    monkeypatch.setattr(walking, "MOST_COUNTED", number)


@pytest.mark.parametrize("drawn", [0, 3, 20])
async def test_what_is_not_drawn_is_found_along_the_order(
    index: SqlSearch, monkeypatch: pytest.MonkeyPatch, drawn: int
) -> None:
    queries = [
        Query(text, filters, sort, limit=100)
        for text, filters, sort in product(["", "lamp", "acme lamp"], FILTERS, [None, *Sort])
    ]
    expected = [ids_of(await index.search(query)) for query in queries]

    draw_only(monkeypatch, drawn)

    for query, ids in zip(queries, expected, strict=True):
        assert ids_of(await index.search(query)) == ids, query


@pytest.mark.parametrize("sort", Sort)
async def test_pages_have_everything_once(
    index: SqlSearch, monkeypatch: pytest.MonkeyPatch, sort: Sort
) -> None:
    expected = await find(index, "lamp", sort=sort, limit=100)
    draw_only(monkeypatch, 10)

    assert await walk(index, Query("lamp", sort=sort, limit=7)) == expected


async def test_only_so_many_are_counted(index: SqlSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = (await index.search(Query("lamp"))).total.number
    draw_only(monkeypatch, everything - 1)

    assert (await index.search(Query("lamp"))).total == Total(everything - 1, more=True)
    draw_only(monkeypatch, everything)
    assert (await index.search(Query("lamp"))).total == Total(everything, more=False)


async def test_two_documents_in_one_place_are_both_found(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crowded(document: Document) -> Analysis:
        return analyse(document)._replace(place=77)

    monkeypatch.setattr(sql, "analyse", crowded)
    index = SqlSearch(store)
    for each in ("a", "b", "c"):
        await index.put([document(each)])
    await index.put([document(each, "Chair") for each in ("d", "b", "a")])

    assert await walk(index, Query("chair", limit=1)) == await find(index, "chair")
    assert sorted(await find(index)) == ["a", "b", "c", "d"]
    assert sorted(await find(index, "lamp")) == ["c"]


async def test_sqlite_uses_its_full_text_and_its_orders(in_sqlite: Stores) -> None:
    index = SqlSearch(store := await in_sqlite.open())
    await index.put(GOODS)

    await store.write(
        lambda unit: (
            unit.run(
                text(
                    "INSERT INTO fts_product_search(fts_product_search) VALUES ('integrity-check')"
                )
            )
            and None
        )
    )
    await index.put([document("001", "Chair")])
    await index.remove(["002"])
    check = "INSERT INTO fts_product_search(fts_product_search, rank) VALUES ('integrity-check', 1)"
    await store.write(lambda unit: unit.run(text(check)) and None)
