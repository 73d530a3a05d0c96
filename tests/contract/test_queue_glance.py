"""A look at the queue tells the same as a count, as far as it goes, and says how far that is."""

import pytest

from penstock.queue import glance
from penstock.queue.glance import Crowd, Crowds, largest_crowds
from penstock.queue.ports import Bury, Done, Release, State
from penstock.queue.sql import SqlQueue
from penstock.store.store import Store
from tests.queues import FAILURE, put_and_claim
from tests.stores import Stores, make_items


async def test_glance_at_an_empty_queue_is_nothing(queue: SqlQueue, eye: Store) -> None:
    assert await glance.glance(eye) == ([], [])


async def test_glance_tells_what_a_count_tells(queue: SqlQueue, eye: Store, stores: Stores) -> None:
    claims = await put_and_claim(queue, 5)
    await queue.settle([(claims[0], Bury(FAILURE)), (claims[1], Release(60))])
    await queue.put(make_items(2, lane="other"))
    await stores.later(50)

    found, counted = await glance.glance(eye), await queue.depth()

    assert found.uncounted == []
    for seen, each in zip(found.depths, counted, strict=True):
        assert seen.lane == each.lane
        assert seen.oldest_due == pytest.approx(each.oldest_due, abs=2)
        assert {state: number for state, number in seen.counts.items() if number} == each.counts


async def test_lane_that_is_idle_is_still_one(queue: SqlQueue, eye: Store) -> None:
    claims = await put_and_claim(queue, 2)
    await queue.settle([(claim, Done()) for claim in claims])

    [depth] = (await glance.glance(eye)).depths
    assert (depth.lane, set(depth.counts.values()), depth.oldest_due) == ("fetch", {0}, None)


async def test_many_dead_are_not_counted_to_the_end(
    queue: SqlQueue, eye: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glance, "MOST_OVER", 3)
    claims = await put_and_claim(queue, 6)
    await queue.settle([(claim, Bury(FAILURE)) for claim in claims[:5]])

    found = await glance.glance(eye)

    assert found.uncounted == [State.DEAD]
    assert found.depths[0].counts == {
        State.WAITING: 0,
        State.CLAIMED: 1,
        State.DEAD: 4,
        State.STALE: 0,
    }


async def test_crowds_are_the_largest_and_count_all_priorities(
    queue: SqlQueue, eye: Store, stores: Stores
) -> None:
    await queue.put(make_items(2, group="small.test"))
    await queue.put(make_items(3, group="large.test"))
    await queue.put(make_items(2, first=10, group="large.test", priority=0, delay=90.0))
    await queue.put(make_items(1, group="tiny.test"))
    await queue.put(make_items(9, lane="other", group="other.test"))
    await stores.later(1)

    largest, are_all = await largest_crowds(eye, 2, ["fetch"])

    assert are_all
    assert [(each.group, each.waiting, each.due, each.more) for each in largest] == [
        ("large.test", 5, 3, False),
        ("small.test", 2, 2, False),
    ]
    assert (await largest_crowds(eye, 1)).largest[0].lane == "other"


async def test_crowd_that_has_to_wait_is_not_due(queue: SqlQueue, eye: Store) -> None:
    await queue.put(make_items(3, group="closed.test"))
    claims = await queue.claim("w", ["fetch"], 1, lambda _: (1, 0.0))
    await queue.settle([(claim, Release(3600.0, park=True)) for claim in claims])

    [crowd] = (await largest_crowds(eye, 5)).largest

    assert (crowd.waiting, crowd.due) == (3, 0)
    assert crowd.next_at is not None


async def test_one_that_is_larger_than_is_counted_is_still_told_from_the_others(
    queue: SqlQueue, eye: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glance, "ITEMS_AT_ONCE", 12)
    for place in range(3):
        await queue.put(make_items(2, group=f"small{place}.test"))
    await queue.put(make_items(30, group="large.test"))

    [crowd] = (await largest_crowds(eye, 1)).largest

    # First up to 4 of each line, then up to 13 of the one in which there are more.
    assert crowd == Crowd("fetch", "large.test", 13, 13, crowd.next_at, more=True)


async def test_crowds_that_are_all_too_large_are_not_counted_for_ever(
    queue: SqlQueue, eye: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glance, "ITEMS_AT_ONCE", 4)
    for place in range(2):
        await queue.put(make_items(9, group=f"large{place}.test"))

    largest = (await largest_crowds(eye, 5)).largest

    assert [(each.waiting, each.more) for each in largest] == [(3, True), (3, True)]


async def test_lines_that_are_not_looked_at_are_owned_up_to(
    queue: SqlQueue, eye: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glance, "LINES_OF_A_LANE", 2)
    for place in range(3):
        await queue.put(make_items(1, group=f"site{place}.test", delay=float(place)))

    found = await largest_crowds(eye, 5)

    assert found == Crowds(found.largest, are_all=False)
    assert [each.group for each in found.largest] == ["site0.test", "site1.test"]
