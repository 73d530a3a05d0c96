"""How scrapers were, from time to time: one row each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from sqlalchemy import select

from penstock.core.ids import new_id
from penstock.store.schema import Fixed
from penstock.store.unit import Unit, do_nothing
from penstock.workloads.live.tables import Row, bounded, scraper_health_log


@dataclass(frozen=True, slots=True)
class HealthEntry:
    """How a scraper was at a time (milliseconds since 1970; None: when it is written)."""

    scraper_id: str
    match_id: str | None
    health_status: str
    at: int | None = None
    error_count: int = 0
    memory_mb: float | None = None
    cpu_percent: float | None = None
    update_latency_ms: float | None = None
    polling_interval_seconds: float | None = None
    uptime_seconds: float | None = None
    last_update_age_seconds: float | None = None
    id: str = field(default_factory=new_id)


def log_health(unit: Unit, entries: Sequence[HealthEntry]) -> None:
    """Write down how scrapers are; numbers that are too large for their column are its largest."""
    unit.insert_all(scraper_health_log, [_row(unit, entry) for entry in entries], do_nothing)


def list_health(unit: Unit, match_id: str, since: int = 0, limit: int = 1000) -> list[Row]:
    """How the scrapers of a feed were since a time (ms), the latest first."""
    its = scraper_health_log.c
    query = select(scraper_health_log).where(its.match_id == match_id, its.timestamp >= since)
    return list(unit.rows(query.order_by(its.timestamp.desc(), its.id.desc()).limit(limit)))


def list_ages(unit: Unit, match_ids: Sequence[str], since: int) -> dict[str, list[int | None]]:
    """How old the last good look at feeds was since a time (ms), in seconds, oldest first."""
    its = scraper_health_log.c
    query = select(its.match_id, its.last_update_age_seconds).where(
        unit.among(its.match_id, match_ids), its.timestamp >= since
    )
    found: dict[str, list[int | None]] = {}
    for match_id, age in unit.run(query.order_by(its.match_id, its.timestamp, its.id)):
        found.setdefault(match_id, []).append(age)
    return found


def _row(unit: Unit, entry: HealthEntry) -> Row:
    return {
        "id": entry.id,
        "scraper_id": entry.scraper_id,
        "match_id": entry.match_id,
        "timestamp": unit.now if entry.at is None else entry.at,
        "health_status": entry.health_status,
        "error_count": bounded(entry.error_count) or 0,
        "memory_mb": _fixed("memory_mb", entry.memory_mb),
        "cpu_percent": _fixed("cpu_percent", entry.cpu_percent),
        "update_latency_ms": bounded(entry.update_latency_ms),
        "polling_interval_seconds": _fixed(
            "polling_interval_seconds", entry.polling_interval_seconds
        ),
        "uptime_seconds": bounded(entry.uptime_seconds),
        "last_update_age_seconds": bounded(entry.last_update_age_seconds),
    }


def _fixed(column: str, number: float | None) -> Decimal | None:
    """A number as a column of decimals takes it; absent if it is none."""
    kind = scraper_health_log.c[column].type
    if number is None or not math.isfinite(number) or not isinstance(kind, Fixed):
        return None
    largest = Decimal(10**kind.precision - 1).scaleb(-kind.scale)
    return min(Decimal(number), largest)
