"""A Redis that is killed, frozen or restarted: slower for a while, never impolite, never stuck."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from penstock.kernel.breaker import MemoryBreaker
from penstock.kernel.fallback import FallbackBreaker, FallbackPacing, FallbackRobotsCache, Link
from penstock.kernel.model import Pass, Request, Ticket
from penstock.kernel.pacing import MemoryPacing
from penstock.kernel.policy import Pace, Rate
from penstock.kernel.ports import RobotsAnswer
from penstock.kernel.redis import RedisBreaker, RedisPacing, RedisRobotsCache, connect, server
from penstock.kernel.robots import MemoryRobotsCache
from penstock.kernel.settings import BreakerSettings, SharedSettings
from tests.clocks import HandClock
from tests.platforms import platform_for
from tests.redis_server import PrivateRedis, find_program
from tests.site import Site

LEDGER = "shop.test"
ORIGIN = "https://shop.test"
RETRY = 5.0
#: One request in two seconds while Redis is away.
SAFE = Pace((Rate(1, 2.0),), 0.0, 1)
POLICY = Pace((Rate(4, 4.0),), 0.5, 2)
#: The real server's clock runs on while a test moves the other one by hand.
A_MOMENT = 0.2
RULE = BreakerSettings(trip="consecutive", threshold=2)


@dataclass
class Process:
    """What one process has: the shared ports, each with its fallback."""

    clock: HandClock
    pacing: FallbackPacing
    breaker: FallbackBreaker
    robots: FallbackRobotsCache

    async def start_when_it_may(self, pace: Pace = POLICY) -> Ticket:
        """Wait for a turn, as long as it takes."""
        ticket = await self.pacing.reserve(LEDGER, pace)
        while not ticket.granted:
            self.clock.move(ticket.at - self.clock.monotonic())
            ticket = await self.pacing.reserve(LEDGER, pace, ticket)
        return ticket

    async def starts_for(self, seconds: float, pace: Pace = POLICY) -> list[float]:
        """Start one short request after another for so long; return when."""
        until = self.clock.monotonic() + seconds
        starts = []
        while self.clock.monotonic() < until:
            await self.pacing.release(await self.start_when_it_may(pace))
            starts.append(self.clock.monotonic())
        return starts


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[PrivateRedis]:
    private = PrivateRedis(find_program(), tmp_path)
    private.start()
    yield private
    private.kill()


@pytest.fixture
async def process(redis_server: PrivateRedis, clock: HandClock) -> AsyncIterator[Process]:
    zero = clock.monotonic()
    settings = SharedSettings(url=redis_server.url)
    async with connect(settings, clock_shift=lambda: clock.monotonic() - zero) as shared:
        link = Link(clock, RETRY)
        yield Process(
            clock,
            FallbackPacing(RedisPacing(shared, clock, 120), MemoryPacing(clock), SAFE, link, clock),
            FallbackBreaker(RedisBreaker(shared, RULE, clock), MemoryBreaker(RULE, clock), link),
            FallbackRobotsCache(
                RedisRobotsCache(shared), MemoryRobotsCache(clock, 1024 * 1024), link
            ),
        )


def most_in_any_window(starts: list[float], window: float) -> int:
    return max(sum(first <= start < first + window - 1e-6 for start in starts) for first in starts)


async def test_killed_redis_leaves_the_safe_pace(
    process: Process, redis_server: PrivateRedis
) -> None:
    await process.starts_for(1)
    redis_server.kill()

    starts = await process.starts_for(30)

    assert len(starts) > 10
    assert min(after - before for before, after in pairwise(starts)) >= 2 - 1e-6


async def test_safe_pace_never_loosens_the_policy(
    process: Process, redis_server: PrivateRedis
) -> None:
    once_a_minute = Pace((Rate(1, 60.0),), 0.0, 1)
    redis_server.kill()

    starts = await process.starts_for(200, once_a_minute)

    assert min(after - before for before, after in pairwise(starts)) >= 60 - 1e-6


async def test_no_window_is_overrun_by_the_loss_and_the_return(
    process: Process, redis_server: PrivateRedis
) -> None:
    starts = await process.starts_for(10)
    redis_server.kill()
    starts += await process.starts_for(20)
    redis_server.start()
    starts += await process.starts_for(40)

    assert most_in_any_window(starts, 4.0 - A_MOMENT) <= 4
    assert min(after - before for before, after in pairwise(starts)) >= 0.5 - A_MOMENT
    # At the policy's own pace again.
    assert len([start for start in starts[-20:] if start > starts[-1] - 10]) >= 9


async def test_no_more_than_concurrency_run_through_the_loss_and_the_return(
    process: Process, redis_server: PrivateRedis, clock: HandClock
) -> None:
    one_at_a_time = Pace((Rate(1000, 0.1),), 0.0, 1)
    running = await process.start_when_it_may(one_at_a_time)
    redis_server.kill()
    clock.move(RETRY + 1)
    assert not (await process.pacing.reserve(LEDGER, one_at_a_time)).granted
    await process.pacing.release(running)
    running = await process.start_when_it_may(one_at_a_time)
    redis_server.start()
    clock.move(3 * RETRY)

    waiting = await process.pacing.reserve(LEDGER, one_at_a_time)
    clock.move(2 * RETRY)
    waiting = await process.pacing.reserve(LEDGER, one_at_a_time, waiting)

    assert not waiting.granted
    await process.pacing.release(running)
    clock.move(1)
    assert (await process.pacing.reserve(LEDGER, one_at_a_time, waiting)).granted


async def test_shared_server_is_asked_again_only_after_a_while(
    process: Process, redis_server: PrivateRedis, clock: HandClock
) -> None:
    redis_server.kill()
    await process.breaker.report(Pass(LEDGER, 0), well=False)
    redis_server.start()
    await process.breaker.report(Pass(LEDGER, 0), well=False)

    assert await process.breaker.look(LEDGER) is not None
    clock.move(RETRY)
    assert await process.breaker.look(LEDGER) is None


async def test_loss_and_return_are_told_once_each(
    process: Process, redis_server: PrivateRedis, clock: HandClock
) -> None:
    with capture_logs() as lines:
        for _ in range(2):
            redis_server.kill()
            for _ in range(5):
                await process.pacing.reserve(LEDGER, POLICY)
                await process.breaker.look(LEDGER)
                await process.robots.get(ORIGIN)
                clock.move(1)
            redis_server.start()
            clock.move(RETRY)
            for _ in range(5):
                await process.breaker.look(LEDGER)
                await process.robots.get(ORIGIN)

    events = Counter(line["event"] for line in lines if line["log_level"] == "warning")
    assert events == {
        "shared state lost, going on at the safe pace": 2,
        "shared state is back": 2,
    }


async def test_frozen_redis_holds_nobody_up_for_long(
    process: Process, redis_server: PrivateRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0.05)
    await process.breaker.look(LEDGER)
    redis_server.freeze()

    with capture_logs() as lines:
        assert await process.breaker.look(LEDGER) is None

    redis_server.thaw()
    assert [line["error"].endswith("timed out") for line in lines] == [True]


async def test_slot_given_back_during_a_loss_is_free_after_it(
    process: Process,
    redis_server: PrivateRedis,
    clock: HandClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0.05)
    one_at_a_time = Pace((Rate(1000, 0.1),), 0.0, 1)
    ticket = await process.start_when_it_may(one_at_a_time)
    redis_server.freeze()
    await process.pacing.release(ticket)
    redis_server.thaw()
    clock.move(RETRY)
    began = clock.monotonic()

    await process.start_when_it_may(one_at_a_time)

    assert clock.monotonic() - began < 2 * RETRY


async def test_what_a_site_asked_for_during_a_loss_is_kept_after_it(
    process: Process, redis_server: PrivateRedis, clock: HandClock
) -> None:
    redis_server.kill()
    await process.pacing.hold(LEDGER, 600)
    redis_server.start()
    clock.move(RETRY)
    began = clock.monotonic()

    await process.start_when_it_may()

    assert clock.monotonic() - began >= 600 - RETRY - A_MOMENT


async def test_ticket_of_the_other_side_is_exchanged(
    process: Process, redis_server: PrivateRedis, clock: HandClock
) -> None:
    shared = await process.start_when_it_may()
    redis_server.kill()
    local = await process.pacing.reserve(LEDGER, POLICY, shared)
    redis_server.start()
    clock.move(RETRY)

    again = await process.pacing.reserve(LEDGER, POLICY, local)
    await process.pacing.release(again)

    assert local.id.startswith("local:")
    assert not again.id.startswith("local:")


async def test_breaker_trips_on_its_own_while_redis_is_away(
    process: Process, redis_server: PrivateRedis
) -> None:
    leave = await process.breaker.enter(LEDGER)
    assert isinstance(leave, Pass)
    redis_server.kill()

    for _ in range(2):
        await process.breaker.report(leave, well=False)

    assert isinstance(await process.breaker.enter(LEDGER), float)


async def test_robots_answers_got_during_a_loss_are_known_during_and_after_it(
    process: Process, redis_server: PrivateRedis, clock: HandClock
) -> None:
    await process.robots.claim(ORIGIN, 100)
    redis_server.kill()
    assert await process.robots.get(ORIGIN) is None
    await process.robots.put(ORIGIN, RobotsAnswer("allow"), 1000)
    await process.robots.unclaim(ORIGIN)
    during = await process.robots.get(ORIGIN)
    redis_server.start()
    clock.move(RETRY)
    after = await process.robots.get(ORIGIN)

    assert during is not None
    assert after is not None
    assert await process.robots.claim(ORIGIN, 100)


async def test_platform_goes_on_fetching_without_its_redis(redis_server: PrivateRedis) -> None:
    url = "http://robots-404.test/product/1"
    shared = {"url": redis_server.url}
    async with Site() as site, platform_for(site, clock=HandClock(), shared=shared) as platform:
        before = await platform.pipeline.run(Request(url))
        redis_server.kill()
        after = await platform.pipeline.run(Request(url))

    assert before.ok
    assert after.ok
