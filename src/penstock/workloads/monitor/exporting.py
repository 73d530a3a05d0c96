"""Targets as a file that an import takes back in as it was.

A spreadsheet takes a text for a formula by its first character. Such a text is written with an
apostrophe in front, and so is one that begins with an apostrophe itself: that way an import knows
which apostrophes to take away, and what comes back is what was there.
"""

import csv
import io
import unicodedata
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

import orjson
from sqlalchemy import select

from penstock.products.export import FORMULA
from penstock.products.tables import sources
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.tables import scrape_targets

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
    # Some programs skip spaces in front, and take wide forms of the signs for the signs.
    first = unicodedata.normalize("NFKC", text.lstrip(" \u00a0\u3000\ufeff")[:1])
    return text.startswith((*FORMULA, APOSTROPHE)) or first.startswith(FORMULA)


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
