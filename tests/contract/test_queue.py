"""Every queue keeps its promises: claimed by one, fair, bounded, fenced, and counted exactly."""

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import event, text

from penstock.core.ids import new_id
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.queue.ports import (
    Bury,
    Claim,
    Depth,
    Done,
    Ending,
    Item,
    LaneLimit,
    Receipt,
    Release,
    Retry,
    State,
)
from penstock.queue.sql import SqlQueue
from penstock.queue.tables import items, lines
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.stores import (
    Stores,
    all_of,
    counted,
    enter_worker,
    ids_of,
    lose_next_commit,
    lose_worker,
    make_items,
    pending,
    row_of,
    rows_of,
    run_sql,
    states_of,
)

FAILURE = {"kind": "fetch", "reason": "timeout"}


@pytest.fixture
async def queue(stores: Stores) -> SqlQueue:
    return await stores.queue()


@pytest.fixture
async def eye(stores: Stores) -> Store:
    """Another process that looks at what is committed."""
    return await stores.open()


async def claim_all(
    queue: SqlQueue, *lanes: str, worker: str = "w", limit: int = 1000
) -> list[str]:
    return ids_of(await queue.claim(worker, lanes or ["fetch"], limit, all_of))


async def claim_one(queue: SqlQueue, worker: str = "w") -> Claim:
    (claim,) = await queue.claim(worker, ["fetch"], 1, all_of)
    return claim


async def put_and_claim(queue: SqlQueue, number: int = 1, worker: str = "w") -> list[Claim]:
    await queue.put(make_items(number))
    return await queue.claim(worker, ["fetch"], number, all_of)


def settle_all(claims: Sequence[Claim], ending: Ending) -> list[tuple[Claim, Ending]]:
    return [(claim, ending) for claim in claims]


class Notes:
    """A record that remembers what it was given."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def __call__(self, unit: Unit, accepted: Collection[str]) -> None:
        self.seen.update(accepted)


# ── put and claim


async def test_claimed_item_comes_back_as_it_was_put(queue: SqlQueue) -> None:
    payload = {"url": "http://shop/", "headers": {"a": "b"}, "n": [1, None, True, 0.5]}
    item = Item("1", "fetch", payload, group="shop", priority=3, traceparent="00-ab-cd-01")

    await queue.put([item])
    claim = await claim_one(queue)

    assert (claim.id, claim.lane, claim.payload) == ("1", "fetch", payload)
    assert (claim.group, claim.priority, claim.attempts) == ("shop", 3, 1)
    assert claim.traceparent == "00-ab-cd-01"


async def test_item_is_durable_when_put_returns(queue: SqlQueue, eye: Store) -> None:
    await queue.put(make_items(3))

    assert set((await states_of(eye)).values()) == {State.WAITING}


async def test_claimed_item_is_not_claimed_again(queue: SqlQueue) -> None:
    await put_and_claim(queue, 5)

    assert await claim_all(queue, worker="another") == []


async def test_nothing_to_put_is_nothing(queue: SqlQueue) -> None:
    assert await queue.put([]) == []


async def test_claim_takes_only_from_lanes_that_were_named(queue: SqlQueue) -> None:
    await queue.put([*make_items(1, lane="fetch"), *make_items(1, lane="monitor")])

    assert await claim_all(queue, "monitor") == ["monitor--00000"]


@pytest.mark.parametrize("limit", [1, 3, 7, 10])
async def test_claim_never_takes_more_than_its_limit(queue: SqlQueue, limit: int) -> None:
    for group in "abcdef":
        await queue.put(make_items(5, group=group))

    assert len(await claim_all(queue, limit=limit)) == limit


@pytest.mark.parametrize("limit", [0, -1])
async def test_claim_of_nothing_takes_nothing(queue: SqlQueue, limit: int) -> None:
    await queue.put(make_items(5))

    assert await claim_all(queue, limit=limit) == []


async def test_more_items_than_one_statement_takes_are_put_and_claimed(queue: SqlQueue) -> None:
    await queue.put(make_items(2500))

    assert len(await claim_all(queue, limit=5000)) == 2500


async def test_more_lines_than_one_statement_takes_are_claimed_at_once(queue: SqlQueue) -> None:
    await queue.put([Item(f"{n}", "fetch", {}, group=f"g{n}") for n in range(450)])

    assert len(await claim_all(queue)) == 450


async def test_lower_priority_number_is_claimed_first(queue: SqlQueue) -> None:
    for priority in (9, 0, 5):
        await queue.put([Item(f"p{priority}", "fetch", {}, priority=priority)])

    assert [(await claim_one(queue)).id for _ in range(3)] == ["p0", "p5", "p9"]


async def test_urgent_item_of_the_last_lane_is_claimed_before_others(queue: SqlQueue) -> None:
    await queue.put([Item("calm", "fetch", {}, priority=5)])
    await queue.put([Item("urgent", "monitor", {}, priority=1)])

    assert await claim_all(queue, "fetch", "monitor", limit=1) == ["urgent"]


@pytest.mark.parametrize(("asked", "kept"), [(-3, 0), (10, 9), (99, 9)])
async def test_priority_out_of_range_is_the_nearest_one(
    queue: SqlQueue, asked: int, kept: int
) -> None:
    await queue.put([Item("1", "fetch", {}, priority=asked)])

    assert (await claim_one(queue)).priority == kept


async def test_items_of_a_group_are_claimed_in_the_order_of_their_ids(queue: SqlQueue) -> None:
    await queue.put(list(reversed(make_items(20))))

    assert await claim_all(queue) == sorted(ids_of(make_items(20)))


async def test_group_of_ten_thousand_items_delays_no_other(queue: SqlQueue) -> None:
    await queue.put(make_items(10_000, group="large"))
    await queue.put(make_items(1, group="small"))

    assert "fetch-small-00000" in await claim_all(queue, limit=10)


async def test_claims_are_spread_evenly_over_groups(queue: SqlQueue) -> None:
    for group in "abc":
        await queue.put(make_items(100, group=group))

    claims = await queue.claim("w", ["fetch"], 30, all_of)

    assert Counter(claim.group for claim in claims) == {"a": 10, "b": 10, "c": 10}


async def test_what_small_groups_leave_goes_to_the_large_ones(queue: SqlQueue) -> None:
    await queue.put(make_items(1, group="a"))
    await queue.put(make_items(100, group="b"))

    taken = await claim_all(queue, limit=20) + await claim_all(queue, limit=20)

    assert len(taken) >= 20


async def test_every_group_has_its_turn_before_one_has_its_second(
    queue: SqlQueue, stores: Stores
) -> None:
    for group in "abcdef":
        await queue.put(make_items(10, group=group))
    turns: Counter[str] = Counter()

    for _ in range(3):
        await stores.later(0.002)
        turns.update(claim.group for claim in await queue.claim("w", ["fetch"], 2, all_of))

    assert turns == dict.fromkeys("abcdef", 1)


async def test_lane_with_many_groups_does_not_starve_another_lane(
    queue: SqlQueue, stores: Stores
) -> None:
    await queue.put([Item(f"{n:03}", "fetch", {}, group=f"g{n:03}") for n in range(200)])
    await stores.later(0.002)
    await queue.put([Item("watched", "monitor", {}, group="shop")])
    taken: list[str] = []

    for _ in range(21):
        taken += await claim_all(queue, "fetch", "monitor", limit=10)
        await stores.later(0.002)
        await queue.put([Item(f"more-{len(taken)}", "fetch", {}, group=f"h{len(taken)}")])

    assert "watched" in taken


async def test_item_waits_for_its_time(queue: SqlQueue, stores: Stores) -> None:
    await queue.put([Item("1", "fetch", {}, delay=60)])
    early = await claim_all(queue)

    await stores.later(61)

    assert (early, await claim_all(queue)) == ([], ["1"])


async def test_later_item_does_not_hide_an_earlier_one_of_its_group(queue: SqlQueue) -> None:
    await queue.put([Item("later", "fetch", {}, group="shop", delay=60)])
    await queue.put([Item("now", "fetch", {}, group="shop")])

    assert await claim_all(queue) == ["now"]


async def test_item_that_was_put_while_its_group_was_claimed_is_found(
    queue: SqlQueue, stores: Stores
) -> None:
    await put_and_claim(queue, 3)
    await queue.put(make_items(1, first=7))

    assert await claim_all(queue) == ["fetch--00007"]


# ── what a group is asked for


async def test_share_bounds_what_is_taken_of_a_group(queue: SqlQueue) -> None:
    await queue.put(make_items(10, group="a"))
    await queue.put(make_items(10, group="b"))

    claims = await queue.claim("w", ["fetch"], 100, lambda group: (2 if group == "a" else 5, 0.0))

    assert Counter(claim.group for claim in claims) == {"a": 2, "b": 5}


async def test_share_bounds_a_group_over_all_its_priorities_and_lanes(queue: SqlQueue) -> None:
    for lane in ("fetch", "monitor"):
        for priority in (1, 5):
            await queue.put(make_items(3, lane=lane, group=f"{priority}", priority=priority))
            same = Item(f"{lane}-{priority}", lane, {}, group="shop", priority=priority)
            await queue.put([same])

    claims = await queue.claim("w", ["fetch", "monitor"], 100, lambda _: (3, 30.0))

    assert max(Counter(claim.group for claim in claims).values()) == 3


async def test_group_of_which_nothing_is_wanted_gives_nothing(queue: SqlQueue) -> None:
    await queue.put(make_items(3))

    assert await queue.claim("w", ["fetch"], 10, lambda _: (0, 0.0)) == []
    assert len(await claim_all(queue)) == 3


async def test_group_that_gave_what_was_wanted_rests(queue: SqlQueue, stores: Stores) -> None:
    await queue.put(make_items(5))
    await queue.claim("w", ["fetch"], 10, lambda _: (2, 30.0))
    resting = await claim_all(queue)

    await stores.later(31)

    assert (resting, len(await claim_all(queue))) == ([], 3)


async def test_group_that_could_not_give_enough_does_not_rest(queue: SqlQueue) -> None:
    await queue.put(make_items(1))
    await queue.claim("w", ["fetch"], 10, lambda _: (2, 30.0))
    await queue.put(make_items(1, first=1))

    assert await claim_all(queue) == ["fetch--00001"]


async def test_group_that_was_cut_short_by_the_limit_does_not_rest(queue: SqlQueue) -> None:
    await queue.put(make_items(5))
    await queue.claim("w", ["fetch"], 2, lambda _: (4, 30.0))

    assert len(await claim_all(queue)) == 3


async def test_claim_of_nothing_keeps_the_line_where_it_is(queue: SqlQueue, eye: Store) -> None:
    await queue.put(make_items(2))
    before = await rows_of(eye, lines)

    await claim_all(queue, limit=0)

    assert await rows_of(eye, lines) == before


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


# ── settle


async def test_done_item_is_over(queue: SqlQueue, eye: Store) -> None:
    (claim,) = await put_and_claim(queue)

    assert await queue.settle([(claim, Done())]) == {claim.id}
    assert await states_of(eye) == {claim.id: State.DONE}


async def test_retried_item_counts_its_attempt_and_waits_for_its_time(
    queue: SqlQueue, stores: Stores
) -> None:
    (claim,) = await put_and_claim(queue)
    await queue.settle([(claim, Retry(30, FAILURE))])
    early = await claim_all(queue)

    await stores.later(31)

    assert early == []
    assert (await claim_one(queue)).attempts == 2


async def test_released_item_does_not_count_its_attempt(queue: SqlQueue) -> None:
    (claim,) = await put_and_claim(queue)
    await queue.settle([(claim, Release())])

    assert (await claim_one(queue)).attempts == 1


async def test_released_item_waits_for_its_time(queue: SqlQueue, stores: Stores) -> None:
    (claim,) = await put_and_claim(queue)
    await queue.settle([(claim, Release(30))])
    early = await claim_all(queue)

    await stores.later(31)

    assert (early, await claim_all(queue)) == ([], [claim.id])


async def test_buried_item_keeps_what_put_it_there(queue: SqlQueue, eye: Store) -> None:
    (claim,) = await put_and_claim(queue)
    await queue.settle([(claim, Bury(FAILURE))])

    row = await row_of(eye, claim.id)

    assert (row["state"], row["failure"]) == (State.DEAD, FAILURE)
    assert await claim_all(queue) == []


async def test_retried_item_keeps_its_failure_until_it_is_done(queue: SqlQueue, eye: Store) -> None:
    (claim,) = await put_and_claim(queue)
    await queue.settle([(claim, Retry(0, FAILURE))])
    await queue.settle([(await claim_one(queue), Release())])
    before = await row_of(eye, claim.id)
    await queue.settle([(await claim_one(queue), Done())])

    assert (before["failure"], (await row_of(eye, claim.id))["failure"]) == (FAILURE, None)


async def test_all_kinds_of_endings_go_in_one_call(queue: SqlQueue, eye: Store) -> None:
    claims = await put_and_claim(queue, 4)
    endings: list[Ending] = [Done(), Bury(FAILURE), Retry(5, FAILURE), Release(5)]

    accepted = await queue.settle(list(zip(claims, endings, strict=True)))

    assert accepted == set(ids_of(claims))
    assert list((await states_of(eye)).values()) == ["done", "dead", "waiting", "waiting"]


async def test_record_gets_the_ids_that_were_accepted(queue: SqlQueue) -> None:
    notes = Notes()
    claims = await put_and_claim(queue, 3)

    await queue.settle(settle_all(claims, Done()), notes)

    assert notes.seen == dict.fromkeys(ids_of(claims), 1)


async def test_record_that_fails_leaves_the_claims_as_they_were(
    queue: SqlQueue, eye: Store
) -> None:
    claims = await put_and_claim(queue, 2)

    def fail(unit: Unit, accepted: Collection[str]) -> None:
        raise ValueError("no such column of ours")

    with pytest.raises(ValueError, match="no such column"):
        await queue.settle(settle_all(claims, Done()), fail)

    assert set((await states_of(eye)).values()) == {State.CLAIMED}


async def test_nothing_to_settle_is_nothing(queue: SqlQueue) -> None:
    notes = Notes()

    assert await queue.settle([], notes) == set()
    assert not notes.seen


async def test_item_that_is_ended_twice_in_one_call_ends_the_first_way(
    queue: SqlQueue, eye: Store
) -> None:
    (claim,) = await put_and_claim(queue)

    await queue.settle([(claim, Done()), (claim, Retry(0, FAILURE))])

    assert await states_of(eye) == {claim.id: State.DONE}
    assert await counted(eye) == {}


async def test_settling_again_changes_and_records_nothing(queue: SqlQueue, eye: Store) -> None:
    notes = Notes()
    claims = await put_and_claim(queue, 3)
    endings: list[Ending] = [Done(), Bury(FAILURE), Retry(0, FAILURE)]
    pairs = list(zip(claims, endings, strict=True))
    await queue.settle(pairs, notes)
    before = await rows_of(eye, items)

    accepted = await queue.settle(pairs, notes)

    assert accepted == set(ids_of(claims))
    assert set(notes.seen.values()) == {1}
    assert await rows_of(eye, items) == before
    assert await counted(eye) == {("fetch", ""): 1}


async def test_settling_whose_commit_was_not_heard_of_records_once(
    stores: Stores, eye: Store
) -> None:
    store = await stores.open()
    queue = SqlQueue(store, {})
    claims = await put_and_claim(queue, 3)
    notes = Notes()
    lose_next_commit(store)

    accepted = await queue.settle(settle_all(claims, Done()), notes)

    assert accepted == set(ids_of(claims))
    assert set(notes.seen.values()) == {1}
    assert await counted(eye) == {}


async def test_claim_whose_commit_was_not_heard_of_gives_what_it_took(
    stores: Stores, eye: Store
) -> None:
    store = await stores.open()
    queue = SqlQueue(store, {})
    await queue.put(make_items(10))
    lose_next_commit(store)

    claims = await queue.claim("w", ["fetch"], 4, all_of)

    assert len(claims) == 4
    assert Counter((await states_of(eye)).values()) == {"claimed": 4, "waiting": 6}


async def test_ending_after_rescue_is_refused_and_records_nothing(
    queue: SqlQueue, eye: Store
) -> None:
    notes = Notes()
    claims = await put_and_claim(queue, 2)
    await queue.rescue()

    assert await queue.settle(settle_all(claims, Done()), notes) == set()
    assert set((await states_of(eye)).values()) == {State.WAITING}
    assert not notes.seen


async def test_late_ending_does_not_touch_the_claim_of_another(queue: SqlQueue, eye: Store) -> None:
    (late,) = await put_and_claim(queue)
    await queue.rescue()
    current = await claim_one(queue, worker="another")

    refused = await queue.settle([(late, Bury(FAILURE))])
    accepted = await queue.settle([(current, Done())])

    assert (refused, accepted) == (set(), {current.id})
    assert await states_of(eye) == {late.id: State.DONE}


async def test_late_ending_is_refused_beside_the_good_one_of_the_same_item(
    queue: SqlQueue, eye: Store
) -> None:
    (late,) = await put_and_claim(queue)
    await queue.rescue()
    current = await claim_one(queue)

    await queue.settle([(late, Done()), (current, Retry(0, FAILURE))])

    assert await states_of(eye) == {late.id: State.WAITING}
    assert await counted(eye) == {("fetch", ""): 1}


async def test_late_ending_of_a_revived_item_is_refused(queue: SqlQueue, eye: Store) -> None:
    (claim,) = await put_and_claim(queue)
    await queue.settle([(claim, Bury(FAILURE))])
    await queue.revive([claim.id])

    assert await queue.settle([(claim, Done())]) == set()
    assert await states_of(eye) == {claim.id: State.WAITING}


async def test_done_item_is_never_revived_rescued_or_claimed(queue: SqlQueue, eye: Store) -> None:
    (claim,) = await put_and_claim(queue)
    await queue.settle([(claim, Done())])

    await queue.revive([claim.id])
    await queue.revive(lane="fetch")
    await queue.rescue()

    assert await claim_all(queue) == await claim_all(queue) == []
    assert await queue.claim_ids("w", [claim.id]) == []
    assert await states_of(eye) == {claim.id: State.DONE}


# ── park


async def test_parked_group_waits_as_a_whole(queue: SqlQueue, stores: Stores) -> None:
    await queue.put(make_items(5, group="shop"))
    claim = await claim_one(queue)
    await queue.settle([(claim, Release(30, park=True))])
    parked = await claim_all(queue)

    await stores.later(31)

    assert (parked, len(await claim_all(queue))) == ([], 5)


async def test_parked_group_waits_at_every_priority(queue: SqlQueue) -> None:
    for priority in (0, 5, 9):
        await queue.put([Item(f"{priority}", "fetch", {}, group="shop", priority=priority)])
    claim = await claim_one(queue)

    await queue.settle([(claim, Release(30, park=True))])

    assert await claim_all(queue) == []


async def test_parking_a_group_leaves_other_groups_and_lanes_alone(queue: SqlQueue) -> None:
    await queue.put([Item("1", "fetch", {}, group="shop")])
    claim = await claim_one(queue)
    await queue.put([Item("2", "fetch", {}, group="mart")])
    await queue.put([Item("3", "monitor", {}, group="shop")])

    await queue.settle([(claim, Release(30, park=True))])

    assert set(await claim_all(queue, "fetch", "monitor")) == {"2", "3"}


async def test_group_is_parked_although_another_item_of_it_is_released_in_the_same_call(
    queue: SqlQueue,
) -> None:
    claims = await put_and_claim(queue, 3)
    endings: list[Ending] = [Release(0), Release(30, park=True), Retry(0, FAILURE)]

    await queue.settle(list(zip(claims, endings, strict=True)))

    assert await claim_all(queue) == []


async def test_several_groups_are_parked_in_one_call(queue: SqlQueue) -> None:
    await queue.put([Item(f"{n}", "fetch", {}, group=f"g{n % 3}") for n in range(9)])
    claims = await queue.claim("w", ["fetch"], 3, all_of)

    await queue.settle(settle_all(claims, Release(30, park=True)))

    assert await claim_all(queue) == []


async def test_group_is_parked_for_the_longest_time_that_was_asked_for(
    queue: SqlQueue, stores: Stores
) -> None:
    claims = await put_and_claim(queue, 2)
    await queue.put(make_items(1, first=5))
    endings = [Release(60, park=True), Release(10, park=True)]

    await queue.settle(list(zip(claims, endings, strict=True)))
    await stores.later(20)

    assert await claim_all(queue) == []


async def test_released_item_counts_no_attempt_when_its_group_is_parked(
    queue: SqlQueue, stores: Stores
) -> None:
    (claim,) = await put_and_claim(queue)
    await queue.settle([(claim, Release(30, park=True))])
    await stores.later(31)

    assert (await claim_one(queue)).attempts == 1


# ── certain items


async def test_certain_items_are_claimed_by_their_ids(queue: SqlQueue) -> None:
    await queue.put(make_items(5))

    claims = await queue.claim_ids("w", ["fetch--00001", "fetch--00003", "unknown"])

    assert sorted(ids_of(claims)) == ["fetch--00001", "fetch--00003"]


async def test_certain_item_is_claimed_by_one_only(queue: SqlQueue) -> None:
    await queue.put(make_items(1))

    first = await queue.claim_ids("w", ["fetch--00000"])
    second = await queue.claim_ids("v", ["fetch--00000"])

    assert (len(first), second) == (1, [])
    assert await claim_all(queue) == []


async def test_certain_item_waits_for_its_time_too(queue: SqlQueue, stores: Stores) -> None:
    await queue.put([Item("1", "fetch", {}, delay=60)])
    early = await queue.claim_ids("w", ["1"])

    await stores.later(61)

    assert (early, ids_of(await queue.claim_ids("w", ["1"]))) == ([], ["1"])


async def test_certain_item_can_be_settled(queue: SqlQueue, eye: Store) -> None:
    await queue.put(make_items(1))
    claims = await queue.claim_ids("w", ["fetch--00000"])

    await queue.settle(settle_all(claims, Done()))

    assert await states_of(eye) == {"fetch--00000": State.DONE}


async def test_names_of_items_may_be_nonsense(queue: SqlQueue) -> None:
    assert await queue.claim_ids("w", ["\x00", "\ud800", "", "x" * 10_000]) == []
    assert await queue.revive(["\x00", "\ud800"]) == 0


async def test_more_ids_than_a_statement_takes_are_claimed_and_revived(queue: SqlQueue) -> None:
    await queue.put(make_items(1))
    ids = [f"fetch--{n:05}" for n in range(40_000)]

    claims = await queue.claim_ids("w", ids)
    await queue.settle(settle_all(claims, Bury(FAILURE)))

    assert await queue.revive(ids) == 1


# ── lost workers


async def test_claims_of_a_living_worker_are_left_alone(queue: SqlQueue, eye: Store) -> None:
    await enter_worker(eye, "w")
    await put_and_claim(queue, 3)

    assert await queue.rescue() == 0
    assert set((await states_of(eye)).values()) == {State.CLAIMED}


async def test_claims_of_a_lost_worker_wait_again(queue: SqlQueue, eye: Store) -> None:
    await enter_worker(eye, "w")
    await put_and_claim(queue, 3)
    await lose_worker(eye, "w")

    assert await queue.rescue() == 3
    assert len(await claim_all(queue, worker="another")) == 3


async def test_rescued_item_counts_the_attempt(queue: SqlQueue) -> None:
    await put_and_claim(queue)
    await queue.rescue()

    assert (await claim_one(queue)).attempts == 2


async def test_lost_workers_are_counted_apart_from_attempts(queue: SqlQueue) -> None:
    await queue.put(make_items(1))
    for _ in range(2):
        await queue.settle([(await claim_one(queue), Retry(0, FAILURE))])
    for _ in range(3):
        await claim_one(queue)
        await queue.rescue()

    claim = await claim_one(queue)
    assert (claim.lost, claim.tried, claim.attempts) == (3, 0, 6)


async def test_a_suspect_is_noted_before_it_is_tried(queue: SqlQueue) -> None:
    (claim,) = await put_and_claim(queue)
    assert await queue.note_trial([claim]) == {claim.id}
    assert await queue.note_trial([claim]) == {claim.id}, "run again, it is the same try"
    await queue.rescue()
    assert await queue.note_trial([claim]) == set()
    assert (await claim_one(queue)).tried == 1


async def test_a_suspect_that_comes_back_alive_is_none(queue: SqlQueue) -> None:
    (claim,) = await put_and_claim(queue)
    await queue.note_trial([claim])
    await queue.settle([(claim, Release())])
    assert (await claim_one(queue)).tried == 0


async def test_rescue_by_several_at_once_takes_each_item_back_once(
    stores: Stores, eye: Store
) -> None:
    queues = [await stores.queue() for _ in range(3)]
    await put_and_claim(queues[0], 50)

    numbers = await asyncio.gather(*(queue.rescue() for queue in queues))

    assert sum(numbers) == 50
    assert await counted(eye) == await pending(eye)


# ── revive


async def test_revived_item_begins_anew(queue: SqlQueue) -> None:
    (claim,) = await put_and_claim(queue)
    await queue.settle([(claim, Bury(FAILURE))])

    assert await queue.revive([claim.id]) == 1
    assert (await claim_one(queue)).attempts == 1


async def test_dead_items_of_one_lane_are_revived_together(queue: SqlQueue) -> None:
    for lane in ("fetch", "monitor"):
        await queue.put(make_items(2, lane=lane))
        claims = await queue.claim("w", [lane], 10, all_of)
        await queue.settle(settle_all(claims, Bury(FAILURE)))

    assert await queue.revive(lane="fetch") == 2
    assert await claim_all(queue, "monitor") == []


async def test_revived_items_are_counted(queue: SqlQueue, eye: Store) -> None:
    claims = await put_and_claim(queue, 3)
    await queue.settle(settle_all(claims, Bury(FAILURE)))

    await queue.revive(ids_of(claims[:2]))

    assert await counted(eye) == await pending(eye) == {("fetch", ""): 2}


async def test_item_that_waits_is_not_revived(queue: SqlQueue, eye: Store) -> None:
    await queue.put(make_items(1))

    assert await queue.revive(lane="fetch") == 0
    assert await counted(eye) == {("fetch", ""): 1}


# ── depth and counts


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


# ── the cost of it


def note_statements(store: Store) -> dict[str, Any]:
    """Fills with every statement that the store executes from now on, and its values."""
    seen: dict[str, Any] = {}

    def note(_connection: Any, _cursor: Any, statement: str, *rest: Any) -> None:
        values, _context, is_many = rest
        if statement.lstrip().startswith(("SELECT", "UPDATE")):
            seen.setdefault(statement, values[0] if is_many else values)

    for engine in {store._dialect.writing, store._dialect.reading}:
        event.listen(engine, "before_cursor_execute", note)
    return seen


async def plan_of(store: Store, statement: str, values: Any) -> str:
    explain = "EXPLAIN QUERY PLAN" if store.engine == "sqlite" else "EXPLAIN"
    return await store.read(
        lambda unit: "\n".join(
            str(row[-1])
            for row in unit.connection.exec_driver_sql(f"{explain} {statement}", values)
        )
    )


@pytest.mark.parametrize("is_analyzed", [False, True])
async def test_no_step_of_an_item_looks_at_all_items(stores: Stores, is_analyzed: bool) -> None:
    store, worker = await stores.open(), await stores.open()
    many = [make_items(100, group=f"g{group:02}") for group in range(100)]
    await SqlQueue(store, {}).put([item for some in many for item in some])
    if is_analyzed:
        await store.write(lambda unit: unit.run(text("ANALYZE")) and None)
    queue, statements = SqlQueue(worker, {"fetch": LaneLimit(10**6)}), note_statements(worker)

    claims = await queue.claim("w", ["fetch"], 20, all_of)
    endings: list[Ending] = [Done(), Retry(0, FAILURE), Release(0, park=True), Bury(FAILURE)]
    await queue.settle(list(zip(claims, endings * 5, strict=True)))
    await queue.claim_ids("w", ids_of(claims))
    await queue.put([Item("new", "fetch", {}, key="k")])
    await queue.rescue()
    await queue.revive(ids_of(claims))

    for statement, values in statements.items():
        plan = await plan_of(store, statement, values)
        assert "Seq Scan on queue_items" not in plan, statement
        assert "SCAN queue_items\n" not in f"{plan}\n", statement
        for step, condition in pairwise([*plan.splitlines(), ""]):
            if "ix_queue_items_waiting" in step:
                assert "group_key" in step + condition, statement


# ── many at once


async def test_two_processes_that_claim_at_once_never_get_the_same_item(stores: Stores) -> None:
    queues = [await stores.queue() for _ in range(2)]
    for group in range(20):
        await queues[0].put(make_items(25, group=f"g{group:02}"))

    async def work(number: int) -> list[str]:
        taken: list[str] = []
        while found := await claim_all(queues[number % 2], worker=f"w{number}", limit=7):
            taken += found
        return taken

    taken = [each for some in await asyncio.gather(*map(work, range(8))) for each in some]
    left = await claim_all(queues[0])

    assert len(taken) == len(set(taken))
    assert len(taken) + len(left) == 500


async def test_claiming_by_line_and_by_id_at_once_never_gets_the_same_item(
    stores: Stores,
) -> None:
    queues = [await stores.queue() for _ in range(2)]
    await queues[0].put(make_items(200))
    ids = ids_of(make_items(200))

    by_line = [claim_all(queues[0], worker=f"w{n}", limit=20) for n in range(10)]
    by_id = [queues[1].claim_ids(f"v{n}", ids[n * 20 : n * 20 + 20]) for n in range(10)]
    lines_taken = await asyncio.gather(*by_line, asyncio.sleep(0, []))
    ids_taken = await asyncio.gather(*by_id)

    taken = [each for some in lines_taken for each in some]
    taken += [claim.id for some in ids_taken for claim in some]
    assert len(taken) == len(set(taken))


async def submit_many(queue: SqlQueue, name: str) -> None:
    for batch in range(5):
        await queue.put(
            [
                Item(f"{name}-{batch}-{n}", "fetch", {}, group=f"g{n % 7}", priority=n % 3)
                for n in range(20)
            ]
        )


async def work_until_done(queue: SqlQueue, log: EventLog, worker: str, total: int) -> None:
    """End every item with an event; a third is given back once before."""
    given_back: set[str] = set()
    while await log.last() < total:
        claims = await queue.claim(worker, ["fetch"], 11, all_of)
        again = set(ids_of(claims)[::3]) - given_back
        given_back |= again
        done = set(ids_of(claims)) - again
        endings: list[tuple[Claim, Ending]] = [
            (claim, Done() if claim.id in done else Release(park=True)) for claim in claims
        ]
        await queue.settle(endings, partial(announce, log, done))


def announce(log: EventLog, done: set[str], unit: Unit, accepted: Collection[str]) -> None:
    log.append(unit, [Message(new_id(), "done", item, {}) for item in done & set(accepted)])


async def test_everything_ends_once_under_a_crowd_of_processes(stores: Stores, eye: Store) -> None:
    opened = [await stores.open() for _ in range(3)]
    queues = [SqlQueue(store, {}) for store in opened]
    logs = [EventLog(store) for store in opened]
    for n in range(6):
        await enter_worker(eye, f"w{n}")

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        for n in range(6):
            tasks.create_task(submit_many(queues[n % 3], f"{n}"))
            tasks.create_task(work_until_done(queues[n % 3], logs[n % 3], f"w{n}", 600))

    ended = [event.message.key for event in await EventLog(eye).read()]
    assert sorted(ended) == sorted(await states_of(eye))
    assert set((await states_of(eye)).values()) == {State.DONE}
    assert await counted(eye) == {}


async def test_crowd_of_processes_never_waits_in_a_circle(in_postgres: Stores) -> None:
    opened = [await in_postgres.open() for _ in range(3)]

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        for n in range(6):
            queue, log = SqlQueue(opened[n % 3], {}), EventLog(opened[n % 3])
            tasks.create_task(submit_many(queue, f"{n}"))
            tasks.create_task(work_until_done(queue, log, f"w{n}", 600))

    for store in opened:
        await store.close()  # only then the server's own count is complete
    query = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    url = in_postgres.settings.url.get_secret_value()
    assert await run_sql(url, query) == [(0,)]
