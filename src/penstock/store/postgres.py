"""PostgreSQL: a store that many machines share."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar
from zlib import crc32

from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Table,
    Text,
    any_,
    bindparam,
    event,
    func,
    select,
    text,
    tuple_,
)
from sqlalchemy import Dialect as EngineDialect
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from penstock.core.errors import SettingsError
from penstock.store.dialect import Columns, InsertText, Spread, Values, begin_with
from penstock.store.schema import storable
from penstock.store.settings import StoreSettings

T = TypeVar("T")

#: Classes of PostgreSQL's error codes that pass by themselves: connection, resources (also a
#: full disk), operator intervention, input/output, and transactions in each other's way.
PASSING = ("08", "53", "57", "58", "40", "55P03", "25P03")
#: The place of a value in a statement, with its type.
PLACE = re.compile(r"\$\d+::\w+(?:\(\d+, \d+\))?")
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
            event.listen(self.writing, "begin", begin_with(f"SET LOCAL {IDLE} = {IDLE_MS}"))

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


def is_shared_connection(error: Exception) -> bool:
    """Whether an error comes of a pgbouncer in transaction mode that nobody told us of."""
    if not isinstance(error, DBAPIError):
        return False
    code = getattr(error.orig, "sqlstate", None)
    return code in SIGNS_OF_SHARING or UNKNOWN_SETTING in str(error.orig)


@lru_cache(maxsize=256)
def _of_lists(insert: InsertText) -> str:
    """An INSERT of as many rows as its lists are long."""
    start, _, rest = insert.text.partition(" VALUES (")
    values = PLACE.findall(rest)[: len(insert.names)]
    end = rest[len(", ".join(values)) + 1 :]
    lists = ", ".join(f"{value}[]" for value in values)
    return f"{start} SELECT * FROM unnest({lists}){end}"  # noqa: S608 - made of our own INSERT


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
