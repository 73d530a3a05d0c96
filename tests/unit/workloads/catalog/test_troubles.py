"""What a failure means for a task."""

import pytest

from penstock.kernel.model import (
    Blocked,
    Broken,
    Failure,
    ProxyFailed,
    RateLimited,
    Refused,
    ServerError,
    SiteWide,
    UrlSpecific,
)
from penstock.workloads.catalog.model import Category, queue_priority
from penstock.workloads.catalog.troubles import error_row, trouble_of


@pytest.mark.parametrize(
    ("failure", "category", "may_pass", "is_due_again"),
    [
        (SiteWide("dns", "?"), "network", True, False),
        (ServerError("http_500", "?"), "network", True, False),
        (ProxyFailed("proxy_timeout", "?"), "network", True, False),
        (RateLimited("rate_limited", "?"), "network", True, False),
        (Blocked("captcha", "?"), "blocked", False, True),
        (Refused("robots_denied", "?", gate="robots"), "refused", False, True),
        (Refused("robots_unreachable", "?", gate="robots"), "refused", True, True),
        (Refused("opt_out", "?", gate="admission"), "refused", False, False),
        (Broken("too_large", "?"), "content", False, False),
        (UrlSpecific("http_404", "?", 404), "http", False, False),
        (Broken("internal_error", "?"), "internal", True, False),
        (Broken("worker_lost", "?"), "internal", True, False),
        (Failure("unheard_of", "?"), "internal", False, False),
    ],
    ids=lambda value: getattr(value, "reason", None),
)
def test_every_failure_has_a_category_and_its_consequences(
    failure: Failure, category: str, may_pass: bool, is_due_again: bool
) -> None:
    trouble = trouble_of(failure)
    assert trouble.category == Category(category)
    assert (trouble.error_type, trouble.message) == (failure.reason, "?")
    assert (trouble.may_pass, trouble.is_due_again) == (may_pass, is_due_again)


def test_a_failure_without_details_says_at_least_its_reason() -> None:
    assert trouble_of(SiteWide("dns")).message == "dns"


def test_a_site_says_when_to_come_back() -> None:
    assert trouble_of(RateLimited("rate_limited", retry_after=7.5)).retry_after == 7.5


def test_an_error_names_its_task_and_its_time() -> None:
    row = error_row({"id": "t", "domain_id": "d"}, trouble_of(SiteWide("dns", "no name")), 7)
    del row["id"]
    assert row == {
        "crawl_task_id": "t",
        "domain_id": "d",
        "category": "network",
        "error_type": "dns",
        "error_message": "no name",
        "stack_trace": None,
        "occurred_at": 7,
    }


@pytest.mark.parametrize(("priority", "place"), [(1, 0), (5, 4), (10, 9), (0, 0), (11, 9)])
def test_a_priority_has_its_place_in_the_queue(priority: int, place: int) -> None:
    assert queue_priority(priority) == place
