"""Many processes at one queue get everything once, and never wait in a circle."""

import asyncio
from collections.abc import Collection
from functools import partial

from penstock.core.ids import new_id
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.queue.ports import Claim, Done, Ending, Item, Release, State
from penstock.queue.sql import SqlQueue
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.queues import claim_all
from tests.stores import (
    Stores,
    all_of,
    counted,
    enter_worker,
    ids_of,
    make_items,
    run_sql,
    states_of,
)


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
    assert await run_sql(in_postgres.server_url, query) == [(0,)]
