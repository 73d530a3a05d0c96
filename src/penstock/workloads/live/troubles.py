"""What went wrong with scrapers, one row each, until something makes it good."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, func, select, update

from penstock.core.ids import new_id
from penstock.store.unit import Unit, do_nothing
from penstock.workloads.live.model import ErrorType, Resolution
from penstock.workloads.live.tables import (
    OPERATION_LENGTH,
    URL_LENGTH,
    Row,
    bounded,
    scraper_errors,
)

MESSAGE_LENGTH, TRACE_LENGTH = 4_000, 20_000
MOST_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class ErrorEntry:
    """Something that went wrong, when it did (milliseconds since 1970; None: when it is written).

    `snapshot` and `screenshot` are blobs: the page as it was, and a picture of it.
    """

    scraper_id: str
    match_id: str | None
    error_type: ErrorType
    message: str
    at: int | None = None
    stack_trace: str | None = None
    url: str | None = None
    #: What was being attempted.
    operation: str | None = None
    retry_attempt: int = 0
    snapshot: str | None = None
    screenshot: str | None = None
    id: str = field(default_factory=new_id)


def log_errors(unit: Unit, entries: Sequence[ErrorEntry]) -> None:
    """Write errors down; one that is there already is left alone."""
    unit.insert_all(scraper_errors, [_row(unit, entry) for entry in entries], do_nothing)


def resolve_errors(unit: Unit, match_id: str, method: Resolution) -> int:
    """Something made all errors of a feed good; how many there were."""
    chosen = (scraper_errors.c.match_id == match_id, scraper_errors.c.resolved.is_(False))
    return unit.run(update(scraper_errors).where(*chosen).values(_resolved(unit, method))).rowcount


def resolve_error(unit: Unit, error_id: str, method: Resolution = Resolution.MANUAL) -> Row | None:
    """Say that an error is dealt with, and return it; None if there is none of that id."""
    its = scraper_errors.c
    chosen = (its.id == error_id, its.resolved.is_(False))
    unit.run(update(scraper_errors).where(*chosen).values(_resolved(unit, method)))
    return next(unit.rows(select(scraper_errors).where(its.id == error_id)), None)


def get_error(unit: Unit, error_id: str) -> Row | None:
    """An error by its id."""
    return next(unit.rows(select(scraper_errors).where(scraper_errors.c.id == error_id)), None)


def list_errors(
    unit: Unit,
    *,
    match_id: str | None = None,
    error_type: ErrorType | None = None,
    resolved: bool | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[Row]:
    """Errors, the newest first; `before` is the id of the last one seen."""
    its = scraper_errors.c
    wanted: list[ColumnElement[bool]] = []
    if match_id is not None:
        wanted.append(its.match_id == match_id)
    if error_type is not None:
        wanted.append(its.error_type == error_type)
    if resolved is not None:
        wanted.append(its.resolved.is_(resolved))
    if before is not None:
        wanted.append(its.id < before)
    query = select(scraper_errors).where(*wanted).order_by(its.id.desc()).limit(limit)
    return list(unit.rows(query))


def count_errors(unit: Unit, since: int) -> dict[str, int]:
    """How many errors of each type there were since a time (ms); types without one are absent.

    Of very many, not all are counted.
    """
    its = scraper_errors.c
    # First those of the time: the index of types would have all errors read to group a few.
    latest = select(its.error_type).where(its.timestamp >= since).order_by(its.timestamp.desc())
    some = latest.limit(MOST_COUNTED).subquery()
    query = select(some.c.error_type, func.count()).group_by(some.c.error_type)
    return dict(unit.run(query).all())


def drop_old_snapshots(unit: Unit, match_id: str, most: int) -> set[str]:
    """Let a feed keep only its newest pages and pictures; the blobs that it let go."""
    its = scraper_errors.c
    has_some = its.snapshot.is_not(None) | its.screenshot.is_not(None)
    query = select(its.id, its.snapshot, its.screenshot).where(its.match_id == match_id, has_some)
    rows = unit.run(query.order_by(its.id.desc())).all()
    old = unit.among(its.id, [row.id for row in rows[most:]])
    unit.run(update(scraper_errors).where(old).values(snapshot=None, screenshot=None))
    kept, gone = blobs_of(rows[:most]), blobs_of(rows[most:])
    return gone - kept


def blobs_of(rows: Sequence[object]) -> set[str]:
    """The blobs that some errors have."""
    found = (getattr(row, name) for row in rows for name in ("snapshot", "screenshot"))
    return {address for address in found if address is not None}


def _row(unit: Unit, entry: ErrorEntry) -> Row:
    return {
        "id": entry.id,
        "scraper_id": entry.scraper_id,
        "match_id": entry.match_id,
        "timestamp": unit.now if entry.at is None else entry.at,
        "error_type": entry.error_type,
        "error_message": entry.message[:MESSAGE_LENGTH],
        "stack_trace": _cut(entry.stack_trace, TRACE_LENGTH),
        "url": _cut(entry.url, URL_LENGTH),
        "operation": _cut(entry.operation, OPERATION_LENGTH),
        "retry_attempt": bounded(entry.retry_attempt) or 0,
        "snapshot": entry.snapshot,
        "screenshot": entry.screenshot,
    }


def _cut(text: str | None, length: int) -> str | None:
    return None if text is None else text[:length]


def _resolved(unit: Unit, method: Resolution) -> Row:
    return {"resolved": True, "resolution_time": unit.now, "resolution_method": method}
