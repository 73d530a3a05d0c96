"""A backup taken on one engine is restored on the other."""

import pytest

from penstock.core.errors import StoreError
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.queue.ports import Done
from penstock.queue.sql import SqlQueue
from penstock.store import dump
from penstock.store.dump import tables
from penstock.store.store import Store
from tests.stores import Stores, all_of, counted, enter_worker, make_items, pending, rows_of

Saved = dict[str, list[dict[str, object]]]


async def save(store: Store) -> Saved:
    saved: Saved = {}
    await store.read(
        lambda unit: dump.dump(unit, lambda name, rows: saved.__setitem__(name, list(rows)))
    )
    return saved


async def put_back(store: Store, saved: Saved) -> None:
    await store.write(
        lambda unit: [dump.load(unit, name, rows) for name, rows in saved.items()] and None
    )


async def fill(store: Store) -> None:
    queue, log = SqlQueue(store, {}), EventLog(store)
    await enter_worker(store, "w")
    await queue.put(make_items(2500, group="a.test"))
    first, second = await queue.claim("w", ["fetch"], 2, all_of)
    await queue.settle([(first, Done())])
    messages = [Message(str(n), "t", "k", {"n": n, "odd": "\x00\ud800"}) for n in range(3)]
    await store.write(lambda unit: log.append(unit, messages))
    assert second


@pytest.mark.parametrize("direction", ["to postgres", "to sqlite"])
async def test_everything_arrives_and_work_goes_on(
    direction: str, in_sqlite: Stores, in_postgres: Stores
) -> None:
    ways = {"to postgres": (in_sqlite, in_postgres), "to sqlite": (in_postgres, in_sqlite)}
    old, new = ways[direction]
    source, target = await old.open(), await new.open()
    await fill(source)
    saved = await save(source)
    assert await target.read(dump.is_empty)
    await put_back(target, saved)
    assert not await target.read(dump.is_empty)
    for table in tables():
        assert len(await rows_of(target, table)) == len(saved[table.name])
    queue = SqlQueue(target, {})
    assert await queue.rescue() == 1, "what was claimed belongs to nobody here"
    assert await counted(target) == await pending(target)
    log = EventLog(target)
    await target.write(lambda unit: log.append(unit, [Message("new", "t", "k", {})]))
    assert [event.seq for event in await log.read()] == [1, 2, 3, 4]


async def test_a_table_of_another_version_is_named(in_sqlite: Stores) -> None:
    store = await in_sqlite.open()
    with pytest.raises(StoreError, match="tomorrow"):
        await store.write(lambda unit: dump.load(unit, "tomorrow", []))
