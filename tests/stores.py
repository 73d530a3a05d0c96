"""Stores for tests: a database of the test's own, on SQLite and on a real PostgreSQL."""

import os
import tempfile
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
from sqlalchemy import Table, event, func, select, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from penstock.core.clock import Clock, SystemClock
from penstock.kernel.model import Outcome
from penstock.queue.lanes import Lane, Result
from penstock.queue.ports import Claim, Item, LaneLimit
from penstock.queue.sql import SqlQueue
from penstock.queue.tables import counts, items, lines, workers
from penstock.store import migrate
from penstock.store.settings import FILE_NAME, StoreSettings
from penstock.store.store import Store, Transact, Work, open_store
from tests import pgbouncer_server, postgres_server
from tests.clocks import HandClock
from tests.pgbouncer_server import PrivatePgbouncer
from tests.postgres_server import PrivatePostgres
from tests.private_server import serving

#: Tests run in several processes on one server, and each has a template of its own.
TEMPLATE = f"penstock_template{os.environ.get('PYTEST_XDIST_WORKER', '')}"
_template: list[bytes] = []
#: Whoever is still connected to this database, a process that was killed for one, is cut off.
LEAVE = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
#: Rows, numbers given out and what the planner learned are gone; triggers have no say in it.
#: The planner takes a table of up to ten pages that it knows nothing of for one of ten.
EMPTY = """
    DO $$
    DECLARE
        each regclass;
    BEGIN
        SET LOCAL session_replication_role = replica;
        FOR each IN
            SELECT oid FROM pg_class
            WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
                AND relname <> 'alembic_version'
        LOOP
            IF pg_relation_size(each) > 10 * 8192 THEN
                EXECUTE format('TRUNCATE %s CASCADE', each);
            ELSIF pg_relation_size(each) > 0 THEN
                EXECUTE format('DELETE FROM %s', each);
            END IF;
        END LOOP;
        PERFORM setval(format('%I.%I', schemaname, sequencename), start_value, false)
            FROM pg_sequences WHERE last_value IS NOT NULL;
        DELETE FROM pg_statistic WHERE starelid >= 16384;
        UPDATE pg_class SET relpages = 0, reltuples = -1
            WHERE relkind = 'r' AND oid >= 16384 AND reltuples <> -1;
        UPDATE pg_class SET relpages = 1, reltuples = 0
            WHERE relkind = 'i' AND oid >= 16384 AND reltuples <> 0;
        PERFORM pg_stat_reset();
    END $$
"""
#: A test that changed more than rows leaves another shape, and its database is not used again.
SHAPE = """
    SELECT
        (SELECT count(*) FROM pg_class WHERE relpersistence <> 't'),
        (SELECT count(*) FROM pg_attribute),
        (SELECT count(*) FROM pg_constraint),
        (SELECT count(*) FROM pg_trigger),
        (SELECT count(*) FROM pg_proc),
        (SELECT version_num FROM alembic_version)
"""


class Stores:
    """One database; what is opened twice stands for two processes."""

    def __init__(
        self, settings: StoreSettings, clock: Clock, stack: AsyncExitStack, server_url: str = ""
    ) -> None:
        self.settings = settings
        self.clock = clock
        #: The database itself, whatever stands in front of it.
        self.server_url = server_url or settings.url.get_secret_value()
        self._stack = stack

    @property
    def engine(self) -> str:
        return "postgresql" if self.settings.is_shared else "sqlite"

    async def open(self, clock: Clock | None = None, **changes: Any) -> Store:
        settings = self.settings.model_copy(update=changes)
        return await self._stack.enter_async_context(open_store(settings, clock or self.clock))

    async def queue(self, limits: Mapping[str, LaneLimit] | None = None) -> SqlQueue:
        return SqlQueue(await self.open(), limits or {})

    async def later(self, seconds: float) -> None:
        """Let time pass: by the test's clock, or by making everything older on a real one."""
        if isinstance(self.clock, HandClock):
            self.clock.move(seconds)
            return
        ms = int(seconds * 1000)
        older = [
            update(items).values(not_before=items.c.not_before - ms),
            update(lines).values(next_at=lines.c.next_at - ms),
        ]
        store = await self.open()
        await store.write(lambda unit: [unit.run(statement) for statement in older] and None)


class PostgresServer:
    """A server on which every test gets a database with all tables, copied from a template.

    Most tests leave one that only has to be emptied for the next: to copy one takes half a second.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._has_template = False
        self._spare: dict[str, Sequence[Any]] = {}

    @asynccontextmanager
    async def database(self) -> AsyncIterator[str]:
        """The URL of a database with the tables of today, and nothing in them."""
        if not self._has_template:
            await self._make_template()
        name, shape = self._spare.popitem() if self._spare else await self._new_database()
        url = self.url_of(name)
        try:
            yield url
        finally:
            if await self._empty(name) == shape:
                self._spare[name] = shape
            else:
                await self._drop(name)

    @asynccontextmanager
    async def empty_database(self) -> AsyncIterator[str]:
        """The URL of a database without any table."""
        name = await self._copy_of("template0")
        try:
            yield self.url_of(name)
        finally:
            await self._drop(name)

    async def _new_database(self) -> tuple[str, Sequence[Any]]:
        name = await self._copy_of(TEMPLATE)
        return name, await self._empty(name)

    async def _empty(self, database: str) -> Sequence[Any]:
        """Take everything out of a database that nobody may use any more; what its shape is."""
        return await run_sql(self.url_of(database), LEAVE, EMPTY, SHAPE)

    async def _copy_of(self, template: str) -> str:
        name = f"test_{uuid4().hex}"
        await self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    async def _drop(self, name: str) -> None:
        await self.run(f"DROP DATABASE {name} WITH (FORCE)")

    async def _make_template(self) -> None:
        await self.run(f"DROP DATABASE IF EXISTS {TEMPLATE}")
        await self.run(f"CREATE DATABASE {TEMPLATE}")
        settings = StoreSettings(url=self.url_of(TEMPLATE))
        async with open_store(settings, SystemClock()) as store:
            await migrate.upgrade(store)
        self._has_template = True

    def url_of(self, database: str) -> str:
        return make_url(self.url).set(database=database).render_as_string(hide_password=False)

    async def run(self, statement: str) -> None:
        """Run a statement on the server, outside of any transaction."""
        await run_sql(self.url, statement)


async def run_sql(url: str, *statements: str) -> Sequence[Any]:
    """Run statements on a connection of their own; the rows, if the last one returns some."""
    connection = await asyncpg.connect(url)
    try:
        found: Sequence[Any] = []
        for statement in statements:
            found = await connection.fetch(statement)
        return found
    finally:
        await connection.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    if url := os.environ.get("PENSTOCK_TEST_POSTGRES_URL"):
        yield PostgresServer(url)
        return
    server = PrivatePostgres(postgres_server.find_program())
    server.start()
    yield PostgresServer(server.url)
    server.stop()


@pytest.fixture
async def in_sqlite(tmp_path: Path) -> AsyncIterator[Stores]:
    async with sqlite_stores(tmp_path) as stores:
        yield stores


@pytest.fixture(scope="session")
def pgbouncer(postgres: PostgresServer) -> Iterator[str]:
    """The address of a pgbouncer in transaction mode, in front of the server."""
    with serving(PrivatePgbouncer(pgbouncer_server.find_program(), postgres.url)) as url:
        yield url


@pytest.fixture
def in_postgres(request: pytest.FixtureRequest) -> Stores:
    """Stores on the server; with `--store pgbouncer`, on the one that stands in front of it."""
    through = request.config.getoption("--store") or "directly"
    chosen: Stores = request.getfixturevalue(
        {"directly": "in_postgres_itself", "pgbouncer": "in_pgbouncer"}[through]
    )
    return chosen


@pytest.fixture
async def in_postgres_itself(postgres: PostgresServer) -> AsyncIterator[Stores]:
    async with postgres.database() as url, AsyncExitStack() as stack:
        yield Stores(StoreSettings(url=url), SystemClock(), stack)


@pytest.fixture
async def in_pgbouncer(postgres: PostgresServer, pgbouncer: str) -> AsyncIterator[Stores]:
    async with postgres.database() as url, AsyncExitStack() as stack:
        through = make_url(pgbouncer).set(database=make_url(url).database)
        settings = StoreSettings(url=through.render_as_string(), pgbouncer=True)
        yield Stores(settings, SystemClock(), stack, url)


@pytest.fixture(params=["sqlite", "postgresql"])
def stores(request: pytest.FixtureRequest) -> Stores:
    chosen: Stores = request.getfixturevalue(
        {"sqlite": "in_sqlite", "postgresql": "in_postgres"}[request.param]
    )
    return chosen


@asynccontextmanager
async def sqlite_stores(folder: Path) -> AsyncIterator[Stores]:
    """Stores in a folder, with the tables of today and a clock that is moved by hand."""
    async with AsyncExitStack() as stack:
        await make_sqlite(folder)
        yield Stores(StoreSettings(folder=folder), HandClock(), stack)


async def make_sqlite(folder: Path) -> None:
    """Put a database with the tables of today in a folder; it is made once and then copied."""
    if not _template:
        with tempfile.TemporaryDirectory() as workshop:
            settings = StoreSettings(folder=Path(workshop))
            async with open_store(settings, SystemClock()) as store:
                await migrate.upgrade(store)
            _template.append((Path(workshop) / FILE_NAME).read_bytes())
    (folder / FILE_NAME).write_bytes(_template[0])


@contextmanager
def statements_of(store: Store) -> Iterator[list[str]]:
    """Fills with the statements of the writes that a store carries out meanwhile."""
    said: list[str] = []

    def note(*call: Any) -> None:
        said.append(call[2])

    event.listen(store._dialect.writing, "before_cursor_execute", note)
    try:
        yield said
    finally:
        event.remove(store._dialect.writing, "before_cursor_execute", note)


def lose_next_commit(store: Store) -> None:
    """Commit the next transaction, but let the connection break before the answer is heard."""
    run = store._transact
    lost: list[bool] = []

    async def transact_and_break(works: list[Work[Any]], transact: Transact) -> list[Any]:
        results = await run(works, transact)
        if not lost:
            lost.append(True)
            raise NoFreeConnection("the connection broke after the commit")
        return results

    store._transact = transact_and_break  # type: ignore[method-assign]


def all_of(_group: str) -> tuple[int, float]:
    """A share without bounds: everything of every group is wanted, now."""
    return 10_000, 0.0


def make_items(number: int, *, first: int = 0, lane: str = "fetch", **traits: Any) -> list[Item]:
    """Items with ids in the order of their numbers."""
    return [
        Item(id=f"{lane}-{traits.get('group', '')}-{place:05}", lane=lane, payload={}, **traits)
        for place in range(first, first + number)
    ]


def ids_of(claims: Sequence[Claim | Item]) -> list[str]:
    return [claim.id for claim in claims]


async def result_of(lane: Lane, claim: Claim, outcome: Outcome) -> Result:
    """What an outcome means to its lane, as the station has it."""
    content = lane.content(claim, outcome)
    if isinstance(content, Coroutine):
        content = await content
    return Result(claim, outcome, lane.conclude(claim, outcome), content)


async def enter_worker(store: Store, worker: str) -> None:
    """Let a worker be known, as its heartbeat would."""
    row = dict.fromkeys(("kind", "host", "process"), "") | dict.fromkeys(
        ("beats", "started_at", "beat_at"), 0
    )
    statement = workers.insert().values({**row, "id": worker, "lanes": [], "status": {}})
    await store.write(lambda unit: unit.run(statement) and None)


async def lose_worker(store: Store, worker: str) -> None:
    """Strike a worker off, as whoever notices its silence would."""
    statement = workers.delete().where(workers.c.id == worker)
    await store.write(lambda unit: unit.run(statement) and None)


async def rows_of(store: Store, table: Table) -> list[dict[str, Any]]:
    return await store.read(
        lambda unit: [dict(row) for row in unit.run(select(table)).mappings().all()]
    )


async def row_of(store: Store, item: str) -> dict[str, Any]:
    """What the table says of one item."""
    query = select(items).where(items.c.id == item)
    return await store.read(lambda unit: dict(unit.run(query).mappings().one()))


async def states_of(store: Store) -> dict[str, str]:
    """Where each item stands."""
    return {row["id"]: row["state"] for row in await rows_of(store, items)}


async def counted(store: Store) -> dict[tuple[str, str], int]:
    """What the counts say is pending, by lane and quota."""
    query = select(counts.c.lane, counts.c.quota, func.sum(counts.c.pending))
    query = query.group_by(counts.c.lane, counts.c.quota)
    found = await store.read(lambda unit: unit.run(query).all())
    return {(lane, quota): int(number) for lane, quota, number in found if number}


async def pending(store: Store) -> dict[tuple[str, str], int]:
    """What really is pending, by lane and quota."""
    query = select(items.c.lane, items.c.quota, func.count())
    query = query.where(items.c.state.in_(("waiting", "claimed")))
    query = query.group_by(items.c.lane, items.c.quota)
    found = await store.read(lambda unit: unit.run(query).all())
    return {(lane, quota): number for lane, quota, number in found}
