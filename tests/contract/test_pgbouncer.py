"""The store through a pgbouncer in transaction mode: some of each suite, and what is its own.

With `--store pgbouncer` all suites that use PostgreSQL go through it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine

from penstock.cli.doctor_store import examine_store
from penstock.core.clock import SystemClock
from penstock.core.errors import SettingsError, StoreLost
from penstock.settings import load_settings
from penstock.store.pooling import Pooling, look_for_pooler
from penstock.store.postgres import IDLE, IDLE_MS, SHARING, server_url
from penstock.store.settings import StoreSettings
from penstock.store.store import Store, open_store
from tests import pgbouncer_server
from tests.contract.test_catalog_audit import test_nothing_is_wrong_with_an_empty_store
from tests.contract.test_catalog_exporting import (
    notebook,
    rows,
    test_a_row_that_is_committed_late_is_not_missed,
    test_corrections_send_old_prices_again_as_they_count_now,
)
from tests.contract.test_catalog_upkeep import test_more_than_fits_in_a_step_is_forgotten_at_once
from tests.contract.test_catalogue import (
    site,
    test_many_pages_are_written_in_a_handful_of_statements,
    test_page_is_kept_with_all_it_says,
)
from tests.contract.test_dump import test_everything_arrives_and_work_goes_on
from tests.contract.test_events import test_reader_that_follows_the_log_misses_nothing
from tests.contract.test_products import (
    shop,
    test_offer_is_written_with_all_it_says,
    test_workers_at_the_same_time_write_each_offer_once,
)
from tests.contract.test_queue_claiming import (
    test_claimed_item_comes_back_as_it_was_put,
    test_more_ids_than_a_statement_takes_are_claimed_and_revived,
)
from tests.contract.test_queue_crowds import (
    test_crowd_of_processes_never_waits_in_a_circle,
    test_everything_ends_once_under_a_crowd_of_processes,
)
from tests.contract.test_queue_settling import test_all_kinds_of_endings_go_in_one_call
from tests.contract.test_store_trouble import (
    server_store,
    test_broken_connections_are_ridden_out,
    test_transactions_in_each_others_way_are_run_again,
)
from tests.notes import notes, numbers, put
from tests.pgbouncer_server import PrivatePgbouncer
from tests.stores import PostgresServer, Stores
from tools.provision.pgbouncer import TRANSACTIONS
from tools.provision.processes import free_port

__all__ = [
    "notebook",
    "rows",
    "server_store",
    "shop",
    "site",
    "test_a_row_that_is_committed_late_is_not_missed",
    "test_all_kinds_of_endings_go_in_one_call",
    "test_broken_connections_are_ridden_out",
    "test_claimed_item_comes_back_as_it_was_put",
    "test_corrections_send_old_prices_again_as_they_count_now",
    "test_crowd_of_processes_never_waits_in_a_circle",
    "test_everything_arrives_and_work_goes_on",
    "test_everything_ends_once_under_a_crowd_of_processes",
    "test_many_pages_are_written_in_a_handful_of_statements",
    "test_more_ids_than_a_statement_takes_are_claimed_and_revived",
    "test_more_than_fits_in_a_step_is_forgotten_at_once",
    "test_nothing_is_wrong_with_an_empty_store",
    "test_offer_is_written_with_all_it_says",
    "test_page_is_kept_with_all_it_says",
    "test_reader_that_follows_the_log_misses_nothing",
    "test_transactions_in_each_others_way_are_run_again",
    "test_workers_at_the_same_time_write_each_offer_once",
]

#: Lets what a pgbouncer does not know pass: who is not told of it goes wrong later.
CARELESS = {**TRANSACTIONS, "ignore_startup_parameters": IDLE}


@pytest.fixture
def stores(in_pgbouncer: Stores) -> Stores:
    return in_pgbouncer


@pytest.fixture
def in_postgres(in_pgbouncer: Stores) -> Stores:
    return in_pgbouncer


Pooler = Callable[..., PrivatePgbouncer]


@pytest.fixture
def pooler(postgres: PostgresServer) -> Iterator[Pooler]:
    """Starts one with options of the test's own."""
    started: list[PrivatePgbouncer] = []

    def start(**options: str) -> PrivatePgbouncer:
        server = PrivatePgbouncer(pgbouncer_server.find_program(), postgres.url, options)
        started.append(server)
        server.start()
        return server

    yield start
    for server in started:
        server.stop()


async def test_connections_are_shared_and_keep_nothing(in_pgbouncer: Stores) -> None:
    opened = [await in_pgbouncer.open(pool_size=8) for _ in range(4)]
    setting, process = text(f"SHOW {IDLE}"), text("SELECT pg_backend_pid()")

    async def look(store: Store) -> tuple[str, int]:
        return await store.read(
            lambda unit: (unit.run(setting).scalar_one(), unit.run(process).scalar_one())
        )

    seen = await asyncio.gather(*(look(store) for store in opened for _ in range(8)))

    assert {timeout for timeout, _ in seen} == {f"{IDLE_MS // 1000}s"}
    assert len({pid for _, pid in seen}) <= 8


async def test_what_a_transaction_sets_ends_with_it(in_pgbouncer: Stores) -> None:
    store = await in_pgbouncer.open()
    await asyncio.gather(*(store.read(lambda unit: unit.now) for _ in range(8)))
    engine = create_async_engine(server_url(in_pgbouncer.settings), connect_args=SHARING)

    async with engine.begin() as connection:
        left = (await connection.execute(text(f"SHOW {IDLE}"))).scalar_one()
    await engine.dispose()

    assert left == "0"


async def test_what_stands_between_is_noticed(in_pgbouncer: Stores) -> None:
    directly = StoreSettings(url=in_pgbouncer.server_url)

    assert await look_for_pooler(in_pgbouncer.settings) is Pooling.TRANSACTIONS
    assert await look_for_pooler(directly) is Pooling.NONE


async def test_a_pgbouncer_that_is_started_again_is_ridden_out(
    postgres: PostgresServer, pooler: Pooler
) -> None:
    server = pooler(**TRANSACTIONS)
    async with postgres.empty_database() as url:
        through = make_url(server.url).set(database=make_url(url).database)
        settings = StoreSettings(url=through.render_as_string(), pgbouncer=True)
        async with open_store(settings, SystemClock()) as store:
            await _ride_out(store, server)


async def _ride_out(store: Store, server: PrivatePgbouncer) -> None:
    await store.write(lambda unit: notes.create(unit.connection))
    writing = asyncio.gather(*(store.write(put(n), f"{n % 3}") for n in range(30)))
    await asyncio.sleep(0.01)

    server.kill()
    await asyncio.sleep(0.1)
    await asyncio.to_thread(server.start)

    await asyncio.gather(writing, return_exceptions=True)
    assert await store.read(numbers) == list(range(30))


@pytest.mark.parametrize("options", [TRANSACTIONS, CARELESS], ids=["strict", "careless"])
async def test_who_does_not_say_that_it_is_one_is_told_at_once(
    postgres: PostgresServer, pooler: Pooler, options: dict[str, str]
) -> None:
    settings = StoreSettings(url=pooler(**options).url)
    async with open_store(settings, SystemClock()) as store:
        with pytest.raises(SettingsError, match="PENSTOCK_STORE__PGBOUNCER=true"):
            await _ask_beside_others(store, settings)


async def _ask_beside_others(store: Store, settings: StoreSettings) -> None:
    await store.read(lambda unit: unit.now)
    async with _somebody_else(settings):
        await store.read(lambda unit: unit.now)


@asynccontextmanager
async def _somebody_else(settings: StoreSettings) -> AsyncIterator[None]:
    """Has the server's connection that was used last, so that the next one gets another."""
    engine = create_async_engine(server_url(settings), connect_args=SHARING)
    try:
        async with engine.begin() as connection:
            await connection.execute(text("SELECT 1"))
            yield
    finally:
        await engine.dispose()


def test_the_doctor_tells_what_stands_between(postgres: PostgresServer, pooler: Pooler) -> None:
    def state_of(url: str, **said: bool) -> tuple[str, str]:
        finding = examine_store(load_settings(store={"url": url, **said}))
        return finding.state, finding.do

    shared, sessions = pooler(**TRANSACTIONS).url, pooler(pool_mode="session").url

    assert state_of(postgres.url) == ("ok", "")
    assert state_of(sessions) == ("ok", "")
    assert state_of(shared, pgbouncer=True) == ("ok", "")
    assert state_of(shared) == ("problem", "set PENSTOCK_STORE__PGBOUNCER=true")
    assert state_of(postgres.url, pgbouncer=True)[0] == "note"


def test_the_doctor_names_the_setting_of_a_store_that_does_not_answer() -> None:
    url = f"postgresql://ann:secret@127.0.0.1:{free_port()}/none"

    finding = examine_store(load_settings(store={"url": url}))

    assert (finding.state, "PENSTOCK_STORE__URL" in finding.do) == ("problem", True)
    assert "secret" not in finding.says


async def test_session_pooling_is_told_apart(pooler: Pooler) -> None:
    settings = StoreSettings(url=pooler(pool_mode="session").url)

    assert await look_for_pooler(settings) is Pooling.SESSIONS


async def test_a_pooler_that_takes_what_was_used_last_is_noticed(pooler: Pooler) -> None:
    settings = StoreSettings(url=pooler(pool_mode="transaction").url)

    assert await look_for_pooler(settings) is Pooling.TRANSACTIONS


async def test_a_server_that_is_not_there_is_lost() -> None:
    with pytest.raises(StoreLost, match="does not answer"):
        await look_for_pooler(StoreSettings(url=f"postgresql://127.0.0.1:{free_port()}/none"))
