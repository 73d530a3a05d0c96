"""A queue that nudges names what can be done now, and is a queue like any other."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.queue.broker import Nudge
from penstock.queue.nudging import MOST_OF_A_GROUP, NudgingQueue
from penstock.queue.ports import Bury, Done, Item, LaneLimit, State
from penstock.queue.sql import SqlQueue
from tests.stores import (
    Stores,
    all_of,
    enter_worker,
    ids_of,
    lose_worker,
    make_items,
    sqlite_stores,
)
from tests.unit.queue.nudgers import Ear


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with sqlite_stores(tmp_path) as stores:
        yield stores


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
async def queue(stores: Stores, ear: Ear) -> NudgingQueue:
    limits = {"full": LaneLimit(0)}
    return NudgingQueue(SqlQueue(await stores.open(), limits), ear)


async def test_new_items_are_named_with_lane_and_trace(queue: NudgingQueue, ear: Ear) -> None:
    await queue.put([Item("a", "fetch", {}, traceparent="00-1"), Item("b", "crawl", {})])

    assert ear.heard == [Nudge("fetch", "a", "00-1"), Nudge("crawl", "b", "")]


async def test_delayed_rejected_and_known_items_are_not_named(
    queue: NudgingQueue, ear: Ear
) -> None:
    later = Item("later", "fetch", {}, delay=1)
    known = Item("known", "fetch", {}, key="k")
    again = Item("again", "fetch", {}, key="k")

    receipts = await queue.put([later, known, again, Item("late", "full", {})])

    assert [receipt.status for receipt in receipts] == [
        "accepted",
        "accepted",
        "duplicate",
        "rejected",
    ]
    assert ear.ids == ["known"]


async def test_nothing_is_sent_when_nothing_is_to_be_named(queue: NudgingQueue, ear: Ear) -> None:
    await queue.put([])

    assert ear.times == 0


async def test_of_a_long_line_only_the_first_are_named(queue: NudgingQueue, ear: Ear) -> None:
    many, few = make_items(50, group="big.test"), make_items(2, group="small.test")

    await queue.put([*many, *few])

    assert ear.ids == ids_of([*many[:MOST_OF_A_GROUP], *few])


async def test_all_else_is_passed_on(queue: NudgingQueue, stores: Stores) -> None:
    store = await stores.open()
    await enter_worker(store, "w")
    await queue.put(make_items(4))

    (named,) = await queue.claim_ids("w", ["fetch--00002"])
    first, second, third = await queue.claim("w", ["fetch"], 3, all_of)
    accepted = await queue.settle([(named, Done()), (first, Bury({})), (second, Done())])
    revived = await queue.revive([first.id])
    await lose_worker(store, "w")
    rescued = await queue.rescue()
    (depth,) = await queue.depth()

    assert named.id == "fetch--00002"
    assert accepted == {named.id, first.id, second.id}
    assert (revived, rescued) == (1, 1)
    assert third.id not in accepted
    assert depth.counts == {State.DONE: 2, State.WAITING: 2}
