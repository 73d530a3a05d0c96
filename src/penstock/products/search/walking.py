"""A page of what a query finds, segment by segment; the back end only knows how to take some."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from penstock.products.search.cursors import cursor_of, position_of
from penstock.products.search.highlights import highlight
from penstock.products.search.plan import Plan, Position, Segment, plan_of
from penstock.products.search.ports import MOST_COUNTED, Found, Hit, Query, Total

#: Fields in which words are marked.
SHOWN = ("product_name", "brand", "category", "description")


@dataclass(frozen=True, slots=True)
class Part:
    """So many documents of a segment, those behind a position of it if there is one."""

    plan: Plan
    segment: Segment
    after: Position | None
    limit: int
    #: Whether the whole plan finds more than is counted.
    is_dense: bool


class Row(NamedTuple):
    """A document of a segment: its value in the segment's column, its place, and what is shown."""

    value: int | str | None
    place: int
    product_id: str
    fields: dict[str, Any]


class Searcher(Protocol):
    """Answers the two questions that a plan has."""

    async def counted(self, plan: Plan) -> int:
        """How many documents the whole plan finds; one more than `MOST_COUNTED` is enough."""
        ...

    async def take(self, part: Part) -> Sequence[Row]:
        """The documents of a part, in their order."""
        ...


async def walk(query: Query, searcher: Searcher) -> Found:
    """The page that a query asks for."""
    plan = plan_of(query)
    start = position_of(query, plan)
    if not plan.segments:
        return Found((), None, Total(0, more=False))
    number = await searcher.counted(plan)
    first = start.segment if start else 0
    rows: list[tuple[Position, Row]] = []
    for place, segment in enumerate(plan.segments[first:], first):
        after = start if place == first else None
        missing = query.limit + 1 - len(rows)
        part = Part(plan, segment, after, missing, is_dense=number > MOST_COUNTED)
        found = await searcher.take(part) if missing else ()
        rows += [(Position(place, row.value, row.place), row) for row in found]
    shown = rows[: query.limit]
    last = shown[-1][0] if len(rows) > query.limit else None
    return Found(
        tuple(_hit(plan, position, row) for position, row in shown),
        cursor_of(query, last) if last else None,
        Total(min(number, MOST_COUNTED), more=number > MOST_COUNTED),
    )


def _hit(plan: Plan, position: Position, row: Row) -> Hit:
    score = plan.segments[position.segment].score
    return Hit(row.product_id, score, highlight(row.fields, plan.stems))
