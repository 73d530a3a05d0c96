"""What the price monitor gives; fields that a client does not know yet are passed over."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from penstock.client.models import Model

TargetStatus = Literal["ACTIVE", "PAUSED", "BROKEN", "STALE"]
RunStatus = Literal["RUNNING", "SUCCESS", "FAILED", "QUARANTINED"]
QuarantineStatus = Literal["OPEN", "RELEASED", "DISCARDED"]


class WatchedTarget(Model):
    """A URL that is watched; `waits_for` says what keeps it from being read, if anything does."""

    id: str
    url: str
    canonical_url: str
    source_id: str
    source: str
    adapter_id: str
    source_product_id: str | None = None
    schedule: str | None = None
    priority: int
    status: TargetStatus
    enabled: bool
    robots_path_blocked: bool
    last_scraped_at: datetime | None = None
    last_status: str | None = None
    consecutive_failures: int
    next_due_at: datetime | None = None
    run_id: str | None = None
    created_at: datetime
    created_by: str | None = None
    notes: str | None = None
    waits_for: str | None = None


class Run(Model):
    """A batch of targets of one source, read by one adapter: its counters and rates."""

    id: str
    adapter_id: str
    adapter_version: str
    source_id: str
    trigger: str
    status: RunStatus
    started_at: datetime
    completed_at: datetime | None = None
    urls_total: int
    urls_over: int
    urls_attempted: int
    urls_succeeded: int
    urls_failed: int
    urls_unreachable: int
    offers_extracted: int
    offers_valid: int
    offers_dropped: int
    offers_quarantined: int
    zero_price_count: int
    oos_no_price_count: int
    unknown_availability_count: int
    extraction_failures: int
    unchanged_count: int
    field_counts: Mapping[str, int]
    failure_rate: Decimal | None = None
    yield_rate: Decimal | None = None
    drop_rate: Decimal | None = None
    drift_rate: Decimal | None = None
    is_canary: bool
    error_code: str | None = None
    error_message: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether all of its targets are."""
        return self.status != "RUNNING"


class Launch(Model):
    """What came of an attempt to start runs; `refused` says why for targets in none."""

    runs: tuple[str, ...]
    accepted: int
    refused: Mapping[str, str]
    retry_after: float | None = None
    left: int


class Price(Model):
    """A price with its corrections applied; what only ops may see is absent for others."""

    price_id: str
    product_id: str | None = None
    source_product_id: str
    source_id: str
    source: str
    retailer: str
    title: str
    url: str
    price: Decimal
    currency: str
    availability: str | None = None
    shipping: Decimal | None = None
    tax_included: bool | None = None
    cost_per_round: Decimal | None = None
    observed_at: datetime
    price_as_seen: Decimal | None = None
    target_id: str | None = None
    visibility_status: str | None = None
    ingestion_run_type: str
    ingestion_run_id: str | None = None
    adapter_id: str | None = None
    adapter_version: str | None = None
    released_by: str | None = None
    correction_id: str | None = None
    correction_action: str | None = None
    correction_reason: str | None = None
    correction_created_by: str | None = None
    corrections: tuple[dict[str, Any], ...] = ()


class QuarantinedOffer(Model):
    """An offer that was not trusted, and what was decided on it."""

    id: str
    target_id: str
    run_id: str
    result_id: str
    source_id: str
    adapter_id: str
    adapter_version: str
    reason: str
    detail: str
    offer: dict[str, Any]
    observed_at: datetime
    status: QuarantineStatus
    decided_by: str | None = None
    decided_at: datetime | None = None
    decision_note: str | None = None
    price_id: str | None = None
