"""A claim ends once, in the way it was told to, and a late ending is refused."""

from collections.abc import Collection

import pytest

from penstock.queue.ports import Bury, Done, Ending, Release, Retry, State
from penstock.queue.sql import SqlQueue
from penstock.queue.tables import items
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.queues import FAILURE, Notes, claim_all, claim_one, put_and_claim, settle_all
from tests.stores import Stores, counted, ids_of, lose_next_commit, row_of, rows_of, states_of


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
