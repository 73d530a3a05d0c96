"""What a lost worker held is taken back, and what was buried can be revived."""

import asyncio

from penstock.queue.ports import Bury, Release, Retry, State
from penstock.queue.sql import SqlQueue
from penstock.store.store import Store
from tests.queues import FAILURE, claim_all, claim_one, put_and_claim, settle_all
from tests.stores import (
    Stores,
    all_of,
    counted,
    enter_worker,
    ids_of,
    lose_worker,
    make_items,
    pending,
    states_of,
)


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
