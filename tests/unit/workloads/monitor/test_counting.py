"""What the end of a target means, for every kind of end."""

import pytest

from penstock.kernel.model import (
    Blocked,
    Broken,
    Failure,
    Outcome,
    ProxyFailed,
    RateLimited,
    Refused,
    Request,
    ServerError,
    SiteWide,
    UrlSpecific,
)
from penstock.kernel.reading import Judgment, Reading
from penstock.kernel.records import (
    Accept,
    Drop,
    DropReason,
    Extraction,
    ExtractReason,
    Product,
    Quarantine,
    QuarantineReason,
    Verdict,
)
from penstock.quality.drift import Counts
from penstock.workloads.monitor.counting import GATE, Fate, fate_of

REQUEST = Request("http://shop.test/product/1")


def of_failure(failure: Failure) -> Fate:
    return fate_of(Outcome(REQUEST, None, failure, ()), None, None)


def of_verdict(verdict: Verdict) -> Fate:
    record = Product(name="Kettle", brand="Aldermoor")
    return fate_of(Outcome(REQUEST, None, None, ()), verdict, record)


@pytest.mark.parametrize(
    ("failure", "fetch_status", "blame", "unread"),
    [
        (SiteWide("timeout"), "timeout", "leave", 0),
        (SiteWide("dns"), "error", "leave", 0),
        (SiteWide("unavailable", status=503), "error", "leave", 0),
        (RateLimited("rate_limited", status=429), "blocked", "leave", 0),
        (ProxyFailed("proxy"), "error", "leave", 0),
        (UrlSpecific("http_404", status=404), "error", "count", 0),
        (UrlSpecific("http_403", status=403), "blocked", "count", 0),
        (UrlSpecific("content_type"), "error", "count", 1),
        (ServerError("server_error", status=500), "error", "count", 0),
        (Blocked("captcha"), "blocked", "count", 1),
        (Broken("too_large"), "too_large", "count", 0),
        (Broken("internal_error"), "error", "count", 1),
        (Broken("worker_lost"), "error", "leave", 0),
        (Refused("address", gate="admission"), "error", "count", 0),
    ],
)
def test_a_failure_is_counted_and_blamed_on_whom_it_belongs(
    failure: Failure, fetch_status: str, blame: str, unread: int
) -> None:
    fate = of_failure(failure)
    assert (fate.fetch_status, fate.blame, fate.last_status) == (fetch_status, blame, "FAILED")
    is_away = isinstance(failure, ServerError) or blame == "leave"
    assert fate.counts == Counts(
        urls_attempted=1,
        urls_failed=1,
        extraction_failures=unread,
        urls_unreachable=int(is_away),
    )
    assert fate.reason == failure.reason


def test_what_robots_deny_is_dropped_and_nobody_was_asked() -> None:
    fate = of_failure(Refused("robots_denied", gate="robots"))
    assert (fate.fetch_status, fate.verdict, fate.reason) == (
        "robots_blocked",
        "drop",
        "BLOCKED_BY_ROBOTS_TXT",
    )
    assert fate.counts == Counts(offers_dropped=1)
    assert fate.blame == "leave"


def test_what_is_not_wanted_any_more_is_not_counted() -> None:
    fate = of_failure(Refused("adapter_disabled", gate=GATE))
    assert (fate.counts, fate.last_status, fate.blame) == (Counts(), "SKIPPED", "leave")


def test_a_page_that_cannot_be_read_counts_as_drift() -> None:
    extraction = Extraction("product", reason=ExtractReason.PRICE_NOT_FOUND)
    reading = Reading(extraction, Judgment(Product(), {}, None))
    failure = UrlSpecific("PRICE_NOT_FOUND")
    fate = fate_of(Outcome(REQUEST, None, failure, (), reading=reading), None, None)
    assert (fate.fetch_status, fate.counts.extraction_failures) == ("ok", 1)


def test_an_accepted_offer_counts_with_the_fields_that_it_has() -> None:
    fate = of_verdict(Accept())
    assert (fate.last_status, fate.blame) == ("SUCCESS", "reset")
    assert (fate.counts.offers_valid, fate.counts.field_counts) == (1, {"brand": 1})


def test_a_hidden_price_is_no_failure_and_no_drop() -> None:
    fate = of_verdict(Drop(DropReason.OOS_NO_PRICE))
    assert fate.counts == Counts(urls_attempted=1, urls_succeeded=1, oos_no_price_count=1)
    assert (fate.blame, fate.verdict) == ("leave", "drop")


@pytest.mark.parametrize(
    ("verdict", "last_status", "counted"),
    [
        (Drop(DropReason.UNKNOWN_AVAILABILITY), "DROPPED", "unknown_availability_count"),
        (Drop(DropReason.MISSING_REQUIRED_FIELD), "DROPPED", "offers_dropped"),
        (Quarantine(QuarantineReason.AMBIGUOUS_PRICE), "QUARANTINED", "offers_quarantined"),
        (Quarantine(QuarantineReason.ZERO_PRICE_EXTRACTED), "QUARANTINED", "zero_price_count"),
    ],
)
def test_what_is_not_accepted_was_extracted_and_is_not_blamed_on_the_url(
    verdict: Verdict, last_status: str, counted: str
) -> None:
    fate = of_verdict(verdict)
    assert (fate.last_status, fate.blame) == (last_status, "leave")
    assert (fate.counts.offers_extracted, getattr(fate.counts, counted)) == (1, 1)
