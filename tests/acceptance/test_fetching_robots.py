"""What robots.txt allows, and what it means when it cannot be had."""

import asyncio
import gzip
from pathlib import Path

import pytest

from penstock.app import Platform
from penstock.kernel.model import Refused, Request
from tests.platforms import VisitClock, fetch, page_of, pages_asked, platform_for, policies
from tests.site import Reply, Reset, Site, SiteSettings


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
