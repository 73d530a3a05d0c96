"""Restarts: later each time, and not too often."""

import pytest

from penstock.workloads.live.restarting import Restarts
from penstock.workloads.live.settings import LiveSettings
from tests.clocks import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def restarts(clock: HandClock) -> Restarts:
    return Restarts(LiveSettings(), clock)


def test_each_pause_is_twice_the_last_up_to_a_minute(restarts: Restarts) -> None:
    pauses = [restarts.pause_after("errors") for _ in range(8)]
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.parametrize(("ran_for", "pause"), [(299, 4), (300, 1)])
def test_pauses_are_forgotten_after_five_steady_minutes(
    restarts: Restarts, clock: HandClock, ran_for: float, pause: float
) -> None:
    restarts.pause_after("errors")
    clock.move(restarts.pause_after("crash") or 0)
    clock.move(ran_for)
    assert restarts.pause_after("staleness") == pause


def test_the_ceiling_holds_in_any_hour(restarts: Restarts, clock: HandClock) -> None:
    for _ in range(12):
        assert restarts.pause_after("errors") is not None
        clock.move(290)
    clock.move(119)
    assert restarts.pause_after("errors") is None

    clock.move(1)
    assert restarts.pause_after("errors") is not None
    assert restarts.pause_after("errors") is None


def test_the_ceiling_is_that_of_the_settings(clock: HandClock) -> None:
    restarts = Restarts(LiveSettings(max_restarts_per_hour=2), clock)
    assert [restarts.pause_after("crash") for _ in range(3)] == [1, 2, None]


@pytest.mark.parametrize("reason", ["age", "memory"])
def test_orderly_restarts_neither_wait_nor_count(restarts: Restarts, reason: str) -> None:
    restarts.pause_after("errors")
    assert [restarts.pause_after(reason) for _ in range(50)] == [0] * 50
    assert restarts.pause_after("errors") == 2


def test_an_orderly_restart_goes_also_over_the_ceiling(clock: HandClock) -> None:
    restarts = Restarts(LiveSettings(max_restarts_per_hour=1), clock)
    restarts.pause_after("errors")
    assert (restarts.pause_after("age"), restarts.pause_after("errors")) == (0, None)
