"""What a visit says of itself and of its caller, and to whom."""

import json
from pathlib import Path

import pytest

from penstock.app import Platform
from penstock.kernel.model import Outcome, Request
from tests.platforms import fetch, page_of, platform_for, policies
from tests.site import Reply, Site
from tests.site.pages import page


def echoed(outcome: Outcome) -> dict[str, str]:
    """The headers that the site saw, by lower-case name."""
    headers: dict[str, str] = json.loads(page_of(outcome).text)["headers"]
    return {name.lower(): value for name, value in headers.items()}


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
