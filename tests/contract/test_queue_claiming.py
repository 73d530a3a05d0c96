"""What waits is claimed by one, in its order, and fairly; or by its id."""

from collections import Counter

import pytest

from penstock.queue.ports import Bury, Done, Item, State
from penstock.queue.sql import SqlQueue
from penstock.queue.tables import lines
from penstock.store.store import Store
from tests.queues import FAILURE, claim_all, claim_one, put_and_claim, settle_all
from tests.stores import Stores, all_of, ids_of, lose_next_commit, make_items, rows_of, states_of


async def test_claimed_item_comes_back_as_it_was_put(queue: SqlQueue) -> None:
    payload = {"url": "http://shop/", "headers": {"a": "b"}, "n": [1, None, True, 0.5]}
    item = Item("1", "fetch", payload, group="shop", priority=3, traceparent="00-ab-cd-01")

    await queue.put([item])
    claim = await claim_one(queue)

    assert (claim.id, claim.lane, claim.payload) == ("1", "fetch", payload)
    assert (claim.group, claim.priority, claim.attempts) == ("shop", 3, 1)
    assert claim.traceparent == "00-ab-cd-01"


async def test_claimed_item_is_not_claimed_again(queue: SqlQueue) -> None:
    await put_and_claim(queue, 5)

    assert await claim_all(queue, worker="another") == []


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
