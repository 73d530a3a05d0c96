"""What is put is durable, has a key of its own, and finds room or is rejected."""

import asyncio

import pytest

from penstock.queue.ports import Bury, Done, Ending, Item, LaneLimit, Receipt, Release, Retry, State
from penstock.queue.sql import SqlQueue
from penstock.queue.tables import items
from penstock.store.store import Store
from tests.queues import FAILURE, claim_all, claim_one, put_and_claim, settle_all
from tests.stores import Stores, counted, lose_next_commit, make_items, pending, rows_of, states_of


async def test_item_is_durable_when_put_returns(queue: SqlQueue, eye: Store) -> None:
    await queue.put(make_items(3))

    assert set((await states_of(eye)).values()) == {State.WAITING}


async def test_nothing_to_put_is_nothing(queue: SqlQueue) -> None:
    assert await queue.put([]) == []


# ── keys


async def test_key_is_accepted_once(queue: SqlQueue) -> None:
    first = await queue.put([Item("1", "fetch", {}, key="k")])
    second = await queue.put([Item("2", "fetch", {}, key="k")])

    assert (first, second) == ([Receipt("accepted")], [Receipt("duplicate")])
    assert await claim_all(queue) == ["1"]


async def test_key_is_accepted_once_in_one_call(queue: SqlQueue) -> None:
    receipts = await queue.put([Item(f"{n}", "fetch", {}, key="k") for n in range(3)])

    assert [receipt.status for receipt in receipts] == ["accepted", "duplicate", "duplicate"]


async def test_key_is_taken_for_as_long_as_its_item_is_kept(queue: SqlQueue) -> None:
    await queue.put([Item("1", "fetch", {}, key="k")])
    await queue.settle([(await claim_one(queue), Done())])

    assert (await queue.put([Item("2", "fetch", {}, key="k")]))[0].status == "duplicate"


async def test_same_key_in_another_lane_is_another_key(queue: SqlQueue) -> None:
    await queue.put([Item("1", "fetch", {}, key="k")])

    assert (await queue.put([Item("2", "monitor", {}, key="k")]))[0].status == "accepted"


async def test_items_without_key_are_never_duplicates(queue: SqlQueue) -> None:
    receipts = await queue.put(make_items(3))

    assert {receipt.status for receipt in receipts} == {"accepted"}


async def test_keys_that_the_store_cannot_tell_apart_are_one_key(queue: SqlQueue) -> None:
    receipts = await queue.put(
        [Item("1", "fetch", {}, key="a\x00"), Item("2", "fetch", {}, key="a\ufffd")]
    )

    assert [receipt.status for receipt in receipts] == ["accepted", "duplicate"]


async def test_same_item_put_again_is_accepted_and_kept_once(queue: SqlQueue, eye: Store) -> None:
    await queue.put(make_items(3))
    receipts = await queue.put(make_items(3))

    assert {receipt.status for receipt in receipts} == {"accepted"}
    assert await counted(eye) == await pending(eye) == {("fetch", ""): 3}


async def test_same_item_twice_in_one_call_is_counted_once(queue: SqlQueue, eye: Store) -> None:
    await queue.put([*make_items(1), *make_items(1)])

    assert await counted(eye) == await pending(eye) == {("fetch", ""): 1}


async def test_put_whose_commit_was_not_heard_of_counts_once(stores: Stores, eye: Store) -> None:
    store = await stores.open()
    lose_next_commit(store)

    receipts = await SqlQueue(store, {}).put(make_items(3, quota="q"))

    assert {receipt.status for receipt in receipts} == {"accepted"}
    assert await counted(eye) == await pending(eye) == {("fetch", "q"): 3}


async def test_put_whose_commit_was_not_heard_of_and_filled_the_lane_is_accepted(
    stores: Stores,
) -> None:
    store = await stores.open()
    lose_next_commit(store)

    receipts = await SqlQueue(store, {"fetch": LaneLimit(3)}).put(make_items(3))

    assert {receipt.status for receipt in receipts} == {"accepted"}


# ── limits


async def test_full_lane_rejects_with_a_time_to_try_again(stores: Stores) -> None:
    queue = await stores.queue({"fetch": LaneLimit(2, retry_after=7)})

    receipts = await queue.put(make_items(3))

    assert [receipt.status for receipt in receipts] == ["accepted", "accepted", "rejected"]
    assert receipts[2].as_json() == {
        "status": "rejected",
        "retry_after": 7,
        "reason": "queue_full",
    }


async def test_rejected_item_is_not_kept(stores: Stores, eye: Store) -> None:
    queue = await stores.queue({"fetch": LaneLimit(2)})

    await queue.put(make_items(3))

    assert len(await rows_of(eye, items)) == 2


async def test_full_quota_rejects_its_own_and_no_other(stores: Stores) -> None:
    queue = await stores.queue({"fetch": LaneLimit(100, per_quota=1, retry_after=5)})
    await queue.put([Item("1", "fetch", {}, quota="anna")])

    receipts = await queue.put(
        [Item("2", "fetch", {}, quota="anna"), Item("3", "fetch", {}, quota="ben")]
    )

    assert receipts == [Receipt("rejected", 5, "quota_full"), Receipt("accepted")]


async def test_limit_of_a_lane_is_no_limit_of_another(stores: Stores) -> None:
    queue = await stores.queue({"fetch": LaneLimit(1)})

    receipts = await queue.put(make_items(5, lane="monitor"))

    assert {receipt.status for receipt in receipts} == {"accepted"}


@pytest.mark.parametrize("ending", [Done(), Bury(FAILURE)])
async def test_ended_item_leaves_room_for_another(stores: Stores, ending: Ending) -> None:
    queue = await stores.queue({"fetch": LaneLimit(1)})
    claims = await put_and_claim(queue)

    await queue.settle(settle_all(claims, ending))

    assert (await queue.put(make_items(1, first=1)))[0].status == "accepted"


@pytest.mark.parametrize("ending", [Retry(5, FAILURE), Release()])
async def test_item_that_waits_again_still_takes_room(stores: Stores, ending: Ending) -> None:
    queue = await stores.queue({"fetch": LaneLimit(1)})
    claims = await put_and_claim(queue)

    await queue.settle(settle_all(claims, ending))

    assert (await queue.put(make_items(1, first=1)))[0].status == "rejected"


async def test_duplicate_is_called_that_even_by_a_full_lane(stores: Stores) -> None:
    queue = await stores.queue({"fetch": LaneLimit(1)})
    await queue.put([Item("1", "fetch", {}, key="k")])

    assert (await queue.put([Item("2", "fetch", {}, key="k")]))[0].status == "duplicate"


async def test_duplicates_take_no_room_from_items_behind_them(stores: Stores) -> None:
    queue = await stores.queue({"fetch": LaneLimit(2)})
    await queue.put([Item("1", "fetch", {}, key="k")])

    receipts = await queue.put(
        [*(Item(f"{n}", "fetch", {}, key="k") for n in range(2, 5)), Item("5", "fetch", {})]
    )

    assert receipts[-1].status == "accepted"


async def test_quota_whose_name_the_store_changes_is_limited_too(stores: Stores) -> None:
    queue = await stores.queue({"fetch": LaneLimit(100, per_quota=1)})
    await queue.put([Item("1", "fetch", {}, quota="\x00")])

    assert (await queue.put([Item("2", "fetch", {}, quota="\x00")]))[0].reason == "quota_full"


async def test_limit_holds_for_two_processes_that_put_at_once(stores: Stores, eye: Store) -> None:
    queues = [await stores.queue({"fetch": LaneLimit(50)}) for _ in range(2)]

    receipts = await asyncio.gather(
        *(queues[n % 2].put(make_items(10, first=10 * n)) for n in range(20))
    )

    taken = [receipt for some in receipts for receipt in some if receipt.status == "accepted"]
    assert len(taken) == len(await rows_of(eye, items)) == 50
