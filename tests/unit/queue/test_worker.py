"""The crew: every request delivered once, whatever sites, stops and faults do to it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from penstock.app import Platform
from penstock.kernel.fetchers.http import HttpFetcher
from penstock.kernel.model import Failure, Outcome, Page, Redirect, Request
from penstock.kernel.ports import Hop
from penstock.queue.worker import CrewSettings
from tests.platforms import platform_for
from tests.shell import eventually
from tests.site import Reply, Site
from tests.unit.core.log_lines import captured_logs
from tests.unit.queue.crews import CrewClock, CrewRun, requests_of

SHOPS = ("shop01.test", "shop02.test", "shop04.test")
MANY_ATTEMPTS = {"max_attempts": 100}


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest.fixture
def clock() -> CrewClock:
    return CrewClock()


@pytest.fixture
def faulty_fetcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are got as ever, but `/fault` fails, and `/hang` hangs until `/release` is got."""
    get = HttpFetcher.fetch
    released = asyncio.Event()

    async def fetch(fetcher: HttpFetcher, hop: Hop) -> Page | Redirect | Failure:
        match hop.url.target:
            case "/fault":
                raise RuntimeError("a fault of ours")
            case "/hang":
                await released.wait()
            case "/release":
                released.set()
        return await get(fetcher, hop)

    monkeypatch.setattr(HttpFetcher, "fetch", fetch)


def pages_of(*hosts: str, each: int = 5) -> list[str]:
    return [f"http://{host}/product/{number + 1}" for host in hosts for number in range(each)]


def policy_file(folder: Path, **domains: str) -> dict[str, Any]:
    """The section of settings for a policy file; `__` stands for a dot."""
    path = folder / "policies.yaml"
    lines = [f"  {name.replace('__', '.')}: {{{keys}}}" for name, keys in domains.items()]
    path.write_text("\n".join(["domains:", *lines]))
    return {"files": [path]}


async def test_every_request_is_delivered_exactly_once(site: Site, clock: CrewClock) -> None:
    urls = [
        *pages_of(*SHOPS, each=10),
        "http://private.test/",
        "http://moved.test/to-shop",
        "http://flaky.test/",
        "http://ratelimited.test/",
        "http://shop01.test/no-such-page",
        "http://blocked.test/captcha",
        "not a URL",
        "ftp://shop01.test/",
        "http://shop01.test/product/1",
    ]
    async with platform_for(site, clock=clock) as platform:
        run = CrewRun(platform, clock)
        left = await run.carry(urls)

    assert left == []
    assert sorted(run.delivered) == sorted(urls)
    assert run.reasons.count("ok") == 34
    assert (run.crew.accepted, run.crew.finished) == (39, 39)
    assert (run.crew.queued, run.crew.running) == (0, 0)


async def test_crew_without_requests_is_done_at_once(site: Site, clock: CrewClock) -> None:
    async with platform_for(site, clock=clock) as platform:
        run = CrewRun(platform, clock)

        assert await run.carry([]) == []
        assert run.outcomes == []


async def test_one_worker_carries_everything_too(site: Site, clock: CrewClock) -> None:
    async with platform_for(site, clock=clock) as platform:
        run = CrewRun(platform, clock, CrewSettings(workers=1))
        await run.carry(pages_of(*SHOPS))

    assert run.reasons == ["ok"] * 15


async def test_turns_are_waited_for_without_holding_a_worker(site: Site, clock: CrewClock) -> None:
    pacing = {"requests_per_second": 0.5, "request_delay_ms": 2000, "max_concurrent": 1}
    async with platform_for(site, clock=clock, pacing=pacing) as platform:
        run = CrewRun(platform, clock, CrewSettings(workers=2))
        await run.carry(pages_of(*SHOPS, each=4))

    assert run.reasons == ["ok"] * 12
    assert 8 <= clock.passed < 12, "the robots.txt and four pages of each, two seconds apart"
    assert max(site.peak.values()) == 1


async def test_no_more_requests_are_read_than_there_is_room_for(
    site: Site, clock: CrewClock
) -> None:
    ahead: list[int] = []

    def urls() -> Iterator[str]:
        for read, url in enumerate(pages_of(*SHOPS), start=1):
            ahead.append(read - len(run.outcomes))
            yield url

    async with platform_for(site, clock=clock) as platform:
        run = CrewRun(platform, clock, CrewSettings(workers=2, max_queued=3))
        await run.carry(urls())

    assert run.reasons == ["ok"] * 15
    assert max(ahead) <= 5, "three in the queue and two with the workers"


async def test_stop_returns_what_is_left_and_the_source_goes_on(
    site: Site, clock: CrewClock
) -> None:
    urls = pages_of(*SHOPS, each=20)
    source = requests_of(urls)

    def stop_at_ten(outcome: Outcome) -> None:
        if len(run.outcomes) == 10:
            run.crew.stop()

    async with platform_for(site, clock=clock) as platform:
        settings = CrewSettings(workers=3, max_queued=20)
        run = CrewRun(platform, clock, settings, on_delivery=stop_at_ten)
        left = await run.carry_from(source)
        unread = [request.url async for request in source]

    assert 10 <= len(run.outcomes) <= 12, "what was under way came to its end"
    assert left
    assert unread
    assert sorted([*run.delivered, *left, *unread]) == sorted(urls)


async def test_stop_returns_visits_that_wait_for_their_turn(site: Site, clock: CrewClock) -> None:
    pacing = {"requests_per_second": 0.01, "max_concurrent": 1}
    urls = pages_of(*SHOPS)

    def stop(outcome: Outcome) -> None:
        run.crew.stop()

    async with platform_for(site, clock=clock, pacing=pacing) as platform:
        run = CrewRun(platform, clock, on_delivery=stop)
        left = await run.carry(urls)

    assert sorted([*run.delivered, *left]) == sorted(urls)
    assert len(left) >= 12


async def test_site_that_comes_back_in_time_is_waited_for(site: Site, clock: CrewClock) -> None:
    urls = [f"http://outage.test/{number}" for number in range(10)]
    async with platform_for(site, clock=clock, retry=MANY_ATTEMPTS) as platform:
        run = CrewRun(platform, clock, CrewSettings(workers=4, patience=900))
        await run.carry(urls)

    assert run.reasons == ["ok"] * 10
    assert clock.passed >= 120, "the breaker was open in between"


async def test_site_that_stays_away_is_given_up(site: Site, clock: CrewClock) -> None:
    site.reply("gone.test", "/robots.txt", Reply(404))
    site.reply("gone.test", "/", Reply(503))
    urls = [*pages_of("shop01.test", each=3), *(f"http://gone.test/?{n}" for n in range(30))]
    async with platform_for(site, clock=clock, retry=MANY_ATTEMPTS) as platform:
        run = CrewRun(platform, clock, CrewSettings(workers=4, patience=100))
        left = await run.carry(urls)

    assert left == []
    assert sorted(run.delivered) == sorted(urls)
    assert run.reasons.count("ok") == 3
    assert run.reasons.count("circuit_open") == 30
    assert 6 <= len(site.hits_of("gone.test", "/")) <= 9, "three more may be under way"


async def test_closed_site_is_waited_for_if_it_opens_in_time(
    site: Site, clock: CrewClock, tmp_path: Path
) -> None:
    clock.set_date(datetime(2026, 3, 4, 5, 50, tzinfo=UTC))
    policies = policy_file(tmp_path, shop01__test="allowed_hours: {start: 6, end: 22}")
    async with platform_for(site, clock=clock, policies=policies) as platform:
        run = CrewRun(platform, clock, CrewSettings(workers=4, patience=900))
        await run.carry(pages_of("shop01.test", "shop02.test", each=2))

    assert run.reasons == ["ok"] * 4
    assert 600 <= clock.passed < 700


async def test_closed_site_is_given_up_if_it_opens_too_late(
    site: Site, clock: CrewClock, tmp_path: Path
) -> None:
    policies = policy_file(tmp_path, shop01__test="allowed_hours: {start: 20, end: 22}")
    async with platform_for(site, clock=clock, policies=policies) as platform:
        run = CrewRun(platform, clock, CrewSettings(workers=4, patience=900))
        await run.carry(pages_of("shop01.test", "shop02.test", each=2))

    assert run.reasons == ["ok", "ok", "outside_hours", "outside_hours"]
    assert site.hits_of("shop01.test") == []


async def test_visit_that_is_given_up_lets_the_next_one_ask_for_robots(
    site: Site, clock: CrewClock, tmp_path: Path
) -> None:
    policies = policy_file(tmp_path, shop01__test="allowed_hours: {start: 20, end: 22}")
    async with platform_for(site, clock=clock, policies=policies) as platform:
        run = CrewRun(platform, clock, CrewSettings(workers=4, patience=900))
        await run.carry(pages_of("shop01.test", each=2))

    assert run.reasons == ["outside_hours", "outside_hours"]
    assert clock.passed < 60


@pytest.mark.usefixtures("faulty_fetcher")
async def test_fault_of_our_own_ends_only_its_visit(site: Site, clock: CrewClock) -> None:
    urls = [*pages_of("shop01.test"), "http://shop01.test/fault", *pages_of("shop02.test")]
    with captured_logs() as lines:
        async with platform_for(site, clock=clock) as platform:
            run = CrewRun(platform, clock)
            left = await run.carry(urls)

    assert left == []
    assert sorted(run.delivered) == sorted(urls)
    assert run.reasons == ["internal_error"] + ["ok"] * 10
    told = [line for line in lines.parsed() if line["event"] == "internal error"]
    assert [line["request_id"] for line in told] == ["5"]
    assert "a fault of ours" in told[0]["exception"]


@pytest.mark.usefixtures("faulty_fetcher")
async def test_fault_of_our_own_does_not_keep_the_slot_of_its_domain(
    site: Site, clock: CrewClock
) -> None:
    urls = ["http://shop01.test/fault", *pages_of("shop01.test", each=2)]
    with captured_logs():
        async with platform_for(site, clock=clock, pacing={"max_concurrent": 1}) as platform:
            run = CrewRun(platform, clock)
            await run.carry(urls)

    assert run.reasons == ["internal_error", "ok", "ok"]
    assert clock.passed < 10


@pytest.mark.usefixtures("faulty_fetcher")
async def test_site_that_hangs_does_not_keep_others_from_their_turns(
    site: Site, clock: CrewClock, tmp_path: Path
) -> None:
    """The hanging page is answered when the last page of the other site is asked for."""
    slow, quick = "request_delay_ms: 2000", "request_delay_ms: 1500"
    policies = policy_file(tmp_path, shop01__test=slow, shop02__test=quick)
    urls = [
        *pages_of("shop01.test", each=1),
        "http://shop01.test/hang",
        *pages_of("shop02.test", each=2),
        "http://shop02.test/release",
    ]
    pacing = {"max_concurrent": 1}
    async with platform_for(site, clock=clock, policies=policies, pacing=pacing) as platform:
        run = CrewRun(platform, clock, CrewSettings(workers=2))
        await run.carry(urls)

    assert sorted(run.delivered) == sorted(urls)


SLOW = {"requests_per_second": 1, "request_delay_ms": 45_000, "max_concurrent": 1}


async def patient_for_30_seconds(
    platform: Platform, clock: CrewClock, host: str
) -> tuple[CrewRun, list[str]]:
    """A crew that gives back what is far away, where the robots.txt of a host is known."""
    await CrewRun(platform, clock).carry([f"http://{host}/robots.txt"])
    clock.move(60)
    given_back: list[str] = []
    settings = CrewSettings(workers=2, patience=30.0)
    run = CrewRun(
        platform, clock, settings, far=lambda request, _wait: given_back.append(request.url)
    )
    return run, given_back


async def test_what_has_not_begun_is_given_back_if_its_turn_is_far_away(
    site: Site, clock: CrewClock
) -> None:
    async with platform_for(site, clock=clock, pacing=SLOW) as platform:
        run, given_back = await patient_for_30_seconds(platform, clock, "shop01.test")
        await run.carry(pages_of("shop01.test", each=2))

    assert (run.reasons, len(given_back)) == (["ok"], 1)


async def test_redirect_is_followed_however_far_the_next_turn_is(
    site: Site, clock: CrewClock
) -> None:
    host = "slow.shop01.test"
    site.reply(host, "/robots.txt", Reply(404))
    site.reply(host, "/a", Reply(302, headers={"Location": "/b"}))
    site.reply(host, "/b", Reply(200, "<p>here</p>"))
    async with platform_for(site, clock=clock, pacing=SLOW) as platform:
        run, given_back = await patient_for_30_seconds(platform, clock, host)
        await run.carry([f"http://{host}/a"])

    assert (run.reasons, given_back) == (["ok"], [])
    assert len(site.hits_of(host, "/a")) == 1


async def test_record_is_not_begun_anew_because_the_next_page_is_far_away(
    site: Site, clock: CrewClock
) -> None:
    host = "slow.acme.test"
    front = "<title>Acme</title><meta property=og:site_name content=Acme><a href=/contact>Contact"
    site.reply(host, "/robots.txt", Reply(404))
    site.reply(host, "/", Reply(200, front))

    async def wanted() -> AsyncIterator[Request]:
        yield Request(f"http://{host}/", id="1", extract="company_website")

    async with platform_for(site, clock=clock, pacing=SLOW) as platform:
        run, given_back = await patient_for_30_seconds(platform, clock, host)
        await run.carry_from(wanted())

    assert (run.reasons, given_back) == (["ok"], [])
    assert len(site.hits_of(host, "/")) == 1
    assert not site.hits_of(host, "/contact")


async def test_cancelling_what_is_being_cancelled_changes_nothing(
    site: Site, clock: CrewClock, faulty_fetcher: None
) -> None:
    async with platform_for(site, clock=clock) as platform:
        run = CrewRun(platform, clock)

        async def wanted() -> AsyncIterator[Request]:
            yield Request("http://shop01.test/hang", id="1")
            await eventually(lambda: bool(run.crew._under_way))
            for name in ("1", "1", "unknown"):
                run.crew.cancel(name)

        assert await run.carry_from(wanted()) == []

    assert run.outcomes == []
