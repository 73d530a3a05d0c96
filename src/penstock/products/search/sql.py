"""Search in the store: SQLite's FTS5, or PostgreSQL's full text.

What a segment has is first drawn by its tokens and sorted; if that is too much, it is dense enough
to go along the order that is asked for until the page is full.
"""

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Select,
    UnaryExpression,
    and_,
    delete,
    func,
    literal,
    null,
    select,
    true,
    tuple_,
)
from sqlalchemy.sql.operators import custom_op

from penstock.products.search.analysis import analyse
from penstock.products.search.full_text import Drawn, full_text_of
from penstock.products.search.plan import Plan, Position, Ranges, Segment
from penstock.products.search.ports import MOST_COUNTED, Document, Found, Pages, Query
from penstock.products.search.tables import product_search
from penstock.products.search.walking import SHOWN, Part, Row, walk
from penstock.store.schema import Fixed, storable
from penstock.store.store import Store
from penstock.store.unit import Unit

AT_ONCE = 500
CHANNEL = "search"
#: What is drawn at most: if there is more, it is not all.
DRAWN = MOST_COUNTED + 1

_places = product_search.c


class SqlSearch:
    """Documents are rows of a table of their own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._full_text = full_text_of(store.engine)

    async def prepare(self) -> None:
        """The tables are made with all others."""

    async def put(self, documents: Sequence[Document]) -> None:
        await self._put(documents)

    async def remove(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), AT_ONCE):
            some = [storable(each) for each in ids[start : start + AT_ONCE]]
            await self._store.write(partial(_remove, ids=some), CHANNEL)

    async def search(self, query: Query) -> Found:
        return await walk(query, self)

    async def rebuild(self, pages: Pages) -> int:
        begun = await self._store.read(_next_time)
        number = 0
        async for page in pages:
            await self._put(page, begun)
            number += len(page)
        after: int | None = -1
        while after is not None:
            after = await self._store.write(partial(_forget, before=begun, after=after), CHANNEL)
        return number

    async def ids(self, after: str, limit: int) -> list[str]:
        behind = select(_places.product_id).where(_places.product_id > storable(after))
        query = behind.order_by(_places.product_id).limit(limit)
        return await self._store.read(lambda unit: list(unit.run(query).scalars()))

    async def count(self) -> int:
        query = select(func.count()).select_from(product_search)
        return await self._store.read(lambda unit: int(unit.run(query).scalar_one()))

    async def counted(self, plan: Plan) -> int:
        return await self._store.read(partial(self._count, plan))

    async def take(self, part: Part) -> Sequence[Row]:
        return await self._store.read(partial(self._take, part))

    async def _put(self, documents: Sequence[Document], at_least: int = 0) -> None:
        newest = list({storable(each.product_id): each for each in documents}.values())
        for start in range(0, len(newest), AT_ONCE):
            rows = await asyncio.to_thread(_rows_of, newest[start : start + AT_ONCE])
            await self._store.write(partial(_put, rows=rows, at_least=at_least), CHANNEL)

    def _count(self, plan: Plan, unit: Unit) -> int:
        drawn = self._draw(plan, Segment(plan.base), by_range=_is_narrow(unit, plan))
        some = select(drawn.place).select_from(drawn.origin).where(drawn.where).limit(DRAWN)
        return int(unit.run(select(func.count()).select_from(some.subquery())).scalar_one())

    def _take(self, part: Part, unit: Unit) -> list[Row]:
        plan, segment = part.plan, part.segment
        is_narrow = _is_narrow(unit, plan)
        streams = self._full_text.is_ordered and segment.column is None and not is_narrow
        is_dense = part.is_dense and segment.match == plan.base
        if not streams and not is_dense:
            drawn = self._draw(plan, segment, by_range=is_narrow)
            found = _take_drawn(unit, part, drawn)
            if found is not None:
                return found
        return self._take_along(unit, part)

    def _take_along(self, unit: Unit, part: Part) -> list[Row]:
        """Go along the order and take what matches."""
        segment = part.segment
        if segment.column is None:
            drawn = self._full_text.draw(segment.match, with_row=True)
        else:
            where = self._full_text.check(segment.match)
            drawn = Drawn(product_search, where, _places.place)
        column = _column(segment)
        in_range = _has(part.plan.ranges, segment, unindexed=True)
        chosen = (
            select(drawn.place.label("place"), column.label("value"))
            .select_from(drawn.origin)
            .where(drawn.where, in_range, _behind(segment, part.after, drawn.place))
        )
        chosen = _in_order(chosen, segment, column, drawn.place).limit(part.limit)
        return [_row(row) for row in unit.run(_with_fields(chosen, segment))]

    def _draw(self, plan: Plan, segment: Segment, *, by_range: bool) -> Drawn:
        """What a segment has: by its tokens, or by a range that has few documents."""
        wanted = _has(plan.ranges, segment)
        if by_range:
            where = self._full_text.check(segment.match)
            return Drawn(product_search, and_(wanted, where), _places.place)
        with_row = bool(plan.ranges or segment.column or segment.lacks)
        drawn = self._full_text.draw(segment.match, with_row=with_row)
        return Drawn(drawn.origin, and_(drawn.where, wanted), drawn.place)


def _take_drawn(unit: Unit, part: Part, drawn: Drawn) -> list[Row] | None:
    """Draw all of a segment, then sort; None if that is too much."""
    segment = part.segment
    matched = (
        select(drawn.place.label("place"), _column(segment).label("value"))
        .select_from(drawn.origin)
        .where(drawn.where, _behind(segment, part.after, drawn.place))
        .limit(DRAWN)
        .cte("matched")
        .prefix_with("MATERIALIZED")
    )
    number = select(func.count()).select_from(matched).scalar_subquery()
    chosen = select(matched, number.label("number"))
    chosen = _in_order(chosen, segment, matched.c.value, matched.c.place).limit(part.limit)
    rows = unit.run(_with_fields(chosen, segment)).all()
    return None if rows and rows[0].number >= DRAWN else [_row(row) for row in rows]


def _rows_of(documents: Sequence[Document]) -> list[dict[str, Any]]:
    return [_row_of(document) for document in documents]


def _row_of(document: Document) -> dict[str, Any]:
    analysis = analyse(document)
    return {
        "place": analysis.place,
        "product_id": storable(document.product_id),
        "words": analysis.tokens,
        "product_name": document.product_name,
        "brand": document.brand,
        "category": document.category,
        "description": document.description,
        "sort_name": analysis.sort_name,
        "price": document.price,
        "rating": document.rating,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
    }


def _next_time(unit: Unit) -> int:
    """A time that is later than that of everything that is there."""
    last = unit.run(select(func.max(_places.put_at))).scalar()
    return unit.now if last is None else max(unit.now, last + 1)


def _put(unit: Unit, rows: list[dict[str, Any]], at_least: int) -> None:
    placed = [{**row, "put_at": max(unit.now, at_least)} for row in rows]
    while clashing := _clashing(unit, placed):
        for row in clashing:
            row["place"] += 1
    # SQLite's full text writes a part of its own whenever a place is before the last one; and in
    # the same order no two transactions wait for each other.
    unit.insert_all(product_search, sorted(placed, key=itemgetter("place")), _replace)


def _clashing(unit: Unit, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those whose place is another's: one in many millions."""
    query = select(_places.place, _places.product_id)
    found = unit.run(query.where(_places.place.in_([row["place"] for row in rows])))
    owners: dict[int, str] = {row.place: row.product_id for row in found}
    clashing = []
    for row in rows:
        if owners.setdefault(row["place"], row["product_id"]) != row["product_id"]:
            clashing.append(row)
    return clashing


def _replace(insert: Any) -> Any:
    """An INSERT that puts a row in the place of the one with its id."""
    names = [column.name for column in product_search.columns if column.name != "product_id"]
    newer = {name: insert.excluded[name] for name in names}
    return insert.on_conflict_do_update(index_elements=["product_id"], set_=newer)


def _remove(unit: Unit, ids: Sequence[str]) -> None:
    unit.run(delete(product_search).where(unit.among(_places.product_id, ids)))


def _forget(unit: Unit, before: int, after: int) -> int | None:
    """Delete documents that were put before a time, some behind a place; where to go on."""
    old = select(_places.place).where(_places.place > after, _places.put_at < before)
    places = list(unit.run(old.order_by(_places.place).limit(AT_ONCE)).scalars())
    unit.run(delete(product_search).where(_places.place.in_(places)))
    return places[-1] if places else None


def _column(segment: Segment) -> ColumnElement[Any]:
    return _places[segment.column] if segment.column else null()


def _has(
    ranges: Ranges, segment: Segment | None = None, *, unindexed: bool = False
) -> ColumnElement[bool]:
    """Whether a row is in the ranges, and has what its segment is ordered by, or lacks it."""
    price: ColumnElement[Any] = _places.price
    rating: ColumnElement[Any] = _places.rating
    if unindexed:
        price, rating = _as_is(price), _as_is(rating)
    wanted: list[ColumnElement[bool]] = [true()]
    if ranges.price_min is not None:
        wanted.append(price >= ranges.price_min)
    if ranges.price_max is not None:
        wanted.append(price <= ranges.price_max)
    if ranges.rating_min is not None:
        wanted.append(rating >= ranges.rating_min)
    if segment and segment.lacks:
        wanted.append(_places[segment.lacks].is_(None))
    if segment and segment.column and _places[segment.column].nullable:
        wanted.append(_places[segment.column].is_not(None))
    return and_(*wanted)


def _as_is(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The same, but no index is used for it: engines do not know that few rows are wanted."""
    return UnaryExpression(column, operator=custom_op("+"), type_=column.type)


def _is_narrow(unit: Unit, plan: Plan) -> bool:
    """Whether there is a range with so few documents that they may all be looked at."""
    if not plan.ranges:
        return False
    some = select(_places.place).where(_has(plan.ranges)).limit(DRAWN)
    found = unit.run(select(func.count()).select_from(some.subquery())).scalar_one()
    return int(found) < DRAWN


def _behind(
    segment: Segment, after: Position | None, place: ColumnElement[int] | Column[int]
) -> ColumnElement[bool]:
    """Whether a row comes behind a position of its segment."""
    if after is None:
        return true()
    if segment.column is None:
        return place > after.place
    column = _places[segment.column]
    value = Decimal(str(after.value)) if isinstance(column.type, Fixed) else after.value
    ours = tuple_(column, _places.place)
    its = tuple_(literal(value, column.type), literal(after.place))
    return ours < its if segment.descending else ours > its


def _in_order(
    query: Select[Any],
    segment: Segment,
    value: ColumnElement[Any],
    place: ColumnElement[int] | Column[int],
) -> Select[Any]:
    if segment.column is None:
        return query.order_by(place)
    if segment.descending:
        return query.order_by(value.desc(), place.desc())
    return query.order_by(value, place)


def _with_fields(chosen: Select[Any], segment: Segment) -> Select[Any]:
    """What was chosen, with what is shown of it."""
    some = chosen.subquery("chosen")
    fields = [_places[name] for name in ("product_id", *SHOWN)]
    joined = some.join(product_search, _places.place == some.c.place)
    query = select(*some.c, *fields).select_from(joined)
    return _in_order(query, segment, some.c.value, some.c.place)


def _row(row: Any) -> Row:
    value = str(row.value) if isinstance(row.value, Decimal) else row.value
    fields = {name: getattr(row, name) for name in SHOWN}
    return Row(value, row.place, row.product_id, fields)
