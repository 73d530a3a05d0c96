"""What live pages give; fields that a client does not know yet are passed over."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from penstock.client.models import Model

FeedStatus = Literal["waiting", "watching", "completed", "stopped", "refused", "failed"]
ErrorType = Literal["network", "parsing", "browser", "database", "auth"]
SCRAPER = "scraper"


class Feed(Model):
    """A page that is watched; `reason` says why it is not."""

    match_id: str
    source_url: str
    adapter: str
    options: Mapping[str, Any] = Field(default_factory=dict)
    status: FeedStatus
    wanted: bool
    reason: str | None = None
    retry_at: datetime | None = None
    priority: int
    interval: float | None = None
    state: str | None = None
    last_sequence: int
    scraper_id: str | None = None
    scraper_status: str
    last_scraper_update: datetime | None = None
    #: Since the page was last seen.
    data_freshness_seconds: int | None = None
    restarts: int
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None


class FeedDetail(Feed):
    """A feed and how its scraper does, if that runs in the process that was asked."""

    scraper: Mapping[str, Any] | None = None
    circuit_breaker: Mapping[str, Any] | None = None


class Reading(Model):
    """What a page says, how old that is, and where it comes from.

    `source` is `scraper` while the page is watched and fresh; else `cache`, the last that is known.
    """

    payload: Mapping[str, Any]
    scraped_at: datetime
    data_age_seconds: int
    scraper_id: str | None = None
    scraper_status: str
    source: str
    state: str | None = None
    sequence: int

    @property
    def is_fresh(self) -> bool:
        """Whether the page is watched, and was seen lately."""
        return self.source == SCRAPER


class LiveUpdate(Model):
    """What a page said, where that was news; numbers of a feed have no gaps."""

    match_id: str
    sequence: int
    state: str
    payload: Mapping[str, Any]
    hash: str
    critical: bool
    final: bool
    scraped_at: datetime
    scraper_id: str | None = None
    update_latency_ms: int | None = None


class LiveStanding(Model):
    """How fresh a feed is: told at first, and whenever that changes."""

    match_id: str
    status: str
    scraper_status: str
    source: str
    is_stale: bool
    state: str | None = None
    sequence: int
    scraped_at: datetime | None = None
    data_age_seconds: int | None = None
    reason: str | None = None


class LiveGap(Model):
    """Updates between two numbers are not kept any more."""

    match_id: str
    after: int
    next: int


class LiveEnd(Model):
    """A feed is over: completed, stopped, refused or removed."""

    match_id: str
    status: str
    reason: str | None = None
    sequence: int | None = None


LiveEvent = LiveUpdate | LiveStanding | LiveGap | LiveEnd


class FeedError(Model):
    """Something that went wrong with a feed, and what made it good."""

    id: str
    scraper_id: str
    match_id: str | None = None
    timestamp: datetime
    error_type: ErrorType
    error_message: str | None = None
    stack_trace: str | None = None
    url: str | None = None
    operation: str | None = None
    retry_attempt: int
    resolved: bool
    resolution_time: datetime | None = None
    resolution_method: str | None = None
    has_snapshot: bool = False
    has_screenshot: bool = False


class HealthEntry(Model):
    """How a scraper was at a time."""

    scraper_id: str
    match_id: str | None = None
    timestamp: datetime
    health_status: str
    error_count: int
    memory_mb: float | None = None
    cpu_percent: float | None = None
    update_latency_ms: int | None = None
    polling_interval_seconds: float | None = None
    uptime_seconds: int | None = None
    last_update_age_seconds: int | None = None


class LiveReader(Model):
    """Who reads live pages, in which ways, and what of them must not be lost."""

    id: str
    version: str
    urls: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()
    critical: tuple[str, ...] = ()
