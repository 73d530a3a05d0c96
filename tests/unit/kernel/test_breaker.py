"""A circuit that somebody opens and closes by hand; what all breakers do is in the contracts."""

import pytest

from penstock.kernel.breaker import MemoryBreaker
from penstock.kernel.model import Pass
from penstock.kernel.settings import BreakerSettings
from tests.clocks import HandClock

DOMAIN = "shop.test"
RULE = BreakerSettings(trip="consecutive", threshold=2, cooldown_seconds=60, probes_to_close=2)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def breaker(clock: HandClock) -> MemoryBreaker:
    return MemoryBreaker(RULE, clock)


async def enter(breaker: MemoryBreaker) -> Pass:
    leave = await breaker.enter(DOMAIN)
    assert isinstance(leave, Pass)
    return leave


async def go(breaker: MemoryBreaker, *results: bool) -> None:
    for well in results:
        await breaker.report(await enter(breaker), well=well)


async def test_it_opens_for_as_long_as_is_said_also_after_bad_probes(
    breaker: MemoryBreaker, clock: HandClock
) -> None:
    breaker.open_for(DOMAIN, 500)
    for _ in range(3):
        assert await breaker.look(DOMAIN) == 500
        clock.move(500)
        await go(breaker, False)


async def test_what_was_sent_before_does_not_count(
    breaker: MemoryBreaker, clock: HandClock
) -> None:
    earlier = await enter(breaker)
    breaker.open_for(DOMAIN, 500)
    clock.move(500)
    await breaker.report(earlier, well=False)
    assert breaker.state_of(DOMAIN) == "half_open"


async def test_a_probe_under_way_does_not_keep_the_next_one_waiting(
    breaker: MemoryBreaker, clock: HandClock
) -> None:
    breaker.open_for(DOMAIN, 5)
    clock.move(5)
    await enter(breaker)
    breaker.open_for(DOMAIN, 5)
    clock.move(5)
    assert (await enter(breaker)).probe


async def test_good_probes_close_it_and_the_rule_holds_again(
    breaker: MemoryBreaker, clock: HandClock
) -> None:
    breaker.open_for(DOMAIN, 500)
    clock.move(500)
    await go(breaker, True, True, False, False)
    assert await breaker.look(DOMAIN) == 60
    clock.move(60)
    await go(breaker, False)
    assert await breaker.look(DOMAIN) == 60


async def test_it_closes_by_hand_with_nothing_counted(
    breaker: MemoryBreaker, clock: HandClock
) -> None:
    breaker.open_for(DOMAIN, 500)
    clock.move(500)
    probe = await enter(breaker)
    breaker.close(DOMAIN)
    await breaker.report(probe, well=False)
    assert (breaker.state_of(DOMAIN), len(breaker)) == ("closed", 0)
    await go(breaker, False)
    assert breaker.state_of(DOMAIN) == "closed"
