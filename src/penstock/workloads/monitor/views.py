"""What the monitor knows, as callers of its API see it: times in ISO 8601, amounts as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from penstock.products.sources import Visibility
from penstock.web.views import A_TIME, AN_ID, moment, plain, view
from penstock.workloads.monitor.model import (
    DisabledReason,
    QuarantineStatus,
    RunStatus,
    TargetStatus,
    Trigger,
)
from penstock.workloads.monitor.rules import Rule, RuleKind
from penstock.workloads.monitor.targets import waits_for
from penstock.workloads.monitor.why import Explanation


class RetailerView(BaseModel):
    """Who sells."""

    id: str = Field(examples=[AN_ID])
    name: str
    website_url: str | None
    created_at: str = Field(examples=[A_TIME])
    updated_at: str


class SourceView(BaseModel):
    """A shop on the web, the terms on which it is read, and who may see its prices."""

    id: str = Field(examples=[AN_ID])
    name: str
    domain: str
    retailer_id: str
    retailer: str
    adapter_id: str | None
    scrape_config: dict[str, Any]
    visibility_status: Visibility
    upc_trusted: bool
    tos_reviewed_at: str | None
    tos_approved_by: str | None
    robots_compliant: bool
    created_at: str
    updated_at: str


class TargetView(BaseModel):
    """A URL that is watched; `waits_for` says what keeps it from being read, if anything does."""

    id: str = Field(examples=[AN_ID])
    url: str
    canonical_url: str
    source_id: str
    source: str
    adapter_id: str
    source_product_id: str | None
    schedule: str | None
    priority: int
    status: TargetStatus
    enabled: bool
    robots_path_blocked: bool
    last_scraped_at: str | None
    last_status: str | None
    consecutive_failures: int
    next_due_at: str | None
    run_id: str | None
    created_at: str = Field(examples=[A_TIME])
    updated_at: str
    created_by: str | None
    notes: str | None
    waits_for: str | None


class RemovalView(BaseModel):
    """What became of a target that was to be removed."""

    id: str
    deleted: bool
    note: str


class ProblemView(BaseModel):
    """What is wrong with a line of an import."""

    line: int
    url: str
    problem: str


class ImportView(BaseModel):
    """What came of an import: all of it was added, or nothing."""

    lines: int
    added: int
    skipped: int
    dry_run: bool
    problems: list[ProblemView]


class RequeuedView(BaseModel):
    """How many stale targets are due again."""

    requeued: int


class RunView(BaseModel):
    """A batch of targets of one source, read by one adapter."""

    id: str = Field(examples=[AN_ID])
    adapter_id: str
    adapter_version: str
    source_id: str
    retailer_id: str
    trigger: Trigger
    status: RunStatus
    started_at: str = Field(examples=[A_TIME])
    completed_at: str | None
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
    field_counts: dict[str, int]
    failure_rate: str | None
    yield_rate: str | None
    drop_rate: str | None
    drift_rate: str | None
    is_canary: bool
    error_code: str | None
    error_message: str | None


class LaunchView(BaseModel):
    """What came of an attempt to start runs; `refused` says why for targets in none.

    `left` is how many more there are, for which it has to be asked again.
    """

    runs: list[str]
    accepted: int
    refused: dict[str, str]
    retry_after: float | None
    left: int


class AdapterStatusView(BaseModel):
    """How an adapter fares on a source, and whether it may read its pages."""

    adapter_id: str
    adapter: str
    source_id: str
    enabled: bool
    disabled_at: str | None
    disabled_reason: DisabledReason | None
    disabled_by: str | None
    baseline_failure_rate: str | None
    baseline_yield_rate: str | None
    baseline_sample_size: int
    baseline_coverage: dict[str, float]
    baseline_updated_at: str | None
    consecutive_failed_batches: int
    consecutive_empty_batches: int
    consecutive_zero_price_batches: int
    last_batch_failure_rate: str | None
    needs_canary: bool
    created_at: str
    updated_at: str


class QuarantinedView(BaseModel):
    """An offer that was not trusted, and what was decided on it."""

    id: str = Field(examples=[AN_ID])
    target_id: str
    run_id: str
    result_id: str
    source_id: str
    adapter_id: str
    adapter_version: str
    identity_key: str | None
    reason: str
    detail: str
    offer: dict[str, Any]
    observed_at: str
    status: QuarantineStatus
    decided_by: str | None
    decided_at: str | None
    decision_note: str | None
    price_id: str | None
    created_at: str


class VisiblePriceView(BaseModel):
    """A price that consumers may see, with its corrections applied."""

    price_id: str = Field(examples=[AN_ID])
    product_id: str | None
    source_product_id: str
    source_id: str
    source: str
    retailer_id: str
    retailer: str
    title: str
    url: str
    price: str = Field(examples=["19.99"])
    currency: str = Field(examples=["USD"])
    availability: str | None
    shipping: str | None
    tax_included: bool | None
    cost_per_round: str | None
    observed_at: str
    ingestion_run_type: str


class PriceView(BaseModel):
    """A price with all that is known of where it comes from; for ops."""

    price_id: str = Field(examples=[AN_ID])
    product_id: str | None
    source_product_id: str
    target_id: str
    source_id: str
    source: str
    visibility_status: Visibility
    retailer_id: str
    retailer: str
    title: str
    identity_key: str
    url: str
    price: str = Field(examples=["19.99"])
    price_as_seen: str = Field(examples=["19.99"])
    currency: str = Field(examples=["USD"])
    availability: str | None
    shipping: str | None
    tax_included: bool | None
    cost_per_round: str | None
    observed_at: str
    ingestion_run_type: str
    ingestion_run_id: str
    adapter_id: str
    adapter_version: str
    released_by: str | None
    created_at: str
    correction_id: str | None
    correction_action: str | None
    correction_price: str | None
    correction_reason: str | None
    correction_created_by: str | None
    correction_created_at: str | None


class CorrectionView(BaseModel):
    """A correction of a price; one that was revoked does not count any more."""

    id: str = Field(examples=[AN_ID])
    price_id: str
    action: str
    price: str | None
    reason: str
    created_by: str
    created_at: str
    revoked_by: str | None
    revoked_at: str | None


class PriceDetailView(PriceView):
    """A price with all that is known of it, and every correction that it ever had."""

    corrections: list[CorrectionView]


class ProductView(BaseModel):
    """A product, whoever sells it."""

    id: str = Field(examples=[AN_ID])
    name: str
    brand: str | None
    upc: str | None
    mpn: str | None
    caliber: str | None
    grain_weight: str | None
    round_count: int | None
    created_at: str
    updated_at: str


class RuleView(BaseModel):
    """What somebody wants to be told of."""

    id: str = Field(examples=[AN_ID])
    kind: RuleKind
    target_id: str | None
    product_id: str | None
    threshold: str | None
    currency: str | None
    notify_url: str | None
    enabled: bool
    created_by: str | None
    created_at: str


class WhyView(BaseModel):
    """Why a target is as it is; pages of results are at `/results/{id}/page`."""

    target: dict[str, Any]
    held_up: list[str]
    last: dict[str, Any] | None
    last_good: dict[str, Any] | None
    differences: list[dict[str, Any]]


def view_target(row: Mapping[str, Any]) -> dict[str, Any]:
    """A target, and what it waits for."""
    return view(TargetView, {**row, "waits_for": waits_for(row)})


def view_price(row: Mapping[str, Any], corrections: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A price with its corrections."""
    shown = [view(CorrectionView, each) for each in corrections]
    return {**view(PriceView, row), "corrections": shown}


def view_rule(rule: Rule) -> dict[str, Any]:
    """A rule."""
    return view(RuleView, rule.as_json())


def view_why(explanation: Explanation) -> dict[str, Any]:
    """An explanation, with times for people."""
    found = explanation.as_json()
    found["target"] = {name: plain(name, value) for name, value in found["target"].items()}
    for name in ("last", "last_good"):
        if result := found[name]:
            result["at"] = moment(result["at"])
    return found
