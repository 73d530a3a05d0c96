"""Suspects: many at first, one at a time in the end."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from penstock.kernel.model import Request
from penstock.queue.ports import Claim
from penstock.queue.sql import SqlQueue
from penstock.queue.suspects import MOST_TRIES, TOGETHER, Suspects, Trial
from tests.stores import all_of, enter_worker, make_items, sqlite_stores


async def claimed(queue: SqlQueue, number: int, tried: int = 0) -> dict[str, Claim]:
    """Items that were begun as suspects so many times."""
    await queue.put(make_items(number))
    for _ in range(tried):
        await queue.note_trial(await queue.claim("lost", ["fetch"], number, all_of))
        await queue.rescue()
    return {each.id: each for each in await queue.claim("w", ["fetch"], number, all_of)}


def suspects_of(queue: SqlQueue, claims: Sequence[str]) -> Suspects:
    suspects = Suspects(queue)
    for item in claims:
        suspects.add(Request("http://shop.test/", id=item))
    return suspects


@pytest.fixture
async def queue(tmp_path: Path) -> AsyncIterator[SqlQueue]:
    async with sqlite_stores(tmp_path) as stores:
        await enter_worker(await stores.open(), "w")
        yield await stores.queue()


@pytest.mark.parametrize("tried", range(MOST_TRIES))
async def test_with_every_try_fewer_are_tried_together(queue: SqlQueue, tried: int) -> None:
    claims = await claimed(queue, 70, tried)
    suspects = suspects_of(queue, [*claims])
    assert len((await suspects.try_next(claims)).begun) == TOGETHER[tried]


async def test_the_next_are_tried_when_all_of_a_trial_are_over(queue: SqlQueue) -> None:
    claims = await claimed(queue, 70)
    suspects = suspects_of(queue, [*claims])
    first = (await suspects.try_next(claims)).begun
    for request in first[1:]:
        del claims[request.id]
    assert (await suspects.try_next(claims)).begun == []
    del claims[first[0].id]
    assert len((await suspects.try_next(claims)).begun) == 6
    assert len(suspects) == 0


async def test_those_that_were_tried_less_go_first(queue: SqlQueue) -> None:
    claims = await claimed(queue, 3, 1)
    fresh = min(claims)
    claims[fresh] = claims[fresh]._replace(tried=0)
    suspects = suspects_of(queue, [*claims])
    assert [request.id for request in (await suspects.try_next(claims)).begun] == [fresh]


async def test_who_is_ours_no_more_is_not_begun(queue: SqlQueue) -> None:
    claims = await claimed(queue, 2)
    first, second = sorted(claims)
    suspects = suspects_of(queue, [*claims])
    del claims[first]
    assert [request.id for request in (await suspects.try_next(claims)).begun] == [second]

    suspects = suspects_of(queue, [second])
    taken = {second: claims[second]._replace(token=1)}
    assert await suspects.try_next(taken) == Trial([], [second])


async def test_who_is_forgotten_on_trial_and_claimed_again_is_tried_again(queue: SqlQueue) -> None:
    claims = await claimed(queue, 1)
    (item,) = claims
    suspects = suspects_of(queue, [item])
    await suspects.try_next(claims)
    suspects.drain()
    suspects.add(Request("http://shop.test/", id=item))
    assert [request.id for request in (await suspects.try_next(claims)).begun] == [item]
