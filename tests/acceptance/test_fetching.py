"""The path of a URL on a real site: from a request to a page, or to why there is none."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from penstock.app import Platform
from penstock.kernel.model import (
    Blocked,
    Broken,
    Outcome,
    RateLimited,
    Refused,
    Request,
    SiteWide,
    UrlSpecific,
    Visit,
    Wait,
)
from tests.clocks import HandClock
from tests.platforms import platform_for
from tests.site import Hit, Reply, Reset, Site, SiteSettings
from tests.site.encodings import CHARSET_TEXTS, CODINGS, encoded_page
from tests.site.pages import page

ONCE: Mapping[str, Any] = {"max_attempts": 1}


class VisitClock(HandClock):
    """Moved by visits that wait, not by the platform's background work: that waits for ever."""

    async def sleep(self, seconds: float) -> None:
        task = asyncio.current_task()
        if task and task.get_name() in ("policy reload", "proxy checks"):
            await asyncio.Event().wait()
        await super().sleep(seconds)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site(settings=SiteSettings(retry_after_seconds=7)) as site:
        yield site


@pytest.fixture
def clock() -> VisitClock:
    return VisitClock()


@pytest.fixture
async def platform(site: Site) -> AsyncIterator[Platform]:
    async with platform_for(site) as platform:
        yield platform


async def fetch(site: Site, url: str, **sections: Any) -> Outcome:
    """Fetch one URL with a platform of its own."""
    async with platform_for(site, **sections) as platform:
        return await platform.pipeline.run(Request(url))


def policies(folder: Path, **domains: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings for a policy file; the dots of a domain are written as `_`."""
    file = folder / "policies.yaml"
    entries = {name.replace("_", "."): entry for name, entry in domains.items()}
    file.write_text(json.dumps({"domains": entries}), encoding="utf-8")
    return {"files": (file,)}


def page_of(outcome: Outcome) -> Any:
    assert outcome.ok, outcome.failure
    return outcome.page


def echoed(outcome: Outcome) -> dict[str, str]:
    """The headers that the site saw, by lower-case name."""
    headers: dict[str, str] = json.loads(page_of(outcome).text)["headers"]
    return {name.lower(): value for name, value in headers.items()}


def pages_asked(site: Site, host: str) -> list[str]:
    return [hit.path for hit in site.hits_of(host) if hit.path != "/robots.txt"]


# What a status means


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


# Conditional requests


async def test_an_unchanged_page_is_answered_304(site: Site, platform: Platform) -> None:
    url = "http://shop01.test/product/1"
    first = page_of(await platform.pipeline.run(Request(url)))

    by_tag = await platform.pipeline.run(Request(url, etag=first.headers["ETag"]))
    by_date = await platform.pipeline.run(
        Request(url, last_modified=first.headers["Last-Modified"])
    )

    assert (page_of(by_tag).status, page_of(by_tag).body) == (304, b"")
    assert (page_of(by_date).status, page_of(by_date).body) == (304, b"")
    assert by_tag.as_json()["page"]["etag"] == first.headers["ETag"]


async def test_a_changed_page_comes_whole(site: Site, platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://shop01.test/product/1", etag='"old"'))

    assert page_of(outcome).status == 200
    assert page_of(outcome).body


async def test_conditions_are_not_handed_on_to_where_a_redirect_leads(
    site: Site, platform: Platform
) -> None:
    tagged = Request("http://moved.test/to-shop", etag="*")

    outcome = await platform.pipeline.run(tagged)

    assert site.hits_of("moved.test", "/to-shop")[0].headers["If-None-Match"] == "*"
    assert page_of(outcome).status == 200
    assert "If-None-Match" not in site.hits_of("shop01.test", "/product/1")[0].headers


# Redirects


@pytest.mark.parametrize(
    ("path", "final"),
    [
        ("/old", "http://moved.test/new"),
        ("/relative", "http://moved.test/new?from=relative"),
        ("/to-shop", "http://shop01.test/product/1"),
        ("/redirect?to=//shop02.test/", "http://shop02.test/"),
        ("/redirect?to=%20/new%20", "http://moved.test/new"),
        ("/redirect?to=/new%23part", "http://moved.test/new"),
        ("/redirect/303?to=new", "http://moved.test/redirect/new"),
        ("/redirect/307?to=../new", "http://moved.test/new"),
        ("/redirect/308?to=?to=/new", "http://moved.test/new"),
    ],
)
async def test_a_redirect_is_followed(site: Site, path: str, final: str) -> None:
    site.reply("moved.test", "/redirect/new", page("Beside the redirect"))

    outcome = await fetch(site, f"http://moved.test{path}")

    assert page_of(outcome).url == final
    assert outcome.hops[0] == f"http://moved.test{path}"


async def test_a_location_in_no_encoding_leads_to_the_bytes_it_says(
    site: Site, platform: Platform
) -> None:
    site.reply("moved.test", "/gr%F6%DFe", page("Größe"))

    outcome = await platform.pipeline.run(
        Request("http://moved.test/redirect?to=/gr%F6%DFe"),
    )

    assert page_of(outcome).url == "http://moved.test/gr%F6%DFe"


async def test_five_redirects_are_followed_and_not_six(site: Site, platform: Platform) -> None:
    five = await platform.pipeline.run(Request("http://moved.test/chain/5"))
    asked = len(pages_asked(site, "moved.test"))
    six = await platform.pipeline.run(Request("http://moved.test/chain/6"))

    assert page_of(five).url == "http://moved.test/chain/0"
    assert len(five.hops) == 5
    assert asked == 6
    assert isinstance(six.failure, Broken)
    assert six.failure.reason == "too_many_redirects"
    assert "/chain/0" not in pages_asked(site, "moved.test")[asked:]


async def test_a_redirect_loop_ends(site: Site, platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://moved.test/loop"))

    assert isinstance(outcome.failure, Broken)
    assert outcome.failure.reason == "too_many_redirects"
    assert len(pages_asked(site, "moved.test")) == 6


async def test_the_robots_of_where_a_redirect_leads_are_asked(
    site: Site, platform: Platform
) -> None:
    outcome = await platform.pipeline.run(
        Request("http://moved.test/redirect?to=http://private.test/")
    )

    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "robots_denied"
    assert pages_asked(site, "private.test") == []


# Caller headers

SECRETS = {"Authorization": "Bearer token", "Cookie": "session=mine", "X-Api-Key": "key"}
SECRET_NAMES = {name.lower() for name in SECRETS}


async def test_caller_headers_reach_the_origin_they_are_for(site: Site, platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://shop01.test/_echo", headers=SECRETS))

    assert set(echoed(outcome)) >= SECRET_NAMES


async def test_caller_headers_are_not_shown_to_robots(site: Site, platform: Platform) -> None:
    await platform.pipeline.run(Request("http://shop01.test/_echo", headers=SECRETS))

    seen = site.hits_of("shop01.test", "/robots.txt")[0].headers
    assert SECRET_NAMES.isdisjoint(name.lower() for name in seen)


@pytest.mark.parametrize(
    "elsewhere",
    ["http://shop01.test", "http://www.moved.test", "http://moved.test:8081"],
    ids=["host", "subdomain", "port"],
)
async def test_caller_headers_never_leave_their_origin(
    site: Site, platform: Platform, elsewhere: str
) -> None:
    url = f"http://moved.test/redirect?to={elsewhere}/_echo"

    outcome = await platform.pipeline.run(Request(url, headers=SECRETS))

    assert SECRET_NAMES.isdisjoint(echoed(outcome))
    assert "Bearer token" not in json.dumps(outcome.as_json())


async def test_caller_headers_come_back_with_the_visit(site: Site, platform: Platform) -> None:
    site.reply("shop01.test", "/back", Reply(302, headers={"Location": "http://moved.test/_echo"}))
    url = "http://moved.test/redirect?to=http://shop01.test/back"

    outcome = await platform.pipeline.run(Request(url, headers=SECRETS))

    assert set(echoed(outcome)) >= SECRET_NAMES
    away = site.hits_of("shop01.test", "/back")[0].headers
    assert SECRET_NAMES.isdisjoint(name.lower() for name in away)


async def test_headers_of_a_policy_go_to_its_domain_alone(site: Site, tmp_path: Path) -> None:
    files = policies(tmp_path, moved_test={"headers": {"X-Agreed": "yes"}})

    outcome = await fetch(
        site, "http://moved.test/redirect?to=http://shop01.test/_echo", policies=files
    )

    assert site.hits_of("moved.test", "/redirect")[0].headers["X-Agreed"] == "yes"
    assert "x-agreed" not in echoed(outcome)


# Cookies


def set_cookie(location: str, *cookies: str) -> Reply:
    headers = [("Location", location), *(("Set-Cookie", cookie) for cookie in cookies)]
    return Reply(302, headers=headers)


async def test_cookies_of_a_redirect_go_back_to_their_origin(
    site: Site, platform: Platform
) -> None:
    site.reply("shop01.test", "/one", set_cookie("/two", "a=1; Path=/", 'b="q;q"'))
    site.reply("shop01.test", "/two", set_cookie("/_echo", "a=2; HttpOnly"))

    outcome = await platform.pipeline.run(Request("http://shop01.test/one"))

    assert echoed(outcome)["cookie"] == 'a=2; b="q;q"'


@pytest.mark.parametrize(
    "elsewhere", ["http://shop01.test", "http://www.cookies.test", "http://cookies.test:8081"]
)
@pytest.mark.parametrize("cookie", ["a=1", "a=1; Domain=test", "a=1; Domain=.cookies.test"])
async def test_cookies_never_leave_their_origin(
    site: Site, platform: Platform, elsewhere: str, cookie: str
) -> None:
    site.reply("cookies.test", "/set", set_cookie(f"{elsewhere}/_echo", cookie))

    outcome = await platform.pipeline.run(Request("http://cookies.test/set"))

    assert "cookie" not in echoed(outcome)


async def test_cookies_end_with_the_visit(site: Site, platform: Platform) -> None:
    site.reply("shop01.test", "/one", set_cookie("/_echo", "a=1"))

    first = await platform.pipeline.run(Request("http://shop01.test/one"))
    second = await platform.pipeline.run(Request("http://shop01.test/_echo"))

    assert echoed(first)["cookie"] == "a=1"
    assert "cookie" not in echoed(second)


async def test_another_attempt_begins_without_cookies(site: Site, platform: Platform) -> None:
    site.reply("shop01.test", "/one", set_cookie("/two", "a=1"))
    site.reply("shop01.test", "/two", Reply(500, "broken"), page("Well again"))

    outcome = await platform.pipeline.run(Request("http://shop01.test/one"))

    assert page_of(outcome)
    assert ["Cookie" in hit.headers for hit in site.hits_of("shop01.test", "/one")] == [False] * 2


# Bytes and text


@pytest.mark.parametrize(("path", "text"), CHARSET_TEXTS.items())
async def test_a_page_is_read_in_its_charset(
    site: Site, platform: Platform, path: str, text: str
) -> None:
    outcome = await platform.pipeline.run(Request(f"http://charset.test{path}"))

    assert text in page_of(outcome).text


@pytest.mark.parametrize("path", sorted(CODINGS.keys() - {"/unknown"}))
async def test_every_content_coding_gives_the_same_bytes(
    site: Site, platform: Platform, path: str
) -> None:
    outcome = await platform.pipeline.run(Request(f"http://encodings.test{path}"))

    assert page_of(outcome).body == encoded_page()


async def test_an_unknown_content_coding_is_no_page(site: Site, platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://encodings.test/unknown"))

    assert isinstance(outcome.failure, Broken)
    assert outcome.failure.reason == "bad_encoding"


async def test_headers_in_no_encoding_can_be_written_down(site: Site, platform: Platform) -> None:
    headers = {"ETag": '"caf\xe9"', "X-DataDome": "\xff"}
    site.reply("shop01.test", "/stray", Reply(200, page("Stray").content, headers))

    outcome = await platform.pipeline.run(Request("http://shop01.test/stray"))

    assert page_of(outcome).headers["ETag"] == '"café"'
    assert json.dumps(outcome.as_json(), ensure_ascii=False).encode()


# Blocks


@pytest.mark.parametrize(
    ("path", "status", "reason", "signal"),
    [
        ("/captcha", 200, "captcha", "text:captcha-text"),
        ("/cloudflare", 403, "captcha", "header:cloudflare"),
        ("/denied", 200, "access_denied", "title:access-denied"),
        ("/denied?status=403", 403, "access_denied", "title:access-denied"),
        ("/shell", 200, "empty_shell", "text:empty-shell"),
    ],
)
async def test_a_blocked_page_is_a_failure_that_keeps_the_evidence(
    site: Site, path: str, status: int, reason: str, signal: str
) -> None:
    outcome = await fetch(site, f"http://blocked.test{path}")

    failure = outcome.failure
    assert isinstance(failure, Blocked)
    assert (failure.status, failure.reason, failure.signal) == (status, reason, signal)
    assert outcome.as_json()["failure"]["signal"] == signal
    assert outcome.page
    assert outcome.page.body
    assert not outcome.ok
    assert len(pages_asked(site, "blocked.test")) == 1


async def test_a_page_with_a_captcha_in_a_form_is_a_page(site: Site, platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://blocked.test/legit-recaptcha"))

    assert b"g-recaptcha" in page_of(outcome).body


async def test_blocks_open_the_circuit_only_where_a_policy_says_so(
    site: Site, tmp_path: Path, clock: VisitClock
) -> None:
    counting = policies(tmp_path, blocked_test={"blocks_count": True})
    states = []
    for files in ({}, counting):
        async with platform_for(site, clock=clock, policies=files) as platform:
            for _ in range(6):
                await platform.pipeline.run(Request("http://blocked.test/captcha"))
            states.append(await first_wait(platform, "http://blocked.test/legit-recaptcha"))

    assert states == [None, "breaker"]


# What a page says to robots


@pytest.mark.parametrize(
    ("path", "tags"),
    [
        ("/header", ["noindex", "nofollow"]),
        ("/agent", ["otherbot: none", "penstock: noindex"]),
        ("/meta", ["noindex", "nofollow", "noarchive"]),
        ("/untagged", []),
    ],
)
async def test_the_robots_tags_of_a_page_are_recorded(
    site: Site, platform: Platform, path: str, tags: list[str]
) -> None:
    outcome = await platform.pipeline.run(Request(f"http://tagged.test{path}"))

    assert outcome.as_json()["page"]["robots_tags"] == tags


# Connections


async def test_a_connection_is_used_again(site: Site, platform: Platform) -> None:
    for number in (1, 2, 3):
        await platform.pipeline.run(Request(f"http://shop01.test/product/{number}"))

    assert len(site.hits_of("shop01.test")) == 4
    assert len({hit.connection for hit in site.hits_of("shop01.test")}) == 1


async def test_no_more_requests_run_at_once_than_the_policy_allows(
    site: Site, tmp_path: Path
) -> None:
    site.reply("shop01.test", "/slow", Reply(200, page("Slow").content, delay=0.005))
    files = policies(tmp_path, shop01_test={"max_concurrent": 3})

    async with platform_for(site, policies=files) as platform:
        visits = (platform.pipeline.run(Request("http://shop01.test/slow")) for _ in range(12))
        outcomes = await asyncio.gather(*visits)

    assert all(outcome.ok for outcome in outcomes)
    assert site.peak["shop01.test"] == 3


# robots.txt


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://robots-404.test/anything", True),
        ("http://robots-html.test/anything", True),
        ("http://robots-big.test/open", True),
        ("http://robots-big.test/hidden", False),
        ("http://robots-redirect.test/open", True),
        ("http://robots-redirect.test/hidden", False),
        ("http://private.test/", False),
        ("http://shop01.test/cart", False),
        ("http://partly.test/", True),
        ("http://partly.test/private/", False),
        ("http://partly.test/private/open/", True),
        ("http://partly.test/file.pdf", False),
        ("http://partly.test/file.pdf?page=1", True),
        ("http://partly.test/exact", False),
        ("http://partly.test/exactly", True),
        ("http://partly.test/search?q=x&sort=up", False),
        ("http://partly.test/tie", True),
        ("http://partly.test/caf%C3%A9", False),
        ("http://partly.test/café", False),
        ("http://partly.test/second-group/", False),
    ],
)
async def test_robots_decide(site: Site, platform: Platform, url: str, allowed: bool) -> None:
    outcome = await platform.pipeline.run(Request(url))

    if allowed:
        assert page_of(outcome)
    else:
        assert isinstance(outcome.failure, Refused)
        assert (outcome.failure.gate, outcome.failure.reason) == ("robots", "robots_denied")
        assert [hit for hit in site.hits if not hit.last_segment.startswith("robots")] == []


async def test_a_line_of_robots_that_is_cut_by_the_limit_is_not_obeyed(site: Site) -> None:
    outcome = await fetch(
        site, "http://robots-big.test/past-the-limit", robots={"max_bytes": 500 * 1024}
    )

    assert page_of(outcome)


@pytest.mark.parametrize("level", [1, 9])
async def test_long_compressed_robots_are_read_as_far_as_plain_ones(
    site: Site, platform: Platform, level: int
) -> None:
    lines = ["User-agent: *", "Disallow: /hidden", *(f"Disallow: /{n}" for n in range(60_000))]
    body = gzip.compress("\n".join(lines).encode(), level)
    site.robots["shop01.test"] = Reply(200, body, {"Content-Encoding": "gzip"})

    hidden = await platform.pipeline.run(Request("http://shop01.test/hidden"))
    product = await platform.pipeline.run(Request("http://shop01.test/product/1"))

    assert hidden.failure
    assert hidden.failure.reason == "robots_denied"
    assert page_of(product)


async def test_a_denial_says_which_line_denies(site: Site, platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://private.test/"))

    assert outcome.failure
    assert outcome.failure.detail == "group '*', line 2: Disallow: /"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
async def test_robots_that_are_not_there_allow(site: Site, platform: Platform, status: int) -> None:
    site.robots["shop01.test"] = Reply(status, "User-agent: *\nDisallow: /")

    assert page_of(await platform.pipeline.run(Request("http://shop01.test/product/1")))


@pytest.mark.parametrize(
    "answer",
    [
        *(Reply(status) for status in (300, 302, 304, 306, 500, 502, 503, 429)),
        Reply(503, "", {"Retry-After": "0"}),
        Reset(),
    ],
    ids=["300", "302", "304", "306", "500", "502", "503", "429", "503-retry", "reset"],
)
async def test_robots_that_cannot_be_had_deny_after_three_tries(
    site: Site, clock: VisitClock, answer: Reply | Reset
) -> None:
    site.robots["shop01.test"] = answer

    async with platform_for(site, clock=clock) as platform:
        outcome = await platform.pipeline.run(Request("http://shop01.test/product/1"))

    assert isinstance(outcome.failure, Refused)
    assert (outcome.failure.gate, outcome.failure.reason) == ("robots", "robots_unreachable")
    assert [hit.path for hit in site.hits_of("shop01.test")] == ["/robots.txt"] * 3


async def test_robots_that_come_too_late_deny(site: Site) -> None:
    outcome = await fetch(
        site, "http://robots-slow.test/", http={"timeout_seconds": 0.05}, robots={"tries": 2}
    )

    assert outcome.failure
    assert outcome.failure.reason == "robots_unreachable"
    assert [hit.path for hit in site.hits] == ["/robots.txt"] * 2


async def test_robots_that_redirect_in_circles_deny(site: Site, platform: Platform) -> None:
    outcome = await platform.pipeline.run(Request("http://robots-loop.test/"))

    assert outcome.failure
    assert outcome.failure.reason == "robots_unreachable"
    assert "too many redirects" in outcome.failure.detail
    assert pages_asked(site, "robots-loop.test") == []


async def test_robots_behind_six_redirects_deny() -> None:
    async with Site(settings=SiteSettings(robots_redirects=6)) as site:
        outcome = await fetch(site, "http://robots-redirect.test/open")

    assert outcome.failure
    assert outcome.failure.reason == "robots_unreachable"


async def test_robots_may_stand_on_another_host(site: Site, platform: Platform) -> None:
    elsewhere = "http://shop02.test/rules.txt"
    site.robots["shop01.test"] = Reply(302, headers={"Location": elsewhere})
    site.reply("shop02.test", "/rules.txt", Reply(200, "User-agent: *\nDisallow: /product"))

    outcome = await platform.pipeline.run(Request("http://shop01.test/product/1"))

    assert outcome.failure
    assert outcome.failure.reason == "robots_denied"


async def test_robots_are_asked_once_however_many_wait(site: Site, platform: Platform) -> None:
    site.robots["shop01.test"] = Reply(200, "User-agent: *\nDisallow: /cart", delay=0.02)
    urls = [f"http://shop01.test/product/{1 + number % 20}" for number in range(50)]

    outcomes = await asyncio.gather(*(platform.pipeline.run(Request(url)) for url in urls))

    assert all(outcome.ok for outcome in outcomes)
    assert len(site.hits_of("shop01.test", "/robots.txt")) == 1


async def test_robots_are_asked_of_each_origin(site: Site, platform: Platform) -> None:
    for origin in ("http://shop01.test", "http://www.shop01.test", "http://shop01.test:8081"):
        await platform.pipeline.run(Request(f"{origin}/product/1"))

    asked = [hit.headers["Host"] for hit in site.hits if hit.path == "/robots.txt"]
    assert asked == ["shop01.test", "www.shop01.test", "shop01.test:8081"]


async def test_robots_are_kept_for_a_day(site: Site, clock: VisitClock) -> None:
    url = "http://shop01.test/product/1"
    asked = []
    async with platform_for(site, clock=clock) as platform:
        for hours in (0, 23, 2):
            clock.move(hours * 3600)
            await platform.pipeline.run(Request(url))
            asked.append(len(site.hits_of("shop01.test", "/robots.txt")))

    assert asked == [1, 1, 2]


async def test_unreachable_robots_are_asked_again_soon(site: Site, clock: VisitClock) -> None:
    site.take_down("shop01.test")
    async with platform_for(site, clock=clock, breaker={"threshold": 10}) as platform:
        down = await platform.pipeline.run(Request("http://shop01.test/product/1"))
        site.bring_up("shop01.test")
        still = await platform.pipeline.run(Request("http://shop01.test/product/1"))
        clock.move(301)
        well = await platform.pipeline.run(Request("http://shop01.test/product/1"))

    assert down.failure
    assert still.failure
    assert down.failure.reason == still.failure.reason == "robots_unreachable"
    assert page_of(well)


async def test_a_policy_may_allow_what_unreachable_robots_deny(site: Site, tmp_path: Path) -> None:
    files = policies(tmp_path, robots_test={}, default={"robots": {"on_unreachable": "allow"}})

    outcome = await fetch(site, "http://robots-500.test/page", policies=files)

    assert page_of(outcome)
    assert len(site.hits_of("robots-500.test", "/robots.txt")) == 3
    assert any("allowed by policy" in said.answer for said in outcome.trace)


async def test_a_policy_may_switch_robots_off(site: Site, tmp_path: Path) -> None:
    files = policies(tmp_path, private_test={"respect_robots_txt": False})

    outcome = await fetch(site, "http://private.test/page", policies=files)

    assert page_of(outcome)
    assert site.hits_of("private.test", "/robots.txt") == []


async def test_a_policy_may_obey_what_is_said_to_everybody(site: Site, tmp_path: Path) -> None:
    files = policies(tmp_path, partly_test={"robots": {"obey_star": True}})

    outcome = await fetch(site, "http://partly.test/page", policies=files)

    assert outcome.failure
    assert outcome.failure.reason == "robots_denied"


async def test_a_crawl_delay_is_kept(site: Site, clock: VisitClock) -> None:
    async with platform_for(site, clock=clock) as platform:
        await platform.pipeline.run(Request("http://shop03.test/product/1"))
        outcome = await platform.pipeline.run(Request("http://shop03.test/product/2"))

    assert page_of(outcome)
    assert outcome.seconds == pytest.approx(1)


# Identity


async def test_we_say_who_we_are(site: Site) -> None:
    outcome = await fetch(
        site, "http://shop01.test/_echo", identity={"contact": "https://example.org/bot"}
    )

    agents = {hit.headers["User-Agent"] for hit in site.hits}
    assert len(agents) == 1
    assert echoed(outcome)["user-agent"].startswith("Penstock/")
    assert echoed(outcome)["user-agent"].endswith(" (+https://example.org/bot)")


async def test_robots_are_asked_as_penstock_even_by_a_browser_like_identity(
    site: Site, tmp_path: Path
) -> None:
    files = policies(tmp_path, partly_test={"identity": "browser"})
    async with platform_for(site, policies=files) as platform:
        allowed = await platform.pipeline.run(Request("http://partly.test/page"))
        denied = await platform.pipeline.run(Request("http://partly.test/private/"))

    robots, asked = site.hits_of("partly.test")
    assert robots.headers["User-Agent"].startswith("Penstock/")
    assert asked.headers["User-Agent"].startswith("Mozilla/5.0")
    assert page_of(allowed)
    assert denied.failure
    assert denied.failure.reason == "robots_denied"


# Hours, circuits and ledgers


async def first_wait(platform: Platform, url: str) -> str | None:
    """The gate that makes a request wait, if one does; the request is given up."""
    visit = platform.pipeline.admit(Request(url))
    assert isinstance(visit, Visit)
    step = await platform.pipeline.advance(visit)
    if isinstance(step, Wait):
        await platform.pipeline.give_up(visit, step)
        return step.gate
    return None


async def test_a_closed_domain_is_asked_when_it_opens(
    site: Site, tmp_path: Path, clock: VisitClock
) -> None:
    files = policies(tmp_path, shop01_test={"allowed_hours": {"start": 1, "end": 5}})

    async with platform_for(site, clock=clock, policies=files) as platform:
        outcome = await platform.pipeline.run(Request("http://shop01.test/product/1"))

    assert page_of(outcome)
    assert clock.now() == datetime(2026, 3, 5, 1, 0, tzinfo=UTC)


async def test_a_caller_who_cannot_wait_for_the_opening_is_refused(
    site: Site, tmp_path: Path, clock: VisitClock
) -> None:
    files = policies(tmp_path, shop01_test={"allowed_hours": {"start": 1, "end": 5}})

    async with platform_for(site, clock=clock, policies=files) as platform:
        visit = platform.pipeline.admit(Request("http://shop01.test/product/1"))
        assert isinstance(visit, Visit)
        wait = await platform.pipeline.advance(visit)
        assert isinstance(wait, Wait)
        outcome = await platform.pipeline.give_up(visit, wait)

    assert wait.until - clock.monotonic() == 13 * 3600
    assert isinstance(outcome.failure, Refused)
    assert outcome.failure.reason == "outside_hours"
    assert site.hits == []


async def test_an_outage_opens_the_circuit_and_a_probe_closes_it(
    site: Site, clock: VisitClock
) -> None:
    async with platform_for(site, clock=clock) as platform:
        for _ in range(2):
            await platform.pipeline.run(Request("http://outage.test/"))
        waits_for = await first_wait(platform, "http://outage.test/")
        asked = len(pages_asked(site, "outage.test"))
        outcome = await platform.pipeline.run(Request("http://outage.test/"))
        afterwards = await first_wait(platform, "http://outage.test/")

    assert (waits_for, asked) == ("breaker", 6)
    assert page_of(outcome)
    assert outcome.seconds == pytest.approx(120)
    assert afterwards is None


async def test_an_outage_of_one_domain_is_not_another_s(site: Site, clock: VisitClock) -> None:
    async with platform_for(site, clock=clock) as platform:
        for _ in range(2):
            await platform.pipeline.run(Request("http://outage.test/"))
        outcome = await platform.pipeline.run(Request("http://shop01.test/product/1"))

    assert page_of(outcome)
    assert outcome.seconds < 1


async def test_missing_pages_do_not_open_the_circuit(site: Site, clock: VisitClock) -> None:
    async with platform_for(site, clock=clock) as platform:
        for number in range(12):
            await platform.pipeline.run(Request(f"http://shop01.test/missing/{number}"))

        assert await first_wait(platform, "http://shop01.test/product/1") is None


SLOW = {"request_delay_ms": 5000, "respect_robots_txt": False}


@pytest.mark.parametrize(("group", "seconds"), [({"group": "acme"}, 5), ({}, 0)])
async def test_domains_of_a_group_share_one_ledger(
    site: Site, tmp_path: Path, clock: VisitClock, group: Mapping[str, str], seconds: float
) -> None:
    entry = {**SLOW, **group}
    files = policies(tmp_path, shop01_test=entry, shop02_test=entry)

    async with platform_for(site, clock=clock, policies=files) as platform:
        await platform.pipeline.run(Request("http://shop01.test/product/1"))
        outcome = await platform.pipeline.run(Request("http://shop02.test/product/1"))

    assert page_of(outcome)
    assert outcome.seconds == pytest.approx(seconds)


async def test_the_hosts_of_a_domain_share_one_ledger_unless_split(
    site: Site, tmp_path: Path, clock: VisitClock
) -> None:
    files = policies(tmp_path, shop01_test=SLOW, shop02_test={**SLOW, "split_hosts": True})
    seconds = []
    async with platform_for(site, clock=clock, policies=files) as platform:
        for domain in ("shop01.test", "shop02.test"):
            await platform.pipeline.run(Request(f"http://a.{domain}/product/1"))
            outcome = await platform.pipeline.run(Request(f"http://b.{domain}/product/1"))
            seconds.append(outcome.seconds)

    assert seconds == pytest.approx([5, 0])


async def test_the_wait_for_a_turn_does_not_count_in_the_deadline(
    site: Site, tmp_path: Path, clock: VisitClock
) -> None:
    files = policies(tmp_path, moved_test={**SLOW, "request_delay_ms": 60_000})

    async with platform_for(
        site, clock=clock, policies=files, http={"timeout_seconds": 30}
    ) as platform:
        outcome = await platform.pipeline.run(Request("http://moved.test/chain/3"))

    assert page_of(outcome)
    assert outcome.seconds == pytest.approx(180)


async def test_a_visit_that_is_cancelled_gives_its_slot_back(site: Site, tmp_path: Path) -> None:
    reached = asyncio.Event()

    def hang(hit: Hit) -> Reply:
        reached.set()
        return Reply(200, page("Late").content, delay=60)

    site.reply("shop01.test", "/hang", hang)
    files = policies(tmp_path, shop01_test={"max_concurrent": 1})
    async with platform_for(site, policies=files) as platform:
        visit = asyncio.create_task(platform.pipeline.run(Request("http://shop01.test/hang")))
        await reached.wait()
        visit.cancel()
        await asyncio.wait([visit])
        async with asyncio.timeout(1):
            outcome = await platform.pipeline.run(Request("http://shop01.test/product/1"))

    assert page_of(outcome)
