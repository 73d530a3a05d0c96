"""How much is in a queue, where it stands, and for how long it is due."""

import pytest

from penstock.queue.ports import Bury, Depth, Done, Ending, Item, Release, Retry, State
from penstock.queue.sql import SqlQueue
from penstock.store.store import Store
from tests.queues import FAILURE, put_and_claim
from tests.stores import Stores, all_of, counted, ids_of, make_items, pending


async def test_depth_of_an_empty_queue_is_nothing(queue: SqlQueue) -> None:
    assert await queue.depth() == []


async def test_depth_tells_states_and_the_age_of_what_is_due(
    queue: SqlQueue, stores: Stores
) -> None:
    claims = await put_and_claim(queue, 4)
    await queue.settle([(claims[0], Done()), (claims[1], Bury(FAILURE))])
    await queue.put(make_items(1, first=10))
    await stores.later(50)

    (depth,) = await queue.depth()

    assert depth.counts == {"claimed": 2, "done": 1, "dead": 1, "waiting": 1}
    assert depth.oldest_due == pytest.approx(50, abs=2)


async def test_lane_with_nothing_due_has_no_oldest_item(queue: SqlQueue) -> None:
    await queue.put([Item("1", "fetch", {}, delay=60)])

    assert await queue.depth() == [Depth("fetch", {State.WAITING: 1}, None)]


async def test_counts_equal_what_is_pending_through_a_whole_life(
    queue: SqlQueue, eye: Store
) -> None:
    for quota in ("anna", "ben"):
        await queue.put(make_items(6, group=quota, quota=quota))
    claims = await queue.claim("w", ["fetch"], 8, all_of)
    endings: list[Ending] = [Done(), Bury(FAILURE), Retry(0, FAILURE), Release()]
    await queue.settle(list(zip(claims, endings * 2, strict=True)))
    await queue.claim("w", ["fetch"], 3, all_of)
    await queue.rescue()
    await queue.revive(ids_of(claims[1:2]))

    assert await counted(eye) == await pending(eye)
