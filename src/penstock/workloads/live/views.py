"""Live pages, as callers of the API see them: times in ISO 8601."""

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from penstock.extract.live.adapter import LiveAdapter
from penstock.web.views import A_TIME, AN_ID, moment, plain, view
from penstock.workloads.live.asking import A_FEED
from penstock.workloads.live.context import iso
from penstock.workloads.live.model import ErrorType, FeedStatus, Resolution, ScraperStatus
from penstock.workloads.live.service import LiveService, Reading
from penstock.workloads.live.tables import Row

A_URL = "https://scores.example.com/match/7"
A_SCRAPER = "5c4a9e1e-3f0b-4f6e-9d0e-2f6b8a1c7d42"
A_SECOND = "2026-03-04T12:00:00Z"
A_PAYLOAD = {"matchId": 7, "status": "live", "score": {"runs": 120, "wickets": 3}}


class FeedView(BaseModel):
    """A page that is watched.

    `data_freshness_seconds` is how long ago it was last seen, changed or not. `reason` says why it
    was put off, refused, stopped, completed or given up; `retry_at` when it is tried again.
    """

    match_id: str = Field(examples=[A_FEED])
    source_url: str = Field(examples=[A_URL])
    adapter: str = Field(examples=["cricket"])
    options: dict[str, Any]
    status: FeedStatus
    wanted: bool
    reason: str | None
    retry_at: str | None
    priority: int
    interval: float | None
    state: str | None = Field(examples=["in_play"])
    last_sequence: int
    scraper_id: str | None = Field(examples=[A_SCRAPER])
    scraper_status: ScraperStatus
    last_scraper_update: str | None = Field(examples=[A_TIME])
    data_freshness_seconds: int | None
    restarts: int
    created_at: str = Field(examples=[A_TIME])
    updated_at: str
    completed_at: str | None


class FeedDetailView(FeedView):
    """A feed and how its scraper does, if that runs in the process that answers."""

    scraper: dict[str, Any] | None
    circuit_breaker: dict[str, Any] | None


class ErrorView(BaseModel):
    """Something that went wrong with a feed.

    `has_snapshot` and `has_screenshot` say whether the page and its picture are kept.
    """

    id: str = Field(examples=[AN_ID])
    scraper_id: str = Field(examples=[A_SCRAPER])
    match_id: str | None = Field(examples=[A_FEED])
    timestamp: str = Field(examples=[A_TIME])
    error_type: ErrorType
    error_message: str | None
    stack_trace: str | None
    url: str | None = Field(examples=[A_URL])
    operation: str | None
    retry_attempt: int
    resolved: bool
    resolution_time: str | None
    resolution_method: Resolution | None
    has_snapshot: bool
    has_screenshot: bool


class HealthLogView(BaseModel):
    """How a scraper was at a time."""

    id: str = Field(examples=[AN_ID])
    scraper_id: str = Field(examples=[A_SCRAPER])
    match_id: str | None = Field(examples=[A_FEED])
    timestamp: str = Field(examples=[A_TIME])
    health_status: str = Field(examples=["healthy"])
    error_count: int
    memory_mb: str | None = Field(examples=["85.50"])
    cpu_percent: str | None = Field(examples=["1.25"])
    update_latency_ms: int | None
    polling_interval_seconds: str | None = Field(examples=["2.50"])
    uptime_seconds: int | None
    last_update_age_seconds: int | None


class AdapterView(BaseModel):
    """Who reads pages, in which ways, and what of them must not be lost."""

    id: str = Field(examples=["cricket"])
    version: str = Field(examples=["1.0.0"])
    urls: list[str]
    ways: list[str]
    critical: list[str]


class MetadataView(BaseModel):
    """How fresh a state is: `source` is `scraper` while it is watched and fresh, else `cache`."""

    scraped_at: str = Field(examples=[A_SECOND])
    data_age_seconds: int = Field(examples=[3])
    scraper_id: str | None = Field(examples=[A_SCRAPER])
    source: str = Field(examples=["scraper"])
    scraper_status: ScraperStatus
    state: str | None = Field(examples=["in_play"])
    sequence: int


class StateView(BaseModel):
    """What a page says, and how fresh that is; other fields are those of its adapter."""

    model_config = ConfigDict(extra="allow")

    metadata: MetadataView = Field(alias="_metadata")


class UpdateView(BaseModel):
    """What a page said, where that was news."""

    match_id: str = Field(examples=[A_FEED])
    sequence: int
    state: str = Field(examples=["in_play"])
    payload: dict[str, Any] = Field(examples=[A_PAYLOAD])
    hash: str
    critical: bool
    final: bool
    scraped_at: str = Field(examples=[A_TIME])
    scraper_id: str | None = Field(examples=[A_SCRAPER])
    update_latency_ms: int | None
    data_source: str


def view_feed(row: Row, service: LiveService) -> dict[str, Any]:
    """A feed as it is now."""
    fresh, interval = service.freshness(row), row["interval_ms"]
    shown = {
        **row,
        "interval": None if interval is None else interval / 1000,
        "last_scraper_update": moment(fresh.scraped_at),
        "data_freshness_seconds": fresh.age_seconds,
        "scraper_status": fresh.scraper_status,
    }
    return view(FeedView, shown)


def view_detail(row: Row, service: LiveService) -> dict[str, Any]:
    """A feed and how its scraper does."""
    scraper = service.scraper_of(row["match_id"])
    breaker = scraper.pop("circuit_breaker") if scraper else None
    return {**view_feed(row, service), "scraper": scraper, "circuit_breaker": breaker}


def view_error(row: Row) -> dict[str, Any]:
    """An error, without what only downloads show."""
    kept = {f"has_{name}": row[name] is not None for name in ("snapshot", "screenshot")}
    return view(ErrorView, _with_times(row, "timestamp", "resolution_time") | kept)


def view_health(row: Row) -> dict[str, Any]:
    """A row of the log of health."""
    return view(HealthLogView, _with_times(row, "timestamp"))


def view_update(row: Row) -> dict[str, Any]:
    """An update."""
    return {name: plain(name, row[name]) for name in UpdateView.model_fields}


def view_adapter(adapter: LiveAdapter) -> dict[str, Any]:
    """A live adapter."""
    return {
        "id": adapter.id,
        "version": adapter.version,
        "urls": list(adapter.urls),
        "ways": list(adapter.ways),
        "critical": sorted(adapter.critical),
    }


def view_state(reading: Reading) -> dict[str, Any]:
    """What a page says, and how fresh that is."""
    metadata = {
        "scraped_at": second(reading.scraped_at),
        "data_age_seconds": reading.age_seconds,
        "scraper_id": reading.scraper_id,
        "source": reading.source,
        "scraper_status": reading.scraper_status,
        "state": reading.state,
        "sequence": reading.sequence,
    }
    return {**reading.payload, "_metadata": metadata}


def second(milliseconds: int) -> str:
    """A time of the store to the second."""
    return iso(datetime.fromtimestamp(milliseconds // 1000, UTC))


def _with_times(row: Row, *names: str) -> Row:
    return {**row, **{name: moment(row[name]) for name in names}}
