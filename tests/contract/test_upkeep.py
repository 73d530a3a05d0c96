"""Looking after the queue: what is listed, what gets stale, what is forgotten."""

from penstock.queue.glance import glance
from penstock.queue.lines import Line
from penstock.queue.ports import Bury, Done, Item, State
from penstock.queue.tables import counts, lines
from penstock.queue.upkeep import Upkeep, forget_empty_counts, forget_empty_lines
from tests.stores import (
    Stores,
    all_of,
    counted,
    enter_worker,
    make_items,
    pending,
    rows_of,
    states_of,
)

SECRET = {"url": "http://a.test/", "headers": {"Authorization": "Bearer swordfish"}}


async def test_items_are_listed_without_what_a_caller_keeps_secret(stores: Stores) -> None:
    queue, upkeep = await stores.queue(), Upkeep(await stores.open())
    await queue.put([Item("one", "fetch", SECRET), Item("two", "other", {})])
    (only,) = await upkeep.items(lane="fetch")
    assert only["payload"] == {"url": "http://a.test/", "headers": ["Authorization"]}
    assert [item["id"] for item in await upkeep.items()] == ["two", "one"]
    assert await upkeep.items(state=State.DEAD) == []


async def test_what_waited_too_long_is_stale_and_can_be_requeued(stores: Stores) -> None:
    queue, store = await stores.queue(), await stores.open()
    await queue.put([*make_items(3, max_age=-1.0), *make_items(1, first=3, max_age=3600.0)])
    assert await Upkeep(store).make_stale() == 3
    assert list((await states_of(store)).values()).count("stale") == 3
    assert await counted(store) == await pending(store)
    assert len(await queue.claim("w", ["fetch"], 10, all_of)) == 1
    assert await queue.revive(lane="fetch") == 3
    assert await Upkeep(store).make_stale() == 0
    assert len(await queue.claim("w", ["fetch"], 10, all_of)) == 3


async def test_purge_forgets_what_is_over_and_never_what_is_claimed(stores: Stores) -> None:
    queue, store = await stores.queue(), await stores.open()
    upkeep = Upkeep(store)
    await enter_worker(store, "w")
    await queue.put(make_items(4))
    first, second, third, _ = await queue.claim("w", ["fetch"], 4, all_of)
    await queue.settle([(first, Done()), (second, Bury({"reason": "x"}))])
    assert await upkeep.purge([State.DONE], older_than=3600) == 0
    assert await upkeep.purge([State.DONE]) == 1
    assert await upkeep.purge([State.DEAD], lane="other") == 0
    assert await upkeep.purge(list(State)) == 1
    assert set((await states_of(store)).values()) == {"claimed"}
    assert await counted(store) == await pending(store)
    assert await queue.settle([(third, Done())]) == {third.id}


async def test_purging_what_waits_takes_it_out_of_the_counts(stores: Stores) -> None:
    queue, store = await stores.queue(), await stores.open()
    await queue.put(make_items(5, quota="q"))
    assert await Upkeep(store).purge([State.WAITING], lane="fetch") == 5
    assert await counted(store) == {}
    assert await queue.claim("w", ["fetch"], 10, all_of) == []


async def test_lines_without_work_can_go(stores: Stores) -> None:
    queue, store = await stores.queue(), await stores.open()
    await queue.put(make_items(1, group="a.test"))
    await queue.put(make_items(1, group="b.test", delay=3600))
    (claim,) = await queue.claim("w", ["fetch"], 10, all_of)
    await queue.settle([(claim, Done())])
    assert await store.write(forget_empty_lines) == 1
    (left,) = await rows_of(store, lines)
    assert Line(left["lane"], left["priority"], left["group_key"]) == ("fetch", 5, "b.test")


async def test_counts_of_nothing_can_go_and_what_is_pending_stays_counted(stores: Stores) -> None:
    queue, store = await stores.queue(), await stores.open()
    await queue.put(make_items(2, quota="over"))
    claims = await queue.claim("w", ["fetch"], 10, all_of)
    await queue.put(make_items(3, first=10, quota="open"))
    await queue.settle([(claim, Done()) for claim in claims])
    # As if one process had put what another one settled.
    by_another = {"lane": "fetch", "quota": "open", "shard": -1, "pending": -3}
    await store.write(lambda unit: unit.insert_all(counts, [by_another]))
    await queue.put(make_items(1, first=20, quota="open"))

    assert await store.write(forget_empty_counts) == 1
    assert {row["quota"] for row in await rows_of(store, counts)} == {"open", ""}
    assert await counted(store) == {("fetch", "open"): 1}
    await queue.put(make_items(1, first=30, quota="over"))
    assert await counted(store) == {("fetch", "open"): 1, ("fetch", "over"): 1}


async def test_counts_that_cancel_out_go_together(stores: Stores) -> None:
    store = await stores.open()
    rows = [
        {"lane": "fetch", "quota": "q", "shard": shard, "pending": number}
        for shard, number in ((1, 5), (2, -5))
    ]
    await store.write(lambda unit: unit.insert_all(counts, rows))

    assert await store.write(forget_empty_counts) == 1
    assert await store.write(forget_empty_counts) == 0
    (left,) = await rows_of(store, counts)
    assert (left["quota"], left["pending"]) == ("", 0)
    assert [depth.lane for depth in (await glance(store)).depths] == ["fetch"]
