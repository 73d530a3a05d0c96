"""What an answer means: a page, a failure of its kind, another attempt, or a wait."""

from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from penstock.app import Platform
from penstock.kernel.model import RateLimited, Refused, Request, SiteWide, UrlSpecific
from tests.platforms import ONCE, VisitClock, fetch, page_of, pages_asked, platform_for, policies
from tests.site import Reply, Site, SiteSettings
from tests.site.pages import page


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (300, "url_specific", "odd_redirect"),
        (302, "url_specific", "odd_redirect"),
        (400, "url_specific", "http_400"),
        (401, "url_specific", "http_401"),
        (403, "url_specific", "http_403"),
        (404, "url_specific", "http_404"),
        (407, "url_specific", "http_407"),
        (410, "url_specific", "http_410"),
        (451, "url_specific", "http_451"),
        (429, "rate_limited", "rate_limited"),
        (500, "server_error", "server_error"),
        (501, "server_error", "server_error"),
        (599, "server_error", "server_error"),
        (502, "site_wide", "unavailable"),
        (503, "site_wide", "unavailable"),
        (504, "site_wide", "unavailable"),
    ],
)
async def test_a_bad_status_is_a_failure_of_its_kind(
    site: Site, status: int, kind: str, reason: str
) -> None:
    site.reply("shop01.test", "/answer", Reply(status, page("An answer").content))

    outcome = await fetch(site, "http://shop01.test/answer", retry=ONCE)

    assert outcome.failure
    assert (outcome.failure.kind, outcome.failure.reason) == (kind, reason)
    assert outcome.failure.status == status
    assert outcome.page
    assert outcome.page.status == status


@pytest.mark.parametrize("status", [200, 201, 203, 206])
async def test_a_good_status_is_a_page(site: Site, platform: Platform, status: int) -> None:
    site.reply("shop01.test", "/answer", Reply(status, page("An answer").content))

    outcome = await platform.pipeline.run(Request("http://shop01.test/answer"))

    assert page_of(outcome).status == status


async def test_a_status_without_a_body_is_an_empty_page(site: Site, platform: Platform) -> None:
    site.reply("shop01.test", "/answer", Reply(204, headers={"Content-Length": "99999999"}))

    outcome = await platform.pipeline.run(Request("http://shop01.test/answer"))

    assert page_of(outcome).body == b""


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_retry_after_is_read_in_both_forms(
    site: Site, clock: VisitClock, status: int, form: str
) -> None:
    date = format_datetime(clock.now() + timedelta(seconds=90), usegmt=True)
    headers = {"Retry-After": "90" if form == "seconds" else date}
    site.reply("shop01.test", "/answer", Reply(status, "slow down", headers))
    site.robots["shop01.test"] = Reply(404)

    async with platform_for(site, clock=clock, retry=ONCE) as platform:
        outcome = await platform.pipeline.run(Request("http://shop01.test/answer"))

    assert isinstance(outcome.failure, RateLimited)
    assert outcome.failure.retry_after == 90
    assert outcome.as_json()["failure"]["retry_after"] == 90


async def test_retry_after_is_capped(site: Site) -> None:
    site.reply("shop01.test", "/answer", Reply(429, "wait", {"Retry-After": "9" * 400}))

    outcome = await fetch(
        site, "http://shop01.test/answer", retry=ONCE, pacing={"max_retry_after_seconds": 60}
    )

    assert isinstance(outcome.failure, RateLimited)
    assert outcome.failure.retry_after == 60


@pytest.mark.parametrize("host", ["ratelimited.test", "ratelimited-date.test"])
async def test_a_rate_limited_page_comes_when_it_was_asked_for_again(
    clock: VisitClock, host: str
) -> None:
    settings = SiteSettings(retry_after_seconds=7, now=clock.now)
    async with Site(settings=settings) as site, platform_for(site, clock=clock) as platform:
        outcome = await platform.pipeline.run(Request(f"http://{host}/"))

        assert page_of(outcome).status == 200
        assert outcome.attempts == len(pages_asked(site, host)) == 3
        assert 2 * 7 <= outcome.seconds < 3 * 7


async def test_a_rate_limit_makes_everybody_wait_for_the_domain(
    site: Site, clock: VisitClock
) -> None:
    site.reply("shop01.test", "/answer", Reply(429, "wait", {"Retry-After": "40"}))

    async with platform_for(site, clock=clock, retry=ONCE) as platform:
        await platform.pipeline.run(Request("http://shop01.test/answer"))
        outcome = await platform.pipeline.run(Request("http://shop01.test/product/1"))

    assert page_of(outcome)
    assert outcome.seconds >= 40


async def test_a_server_error_is_tried_again(site: Site, platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://flaky.test/"))

    assert page_of(outcome).status == 200
    assert outcome.attempts == len(pages_asked(site, "flaky.test")) == 2


@pytest.mark.parametrize("status", [403, 404, 410])
async def test_a_missing_page_is_not_tried_again(
    site: Site, platform: Platform, status: int
) -> None:
    site.reply("shop01.test", "/gone", Reply(status, page("Gone").content))

    outcome = await platform.pipeline.run(Request("http://shop01.test/gone"))

    assert isinstance(outcome.failure, UrlSpecific)
    assert pages_asked(site, "shop01.test") == ["/gone"]


async def test_attempts_end(site: Site) -> None:
    site.reply("shop01.test", "/broken", Reply(500, "broken"))

    outcome = await fetch(site, "http://shop01.test/broken", retry={"max_attempts": 3})

    assert outcome.attempts == len(pages_asked(site, "shop01.test")) == 3


async def test_a_reset_connection_is_the_site_s_fault(site: Site, tmp_path: Path) -> None:
    ignoring = policies(tmp_path, down_test={"respect_robots_txt": False})

    outcome = await fetch(site, "http://down.test/", policies=ignoring)

    assert isinstance(outcome.failure, SiteWide)
    assert len(site.hits_of("down.test")) == 3


async def test_a_refused_connection_is_the_site_s_fault(site: Site) -> None:
    nobody_listens = {"known_hosts": {"shop01.test": "127.0.0.1:1"}}

    outcome = await fetch(
        site, "http://shop01.test/", admission=nobody_listens, robots={"tries": 1}
    )

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "robots_unreachable"
    assert "refuses connections" in outcome.failure.detail


async def test_a_late_answer_is_the_site_s_fault(site: Site) -> None:
    outcome = await fetch(
        site, "http://slow.test/headers?seconds=60", retry=ONCE, http={"timeout_seconds": 0.1}
    )

    assert isinstance(outcome.failure, SiteWide)
    assert outcome.failure.reason == "timeout"
