"""How live pages do, as far as the store knows: for a process that watches none."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select

from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.live.feeds import is_unwatched
from penstock.workloads.live.health import HealthStatus, judge
from penstock.workloads.live.model import FeedStatus, ScraperStatus
from penstock.workloads.live.supervising import STALE_SECONDS
from penstock.workloads.live.tables import matches
from penstock.workloads.live.troubles import count_errors

MINUTE_MS, HOUR_MS = 60_000, 3_600_000
NOTE = (
    "no feed is watched by this process: numbers of feeds and errors are those of the store; how "
    "scrapers do is at /health of the processes that watch them"
)


async def examine_store(store: Store) -> dict[str, Any]:
    """Feeds and errors in numbers, in the form of health; what scrapers take is not known."""
    return await store.read(_examine)


def _examine(unit: Unit) -> dict[str, Any]:
    its = matches.c
    query = select(its.status, its.scraper_status, its.last_scraper_update, ~is_unwatched())
    wanted = unit.run(query.where(its.wanted)).all()
    fresh_since = unit.now - int(STALE_SECONDS * 1000)
    active = [
        scraper_status == ScraperStatus.ACTIVE and (seen_at or 0) >= fresh_since
        for status, scraper_status, seen_at, is_watched in wanted
        if is_watched and status == FeedStatus.WATCHING
    ]
    errors = sum(count_errors(unit, unit.now - MINUTE_MS).values())
    status = HealthStatus(
        status=judge(len(active), len(wanted), errors, all_well=all(active)),
        timestamp=datetime.fromtimestamp(unit.now / 1000, UTC),
        active_scraper_count=len(active),
        total_matches_scraping=len(wanted),
        scrapers=[],
        total_memory_mb=0.0,
        average_memory_mb=0.0,
        peak_memory_mb=0.0,
        total_cpu_percent=0.0,
        total_errors_last_minute=errors,
        total_errors_last_hour=sum(count_errors(unit, unit.now - HOUR_MS).values()),
        circuit_breakers=[],
        average_update_latency_ms=0.0,
        p95_update_latency_ms=0.0,
        updates_per_minute=0,
    )
    return {**status.to_dict(), "note": NOTE}
