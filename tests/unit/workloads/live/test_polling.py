"""The interval of a feed, in examples; its bounds are among the properties."""

import json

import pytest

from penstock.workloads.live.polling import Polling
from penstock.workloads.live.settings import LiveSettings
from tests.clocks import HandClock

SETTINGS = LiveSettings()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def polling(clock: HandClock) -> Polling:
    return Polling(SETTINGS, clock)


def look(polling: Polling, changes: str) -> None:
    """`+` changed, `=` did not, `x` failed."""
    for each in changes:
        if each == "x":
            polling.failed()
        else:
            polling.looked(changed=each == "+")


@pytest.mark.parametrize(
    ("looks", "seconds"),
    [
        *(("", 2.5), ("+", 2.5), ("+++++", 2.5), ("++++++", 2.0)),
        *(("=" * 9, 2.5), ("=" * 10, 30.0), ("=" * 10 + "+", 2.5), ("=" * 50, 30.0)),
        *(("+" * 6 + "=" * 4, 2.0), ("+" * 6 + "=" * 5, 2.5), ("+=" * 5, 2.5)),
        *(("x" * 4 + "=", 2.5), ("x" * 5 + "=", 5.0), ("x" * 9 + "=", 5.0)),
        *(("x" * 10 + "=", 10.0), ("x" * 19 + "=", 10.0)),
        *(("x" * 20 + "=", 20.0), ("x" * 90 + "=", 20.0)),
        # The longest row of errors counts, also after it, and wins over what changed or did not.
        *(
            ("x=" * 9, 2.5),
            ("xxxx=" * 5, 2.5),
            ("xxxxx==x=", 5.0),
            ("+" * 6 + "x" * 5 + "+", 5.0),
            ("x" * 5 + "=" * 10, 5.0),
        ),
    ],
)
def test_the_interval_goes_by_changes_and_errors(
    polling: Polling, looks: str, seconds: float
) -> None:
    look(polling, looks)
    assert polling.interval == seconds


def test_errors_are_forgotten_after_five_quiet_minutes(polling: Polling, clock: HandClock) -> None:
    look(polling, "x" * 10)
    clock.move(299.9)
    look(polling, "=x=")
    clock.move(299.9)
    assert (polling.interval, polling.errors) == (10.0, 10)

    clock.move(0.1)
    assert (polling.interval, polling.errors) == (2.5, 0)

    look(polling, "x=")
    assert (polling.interval, polling.errors) == (2.5, 1)


@pytest.mark.parametrize(
    ("interval", "looks", "seconds"),
    [
        *((1.0, "=", 1.0), (1.0, "++++++", 1.0), (10.0, "++++++", 2.0)),
        *((60.0, "=" * 10, 60.0), (60.0, "x" * 20 + "=", 60.0), (8.0, "xxxxx=", 8.0)),
    ],
)
def test_a_feed_may_have_a_baseline_of_its_own(
    clock: HandClock, interval: float, looks: str, seconds: float
) -> None:
    polling = Polling(SETTINGS, clock, interval)
    look(polling, looks)
    assert polling.interval == seconds


@pytest.mark.parametrize("looks", ["", "++++++", "x", "xx", "xxx"])
def test_nothing_is_shorter_than_the_domain_allows(clock: HandClock, looks: str) -> None:
    polling = Polling(SETTINGS, clock, floor=5.0)
    look(polling, looks)
    assert polling.next_delay() == 5.0


@pytest.mark.parametrize("looks", ["", "++++++", "=" * 20, "x" * 30, "x" * 30 + "="])
def test_without_the_switch_it_is_always_the_baseline(clock: HandClock, looks: str) -> None:
    polling = Polling(LiveSettings(enable_adaptive_polling=False), clock)
    look(polling, looks)
    assert polling.interval == 2.5


def test_what_failed_is_repeated_soon_and_later_each_time(polling: Polling) -> None:
    delays = []
    for _ in range(7):
        look(polling, "x")
        delays.append(polling.next_delay())
    assert delays == [1, 2, 4, 8, 16, 5, 5]

    look(polling, "=x")
    assert polling.next_delay() == 1


@pytest.mark.parametrize(
    ("settings", "delays"),
    [
        ({"retry_max_attempts": 0}, [2.5, 2.5, 2.5]),
        ({"retry_max_attempts": 2}, [1, 2, 2.5]),
        ({"retry_base_delay_seconds": 3, "retry_max_delay_seconds": 7}, [3, 6, 7]),
    ],
)
def test_repetitions_are_those_of_the_settings(
    clock: HandClock, settings: dict[str, float], delays: list[float]
) -> None:
    polling = Polling(LiveSettings.model_validate(settings), clock)
    found = []
    for _ in delays:
        look(polling, "x")
        found.append(polling.next_delay())
    assert found == delays


@pytest.mark.parametrize("looks", ["++++++", "=" * 10, "x" * 12, "x" * 12 + "=", "xx"])
def test_another_process_goes_on_where_this_one_was(clock: HandClock, looks: str) -> None:
    first = Polling(SETTINGS, clock)
    look(first, looks)
    clock.move(100)
    kept = json.loads(json.dumps(first.memory()))

    later = HandClock(clock.now())
    second = Polling(SETTINGS, later)
    second.recall(kept)

    assert second.next_delay() == first.next_delay()
    assert second.memory() == first.memory()
    later.move(200)
    assert second.errors == 0


def test_a_date_that_was_set_back_makes_an_error_recent(clock: HandClock) -> None:
    first = Polling(SETTINGS, clock)
    look(first, "xxxxx=")
    second = Polling(SETTINGS, clock)
    clock.set_date(clock.now().replace(year=2020))
    second.recall(first.memory())
    assert second.interval == 5.0


@pytest.mark.parametrize(
    "memory",
    [
        {},
        {"errors": 7},
        {"errors": "7", "last_error_at": "today", "failures": None, "unchanged": [], "recent": 3},
        {"errors": -3, "last_error_at": 1e300, "failures": -1, "unchanged": 2.5},
        {"errors": 9, "last_error_at": float("nan"), "recent": [1, "x", None] * 9},
    ],
)
def test_a_memory_that_makes_no_sense_is_none(polling: Polling, memory: dict[str, object]) -> None:
    polling.recall(memory)
    assert polling.next_delay() == 2.5
