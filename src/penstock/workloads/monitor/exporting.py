"""Targets as a file that an import takes back in as it was; and prices for other programs.

A spreadsheet takes a text for a formula by its first character. Such a text is written with an
apostrophe in front, and so is one that begins with an apostrophe itself: that way an import knows
which apostrophes to take away, and what comes back is what was there.
"""

import asyncio
import csv
import io
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import orjson
from sqlalchemy import select

from penstock.products import history
from penstock.products.export import ParquetParts, is_formula, to_csv
from penstock.products.history import Filter
from penstock.products.tables import sources
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.tables import scrape_targets

Row = dict[str, Any]
AT_ONCE = 5000
COLUMNS = (
    "url",
    "source",
    "adapter_id",
    "schedule",
    "priority",
    "status",
    "enabled",
    "robots_path_blocked",
    "notes",
)
APOSTROPHE = "'"


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"{APOSTROPHE}{text}" if _is_marked(text) else text


def as_written(cell: str) -> str:
    """What stood there before it was made harmless."""
    rest = cell.removeprefix(APOSTROPHE)
    return rest if rest != cell and _is_marked(rest) else cell


def _is_marked(text: str) -> bool:
    return text.startswith(APOSTROPHE) or is_formula(text)


class Exporter:
    """Writes targets out, some at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def rows(self, source_id: str | None = None) -> AsyncIterator[Sequence[dict[str, Any]]]:
        """All targets, or those of a source, the oldest first."""
        last = ""
        while rows := await self._store.read(partial(_after, last=last, source_id=source_id)):
            last = rows[-1]["id"]
            yield rows

    async def csv(self, source_id: str | None = None) -> AsyncIterator[str]:
        """The targets as CSV."""
        yield csv_lines([COLUMNS])
        async for rows in self.rows(source_id):
            yield csv_lines([[_cell(row[name]) for name in COLUMNS] for row in rows])

    async def json_lines(self, source_id: str | None = None) -> AsyncIterator[str]:
        """The targets as JSON, one object a line."""
        async for rows in self.rows(source_id):
            yield "".join(orjson.dumps(_written(row)).decode() + "\n" for row in rows)


@dataclass(frozen=True, slots=True)
class PriceExporter:
    """Writes prices with their provenance out, some at a time, the newest first."""

    store: Store

    async def rows(self, wanted: Filter, most: int | None = None) -> AsyncIterator[list[Row]]:
        """The prices that a filter finds, whatever its limit is; at most so many."""
        left, before = most, wanted.before
        while left is None or left > 0:
            size = AT_ONCE if left is None else min(AT_ONCE, left)
            some = replace(wanted, before=before, limit=size)
            rows = await self.store.read(partial(_prices, wanted=some))
            if rows:
                yield rows
            if len(rows) < size:
                return
            before = (rows[-1]["observed_at"], rows[-1]["price_id"])
            left = None if left is None else left - size

    async def csv(
        self, wanted: Filter, columns: Sequence[str], most: int | None = None
    ) -> AsyncIterator[str]:
        """The prices as CSV; nothing in it is a formula to a spreadsheet."""
        yield "".join(to_csv([], columns))
        async for rows in self.rows(wanted, most):
            yield await asyncio.to_thread(_lines, rows, columns)

    async def parquet(
        self, made: ParquetParts, wanted: Filter, most: int | None = None
    ) -> AsyncIterator[bytes]:
        """The prices as a Parquet file."""
        async for rows in self.rows(wanted, most):
            yield await asyncio.to_thread(made.add, rows)
        yield await asyncio.to_thread(made.end)


def _prices(unit: Unit, wanted: Filter) -> list[Row]:
    return history.list_prices(unit, wanted)


def _lines(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Rows as CSV without the line of names."""
    _, *lines = to_csv(rows, columns)
    return "".join(lines)


def _after(unit: Unit, last: str, source_id: str | None) -> list[dict[str, Any]]:
    targets = scrape_targets.c
    query = (
        select(
            targets.id,
            sources.c.name.label("source"),
            *(targets[name] for name in COLUMNS if name != "source"),
        )
        .join(sources, sources.c.id == targets.source_id)
        .where(targets.id > last)
    )
    if source_id is not None:
        query = query.where(targets.source_id == source_id)
    return list(unit.rows(query.order_by(targets.id).limit(AT_ONCE)))


def csv_lines(rows: Sequence[Sequence[Any]]) -> str:
    """Rows as CSV; ends of lines within a cell are quoted, whichever they are."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return harmless(value)
        case _:
            return value


def _written(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in COLUMNS if row[name] is not None}
