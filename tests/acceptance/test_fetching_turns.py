"""When a domain may be asked: its hours, its circuit, its ledger and its connections."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock.app import Platform
from penstock.kernel.model import Refused, Request, Visit, Wait
from tests.platforms import VisitClock, page_of, pages_asked, platform_for, policies
from tests.site import Hit, Reply, Site
from tests.site.pages import page


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
