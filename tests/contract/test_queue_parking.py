"""A group that cannot be worked on now waits as a whole, and no other does."""

from penstock.queue.ports import Ending, Item, Release, Retry
from penstock.queue.sql import SqlQueue
from tests.queues import FAILURE, claim_all, claim_one, put_and_claim, settle_all
from tests.stores import Stores, all_of, make_items


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
