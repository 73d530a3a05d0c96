"""The cache of answers: given again for a while, never after a change of this process."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from penstock.products.search.caching import CachedSearch
from penstock.products.search.ports import Document, Found, Hit, Query, SearchLost, Total
from penstock.products.search.settings import SearchSettings
from tests.clocks import HandClock


class Counting:
    """An index that finds how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.fails = False
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def prepare(self) -> None: ...

    async def put(self, documents: Sequence[Document]) -> None: ...

    async def remove(self, ids: Sequence[str]) -> None: ...

    async def search(self, query: Query) -> Found:
        self.asked += 1
        answer = Found((Hit(f"{query.text} {self.asked}", None),), None, Total(1, more=False))
        await self.may_answer.wait()
        if self.fails:
            raise SearchLost("away")
        return answer

    async def rebuild(self, pages: AsyncIterator[Sequence[Document]]) -> int:
        return 0

    async def ids(self, after: str, limit: int) -> list[str]:
        return [after]

    async def count(self) -> int:
        return 7


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def index() -> Counting:
    return Counting()


def cached(index: Counting, clock: HandClock, **changes: Any) -> CachedSearch:
    return CachedSearch(index, SearchSettings(**changes), clock)


async def no_pages() -> AsyncIterator[Sequence[Document]]:
    return
    yield


async def test_an_answer_is_given_again_for_a_while(index: Counting, clock: HandClock) -> None:
    search = cached(index, clock)

    first = await search.search(Query("lamp"))
    clock.move(9.9)
    assert await search.search(Query("lamp")) is first
    clock.move(0.1)
    assert await search.search(Query("lamp")) != first
    assert index.asked == 2


async def test_another_query_is_asked_for(index: Counting, clock: HandClock) -> None:
    search = cached(index, clock)

    await search.search(Query("lamp"))
    await search.search(Query("lamp", limit=3))

    assert index.asked == 2


@pytest.mark.parametrize("change", ["put", "remove", "rebuild"])
async def test_a_change_of_this_process_empties_it(
    index: Counting, clock: HandClock, change: str
) -> None:
    search = cached(index, clock)
    await search.search(Query("lamp"))

    await getattr(search, change)(no_pages() if change == "rebuild" else [])
    await search.search(Query("lamp"))

    assert index.asked == 2


async def test_an_answer_of_before_a_change_is_not_kept(index: Counting, clock: HandClock) -> None:
    search = cached(index, clock)
    index.may_answer.clear()
    asking = asyncio.create_task(search.search(Query("lamp")))
    await asyncio.sleep(0)

    await search.put([])
    index.may_answer.set()
    await asking
    await search.search(Query("lamp"))

    assert index.asked == 2


async def test_only_so_many_are_kept_and_the_least_used_goes_first(
    index: Counting, clock: HandClock
) -> None:
    search = cached(index, clock, query_cache_entries=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await search.search(Query(text))

    assert index.asked == 4


async def test_failures_are_not_kept(index: Counting, clock: HandClock) -> None:
    search = cached(index, clock)
    index.fails = True
    with pytest.raises(SearchLost):
        await search.search(Query("lamp"))

    index.fails = False
    await search.search(Query("lamp"))

    assert index.asked == 2


async def test_without_a_time_nothing_is_kept(index: Counting, clock: HandClock) -> None:
    search = cached(index, clock, query_cache_seconds=0)
    await search.search(Query("lamp"))
    await search.search(Query("lamp"))

    assert index.asked == 2


async def test_everything_else_is_asked_of_the_index(index: Counting, clock: HandClock) -> None:
    search = cached(index, clock)
    await search.prepare()

    assert (await search.ids("x", 1), await search.count()) == (["x"], 7)
