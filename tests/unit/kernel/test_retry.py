"""Retry: how often, how long until then, and how much a domain may take."""

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from penstock.kernel.retry import MAX_DOMAINS, Retry, parse_retry_after
from penstock.kernel.settings import RetrySettings

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
DAY = 86400.0
DOWN = SiteWide("connect")


def retry(**changes: float) -> Retry:
    return Retry(RetrySettings.model_validate(changes), random.Random(7))


def granted(policy: Retry, domain: str, tries: int) -> int:
    """How many of so many failed first attempts may be repeated."""
    return sum(policy.delay(domain, 1, DOWN) is not None for _ in range(tries))


@pytest.mark.parametrize(
    ("failure", "is_repeated"),
    [
        (SiteWide("timeout"), True),
        (ServerError("server_error"), True),
        (RateLimited("rate_limited"), True),
        (ProxyFailed("proxy"), True),
        (UrlSpecific("http_404"), False),
        (Refused("robots_denied"), False),
        (Blocked("captcha"), False),
        (Broken("too_large"), False),
    ],
)
def test_only_what_may_pass_is_repeated(failure: Failure, is_repeated: bool) -> None:
    assert (retry().delay("shop.test", 1, failure) is not None) is is_repeated


def test_last_attempt_is_not_repeated() -> None:
    policy = retry(max_attempts=3)

    delays = [policy.delay("shop.test", attempt, DOWN) for attempt in (1, 2, 3, 4)]

    assert [delay is not None for delay in delays] == [True, True, False, False]


def test_delay_doubles_up_to_the_longest() -> None:
    policy = retry(jitter=0, initial_delay_ms=1000, max_delay_ms=5000)

    assert [policy.backoff(attempt) for attempt in (1, 2, 3, 4, 500)] == [1, 2, 4, 5, 5]


@pytest.mark.parametrize("jitter", [0.0, 0.25, 1.0])
def test_jitter_only_shortens_and_only_by_its_share(jitter: float) -> None:
    policy = retry(jitter=jitter, initial_delay_ms=1000)
    delays = [policy.backoff(1) for _ in range(1000)]

    assert 1 - jitter <= min(delays) <= 1 - jitter + 0.01
    assert 0.99 <= max(delays) <= 1


def test_domain_that_only_fails_runs_out_of_retries() -> None:
    policy = retry(budget_floor=3, budget_ratio=0)

    assert granted(policy, "shop.test", tries=10) == 3
    assert granted(policy, "other.test", tries=1) == 1


def test_requests_earn_retries_back_by_the_ratio() -> None:
    policy = retry(budget_floor=2, budget_ratio=0.25)
    granted(policy, "shop.test", tries=10)

    for _ in range(4):
        policy.attempted("shop.test")

    assert granted(policy, "shop.test", tries=10) == 1


def test_budget_never_grows_beyond_its_floor() -> None:
    policy = retry(budget_floor=2, budget_ratio=1)
    granted(policy, "shop.test", tries=1)

    for _ in range(1000):
        policy.attempted("shop.test")

    assert granted(policy, "shop.test", tries=10) == 2


def test_refused_retry_costs_nothing() -> None:
    policy = retry(budget_floor=1, budget_ratio=0)

    policy.delay("shop.test", 1, UrlSpecific("http_404"))
    policy.delay("shop.test", 3, DOWN)

    assert granted(policy, "shop.test", tries=2) == 1


def test_domains_in_trouble_are_remembered_within_bounds() -> None:
    policy = retry(budget_floor=1, budget_ratio=0)
    for number in range(MAX_DOMAINS + 1):
        granted(policy, f"{number}.test", tries=1)

    assert granted(policy, f"{MAX_DOMAINS}.test", tries=1) == 0
    assert granted(policy, "0.test", tries=1) == 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("Wed, 04 Mar 2026 12:01:00 GMT", 60),
        ("Wednesday, 04-Mar-26 12:01:00 GMT", 60),
        ("Wed Mar  4 12:01:00 2026", 60),
        ("Wed, 04 Mar 2026 14:01:00 +0200", 60),
        ("86401", DAY),
        ("9" * 5000, DAY),
        ("Thu, 31 Dec 9999 23:59:59 GMT", DAY),
    ],
)
def test_retry_after_is_read_in_every_form_and_capped(value: str, seconds: float) -> None:
    assert parse_retry_after(value, NOW, DAY) == seconds


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "0",
        "-5",
        "1.5",
        "1e3",
        "²",
        "٣",
        "5, 10",
        "Wed, 04 Mar 2026 12:00:00 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Wed, 99 Mar 2026 12:01:00 GMT",
        "Wed, 04 Mar 99999 12:01:00 GMT",
        "Wed, 04 Mar 2026 12:01:00 +99999999999999",
    ],
)
def test_retry_after_that_is_past_or_makes_no_sense_is_none(value: str) -> None:
    assert parse_retry_after(value, NOW, DAY) is None


@settings(max_examples=300, deadline=None)
@given(
    st.text()
    | st.text("Wed, 04Mar2026:+-GMT ", max_size=40)
    | st.integers().map(str)
    | st.builds("Wed, 04 Mar {} {}:{}:00 {:+}".format, *[st.integers()] * 4)
)
def test_any_retry_after_is_a_time_within_bounds_or_none(value: str) -> None:
    seconds = parse_retry_after(value, NOW, DAY)

    assert seconds is None or 0 < seconds <= DAY
