"""Statuses: what an answer means by its number alone."""

from datetime import UTC, datetime

import pytest

from penstock.kernel.model import Failure, Page, RateLimited, ServerError, SiteWide, UrlSpecific
from penstock.kernel.statuses import failure_of

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


def failure(status: int, **headers: str) -> Failure | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return failure_of(Page("http://shop.test/", status, named, b"", 0.1), lambda: NOW, 3600)


@pytest.mark.parametrize("status", [200, 201, 204, 206, 299, 304])
def test_good_answer_is_no_failure(status: int) -> None:
    assert failure(status) is None


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (300, UrlSpecific, "odd_redirect"),
        (302, UrlSpecific, "odd_redirect"),
        (400, UrlSpecific, "http_400"),
        (403, UrlSpecific, "http_403"),
        (404, UrlSpecific, "http_404"),
        (410, UrlSpecific, "http_410"),
        (499, UrlSpecific, "http_499"),
        (429, RateLimited, "rate_limited"),
        (500, ServerError, "server_error"),
        (501, ServerError, "server_error"),
        (502, SiteWide, "unavailable"),
        (503, SiteWide, "unavailable"),
        (504, SiteWide, "unavailable"),
        (599, ServerError, "server_error"),
    ],
)
def test_status_tells_whose_trouble_it_is(status: int, kind: type[Failure], reason: str) -> None:
    found = failure(status)

    assert type(found) is kind
    assert (found.reason, found.status) == (reason, status)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("asked", "seconds"), [("7", 7), ("Wed, 04 Mar 2026 12:01:00 GMT", 60), ("999999", 3600)]
)
def test_site_that_says_when_to_come_back_limits_our_rate(
    status: int, asked: str, seconds: float
) -> None:
    found = failure(status, Retry_After=asked)

    assert isinstance(found, RateLimited)
    assert found.retry_after == seconds


def test_unreadable_time_leaves_a_503_a_site_in_trouble() -> None:
    assert isinstance(failure(503, Retry_After="soon"), SiteWide)
    assert failure(429, Retry_After="soon") == failure(429)


def test_time_on_any_other_status_changes_nothing() -> None:
    assert failure(404, Retry_After="7") == failure(404)
    assert failure(200, Retry_After="7") is None
