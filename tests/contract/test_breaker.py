"""What every breaker back end promises."""

import asyncio

import pytest

from penstock.kernel.breaker import MAX_CIRCUITS, PROBE_PATIENCE, MemoryBreaker
from penstock.kernel.model import Pass
from penstock.kernel.policy import Pace, Rate
from penstock.kernel.ports import Breaker, CircuitState, Turned
from penstock.kernel.settings import BreakerSettings
from tests.clocks import HandClock
from tests.contract.conftest import BackEnd

DOMAIN = "shop.test"
COOLDOWN = 120.0
#: The real server's clock runs on while a test moves the other one by hand.
A_MOMENT = 0.2


def about(seconds: float) -> object:
    return pytest.approx(seconds, abs=A_MOMENT)


async def enter(breaker: Breaker, domain: str = DOMAIN) -> Pass:
    leave = await breaker.enter(domain)
    assert isinstance(leave, Pass)
    return leave


async def go(breaker: Breaker, *, well: bool | None, times: int = 1) -> None:
    for _ in range(times):
        await breaker.report(await enter(breaker), well=well)


@pytest.fixture
async def breaker(back_end: BackEnd) -> Breaker:
    return await back_end.breaker()


@pytest.fixture
async def open_breaker(breaker: Breaker) -> Breaker:
    await go(breaker, well=False, times=6)
    return breaker


@pytest.fixture
async def half_open(open_breaker: Breaker, clock: HandClock) -> Breaker:
    clock.move(COOLDOWN)
    return open_breaker


async def test_domain_nobody_complained_about_is_closed(breaker: Breaker) -> None:
    assert await breaker.look(DOMAIN) is None
    assert not (await enter(breaker)).probe


async def test_window_rule_trips_on_more_failures_than_the_threshold(breaker: Breaker) -> None:
    await go(breaker, well=False, times=5)
    assert await breaker.look(DOMAIN) is None

    await go(breaker, well=False)

    assert await breaker.look(DOMAIN) == about(COOLDOWN)


async def test_failures_that_left_the_window_do_not_count(breaker: Breaker) -> None:
    await go(breaker, well=False, times=5)
    await go(breaker, well=True, times=6)

    await go(breaker, well=False, times=4)

    assert await breaker.look(DOMAIN) is None


async def test_consecutive_rule_trips_on_failures_in_a_row(back_end: BackEnd) -> None:
    breaker = await back_end.breaker(trip="consecutive", threshold=3)
    await go(breaker, well=False, times=2)
    await go(breaker, well=True)
    await go(breaker, well=False, times=2)
    assert await breaker.look(DOMAIN) is None

    await go(breaker, well=False)

    assert await breaker.look(DOMAIN) == about(COOLDOWN)


async def test_result_that_teaches_nothing_is_not_counted(breaker: Breaker) -> None:
    await go(breaker, well=False, times=5)
    await go(breaker, well=None, times=20)
    assert await breaker.look(DOMAIN) is None

    await go(breaker, well=False)

    assert await breaker.look(DOMAIN) is not None


async def test_open_circuit_says_when_to_ask_again(open_breaker: Breaker, clock: HandClock) -> None:
    clock.move(100)

    assert await open_breaker.look(DOMAIN) == about(COOLDOWN - 100)
    assert await open_breaker.enter(DOMAIN) == about(COOLDOWN - 100)


async def test_one_domain_does_not_open_another(open_breaker: Breaker) -> None:
    assert await open_breaker.look("other.test") is None


async def test_looking_spends_no_probe(half_open: Breaker) -> None:
    for _ in range(3):
        assert await half_open.look(DOMAIN) is None

    assert (await enter(half_open)).probe


async def test_two_hundred_callers_make_one_probe(
    back_end: BackEnd, half_open: Breaker, clock: HandClock
) -> None:
    another_process = await back_end.breaker()

    answers = await asyncio.gather(
        *((half_open, another_process)[n % 2].enter(DOMAIN) for n in range(200))
    )

    probes = [answer for answer in answers if isinstance(answer, Pass)]
    waits = [answer for answer in answers if isinstance(answer, float)]
    assert [probe.probe for probe in probes] == [True]
    assert len(waits) == 199
    assert all(0 < wait <= PROBE_PATIENCE for wait in waits)


async def test_good_probe_closes_with_nothing_counted(half_open: Breaker) -> None:
    await go(half_open, well=True)

    await go(half_open, well=False, times=5)

    assert await half_open.look(DOMAIN) is None


async def test_bad_probe_opens_for_another_cooldown(half_open: Breaker) -> None:
    await go(half_open, well=False)

    assert await half_open.look(DOMAIN) == about(COOLDOWN)


async def test_probe_that_teaches_nothing_lets_the_next_one_try(half_open: Breaker) -> None:
    await go(half_open, well=None)

    assert (await enter(half_open)).probe


async def test_cooldown_grows_with_every_bad_probe_up_to_its_bound(
    back_end: BackEnd, clock: HandClock
) -> None:
    breaker = await back_end.breaker(
        trip="consecutive",
        threshold=1,
        cooldown_seconds=30,
        cooldown_factor=2,
        max_cooldown_seconds=100,
    )
    cooldowns = []
    for _ in range(4):
        await go(breaker, well=False)
        cooldowns.append(await breaker.look(DOMAIN))
        clock.move(cooldowns[-1] or 0)

    assert cooldowns == [about(30), about(60), about(100), about(100)]


async def test_cooldown_is_short_again_after_the_circuit_was_closed(
    back_end: BackEnd, clock: HandClock
) -> None:
    breaker = await back_end.breaker(
        trip="consecutive", threshold=1, cooldown_seconds=30, cooldown_factor=3
    )
    await go(breaker, well=False)
    clock.move(30)
    await go(breaker, well=False)
    clock.move(90)
    await go(breaker, well=True)

    await go(breaker, well=False)

    assert await breaker.look(DOMAIN) == about(30)


async def test_as_many_good_probes_as_asked_for_close(back_end: BackEnd, clock: HandClock) -> None:
    breaker = await back_end.breaker(probes_to_close=3)
    await go(breaker, well=False, times=6)
    clock.move(COOLDOWN)

    for _ in range(3):
        leave = await enter(breaker)
        assert leave.probe
        await breaker.report(leave, well=True)

    assert not (await enter(breaker)).probe


async def test_bad_probe_among_good_ones_starts_the_count_again(
    back_end: BackEnd, clock: HandClock
) -> None:
    breaker = await back_end.breaker(probes_to_close=2)
    await go(breaker, well=False, times=6)
    clock.move(COOLDOWN)
    await go(breaker, well=True)
    await go(breaker, well=False)
    clock.move(COOLDOWN)

    await go(breaker, well=True)

    assert (await enter(breaker)).probe


async def test_hung_probe_frees_its_place_and_is_not_heard_any_more(
    half_open: Breaker, clock: HandClock
) -> None:
    hung = await enter(half_open)
    clock.move(60)

    second = await enter(half_open)
    await half_open.report(hung, well=True)

    assert second.probe
    assert await half_open.look(DOMAIN) == about(PROBE_PATIENCE)


async def test_late_results_of_an_older_epoch_are_ignored(
    breaker: Breaker, clock: HandClock
) -> None:
    late = [await enter(breaker) for _ in range(20)]
    await go(breaker, well=False, times=6)
    clock.move(COOLDOWN)
    await go(breaker, well=True)

    for leave in late:
        await breaker.report(leave, well=False)

    assert await breaker.look(DOMAIN) is None


async def test_late_success_does_not_close_an_open_circuit(breaker: Breaker) -> None:
    late = await enter(breaker)
    await go(breaker, well=False, times=6)

    await breaker.report(late, well=True)

    assert await breaker.look(DOMAIN) == about(COOLDOWN)


async def test_two_processes_count_together(back_end: BackEnd) -> None:
    one, other = await back_end.breaker(), await back_end.breaker()
    await go(one, well=False, times=3)

    await go(other, well=False, times=3)

    assert await one.look(DOMAIN) == about(COOLDOWN)


async def test_domains_that_fail_once_do_not_pile_up_in_memory(clock: HandClock) -> None:
    breaker = MemoryBreaker(BreakerSettings(), clock)
    for n in range(MAX_CIRCUITS + 1000):
        await breaker.report(Pass(f"once{n}.test", 0), well=False)

    assert len(breaker) == MAX_CIRCUITS


async def test_domains_without_trouble_take_no_memory(clock: HandClock) -> None:
    breaker = MemoryBreaker(BreakerSettings(), clock)
    for n in range(1000):
        await breaker.report(await enter(breaker, f"once{n}.test"), well=True)

    assert len(breaker) == 0


async def test_whoever_reports_hears_that_the_circuit_turned(
    breaker: Breaker, clock: HandClock
) -> None:
    await go(breaker, well=False, times=5)

    assert await breaker.report(await enter(breaker), well=False) == Turned("open", COOLDOWN)
    clock.move(COOLDOWN)
    assert await breaker.report(await enter(breaker), well=None) is None
    assert await breaker.report(await enter(breaker), well=True) == Turned("closed")
    assert await breaker.report(await enter(breaker), well=True) is None


async def test_a_bad_probe_turns_the_circuit_open_again(half_open: Breaker) -> None:
    assert await half_open.report(await enter(half_open), well=False) == Turned("open", COOLDOWN)


async def test_domains_that_are_not_up_are_told(back_end: BackEnd, clock: HandClock) -> None:
    rule = {"trip": "consecutive", "threshold": 2, "cooldown_seconds": 30, "cooldown_factor": 2}
    breaker = await back_end.breaker(**rule, max_cooldown_seconds=300)
    await go(breaker, well=False)
    assert await breaker.troubled() == []

    await go(breaker, well=False)
    assert await breaker.troubled() == [CircuitState(DOMAIN, "open", 2, 30.0)]

    clock.move(30)
    assert await breaker.troubled() == [CircuitState(DOMAIN, "half_open", 2, 30.0)]
    await go(breaker, well=False)
    assert await breaker.troubled() == [CircuitState(DOMAIN, "open", 3, 60.0)]

    clock.move(60)
    await go(breaker, well=True)
    assert await breaker.troubled() == []


async def test_a_turn_tells_that_there_is_no_circuit_for_as_long_as_there_is_none(
    back_end: BackEnd, breaker: Breaker
) -> None:
    pacing, pace = await back_end.pacing(), Pace((Rate(1000, 1.0),), 0.0, 100)
    circuit = breaker.circuit(DOMAIN)

    clean = await pacing.reserve("ledger", pace, None, circuit)
    await go(breaker, well=False)
    troubled = await pacing.reserve("ledger", pace, None, circuit)
    not_asked = await pacing.reserve("ledger", pace)

    assert clean.is_clean == bool(circuit), "where both are kept together it is known"
    assert not troubled.is_clean
    assert not not_asked.is_clean


async def test_whoever_knows_that_a_domain_is_clean_gets_the_same_leave(breaker: Breaker) -> None:
    assert await breaker.enter(DOMAIN, is_clean=True) == await breaker.enter(DOMAIN)
