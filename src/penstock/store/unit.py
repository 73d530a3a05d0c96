"""A unit of work: what is done in one transaction, which is committed once, at its edge.

Code that reads or writes the store is a plain function that takes a `Unit`. It never commits.
It may be run again from the start, when a connection was lost or another transaction was in
the way: so whatever it does to anything but the unit must not matter.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Protocol, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    Table,
    TypeDecorator,
)
from sqlalchemy import Dialect as EngineDialect
from sqlalchemy.dialects import postgresql, sqlite

from penstock.store.dialect import Columns, Dialect, InsertText, Values
from penstock.store.schema import CleanText, Json, Whole

Rows = Sequence[Mapping[str, Any]]


class Tally(Protocol):
    """Small changes to rows that many want to change: gathered, and written at the edge."""

    def write(self, unit: "Unit") -> None:
        """Write what was gathered, always in the same order: then nobody waits in a circle."""
        ...


T = TypeVar("T", bound=Tally)


def as_it_is(insert: Any) -> Any:
    """An INSERT that fails on a conflict."""
    return insert


def do_nothing(insert: Any) -> Any:
    """An INSERT that leaves rows alone that are there already."""
    return insert.on_conflict_do_nothing()


class Unit:
    """One open transaction."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect
        self._tallies: dict[Callable[[], Tally], Tally] = {}

    @cached_property
    def now(self) -> int:
        """Milliseconds since 1970, by the clock that all processes of this store share."""
        return self._dialect.now(self._connection)

    def run(
        self, statement: Executable, values: Rows | Mapping[str, Any] | None = None
    ) -> CursorResult[*tuple[Any, ...]]:
        """Execute one statement; with a sequence of values, once for each."""
        return self._connection.execute(statement, values)

    def rows(self, query: Executable) -> Iterator[dict[str, Any]]:
        """What a query finds, as plain data."""
        result = self.run(query)
        # Plain strings: those of the library are not taken for names by every encoder.
        keys = result.keys()
        names = [f"{name}" for name in keys]
        for row in result:
            yield dict(zip(names, row, strict=True))

    def insert_all(
        self,
        table: Table,
        rows: Rows,
        on_conflict: Callable[[Any], Any] = as_it_is,
        **alike: Any,
    ) -> None:
        """Insert many rows of the same columns; `on_conflict` completes the INSERT.

        Columns that are `alike` in all rows need not be in each.
        As `run`, but without what the library does for each row, which costs more than the row.
        """
        if rows:
            columns = {name: [row[name] for row in rows] for name in rows[0]}
            self.insert_columns(table, columns, on_conflict, **alike)

    def insert_columns(
        self,
        table: Table,
        columns: Mapping[str, Sequence[Any]],
        on_conflict: Callable[[Any], Any] = as_it_is,
        **alike: Any,
    ) -> None:
        """As `insert_all`, for who has columns of values instead of rows; at least one row."""
        dialect = self._connection.dialect
        names = (*columns, *alike)
        insert = _compiled(dialect, self._dialect.insert, table, on_conflict, names)
        number = len(next(iter(columns.values())))
        values_of_columns = [
            [alike[name]] * number
            if name in alike
            else _storable(table.c[name], columns[name], dialect)
            for name in insert.names
        ]
        rows_of_values = list(zip(*values_of_columns, strict=True))
        for text, values in self._dialect.spread(insert, rows_of_values):
            self._connection.exec_driver_sql(text, values)

    def update_all(self, table: Table, rows: Rows) -> None:
        """Change the same columns of many rows, each found by its `id`; quick as `insert_all`."""
        if not rows:
            return
        names = ("id", *(name for name in rows[0] if name != "id"))
        dialect = self._connection.dialect
        columns = [_storable(table.c[name], [row[name] for row in rows], dialect) for name in names]
        rows_of_values = list(zip(*columns, strict=True))
        for text, values in self._dialect.spread_update(table, names, rows_of_values):
            self._connection.exec_driver_sql(text, values)

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """An INSERT that can say what to do on a conflict."""
        return self._dialect.insert(table)

    def among(self, column: ColumnElement[Any], values: Values) -> ColumnElement[bool]:
        """Whether a column has one of some texts or numbers; as `in_`, but quick with many."""
        return self._dialect.among(column, values)

    def among_pairs(
        self, columns: Columns, values: Sequence[tuple[str, str]]
    ) -> ColumnElement[bool]:
        """Whether two columns of text have one of some pairs of values."""
        return self._dialect.among_pairs(columns, values)

    def take_turns(self, name: str) -> None:
        """Let only one transaction at a time pass here until it is over."""
        self._dialect.take_turns(self._connection, name)

    def remember_time(self) -> None:
        """See to it that the time of the store does not go back when the machine's does."""
        self._dialect.remember_time(self._connection, self.now)

    def freeze(self) -> None:
        """See the store as it is now until the transaction is over; before anything else."""
        self._dialect.freeze(self._connection)

    @property
    def engine(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._dialect.name

    def tally(self, kind: Callable[[], T]) -> T:
        """The transaction's one tally of a kind."""
        if kind not in self._tallies:
            self._tallies[kind] = kind()
        found: T = self._tallies[kind]  # type: ignore[assignment]
        return found

    def close(self) -> None:
        """Write the tallies; the commit follows."""
        while self._tallies:
            # One tally may begin another while it is written.
            _, tally = self._tallies.popitem()
            tally.write(self)

    @property
    def connection(self) -> Connection:
        """For migrations, which need more than statements."""
        return self._connection


@lru_cache(maxsize=256)
def _compiled(
    dialect: EngineDialect,
    insert: Callable[[Table], Any],
    table: Table,
    on_conflict: Callable[[Any], Any],
    names: tuple[str, ...],
) -> InsertText:
    statement = on_conflict(insert(table)).values(dict.fromkeys(names))
    compiled = statement.compile(dialect=dialect)
    return InsertText(str(compiled), tuple(compiled.positiontup or ()))


def _storable(column: Column[Any], values: Sequence[Any], dialect: EngineDialect) -> Sequence[Any]:
    """The values of a column as the driver wants them."""
    kind = column.type
    if isinstance(kind, CleanText | Json | Whole):
        return kind.process_column(values, dialect)
    if isinstance(kind, TypeDecorator):
        return [kind.process_bind_param(value, dialect) for value in values]
    return values
