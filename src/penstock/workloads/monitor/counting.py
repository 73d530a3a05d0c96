"""What the end of a target in a run means: what is counted, and what is said of the target."""

from dataclasses import dataclass
from typing import Literal

from penstock.kernel.model import (
    Blocked,
    Failure,
    Outcome,
    ProxyFailed,
    RateLimited,
    Refused,
    ServerError,
    SiteWide,
)
from penstock.kernel.records import (
    Accept,
    Drop,
    DropReason,
    Product,
    Quarantine,
    QuarantineReason,
    Record,
    Verdict,
)
from penstock.quality.drift import Counts
from penstock.workloads.monitor.model import FetchStatus

#: The gate of our own that says that an item is not wanted any more.
GATE = "monitor"
#: Fields of a product whose loss would go unnoticed otherwise.
COVERED = (
    "brand",
    "sku",
    "product_id",
    "gtin",
    "mpn",
    "category",
    "description",
    "image_urls",
    "rating",
    "list_price_minor",
    "shipping_minor",
    "caliber",
    "grain_weight",
    "round_count",
)
TIMEOUTS = frozenset({"timeout", "page_hung", "task_timeout"})
DENIALS = frozenset({"http_401", "http_403"})
#: Reasons of ours and of pages that were there and yet gave nothing to read.
UNREADABLE = frozenset({"content_type", "internal_error"})
#: Trouble of our own making says nothing about the URL.
OUR_OWN = frozenset({"no_browser", "worker_lost", "browser_crashed", "pool_exhausted"})

#: What becomes of a target's consecutive failures.
Blame = Literal["reset", "leave", "count"]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a target in a run."""

    fetch_status: FetchStatus
    last_status: str
    counts: Counts
    blame: Blame
    verdict: str | None = None
    reason: str | None = None
    detail: str = ""


#: The item was never begun: it waited for too long, or was lost with its queue.
STALE = Fate(FetchStatus.ERROR, "STALE", Counts(), "leave", reason="stale")
LOST = Fate(FetchStatus.ERROR, "LOST", Counts(), "leave", reason="lost")


def fate_of(outcome: Outcome, verdict: Verdict | None, record: Record | None) -> Fate:
    """What an outcome means, given the verdict on its record if there is one."""
    failure = outcome.failure
    if failure is None and verdict is not None:
        return _judged(verdict, record)
    if isinstance(failure, Refused) and failure.gate == "robots":
        counts = Counts(offers_dropped=1)
        reason = DropReason.BLOCKED_BY_ROBOTS_TXT
        status = FetchStatus.ROBOTS_BLOCKED
        return Fate(status, "DROPPED", counts, "leave", Drop.name, reason, failure.detail)
    if isinstance(failure, Refused) and failure.gate == GATE:
        status = FetchStatus.ERROR
        return Fate(status, "SKIPPED", Counts(), "leave", None, failure.reason, failure.detail)
    return _failed(outcome, failure)


def fetch_status_of(outcome: Outcome) -> FetchStatus:
    """What became of the fetch, in the words of the monitor."""
    failure = outcome.failure
    match failure:
        case None:
            return FetchStatus.OK
        case Refused(gate="robots"):
            return FetchStatus.ROBOTS_BLOCKED
        case Blocked() | RateLimited():
            return FetchStatus.BLOCKED
    if outcome.reading is not None:
        return FetchStatus.OK
    if failure.reason in TIMEOUTS:
        return FetchStatus.TIMEOUT
    if failure.reason in DENIALS:
        return FetchStatus.BLOCKED
    return FetchStatus.TOO_LARGE if failure.reason == "too_large" else FetchStatus.ERROR


def _judged(verdict: Verdict, record: Record | None) -> Fate:
    match verdict:
        case Accept():
            covered = {name: 1 for name in COVERED if getattr(record, name, None)}
            counts = _offer(offers_valid=1, field_counts=covered)
            return Fate(FetchStatus.OK, "SUCCESS", counts, "reset", verdict.name)
        case Drop(DropReason.OOS_NO_PRICE):
            counts = Counts(urls_attempted=1, urls_succeeded=1, oos_no_price_count=1)
            return _not_accepted("DROPPED", counts, verdict)
        case Drop(reason):
            unknown = int(reason is DropReason.UNKNOWN_AVAILABILITY)
            counts = _offer(offers_dropped=1, unknown_availability_count=unknown)
            return _not_accepted("DROPPED", counts, verdict)
        case Quarantine(reason):
            zero = int(reason is QuarantineReason.ZERO_PRICE_EXTRACTED)
            counts = _offer(offers_quarantined=1, zero_price_count=zero)
            return _not_accepted("QUARANTINED", counts, verdict)


def _not_accepted(last_status: str, counts: Counts, verdict: Drop | Quarantine) -> Fate:
    return Fate(
        FetchStatus.OK, last_status, counts, "leave", verdict.name, verdict.reason, verdict.detail
    )


def _offer(**numbers: object) -> Counts:
    found = {"urls_attempted": 1, "urls_succeeded": 1, "offers_extracted": 1, **numbers}
    return Counts.of(found)


def _failed(outcome: Outcome, failure: Failure | None) -> Fate:
    """No record: the site's, the page's or our own fault."""
    reason = failure.reason if failure else "no_record"
    is_unread = (
        outcome.reading is not None
        or failure is None
        or isinstance(failure, Blocked)
        or reason in UNREADABLE
    )
    passes = isinstance(failure, SiteWide | RateLimited | ProxyFailed) or reason in OUR_OWN
    is_away = passes or isinstance(failure, ServerError)
    counts = Counts(
        urls_attempted=1,
        urls_failed=1,
        extraction_failures=int(is_unread),
        urls_unreachable=int(is_away and not is_unread),
    )
    blame: Blame = "leave" if passes else "count"
    detail = failure.detail if failure else "there is a page, and nothing was read from it"
    return Fate(fetch_status_of(outcome), "FAILED", counts, blame, None, reason, detail)


def product_of(record: Record | None) -> Product | None:
    """The record, if it is one of a product: the monitor has no use for others."""
    return record if isinstance(record, Product) else None
