"""What the two engines of a store have in common; how they differ is in `sqlite` and `postgres`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Table,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import StatementError

T = TypeVar("T")


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


def first_line(error: Exception) -> str:
    """What an error says, in short: the whole of it would show the values of a statement."""
    cause = error.orig if isinstance(error, StatementError) and error.orig else error
    return str(cause).partition("\n")[0] or type(error).__name__


def begin_with(begin: str) -> Callable[[Connection], None]:
    def on_begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return on_begin
