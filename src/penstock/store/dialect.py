"""The one place where SQLite and PostgreSQL differ."""

import asyncio
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar
from zlib import crc32

from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    Engine,
    Table,
    Text,
    any_,
    bindparam,
    create_engine,
    event,
    func,
    inspect,
    select,
    text,
    tuple_,
)
from sqlalchemy import Dialect as EngineDialect
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, StatementError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import QueuePool

from penstock.core.clock import Clock
from penstock.core.errors import SettingsError
from penstock.core.log import get_logger
from penstock.store.schema import Moment, dump, metadata, storable
from penstock.store.settings import FILE_NAME, StoreSettings

T = TypeVar("T")

#: Milliseconds that a clock may have been ahead of itself; more is a mistake and not believed.
BELIEVABLE = 86_400_000
#: Classes of PostgreSQL's error codes that pass by themselves: connection, resources (also a
#: full disk), operator intervention, input/output, and transactions in each other's way.
PASSING = ("08", "53", "57", "58", "40", "55P03", "25P03")
#: The place of a value in a statement, with its type.
PLACE = re.compile(r"\$\d+::\w+(?:\(\d+, \d+\))?")
#: SQLite allows 32,000 values in a statement.
ROWS_AT_ONCE = 128
#: A process that is frozen, or cut off, in the middle of a transaction holds its locks no longer
#: than this; shorter than the silence after which its claims are taken back.
IDLE_MS = 10_000
IDLE = "idle_in_transaction_session_timeout"
#: How to connect to a server that keeps a connection for whoever opened it.
KEEPING = {
    "timeout": 10,
    "server_settings": {"application_name": "penstock", IDLE: str(IDLE_MS)},
}
#: How to connect through pgbouncer in transaction mode: the next transaction may be on another
#: connection to the server, so nothing may stay on one, be it a setting or a prepared statement.
SHARING = {
    "timeout": 10,
    "server_settings": {"application_name": "penstock"},
    "statement_cache_size": 0,
    "prepared_statement_cache_size": 0,
    "prepared_statement_name_func": lambda: "",
}
#: What is said where that is not done: a statement is there already or not at all, or a setting
#: is refused.
SIGNS_OF_SHARING = ("42P05", "26000")
UNKNOWN_SETTING = f"unsupported startup parameter: {IDLE}"
#: What a connection to SQLite keeps of the file; the system keeps the rest of it anyway.
WRITER_CACHE_KB, READER_CACHE_KB = 4_096, 2_048
#: So many changed pages may be more than that until they are committed.
CHANGED_PAGES = 8_000
CUT_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"
#: SQLite's errors that pass by themselves: another process is busy, no memory, the disk fails or
#: is full, the file cannot be opened or written at the moment.
PASSING_IN_FILE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)


#: On SQLite: the latest time that a process saw.
times = Table(
    "clock", metadata, Column("name", Text, primary_key=True), Column("at", Moment, nullable=False)
)


class InsertText(NamedTuple):
    """The text of an INSERT of one row, and the columns in the order of its values."""

    text: str
    names: tuple[str, ...]


#: Two columns of text.
Columns = tuple[ColumnElement[str], ColumnElement[str]]
#: Texts with their values: those of one row, or a list of those of many.
Spread = Iterator[tuple[str, Any]]
#: What a column may have one of.
Values = Sequence[str] | Sequence[int]


class Dialect(Protocol):
    """What the rest of the store needs to know about its engine."""

    name: str
    #: Whether several transactions may write at the same time.
    has_channels: bool
    writing: Engine
    reading: Engine

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run a function that changes nothing in a transaction."""
        ...

    async def write(self, work: Callable[[Connection], T], *, quick: bool) -> T:
        """Run a function in a transaction, which is committed if it returns.

        One that is quick takes no longer than the loop may be held up.
        """
        ...

    async def sweep(self) -> bool:
        """Leave nothing of what was deleted in our files; False if that cannot be done now."""
        ...

    async def close(self) -> None:
        """Give up all connections, when what is under way is over."""
        ...

    def now(self, connection: Connection) -> int:
        """Milliseconds since 1970, by the clock that all processes share."""
        ...

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """An INSERT with ON CONFLICT."""
        ...

    def spread(self, insert: InsertText, rows: Sequence[tuple[Any, ...]]) -> Spread:
        """The calls of the driver that insert some rows quickest."""
        ...

    def spread_update(
        self, table: Table, names: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
    ) -> Spread:
        """The calls of the driver that update some rows quickest; the first value is the id."""
        ...

    def among(self, column: ColumnElement[Any], values: Values) -> ColumnElement[bool]:
        """Whether a column has one of some values: one parameter, however many there are."""
        ...

    def among_pairs(
        self, columns: Columns, values: Sequence[tuple[str, str]]
    ) -> ColumnElement[bool]:
        """Whether two columns have one of some pairs of values; as `among`."""
        ...

    def take_turns(self, connection: Connection, name: str) -> None:
        """Block until no other transaction is between here and its end."""
        ...

    def freeze(self, connection: Connection) -> None:
        """Let all that is read from here on be of one moment."""
        ...

    def remember_time(self, connection: Connection, now: int) -> None:
        """Let whoever opens the store later begin at this time, if the machine's is earlier."""
        ...

    def passes(self, error: Exception) -> bool:
        """Whether an error may go away when the work is tried again."""
        ...


class Sqlite:
    """One file, one writer at a time, any number of readers; what is committed is on disk.

    What may take long is a thread's: to get the file for writing, to wait for the disk, and
    whatever is not quick. The statements of a quick transaction are carried out in the loop:
    to hand each over to a thread and back costs more than the statement.
    """

    name = "sqlite"
    has_channels = False

    def __init__(self, settings: StoreSettings, clock: Clock) -> None:
        try:
            settings.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(
                f"PENSTOCK_STORE__FOLDER: {settings.folder}: {error.strerror}"
            ) from error
        path = settings.folder / FILE_NAME
        self.writing = self._engine(path, settings, 1, "BEGIN IMMEDIATE", WRITER_CACHE_KB)
        self.reading = self._engine(path, settings, settings.pool_size, "BEGIN", READER_CACHE_KB)
        self._writer = ThreadPoolExecutor(1, "store-writer")
        self._readers = ThreadPoolExecutor(settings.pool_size, "store-reader")
        self._clock = clock
        self._offset: int | None = None

    async def read(self, work: Callable[[Connection], T]) -> T:
        def run() -> T:
            with self.reading.begin() as connection:
                return work(connection)

        return await asyncio.get_running_loop().run_in_executor(self._readers, run)

    async def write(self, work: Callable[[Connection], T], *, quick: bool) -> T:
        in_thread = partial(asyncio.get_running_loop().run_in_executor, self._writer)
        beginning = in_thread(self._begin)
        try:
            connection = await asyncio.shield(beginning)
        except asyncio.CancelledError:
            # The thread goes on, and what it begins would keep all others from writing.
            beginning.add_done_callback(_end)
            raise
        try:
            result = work(connection) if quick else await in_thread(work, connection)
            await in_thread(connection.commit)
        finally:
            # In the thread, too: whoever was cancelled may have left something to it.
            await asyncio.shield(in_thread(connection.close))
        return result

    def _begin(self) -> Connection:
        connection = self.writing.connect()
        try:
            connection.begin()
        except BaseException:
            connection.close()
            raise
        return connection

    async def sweep(self) -> bool:
        """What is in the log goes to the file, where nothing deleted stays, and the log is cut."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._cut_log)

    def _cut_log(self) -> bool:
        with closing(self.writing.raw_connection()) as connection:
            (is_busy, _, _) = connection.cursor().execute(CUT_LOG).fetchone()
            return not is_busy

    async def close(self) -> None:
        await asyncio.to_thread(self._writer.shutdown)
        await asyncio.to_thread(self._readers.shutdown)
        self.writing.dispose()
        self.reading.dispose()

    def now(self, connection: Connection) -> int:
        """The machine's clock may be set: after a first look at it only durations count."""
        lasted = int(self._clock.monotonic() * 1000)
        if self._offset is None:
            self._offset = self._first_time(connection) - lasted
        return self._offset + lasted

    def _first_time(self, connection: Connection) -> int:
        """The machine's time, or that of the last process here if it was a little later."""
        now = int(self._clock.now().timestamp() * 1000)
        if not inspect(connection).has_table(times.name):
            return now
        last = connection.execute(select(func.max(times.c.at))).scalar() or 0
        if last - now > BELIEVABLE:
            get_logger().error("the clock was set back by more than a day", was=last, now=now)
            return now
        return max(now, last)

    def remember_time(self, connection: Connection, now: int) -> None:
        insert = sqlite.insert(times).values(name="last", at=now)
        later = func.max(times.c.at, insert.excluded.at)
        connection.execute(
            insert.on_conflict_do_update(index_elements=["name"], set_={"at": later})
        )

    def insert(self, table: Table) -> sqlite.Insert:
        return sqlite.insert(table)

    def spread(self, insert: InsertText, rows: Sequence[tuple[Any, ...]]) -> Spread:
        """Many rows in a statement: between two steps others may take the interpreter's lock."""
        at, size = 0, ROWS_AT_ONCE
        while at < len(rows):
            # Sizes are halved, so that there are few texts and the driver knows them all.
            while size > len(rows) - at:
                size //= 2
            yield _of_rows(insert, size), tuple(chain.from_iterable(rows[at : at + size]))
            at += size

    def spread_update(
        self, table: Table, names: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
    ) -> Spread:
        yield _update_of_row(table, names), [(*values[1:], values[0]) for values in rows]

    def among(self, column: ColumnElement[Any], values: Values) -> ColumnElement[bool]:
        each = func.json_each(bindparam(None, dump(values), Text)).table_valued("value")
        return column.in_(select(each.c.value))

    def among_pairs(
        self, columns: Columns, values: Sequence[tuple[str, str]]
    ) -> ColumnElement[bool]:
        each = func.json_each(bindparam(None, dump(values), Text)).table_valued("value")
        parts = (func.json_extract(each.c.value, f"$[{place}]") for place in range(2))
        return tuple_(*columns).in_(select(*parts))

    def take_turns(self, connection: Connection, name: str) -> None:
        """There is only one writer anyway."""

    def freeze(self, connection: Connection) -> None:
        """A transaction sees one moment anyway."""

    def passes(self, error: Exception) -> bool:
        if not isinstance(error, DBAPIError):
            return False
        # The lower byte is the error, the others are its details.
        return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF in PASSING_IN_FILE

    @staticmethod
    def _engine(
        path: Path, settings: StoreSettings, size: int, begin: str, cache_kb: int
    ) -> Engine:
        engine = create_engine(
            f"sqlite+pysqlite:///{path}",
            poolclass=QueuePool,
            pool_size=size,
            max_overflow=0,
            # The one that was used last knows most of the file; the others stay small.
            pool_use_lifo=True,
            pool_timeout=settings.pool_seconds,
            connect_args={"timeout": settings.busy_seconds, "check_same_thread": False},
        )
        event.listen(engine, "connect", partial(_prepare_sqlite, cache_kb))
        event.listen(engine, "begin", _begin_with(begin))
        return engine


def place_of(settings: StoreSettings) -> str:
    """Where a store is, for people: without the password, whatever is in it."""
    if not settings.is_shared:
        return str(settings.folder.absolute())
    url = _read_url(settings)
    # What stands before an @ that was not escaped is a part of the password.
    host = (url.host or "").rpartition("@")[2]
    return url.set(host=host, query={}).render_as_string(hide_password=True)


def _read_url(settings: StoreSettings) -> URL:
    try:
        return make_url(settings.url.get_secret_value())
    except ArgumentError as error:
        raise SettingsError("PENSTOCK_STORE__URL is not a URL") from error


def server_url(settings: StoreSettings) -> URL:
    """The URL of a shared store, with the client that we use."""
    return _read_url(settings).set(drivername="postgresql+asyncpg")


class Postgres:
    """A server that many machines share."""

    name = "postgresql"
    has_channels = True

    def __init__(self, settings: StoreSettings) -> None:
        try:
            self._engine = create_async_engine(
                server_url(settings),
                pool_size=settings.pool_size,
                max_overflow=0,
                pool_timeout=settings.pool_seconds,
                connect_args=SHARING if settings.pgbouncer else KEEPING,
            )
        except ModuleNotFoundError as error:
            raise SettingsError(
                "PENSTOCK_STORE__URL needs the PostgreSQL client: pip install 'penstock[postgres]'"
            ) from error
        self.writing = self.reading = self._engine.sync_engine
        if settings.pgbouncer:
            event.listen(self.writing, "begin", _begin_with(f"SET LOCAL {IDLE} = {IDLE_MS}"))

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self.write(work, quick=True)

    async def write(self, work: Callable[[Connection], T], *, quick: bool) -> T:
        del quick
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def sweep(self) -> bool:
        """The server does that itself, with its next vacuum."""
        return True

    async def close(self) -> None:
        await self._engine.dispose()

    def now(self, connection: Connection) -> int:
        clock = text("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        return int(connection.execute(clock).scalar_one())

    def insert(self, table: Table) -> postgresql.Insert:
        return postgresql.insert(table)

    def spread(self, insert: InsertText, rows: Sequence[tuple[Any, ...]]) -> Spread:
        """One statement for all rows, which come as one list of values for each column."""
        yield _of_lists(insert), tuple(list(values) for values in zip(*rows, strict=True))

    def spread_update(
        self, table: Table, names: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
    ) -> Spread:
        dialect = self.writing.dialect
        yield (
            _update_of_lists(dialect, table, names),
            tuple(list(values) for values in zip(*rows, strict=True)),
        )

    def among(self, column: ColumnElement[Any], values: Values) -> ColumnElement[bool]:
        return column == any_(_array(values))

    def among_pairs(
        self, columns: Columns, values: Sequence[tuple[str, str]]
    ) -> ColumnElement[bool]:
        lists = ([pair[place] for pair in values] for place in range(2))
        return tuple_(*columns).in_(select(*(func.unnest(_array(each)) for each in lists)))

    def take_turns(self, connection: Connection, name: str) -> None:
        lock = text("SELECT pg_advisory_xact_lock(:key)")
        connection.execute(lock, {"key": crc32(f"penstock {name}".encode())})

    def freeze(self, connection: Connection) -> None:
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))

    def remember_time(self, connection: Connection, now: int) -> None:
        """The server's clock is everybody's."""

    def passes(self, error: Exception) -> bool:
        if isinstance(error, OSError | TimeoutError):
            return True
        if not isinstance(error, DBAPIError):
            return False
        if is_shared_connection(error):
            return False
        if error.connection_invalidated:
            return True
        code = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "pgcode", None) or ""
        return code.startswith(PASSING)


def _array(values: Values) -> BindParameter[Any]:
    """Texts or numbers as one parameter."""
    kind = ARRAY(BigInteger if values and isinstance(values[0], int) else Text)
    plain = [storable(value) if isinstance(value, str) else value for value in values]
    return bindparam(None, plain, kind)


def first_line(error: Exception) -> str:
    """What an error says, in short: the whole of it would show the values of a statement."""
    cause = error.orig if isinstance(error, StatementError) and error.orig else error
    return str(cause).partition("\n")[0] or type(error).__name__


def is_shared_connection(error: Exception) -> bool:
    """Whether an error comes of a pgbouncer in transaction mode that nobody told us of."""
    if not isinstance(error, DBAPIError):
        return False
    code = getattr(error.orig, "sqlstate", None)
    return code in SIGNS_OF_SHARING or UNKNOWN_SETTING in str(error.orig)


def open_dialect(settings: StoreSettings, clock: Clock) -> Dialect:
    """The engine that the settings name."""
    url = settings.url.get_secret_value()
    if not url:
        return Sqlite(settings, clock)
    if url.partition("://")[0] not in ("postgresql", "postgres", "postgresql+asyncpg"):
        raise SettingsError("PENSTOCK_STORE__URL must begin with postgresql://")
    return Postgres(settings)


def _prepare_sqlite(cache_kb: int, connection: Any, record: Any) -> None:
    """Every new connection: transactions are begun by us, and a commit is on the disk."""
    del record
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        # Else a row that REPLACE takes away is not seen by the trigger that forbids to delete it.
        "recursive_triggers=ON",
        f"cache_size=-{cache_kb}",
        f"cache_spill={CHANGED_PAGES}",
        # What is deleted is overwritten; not every build of SQLite does so by itself.
        "secure_delete=ON",
        "journal_size_limit=67108864",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _end(beginning: asyncio.Future[Connection]) -> None:
    """Give up a transaction that nobody waits for any more, if it could be begun."""
    if not beginning.cancelled() and not beginning.exception():
        beginning.result().close()


@lru_cache(maxsize=256)
def _of_rows(insert: InsertText, number: int) -> str:
    """An INSERT of several rows."""
    one = f"({', '.join('?' * len(insert.names))})"
    return insert.text.replace(one, ", ".join([one] * number), 1)


@lru_cache(maxsize=256)
def _of_lists(insert: InsertText) -> str:
    """An INSERT of as many rows as its lists are long."""
    start, _, rest = insert.text.partition(" VALUES (")
    values = PLACE.findall(rest)[: len(insert.names)]
    end = rest[len(", ".join(values)) + 1 :]
    lists = ", ".join(f"{value}[]" for value in values)
    return f"{start} SELECT * FROM unnest({lists}){end}"  # noqa: S608 - made of our own INSERT


@lru_cache(maxsize=256)
def _update_of_row(table: Table, names: tuple[str, ...]) -> str:
    """An UPDATE of one row; the id is the last of its values."""
    key, *others = names
    new = ", ".join(f'"{name}" = ?' for name in others)
    return f'UPDATE {table.name} SET {new} WHERE "{key}" = ?'  # noqa: S608 - names of our own


@lru_cache(maxsize=256)
def _update_of_lists(dialect: EngineDialect, table: Table, names: tuple[str, ...]) -> str:
    """An UPDATE of as many rows as its lists are long."""
    key, *others = names
    kinds = [table.c[name].type.compile(dialect) for name in names]
    lists = ", ".join(f"${place}::{kind}[]" for place, kind in enumerate(kinds, 1))
    quoted = ", ".join(f'"{name}"' for name in names)
    new = ", ".join(f'"{name}" = fresh."{name}"' for name in others)
    return (
        f"UPDATE {table.name} SET {new} FROM unnest({lists}) AS fresh ({quoted}) "  # noqa: S608
        f'WHERE {table.name}."{key}" = fresh."{key}"'
    )


def _begin_with(begin: str) -> Callable[[Connection], None]:
    def on_begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return on_begin
