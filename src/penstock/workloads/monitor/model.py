"""The words of the price monitor, and its rows as plain, frozen things."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeVar

from penstock.extract.adapter import Adapter

WORKLOAD = "monitor"
DAY_MS = 86_400_000
#: A source and an adapter: runs, drift and statuses are of one.
Pair = tuple[str, str]
#: In the queue a lower number goes first; a target's own scale goes the other way.
QUEUE_MIDDLE, QUEUE_LAST = 5, 9


class TargetStatus(StrEnum):
    """Where a target stands."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    BROKEN = "BROKEN"
    STALE = "STALE"


class RunStatus(StrEnum):
    """Where a run stands."""

    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    QUARANTINED = "QUARANTINED"


class Trigger(StrEnum):
    """Why there is a run."""

    SCHEDULED = "SCHEDULED"
    MANUAL = "MANUAL"
    RETRY = "RETRY"
    RECHECK = "RECHECK"


class DisabledReason(StrEnum):
    """Why an adapter reads no pages of a source."""

    MANUAL = "MANUAL"
    DRIFT_DETECTED = "DRIFT_DETECTED"
    TOS_VIOLATION = "ToS_VIOLATION"


class FetchStatus(StrEnum):
    """What became of a fetch."""

    OK = "ok"
    ERROR = "error"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    ROBOTS_BLOCKED = "robots_blocked"


class QuarantineStatus(StrEnum):
    """What was decided on a quarantined offer."""

    OPEN = "OPEN"
    RELEASED = "RELEASED"
    DISCARDED = "DISCARDED"


def status_id(adapter: Adapter, source_name: str) -> str:
    """Under which id it is kept how an adapter fares on a source.

    A site's own adapter has its name; one that several sites share names the source too.
    """
    is_of_one_site = bool(adapter.urls) and len(adapter.domains) == 1
    return adapter.id if is_of_one_site else f"{adapter.id}@{source_name}"


def pair_of(row: Mapping[str, Any]) -> Pair:
    """The source and the adapter of a target or a run."""
    return row["source_id"], row["adapter_id"]


def queue_priority(priority: int) -> int:
    """A target's priority (higher goes first) on the scale of the queue (lower goes first)."""
    return min(max(QUEUE_MIDDLE - priority, 0), QUEUE_LAST)


T = TypeVar("T", bound="_Row")


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the store."""

    @classmethod
    def of(cls: type[T], row: Mapping[str, Any]) -> T:
        """From a row that may have more columns than are of interest."""
        return cls(**{each.name: row[each.name] for each in fields(cls)})

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Target(_Row):
    """A URL that is watched; times are milliseconds of the store."""

    id: str
    url: str
    canonical_url: str
    source_id: str
    adapter_id: str
    source_product_id: str | None
    schedule: str | None
    priority: int
    status: str
    enabled: bool
    robots_path_blocked: bool
    last_scraped_at: int | None
    last_status: str | None
    consecutive_failures: int
    next_due_at: int | None
    run_id: str | None
    created_at: int
    updated_at: int
    created_by: str | None
    notes: str | None


@dataclass(frozen=True, slots=True)
class Run(_Row):
    """A batch of targets of one source, read by one adapter."""

    id: str
    adapter_id: str
    adapter_version: str
    source_id: str
    retailer_id: str
    trigger: str
    status: str
    started_at: int
    completed_at: int | None
    duration_ms: int | None
    urls_total: int
    urls_over: int
    urls_attempted: int
    urls_succeeded: int
    urls_failed: int
    offers_extracted: int
    offers_valid: int
    offers_dropped: int
    offers_quarantined: int
    zero_price_count: int
    oos_no_price_count: int
    unknown_availability_count: int
    extraction_failures: int
    urls_unreachable: int
    unchanged_count: int
    field_counts: Mapping[str, int]
    failure_rate: Decimal | None
    yield_rate: Decimal | None
    drop_rate: Decimal | None
    drift_rate: Decimal | None
    is_canary: bool
    error_code: str | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class AdapterStatus(_Row):
    """How an adapter fares on a source, and whether it may read its pages."""

    adapter_id: str
    adapter: str
    source_id: str
    enabled: bool
    disabled_at: int | None
    disabled_reason: str | None
    disabled_by: str | None
    baseline_failure_rate: Decimal | None
    baseline_yield_rate: Decimal | None
    baseline_sample_size: int
    baseline_coverage: Mapping[str, float]
    baseline_updated_at: int | None
    consecutive_failed_batches: int
    consecutive_empty_batches: int
    consecutive_zero_price_batches: int
    last_batch_failure_rate: Decimal | None
    pooled: Mapping[str, Any]
    needs_canary: bool
    created_at: int
    updated_at: int
