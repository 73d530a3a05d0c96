"""How a scraper does: since when, how fresh, how many errors, and how much of the machine."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from penstock.core.clock import Clock
from penstock.workloads.live.health_log import HealthEntry
from penstock.workloads.live.settings import LiveSettings

MIB = 1024 * 1024
HOUR = 3600.0
#: More errors in a row than this: start anew.
MOST_ERRORS = 10
#: More errors in a row than this, or seconds without a good look, and it is not healthy any more.
FAILING_ERRORS = 5
DEGRADED_ERRORS, DEGRADED_SECONDS = 2, 120.0


@dataclass(slots=True)
class ScraperContext:
    """One scraper; an update here is a good look, changed or not.

    Dates are for showing, all durations are monotonic. `memory_bytes` is the feed's own part,
    `browser_bytes` all of its browser, which is what the limits are for.
    """

    scraper_id: str
    match_id: str
    url: str
    start_time: datetime
    max_lifetime_seconds: float
    staleness_seconds: float
    soft_memory_limit: int
    hard_memory_limit: int
    polling_interval: float
    last_update_time: datetime | None = None
    last_latency: float | None = None
    error_count: int = 0
    total_errors: int = 0
    total_updates: int = 0
    memory_bytes: int = 0
    browser_bytes: int = 0
    cpu_percent: float = 0.0
    browser_pid: int | None = None
    _clock: Clock = field(kw_only=True, repr=False)
    _began: float = field(kw_only=True, repr=False)
    #: The last good look, or the start of the first scraper if there was none.
    _fresh: float = field(kw_only=True, repr=False)

    @classmethod
    def begin(
        cls,
        scraper_id: str,
        match_id: str,
        url: str,
        settings: LiveSettings,
        clock: Clock,
        *,
        former: "ScraperContext | None" = None,
    ) -> "ScraperContext":
        """A scraper that begins now; it goes on with the totals of the former one of its feed."""
        now = clock.monotonic()
        context = cls(
            scraper_id,
            match_id,
            url,
            start_time=clock.now(),
            max_lifetime_seconds=settings.max_lifetime_hours * HOUR,
            staleness_seconds=settings.staleness_threshold_seconds,
            soft_memory_limit=settings.memory_soft_limit_mb * MIB,
            hard_memory_limit=settings.memory_hard_limit_mb * MIB,
            polling_interval=settings.polling_interval_seconds,
            _clock=clock,
            _began=now,
            _fresh=now,
        )
        if former is not None:
            context._go_on_from(former)
        return context

    def _go_on_from(self, former: "ScraperContext") -> None:
        self.total_errors, self.total_updates = former.total_errors, former.total_updates
        self.last_update_time, self.last_latency = former.last_update_time, former.last_latency
        self.polling_interval = former.polling_interval
        self._fresh = former._fresh

    @property
    def uptime(self) -> float:
        """Seconds since this scraper began."""
        return self._clock.monotonic() - self._began

    @property
    def staleness(self) -> float:
        """Seconds since the last good look at the feed, by whichever scraper."""
        return self._clock.monotonic() - self._fresh

    @property
    def last_update_ms(self) -> int | None:
        """The last good look, in milliseconds since 1970; None if there was none."""
        at = self.last_update_time
        return None if at is None else int(at.timestamp() * 1000)

    def looked(self, latency: float) -> None:
        """A look went well, and took so many seconds."""
        self._fresh = self._clock.monotonic()
        self.last_update_time = self._clock.now()
        self.last_latency = latency
        self.error_count = 0
        self.total_updates += 1

    def failed(self) -> None:
        """A look went wrong."""
        self.error_count += 1
        self.total_errors += 1

    def restart_reason(self) -> str | None:
        """Why the scraper should start anew; None if it should not."""
        if self.uptime > self.max_lifetime_seconds:
            return "age"
        # A scraper that is new has as long as any other to get its first look.
        if min(self.staleness, self.uptime) > self.staleness_seconds:
            return "staleness"
        if self.error_count > MOST_ERRORS:
            return "errors"
        if self.browser_bytes > self.soft_memory_limit:
            return "memory"
        return None

    @property
    def health_status(self) -> str:
        """`healthy`, `degraded` or `failing`."""
        if self.error_count > FAILING_ERRORS or self.staleness > self.staleness_seconds:
            return "failing"
        if self.error_count > DEGRADED_ERRORS or self.staleness > DEGRADED_SECONDS:
            return "degraded"
        return "healthy"

    def to_dict(self) -> dict[str, Any]:
        """The scraper as the health of the service shows it."""
        return {
            "scraper_id": self.scraper_id,
            "match_id": self.match_id,
            "url": self.url,
            "start_time": iso(self.start_time),
            "last_update": iso(self.last_update_time) if self.last_update_time else None,
            "uptime_seconds": int(self.uptime),
            "error_count": self.error_count,
            "total_errors": self.total_errors,
            "total_updates": self.total_updates,
            "health_status": self.health_status,
            "memory_mb": round(self.memory_bytes / MIB, 2),
            "cpu_percent": round(self.cpu_percent, 2),
            "polling_interval": self.polling_interval,
        }

    def health_row(self) -> HealthEntry:
        """The scraper as the log of health keeps it."""
        latency = self.last_latency
        return HealthEntry(
            scraper_id=self.scraper_id,
            match_id=self.match_id,
            health_status=self.health_status,
            at=int(self._clock.now().timestamp() * 1000),
            error_count=self.error_count,
            memory_mb=self.memory_bytes / MIB,
            cpu_percent=self.cpu_percent,
            update_latency_ms=None if latency is None else latency * 1000,
            polling_interval_seconds=self.polling_interval,
            uptime_seconds=self.uptime,
            last_update_age_seconds=None if self.last_update_time is None else self.staleness,
        )


def iso(at: datetime) -> str:
    """A time to the second, as in `2025-11-12T10:30:00Z`."""
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")
