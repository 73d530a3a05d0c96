"""How live pages do in this process, in the form that their monitoring knows.

All of it is in memory: nobody waits for the store to hear that it is away.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from penstock.core.clock import Clock
from penstock.workloads.live.context import MIB, iso
from penstock.workloads.live.windows import RecentLooks

#: Errors a minute of all feeds: so many are too many, and more than so many are the end of it.
DEGRADED_ERRORS, DOWN_ERRORS = 5, 10
HEALTHY_SCRAPER = "healthy"


class Service(StrEnum):
    """How the whole does."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    DOWN = "down"


class Shown(Protocol):
    """Something that health shows as it is."""

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        ...


class RunningScraper(Shown, Protocol):
    """A scraper, as much of it as health has to know."""

    @property
    def health_status(self) -> str: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def cpu_percent(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthStatus:
    """Everything that /health says of live pages.

    `total_matches_scraping` counts the feeds that are to be watched here, so that fewer active
    scrapers catch the eye; memory is that of the feeds with their shares of their browsers, and
    its peak the highest total since the start.
    """

    status: Service
    timestamp: datetime
    active_scraper_count: int
    total_matches_scraping: int
    scrapers: list[dict[str, Any]]
    total_memory_mb: float
    average_memory_mb: float
    peak_memory_mb: float
    total_cpu_percent: float
    total_errors_last_minute: int
    total_errors_last_hour: int
    circuit_breakers: list[dict[str, Any]]
    average_update_latency_ms: float
    p95_update_latency_ms: float
    updates_per_minute: int

    def to_dict(self) -> dict[str, Any]:
        """As plain data, grouped for readers."""
        return {
            "status": self.status.value,
            "timestamp": iso(self.timestamp),
            "active_scraper_count": self.active_scraper_count,
            "total_matches_scraping": self.total_matches_scraping,
            "scrapers": self.scrapers,
            "resources": {
                "total_memory_mb": self.total_memory_mb,
                "average_memory_mb": self.average_memory_mb,
                "peak_memory_mb": self.peak_memory_mb,
                "total_cpu_percent": self.total_cpu_percent,
            },
            "errors": {
                "last_minute": self.total_errors_last_minute,
                "last_hour": self.total_errors_last_hour,
                "circuit_breakers": self.circuit_breakers,
            },
            "performance": {
                "average_latency_ms": self.average_update_latency_ms,
                "p95_latency_ms": self.p95_update_latency_ms,
                "updates_per_minute": self.updates_per_minute,
            },
        }


class Health:
    """Says how scrapers do; remembers the most memory that they ever had together."""

    def __init__(self, clock: Clock, looks: RecentLooks) -> None:
        self._clock = clock
        self._looks = looks
        self._peak_bytes = 0

    def measured(self, scrapers: Iterable[RunningScraper]) -> int:
        """Bytes of all scrapers together; to be called whenever they have been measured."""
        total = sum(scraper.memory_bytes for scraper in scrapers)
        self._peak_bytes = max(self._peak_bytes, total)
        return total

    def status(
        self, scrapers: Collection[RunningScraper], breakers: Iterable[Shown], wanted: int
    ) -> HealthStatus:
        """How it all does now; `wanted` feeds are to be watched by this process."""
        looks, number = self._looks, len(scrapers)
        total = self.measured(scrapers)
        all_well = all(scraper.health_status == HEALTHY_SCRAPER for scraper in scrapers)
        errors = looks.errors_last_minute
        return HealthStatus(
            status=judge(number, wanted, errors, all_well=all_well),
            timestamp=self._clock.now(),
            active_scraper_count=number,
            total_matches_scraping=wanted,
            scrapers=[scraper.to_dict() for scraper in scrapers],
            total_memory_mb=_megabytes(total),
            average_memory_mb=_megabytes(total / number) if number else 0.0,
            peak_memory_mb=_megabytes(self._peak_bytes),
            total_cpu_percent=round(sum(scraper.cpu_percent for scraper in scrapers), 2),
            total_errors_last_minute=errors,
            total_errors_last_hour=looks.errors_last_hour,
            circuit_breakers=[breaker.to_dict() for breaker in breakers],
            average_update_latency_ms=looks.average_latency_ms,
            p95_update_latency_ms=looks.p95_latency_ms,
            updates_per_minute=looks.updates_per_minute,
        )


def judge(active: int, wanted: int, errors: int, *, all_well: bool) -> Service:
    """What scrapers and the errors of the last minute amount to."""
    if errors > DOWN_ERRORS or (wanted and not active):
        return Service.DOWN
    if errors >= DEGRADED_ERRORS or active < wanted or not all_well:
        return Service.DEGRADED
    return Service.HEALTHY


def _megabytes(size: float) -> float:
    return round(size / MIB, 2)
