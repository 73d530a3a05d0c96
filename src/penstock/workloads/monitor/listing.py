"""Targets in an order, part by part, and how many there are: quick however many that is.

Every order is that of an index. Where a part ends, the row says where the next one begins. What
no index finds is looked for among so many targets at a time: then the list goes on, if one likes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, func, select, tuple_

from penstock.store.unit import Unit
from penstock.web.errors import NotFound, invalid
from penstock.workloads.monitor.model import QuarantineStatus, TargetStatus
from penstock.workloads.monitor.tables import quarantined_offers, scrape_targets
from penstock.workloads.monitor.targets import Filter, conditions, targets_query

Row = dict[str, Any]
#: So few are sorted at once, and so many are looked at for one part of a list.
FEW, LOOKED_AT = 10_000, 50_000
#: A column that has to have a value.
Condition = tuple[ColumnElement[Any], str]
_PLACE = re.compile(r"([0-9]{1,15}\.)?[0-9a-f]{32}")


class Order(StrEnum):
    """In which order targets are listed; those that are never due are not in the one by time."""

    NEWEST = "newest"
    OLDEST = "oldest"
    DUE = "due"
    ADDRESS = "address"


class Part(NamedTuple):
    """Some targets, and where the next part begins, if there is one.

    `looked_at` says how many were looked at where that was enough, and there may be more.
    """

    rows: list[Row]
    next: str | None
    looked_at: int | None = None


class Figures(NamedTuple):
    """How many there are, counted up to a number: one more than it means that there are more."""

    statuses: Mapping[str, int]
    in_runs: int
    due: int
    quarantined: int
    counted_to: int


# ── lists


def list_in_order(unit: Unit, wanted: Filter, order: Order, after: str | None) -> Part:
    """Targets in an order; `after` is where the part before ended."""
    begin = _behind(order, _values(unit, order, after)) if after else []
    lead = _lead(unit, wanted, order)
    rest = _one_by_one(wanted, lead)
    first = [*begin, *(column == value for column, value in lead)]
    end = _end(unit, order, first) if rest else None
    within = [~each for each in _behind(order, _key_of(end, order))] if end else []
    rows = _rows(unit, order, [*first, *within, *rest], wanted.limit)
    shown = rows[: wanted.limit]
    if len(rows) > wanted.limit:
        return Part(shown, _place(shown[-1], order))
    return Part(shown, _place(end, order), LOOKED_AT) if end else Part(shown, None)


def _rows(unit: Unit, order: Order, chosen: list[ColumnElement[bool]], limit: int) -> list[Row]:
    """One more than wanted, if there are more."""
    query = targets_query(*chosen, *_listed(order)).order_by(*_by(order))
    return list(unit.rows(query.limit(limit + 1)))


def _lead(unit: Unit, wanted: Filter, order: Order) -> list[Condition]:
    """What is wanted that an index finds: the rarest, if it has the order or is sorted at once."""
    columns = scrape_targets.c
    sizes = [
        (_up_to(unit, FEW, select(columns.id), column == value), place)
        for place, (column, value) in enumerate(_indexed(wanted))
    ]
    if not sizes:
        return []
    size, place = min(sizes)
    column, _ = found = _indexed(wanted)[place]
    has_order = order in (Order.NEWEST, Order.OLDEST) or (
        order is Order.ADDRESS and column is columns.source_id
    )
    return [found] if has_order or size <= FEW else []


def _indexed(wanted: Filter) -> list[Condition]:
    """What is wanted that an index finds."""
    columns = scrape_targets.c
    equal = {
        columns.source_id: wanted.source_id,
        columns.adapter_id: wanted.adapter,
        columns.status: wanted.status and wanted.status.value,
    }
    return [(column, value) for column, value in equal.items() if value is not None]


def _one_by_one(wanted: Filter, lead: list[Condition]) -> list[ColumnElement[bool]]:
    """What else is wanted, to be looked for in the order of the list: an index would spoil that."""
    rest = replace(wanted, source_id=None, adapter=None, status=None)
    led = {column.key for column, _ in lead}
    others = [each for each in _indexed(wanted) if each[0].key not in led]
    return [*(func.coalesce(column, "") == value for column, value in others), *conditions(rest)]


def _end(unit: Unit, order: Order, first: list[ColumnElement[bool]]) -> Row | None:
    """The last target that is looked at; None if there are not so many."""
    # Nothing but the key, which an index has, and the id.
    columns = dict.fromkeys([*_key(order), scrape_targets.c.id])
    query = select(*columns).where(*first, *_listed(order)).order_by(*_by(order))
    return next(unit.rows(query.offset(LOOKED_AT - 1).limit(1)), None)


# ── orders


def _key(order: Order) -> tuple[ColumnElement[Any], ...]:
    columns = scrape_targets.c
    match order:
        case Order.NEWEST | Order.OLDEST:
            return (columns.id,)
        case Order.DUE:
            return columns.next_due_at, columns.id
        case Order.ADDRESS:
            return columns.source_id, columns.canonical_url


def _by(order: Order) -> list[ColumnElement[Any]]:
    return [column.desc() if order is Order.NEWEST else column for column in _key(order)]


def _listed(order: Order) -> list[ColumnElement[bool]]:
    return [scrape_targets.c.next_due_at.is_not(None)] if order is Order.DUE else []


def _behind(order: Order, values: Sequence[Any]) -> list[ColumnElement[bool]]:
    key, place = tuple_(*_key(order)), tuple_(*values)
    return [key < place if order is Order.NEWEST else key > place]


def _key_of(row: Row, order: Order) -> list[Any]:
    return [row[str(column.key)] for column in _key(order)]


def _values(unit: Unit, order: Order, after: str) -> Sequence[Any]:
    """What stands in the columns of the order at a place."""
    if not _PLACE.fullmatch(after):
        raise invalid("after", "is no place in a list")
    at, _, target_id = after.rpartition(".")
    match order:
        case Order.NEWEST | Order.OLDEST:
            return (target_id,)
        case Order.DUE:
            return int(at or 0), target_id
        case Order.ADDRESS:
            return _address(unit, target_id)


def _address(unit: Unit, target_id: str) -> Sequence[Any]:
    columns = scrape_targets.c
    query = select(columns.source_id, columns.canonical_url).where(columns.id == target_id)
    found = unit.run(query).first()
    if found is None:
        raise NotFound("The target where this list was left is gone: begin again")
    return tuple(found)


def _place(row: Row, order: Order) -> str:
    target_id: str = row["id"]
    return f"{row['next_due_at']}.{target_id}" if order is Order.DUE else target_id


# ── numbers


def figures_of(unit: Unit, most: int) -> Figures:
    """How many targets and quarantined offers there are, counted up to a number each."""
    targets, offers = scrape_targets.c, quarantined_offers.c
    due = targets.next_due_at
    is_open = offers.status == QuarantineStatus.OPEN.value
    return Figures(
        {
            status.value: _up_to(unit, most, select(targets.id), targets.status == status.value)
            for status in TargetStatus
        },
        in_runs=_up_to(unit, most, select(targets.id), targets.run_id.is_not(None)),
        due=_up_to(unit, most, select(targets.id), due.is_not(None), due <= unit.now),
        quarantined=_up_to(unit, most, select(offers.id), is_open),
        counted_to=most,
    )


def _up_to(unit: Unit, most: int, query: Select[tuple[str]], *wanted: ColumnElement[bool]) -> int:
    some = query.where(*wanted).limit(most + 1).subquery()
    number: int = unit.run(select(func.count()).select_from(some)).scalar_one()
    return number
