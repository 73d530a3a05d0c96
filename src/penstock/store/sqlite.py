"""SQLite: a store in one file, which needs nothing else."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Table,
    Text,
    bindparam,
    create_engine,
    event,
    func,
    inspect,
    select,
    tuple_,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from penstock.core.clock import Clock
from penstock.core.errors import SettingsError
from penstock.core.log import get_logger
from penstock.store.dialect import Columns, InsertText, Spread, Values, begin_with
from penstock.store.schema import Moment, dump, metadata
from penstock.store.settings import FILE_NAME, StoreSettings

T = TypeVar("T")

#: Milliseconds that a clock may have been ahead of itself; more is a mistake and not believed.
BELIEVABLE = 86_400_000
#: SQLite allows 32,000 values in a statement.
ROWS_AT_ONCE = 128
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
        event.listen(engine, "begin", begin_with(begin))
        return engine


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
def _update_of_row(table: Table, names: tuple[str, ...]) -> str:
    """An UPDATE of one row; the id is the last of its values."""
    key, *others = names
    new = ", ".join(f'"{name}" = ?' for name in others)
    return f'UPDATE {table.name} SET {new} WHERE "{key}" = ?'  # noqa: S608 - names of our own
