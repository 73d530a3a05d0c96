"""Targets in an order, part by part, and how many there are: quick however many that is.

Every order is that of an index. Where a part ends, the row says where the next one begins.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, func, select, tuple_

from penstock.store.unit import Unit
from penstock.web.errors import NotFound, invalid
from penstock.workloads.monitor.model import QuarantineStatus, TargetStatus
from penstock.workloads.monitor.tables import quarantined_offers, scrape_targets
from penstock.workloads.monitor.targets import Filter, conditions, targets_query

Row = dict[str, Any]
_PLACE = re.compile(r"([0-9]{1,15}\.)?[0-9a-f]{32}")


class Order(StrEnum):
    """In which order targets are listed; those that are never due are not in the one by time."""

    NEWEST = "newest"
    OLDEST = "oldest"
    DUE = "due"
    ADDRESS = "address"


class Part(NamedTuple):
    """Some targets, and where the next part begins, if there is one."""

    rows: list[Row]
    next: str | None


class Figures(NamedTuple):
    """How many there are, counted up to a number: one more than it means that there are more."""

    statuses: Mapping[str, int]
    in_runs: int
    due: int
    quarantined: int
    counted_to: int


def list_in_order(unit: Unit, wanted: Filter, order: Order, after: str | None) -> Part:
    """Targets in an order; `after` is where the part before ended."""
    columns = scrape_targets.c
    query = targets_query(*conditions(wanted), *_behind(unit, order, after))
    match order:
        case Order.NEWEST:
            query = query.order_by(columns.id.desc())
        case Order.OLDEST:
            query = query.order_by(columns.id)
        case Order.DUE:
            query = query.where(columns.next_due_at.is_not(None))
            query = query.order_by(columns.next_due_at, columns.id)
        case Order.ADDRESS:
            query = query.order_by(columns.source_id, columns.canonical_url)
    rows = list(unit.rows(query.limit(wanted.limit + 1)))
    shown = rows[: wanted.limit]
    return Part(shown, _place(shown[-1], order) if len(rows) > wanted.limit else None)


def _behind(unit: Unit, order: Order, after: str | None) -> list[ColumnElement[bool]]:
    if not after:
        return []
    if not _PLACE.fullmatch(after):
        raise invalid("after", "is no place in a list")
    columns = scrape_targets.c
    at, _, target_id = after.rpartition(".")
    match order:
        case Order.NEWEST:
            return [columns.id < target_id]
        case Order.OLDEST:
            return [columns.id > target_id]
        case Order.DUE:
            return [tuple_(columns.next_due_at, columns.id) > tuple_(int(at or 0), target_id)]
        case Order.ADDRESS:
            return [tuple_(columns.source_id, columns.canonical_url) > _address(unit, target_id)]


def _address(unit: Unit, target_id: str) -> Any:
    columns = scrape_targets.c
    query = select(columns.source_id, columns.canonical_url).where(columns.id == target_id)
    found = unit.run(query).first()
    if found is None:
        raise NotFound("The target where this list was left is gone: begin again")
    return tuple_(*found)


def _place(row: Row, order: Order) -> str:
    return f"{row['next_due_at']}.{row['id']}" if order is Order.DUE else row["id"]


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
