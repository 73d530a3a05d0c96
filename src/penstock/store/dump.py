"""All tables as plain rows, for a backup that either engine can take."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Integer, Table, func, insert, select, text

from penstock.core.errors import StoreError
from penstock.store.schema import metadata
from penstock.store.unit import Unit

AT_ONCE = 1000
#: Who works now and who has which seat says nothing about a restored store; a cache fills itself,
#: and an index is built again.
PASSING = frozenset({"workers", "seats", "clock", "page_cache", "stream_holders", "product_search"})


def tables() -> Sequence[Table]:
    """What is backed up, in an order in which it can be put back."""
    return [table for table in metadata.sorted_tables if table.name not in PASSING]


def dump(unit: Unit, write: Callable[[str, Iterator[dict[str, Any]]], None]) -> None:
    """Hand every table to a writer, as it was at one moment."""
    unit.freeze()
    for table in tables():
        write(table.name, unit.rows(select(table).execution_options(yield_per=AT_ONCE)))


def is_empty(unit: Unit) -> bool:
    """Whether no table has a row."""
    return not any(unit.run(select(func.count()).select_from(table)).scalar() for table in tables())


def load(unit: Unit, name: str, rows: Iterable[dict[str, Any]]) -> int:
    """Put the rows of a table back; how many."""
    table = metadata.tables.get(name)
    if table is None:
        raise StoreError(f"the backup has a table {name}, which this Penstock does not know")
    number, batch = 0, []
    for row in rows:
        batch.append(row)
        if len(batch) == AT_ONCE:
            unit.run(insert(table), batch)
            number, batch = number + len(batch), []
    if batch:
        unit.run(insert(table), batch)
    _go_on_counting(unit, table)
    return number + len(batch)


def _go_on_counting(unit: Unit, table: Table) -> None:
    """Let a numbered table go on behind its last row; SQLite does so by itself."""
    column = table.autoincrement_column
    if column is None or unit.engine == "sqlite" or not isinstance(column.type, Integer):
        return
    last = unit.run(select(func.coalesce(func.max(column), 0) + 1)).scalar_one()
    sequence = func.pg_get_serial_sequence(table.name, column.name)
    unit.run(select(func.setval(sequence, last, text("false"))))
