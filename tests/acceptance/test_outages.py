"""A site is down for two hours: what the page fetcher's circuit does, on an injected clock."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from penstock.app import Platform
from penstock.kernel.model import Outcome, Request, SiteWide
from penstock.kernel.ports import CircuitState
from tests.platforms import VisitClock, pages_asked, platform_for, said
from tests.site import Site
from tests.site.answers import Answer, Reply, Reset

HOST = "plain.test"
TWO_HOURS = 7200.0
THRESHOLD = 5
STREAM: Mapping[str, Any] = {"rate_limit_per_second": 1000}
PAGE = Reply(200, f"<title>Lamp</title><p>{'A lamp of brass. ' * 200}</p>")


class Watched(VisitClock):
    """Tells somebody that time has passed."""

    def __init__(self) -> None:
        super().__init__()
        self.passed: Callable[[], None] = lambda: None

    def move(self, seconds: float) -> None:
        super().move(seconds)
        self.passed()


@pytest.fixture(autouse=True)
def _lamps(site: Site) -> None:
    site.reply(HOST, "/lamp", PAGE)


def wanted(number: int = 0) -> Request:
    return Request(f"http://{HOST}/lamp?{number}", workload="stream")


async def fail_until_open(platform: Platform, site: Site, answer: Answer) -> list[Outcome]:
    await platform.pipeline.run(wanted())
    site.take_down(HOST, answer)
    return [await platform.pipeline.run(wanted(number)) for number in range(THRESHOLD)]


def knocks(site: Site) -> list[tuple[str, str]]:
    return [(hit.method, hit.path) for hit in site.hits_of(HOST, "/")]


@pytest.mark.parametrize("answer", [Reply(503, "down"), Reset()], ids=["503", "reset"])
async def test_two_hours_cost_a_few_knocks_and_no_url(site: Site, answer: Answer) -> None:
    clock = Watched()
    async with platform_for(site, clock=clock, stream=STREAM) as platform:
        outcomes = await fail_until_open(platform, site, answer)
        began = clock.monotonic()
        knocked: list[float] = []

        def note() -> None:
            passed = round(clock.monotonic() - began)
            knocked.extend([passed] * (len(knocks(site)) - len(knocked)))
            if passed >= TWO_HOURS:
                site.bring_up(HOST)

        clock.passed = note
        last = await platform.pipeline.run(wanted(THRESHOLD))

    # Each of the first ones is tried once, and none is to blame.
    assert all(isinstance(outcome.failure, SiteWide) for outcome in outcomes)
    assert [outcome.attempts for outcome in outcomes] == [1] * THRESHOLD
    assert last.ok
    # 30 s, 1 min, 2 min, 4 min, then every 5 min; each is noted when the clock moves next.
    assert knocked[:5] == [30 + 60, 90 + 120, 210 + 240, 450 + 300, 750 + 300]
    assert set(knocks(site)) == {("HEAD", "/")}
    assert len(knocks(site)) == 4 + -(-(int(TWO_HOURS) - 450) // 300)
    assert pages_asked(site, HOST).count(f"/lamp?{THRESHOLD}") == 1


async def test_no_other_domain_and_no_other_workload_notices(site: Site) -> None:
    async with platform_for(site, clock=VisitClock(), stream=STREAM) as platform:
        await fail_until_open(platform, site, Reply(503, "down"))
        site.bring_up(HOST)

        assert await platform.circuits.of_workloads["stream"].breaker.look(HOST)
        other = await platform.pipeline.run(Request("http://shop.test/", workload="stream"))
        fetched = await platform.pipeline.run(Request(f"http://{HOST}/lamp"))

    assert said(other, "breaker")[-1] == said(fetched, "breaker")[-1] == "closed"
    assert knocks(site) == []


@pytest.mark.parametrize("status", [405, 501])
async def test_a_site_that_knows_no_head_is_asked_with_get(site: Site, status: int) -> None:
    clock = VisitClock()
    async with platform_for(site, clock=clock, stream=STREAM) as platform:
        await fail_until_open(platform, site, Reply(503, "down"))
        site.bring_up(HOST)
        site.reply(HOST, "/", Reply(status, ""), Reply(200, "home"))

        outcome = await platform.pipeline.run(wanted())

    assert outcome.ok
    assert knocks(site) == [("HEAD", "/"), ("GET", "/")]
    assert said(outcome, "probe") == [str(status), "200"]


async def test_a_500_at_the_root_is_no_answer(site: Site) -> None:
    clock = VisitClock()
    async with platform_for(site, clock=clock, stream=STREAM) as platform:
        await fail_until_open(platform, site, Reply(503, "down"))
        site.bring_up(HOST)
        site.reply(HOST, "/", Reply(500, "still ill"), Reply(404, "nothing here"))

        outcome = await platform.pipeline.run(wanted())
        changes = platform.metrics.circuits_turned("stream", "open")
        probes = platform.metrics.probes("stream")

    assert outcome.ok
    assert said(outcome, "probe") == ["500", "404"]
    assert (changes, probes) == (2, {"success": 1, "failure": 1})


async def test_where_robots_forbid_the_root_the_page_itself_is_the_probe(site: Site) -> None:
    site.robots[HOST] = "User-agent: *\nDisallow: /$\n"
    async with platform_for(site, clock=VisitClock(), stream=STREAM) as platform:
        await fail_until_open(platform, site, Reply(503, "down"))
        site.bring_up(HOST)

        outcome = await platform.pipeline.run(wanted(7))

    assert outcome.ok
    assert knocks(site) == []


async def test_the_log_says_what_is_down_and_when_it_is_asked_again(
    site: Site, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    del tmp_path
    async with platform_for(site, clock=VisitClock(), stream=STREAM) as platform:
        await fail_until_open(platform, site, Reply(503, "down"))
        troubled = await platform.circuits.of_workloads["stream"].breaker.troubled()

    assert troubled == [CircuitState(HOST, "open", THRESHOLD, 30.0)]
    said = capsys.readouterr()
    assert f"Circuit open: {HOST} appears down. Next probe in 30s." in said.out + said.err
