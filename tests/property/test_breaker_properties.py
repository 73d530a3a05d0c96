"""Properties of the breaker, for any rule and any results."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kernel.breaker import MemoryBreaker
from penstock.kernel.model import Pass
from penstock.kernel.settings import BreakerSettings
from tests.clocks import HandClock

DOMAIN = "shop.test"

windows = st.integers(1, 12)
cooldowns = st.floats(0.1, 1000)


def rule(window: int, threshold: int, cooldown: float = 120.0) -> BreakerSettings:
    return BreakerSettings(
        window=window,
        threshold=threshold,
        cooldown_seconds=cooldown,
        max_cooldown_seconds=cooldown,
    )


async def enter(breaker: MemoryBreaker) -> Pass:
    leave = await breaker.enter(DOMAIN)
    assert isinstance(leave, Pass)
    return leave


async def opened(threshold: int, cooldown: float, clock: HandClock) -> MemoryBreaker:
    breaker = MemoryBreaker(rule(threshold + 1, threshold, cooldown), clock)
    for _ in range(threshold + 1):
        await breaker.report(await enter(breaker), well=False)
    return breaker


# Feature: scraping-microservices, Property 27: Circuit breaker state transition on failures
@pytest.mark.property_number(27)
@settings(max_examples=200, deadline=None)
@given(window=windows, threshold=st.integers(1, 12), results=st.lists(st.booleans(), max_size=60))
async def test_circuit_opens_at_the_first_request_with_too_many_failures_in_its_window(
    window: int, threshold: int, results: list[bool]
) -> None:
    breaker = MemoryBreaker(rule(window, threshold), HandClock())

    for count, well in enumerate(results, start=1):
        await breaker.report(await enter(breaker), well=well)
        too_many = results[max(0, count - window) : count].count(False) > threshold

        assert breaker.state_of(DOMAIN) == ("open" if too_many else "closed")
        if too_many:
            break


# Feature: scraping-microservices, Property 28: Open circuit rejects immediately
@pytest.mark.property_number(28)
@settings(max_examples=200, deadline=None)
@given(
    threshold=st.integers(1, 8),
    cooldown=cooldowns,
    moments=st.lists(st.floats(0, 0.999), min_size=1, max_size=10).map(sorted),
)
async def test_open_circuit_lets_nobody_through_and_says_for_how_long(
    threshold: int, cooldown: float, moments: list[float]
) -> None:
    clock = HandClock()
    breaker = await opened(threshold, cooldown, clock)
    opened_at = clock.monotonic()

    for moment in moments:
        clock.move(opened_at + moment * cooldown - clock.monotonic())
        left = pytest.approx(cooldown * (1 - moment), abs=1e-6)

        assert await breaker.look(DOMAIN) == left
        assert await breaker.enter(DOMAIN) == left


# Feature: scraping-microservices, Property 29: Half-open probe determines next state
@pytest.mark.property_number(29)
@settings(max_examples=200, deadline=None)
@given(
    threshold=st.integers(1, 8),
    cooldown=cooldowns,
    crowd=st.integers(1, 20),
    probes=st.lists(st.booleans(), min_size=1, max_size=5),
)
async def test_single_probe_closes_with_a_clean_count_or_opens_for_another_cooldown(
    threshold: int, cooldown: float, crowd: int, probes: list[bool]
) -> None:
    clock = HandClock()
    breaker = await opened(threshold, cooldown, clock)

    for well in probes:
        clock.move(cooldown + 0.001)
        assert breaker.state_of(DOMAIN) == "half_open"
        probe = await enter(breaker)
        assert probe.probe
        assert not any([isinstance(await breaker.enter(DOMAIN), Pass) for _ in range(crowd)])
        await breaker.report(probe, well=well)

        if well:
            assert breaker.state_of(DOMAIN) == "closed"
            for _ in range(threshold):
                await breaker.report(await enter(breaker), well=False)
            assert breaker.state_of(DOMAIN) == "closed"
            break
        assert breaker.state_of(DOMAIN) == "open"
        assert await breaker.look(DOMAIN) == pytest.approx(cooldown)
