"""The numbers of the site that a test may want smaller, larger or frozen."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

GIB = 1024**3


def current_time() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class SiteSettings:
    rate_limited_requests: int = 2
    retry_after_seconds: int = 1
    outage_requests: int = 6
    robots_redirects: int = 5
    robots_slow_seconds: float = 2.0
    drip_seconds: float = 0.1
    bomb_bytes: int = GIB
    # Nothing endless outlives these two, whatever the client does.
    endless_bytes: int = 2 * GIB
    endless_seconds: float = 60.0
    catalog_pages: int = 100
    keep_hits: int = 1_000_000
    now: Callable[[], datetime] = current_time


DEFAULT_SETTINGS = SiteSettings()
