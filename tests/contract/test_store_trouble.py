"""A store that breaks off, goes away or is crowded is waited for, and used again."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.engine import make_url

from penstock.core.clock import SystemClock
from penstock.core.errors import StoreLost
from penstock.store.settings import StoreSettings
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests import postgres_server
from tests.clocks import HandClock
from tests.notes import notes, numbers, open_with_notes, put
from tests.postgres_server import PrivatePostgres
from tests.stores import Stores, run_sql


async def end_all_connections(stores: Stores) -> None:
    """Let the server break off every connection to the test's database."""
    query = """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
    """
    await run_sql(stores.server_url, query)


@pytest.fixture
async def server_store(in_postgres: Stores) -> Store:
    return await open_with_notes(in_postgres, pool_size=4)


async def test_broken_connections_are_ridden_out(server_store: Store, in_postgres: Stores) -> None:
    readers = [
        server_store.read(lambda unit: unit.run(text("SELECT pg_sleep(0.2)")).all())
        for _ in range(3)
    ]
    reading = asyncio.gather(*readers)
    writing = asyncio.gather(*(server_store.write(put(n), f"{n % 2}") for n in range(50)))
    await asyncio.sleep(0.05)

    await end_all_connections(in_postgres)

    await asyncio.gather(reading, writing)
    assert await server_store.read(numbers) == list(range(50))


async def test_connections_that_broke_while_nobody_used_them_are_ridden_out(
    server_store: Store, in_postgres: Stores
) -> None:
    await asyncio.gather(*(server_store.read(numbers) for _ in range(8)))
    await end_all_connections(in_postgres)

    assert await server_store.read(numbers) == []
    assert await server_store.write(put(1)) == 1


async def test_connection_that_breaks_amid_a_unit_of_work_runs_it_again(
    server_store: Store, in_postgres: Stores
) -> None:
    runs: list[int] = []

    def work(unit: Unit) -> int:
        runs.append(1)
        put(5)(unit)
        if len(runs) == 1:
            unit.run(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return 5

    assert await server_store.write(work) == 5
    assert (len(runs), await server_store.read(numbers)) == (2, [5])


@pytest.fixture
def private_server() -> Iterator[PrivatePostgres]:
    server = PrivatePostgres(postgres_server.find_program())
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def on_private_server(private_server: PrivatePostgres) -> AsyncIterator[Stores]:
    async with AsyncExitStack() as stack:
        settings = StoreSettings(url=private_server.url, ride_out_seconds=30)
        yield Stores(settings, SystemClock(), stack)


async def test_restart_of_the_server_is_ridden_out(
    private_server: PrivatePostgres, on_private_server: Stores
) -> None:
    store = await open_with_notes(on_private_server)
    writing = asyncio.gather(*(store.write(put(n), f"{n % 3}") for n in range(30)))
    await asyncio.sleep(0.01)

    private_server.kill()
    reading = asyncio.create_task(store.read(lambda unit: unit.run(text("SELECT 1")).scalar_one()))
    await asyncio.sleep(0.1)
    await asyncio.to_thread(private_server.start)

    await asyncio.gather(writing, return_exceptions=True)
    assert await reading == 1
    assert await store.read(numbers) == list(range(30))


async def test_store_that_stays_away_is_lost_after_a_while(
    private_server: PrivatePostgres, on_private_server: Stores
) -> None:
    clock = HandClock()
    store = await on_private_server.open(clock, ride_out_seconds=60)
    await store.read(lambda unit: unit.run(text("SELECT 1")))
    private_server.kill()

    with pytest.raises(StoreLost, match="out of reach"):
        await store.write(put(1))

    assert 60 <= sum(clock.slept) < 70


async def test_store_that_was_lost_is_used_again_when_it_is_back(
    private_server: PrivatePostgres, on_private_server: Stores
) -> None:
    store = await on_private_server.open(HandClock())
    private_server.kill()
    with pytest.raises(StoreLost):
        await store.read(numbers)

    private_server.start()

    await store.write(lambda unit: notes.create(unit.connection))
    assert await store.write(put(1)) == 1


async def test_server_that_has_no_connection_left_is_waited_for(
    private_server: PrivatePostgres, on_private_server: Stores
) -> None:
    url = make_url(private_server.url)
    await run_sql(private_server.url, "CREATE ROLE guest LOGIN CONNECTION LIMIT 1")
    guest = url.set(username="guest").render_as_string(hide_password=False)
    stores = Stores(StoreSettings(url=guest), SystemClock(), on_private_server._stack)
    first, second = await stores.open(), await stores.open()
    await first.read(lambda unit: unit.run(text("SELECT 1")))

    waiting = asyncio.create_task(second.read(lambda unit: unit.run(text("SELECT 2")).scalar_one()))
    await asyncio.sleep(0.1)
    await first.close()

    assert await waiting == 2


async def test_transactions_in_each_others_way_are_run_again(server_store: Store) -> None:
    await server_store.write(put(1, number=0))
    await server_store.write(put(2, number=0))

    def add(first: int, second: int) -> Callable[[Unit], None]:
        def work(unit: Unit) -> None:
            for number in (first, second):
                statement = update(notes).where(notes.c.id == number)
                unit.run(statement.values(number=notes.c.number + 1))
                unit.run(text("SELECT pg_sleep(0.1)"))

        return work

    await asyncio.gather(server_store.write(add(1, 2), "a"), server_store.write(add(2, 1), "b"))

    query = select(notes.c.number)
    assert await server_store.read(lambda unit: unit.run(query).scalars().all()) == [2, 2]
