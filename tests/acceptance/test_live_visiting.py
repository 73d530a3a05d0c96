"""A feed's contact with its site: near turns are waited for, shut gates are told of."""

from pathlib import Path

from structlog.testing import capture_logs

from penstock.app import Platform
from penstock.kernel.model import Outcome, Request, Wait
from penstock.workloads.live.visiting import Visitor
from penstock.workloads.live.ways import ByRequest
from tests.platforms import VisitClock, platform_for, policies
from tests.site import Site

PAGE = "http://live.test/score"


async def visit(platform: Platform, url: str = PAGE) -> Outcome | Wait:
    return await Visitor(platform.pipeline, platform.clock).visit(Request(url, workload="live"))


async def test_a_turn_that_is_near_is_waited_for(site: Site) -> None:
    clock = VisitClock()
    async with platform_for(site, clock=clock) as platform:
        outcomes = [await visit(platform) for _ in range(3)]

    assert all(isinstance(each, Outcome) and each.ok for each in outcomes)
    assert max(clock.slept) <= 2.0


async def test_a_turn_that_is_far_is_told_of(site: Site, tmp_path: Path) -> None:
    slow = policies(tmp_path, live_test={"request_delay_ms": 600_000})
    async with platform_for(site, clock=VisitClock(), policies=slow) as platform:
        await visit(platform)
        wait = await visit(platform)

    assert isinstance(wait, Wait)
    assert wait.gate == "pacing"


async def test_closed_hours_are_told_of_at_once(site: Site, tmp_path: Path) -> None:
    # It is noon by the clock.
    closed = policies(tmp_path, live_test={"allowed_hours": {"start": 13, "end": 14}})
    async with platform_for(site, clock=VisitClock(), policies=closed) as platform:
        wait = await visit(platform)

    assert isinstance(wait, Wait)
    assert wait.gate == "hours"
    assert site.hits_of("live.test", "/score") == []


async def test_what_is_not_admitted_is_an_outcome(site: Site) -> None:
    async with platform_for(site, clock=VisitClock()) as platform:
        outcome = await visit(platform, "http://127.0.0.1/match")

    assert isinstance(outcome, Outcome)
    assert outcome.failure
    assert outcome.failure.kind == "refused"


async def test_a_look_that_goes_well_is_not_worth_a_line_and_one_that_does_not_is(
    site: Site,
) -> None:
    with capture_logs() as lines:
        async with platform_for(site, clock=VisitClock()) as platform:
            visitor = Visitor(platform.pipeline, platform.clock)
            await ByRequest(PAGE, visitor).look(10)
            await ByRequest("http://live.test/nowhere", visitor).look(10)

    said = [(line["event"], line["log_level"]) for line in lines]
    assert [each for each in said if each[0] in ("fetched", "failed")] == [
        ("fetched", "debug"),
        ("failed", "info"),
    ]
