"""What the crawler knows, as admins see it: times in ISO 8601."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from penstock.quality.compare import Change
from penstock.quality.shadow import ShadowReport
from penstock.web.views import A_TIME, AN_ID, moment, plain, view
from penstock.workloads.catalog.model import Attempt, Category, Fared, Status
from penstock.workloads.catalog.parsing_rates import ParseRate
from penstock.workloads.catalog.submissions import Progress
from penstock.workloads.catalog.submitting import Tally

A_URL = "https://shop.example.com/product/1"
A_DOMAIN = "example.com"
A_PARSER = "product@1.4.0"


class FailureView(BaseModel):
    """What put a task among the failed ones."""

    category: Category
    error_type: str = Field(examples=["http_404"])
    message: str


class TaskView(BaseModel):
    """A page that is crawled, again and again.

    `crawl_frequency` is what somebody wants for it, in seconds; `crawl_interval` what was learnt.
    """

    id: str = Field(examples=[AN_ID])
    domain_id: str
    domain_name: str = Field(examples=[A_DOMAIN])
    url: str = Field(examples=[A_URL])
    url_hash: str
    status: Status
    is_paused: bool
    priority: int
    scheduled_at: str = Field(examples=[A_TIME])
    started_at: str | None
    completed_at: str | None
    retry_count: int
    max_retries: int
    error_message: str | None
    failure: FailureView | None
    crawl_frequency: int | None
    crawl_interval: int | None
    next_crawl_at: str | None
    html_path: str | None
    parser: str | None
    parser_version: str | None = Field(examples=[A_PARSER])
    attempts: int
    unchanged_in_a_row: int
    created_by: str | None
    created_at: str
    updated_at: str


class AttemptView(BaseModel):
    """One try at downloading or parsing a page."""

    id: str = Field(examples=[AN_ID])
    crawl_task_id: str
    kind: Attempt
    status: Fared
    number: int
    started_at: str | None
    ended_at: str = Field(examples=[A_TIME])
    http_status: int | None
    size: int | None
    fetcher: str | None
    proxy: str | None
    error_type: str | None
    error_message: str | None
    parser_version: str | None = Field(examples=[A_PARSER])
    changed: bool | None
    document: dict[str, Any] | None


class CountView(BaseModel):
    """How many tasks something was done to."""

    changed: int


class CountsView(BaseModel):
    """How many tasks there are in each status."""

    pending: int
    queued: int
    crawling: int
    downloaded: int
    parsing: int
    completed: int
    failed: int


class _Submission(BaseModel):
    origin: str = Field(examples=["urls"])
    origin_name: str | None
    status: str = Field(examples=["accepted"])
    error: str | None
    options: dict[str, Any]
    submitted: int
    accepted: int
    duplicates: int
    refused: int
    created_by: str
    created_at: str = Field(examples=[A_TIME])
    updated_at: str


class SubmissionView(_Submission):
    """URLs that somebody submitted together.

    `status` is `reading` while a sitemap is walked, then `accepted` or `failed`.
    """

    id: str = Field(examples=[AN_ID])


class RefusalView(BaseModel):
    """A URL that cannot be crawled, and why."""

    url: str
    reason: str


class AcceptedView(_Submission):
    """A submission that was taken on, and the first of those URLs that were not.

    Its tasks are many: the id is that of the submission, and is called so.
    """

    submission_id: str = Field(examples=[AN_ID])
    refusals: list[RefusalView]


class ProgressView(SubmissionView):
    """How far a submission has come."""

    tasks: CountsView
    total: int
    done: int
    paused: int
    is_over: bool


class DomainView(BaseModel):
    """A site that is crawled, and on what terms."""

    id: str = Field(examples=[AN_ID])
    source_id: str
    domain_name: str = Field(examples=[A_DOMAIN])
    base_url: str = Field(examples=["https://shop.example.com"])
    crawl_delay_seconds: int
    max_concurrent_requests: int
    crawl_frequency: int | None
    parser: str | None
    is_active: bool
    created_at: str = Field(examples=[A_TIME])
    updated_at: str
    updated_by: str | None


class DomainDetailView(DomainView):
    """A domain with its tasks in numbers."""

    tasks: CountsView


class ErrorView(BaseModel):
    """Something that went wrong with a task."""

    id: str = Field(examples=[AN_ID])
    crawl_task_id: str
    domain_id: str
    domain_name: str = Field(examples=[A_DOMAIN])
    url: str = Field(examples=[A_URL])
    category: Category
    error_type: str = Field(examples=["read_timeout"])
    error_message: str
    stack_trace: str | None
    occurred_at: str = Field(examples=[A_TIME])


class PatternView(BaseModel):
    """Errors of one kind on one domain: how many, since when, and by the hour."""

    domain_id: str
    domain_name: str = Field(examples=[A_DOMAIN])
    category: Category
    error_type: str = Field(examples=["read_timeout"])
    errors: int
    tasks: int
    first_at: str = Field(examples=[A_TIME])
    last_at: str
    example: str
    by_hour: dict[str, int] = Field(examples=[{A_TIME: 3}])


class DeadLetterView(BaseModel):
    """A page that failed for good, and what put it here."""

    id: str = Field(examples=[AN_ID])
    url: str = Field(examples=[A_URL])
    domain_name: str = Field(examples=[A_DOMAIN])
    failure: FailureView | None
    retry_count: int
    attempts: int
    failed_at: str = Field(examples=[A_TIME])


class RevivedView(BaseModel):
    """How many dead letters are tried again."""

    revived: int


class ParseRateView(BaseModel):
    """How a version of a parser does on a domain."""

    domain_id: str
    domain_name: str = Field(examples=[A_DOMAIN])
    parser_version: str = Field(examples=[A_PARSER])
    parsed: int
    failed: int
    rate: float = Field(description="The share of pages that could be read.", examples=[0.98])
    first_at: str = Field(examples=[A_TIME])
    last_at: str


class DifferenceView(BaseModel):
    """A field that was read otherwise."""

    field: str = Field(examples=["price"])
    before: Any = Field(examples=[None])
    after: Any = Field(examples=["19.99"])


class ExampleView(BaseModel):
    """A live page that a candidate read otherwise."""

    attempt_id: str = Field(examples=[AN_ID])
    crawl_task_id: str
    at: str = Field(examples=[A_TIME])
    url: str
    change: Change
    differences: list[DifferenceView]


class ShadowView(BaseModel):
    """How a candidate agreed with the parser in use, and the newest pages where it did not."""

    candidate: str = Field(examples=["product@1.5.0"])
    agreement: float | None = Field(description="The share of pages that were read alike.")
    pages: int
    same: int
    changed: int
    newly_good: int
    newly_failing: int
    fields: dict[str, int] = Field(examples=[{"price": 3}])
    examples: list[ExampleView]


def view_submission(row: Mapping[str, Any]) -> dict[str, Any]:
    """A submission."""
    options = dict(row["options"])
    options["scheduled_at"] = moment(options.get("scheduled_at"))
    return view(SubmissionView, {**row, "options": options})


def view_accepted(row: Mapping[str, Any], tally: Tally) -> dict[str, Any]:
    """A submission that was taken on."""
    found = view_submission(row)
    return {"submission_id": found.pop("id"), **found, "refusals": tally.as_json()["refusals"]}


def view_progress(progress: Progress) -> dict[str, Any]:
    """How far a submission has come."""
    return {
        **view_submission(progress.submission),
        "tasks": progress.tasks,
        "total": progress.total,
        "done": progress.done,
        "paused": progress.paused,
        "is_over": progress.is_over,
    }


def view_pattern(row: Mapping[str, Any]) -> dict[str, Any]:
    """Errors of one kind; hours in the order of time."""
    hours = {moment(at): number for at, number in sorted(row["by_hour"].items())}
    return view(PatternView, {**row, "by_hour": hours})


def view_dead_letter(row: Mapping[str, Any]) -> dict[str, Any]:
    """A task that failed for good."""
    return view(DeadLetterView, {**row, "failed_at": row["updated_at"]})


def view_rate(rate: ParseRate) -> dict[str, Any]:
    """How a parser does."""
    return {name: plain(name, getattr(rate, name)) for name in ParseRateView.model_fields}


def view_shadow(report: ShadowReport) -> dict[str, Any]:
    """How a candidate did."""
    examples = []
    for each in report.examples:
        row = {**each, "attempt_id": each["id"], "at": moment(each["at"])}
        examples.append({name: row[name] for name in ExampleView.model_fields})
    row = {**report.as_json(), "examples": examples}
    return {name: row[name] for name in ShadowView.model_fields}
