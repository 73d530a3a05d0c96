"""Counts over windows of time: exact at their edges, and bounded."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.workloads.live.windows import RecentCount, RecentLatencies, RecentLooks
from tests.clocks import HandClock

#: Tenths of a second, which is what a tick is.
steps = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 3)), max_size=60)


@pytest.mark.parametrize(
    ("passed", "in_a_minute", "in_an_hour"),
    [(0, 1, 1), (59.9, 1, 1), (60, 0, 1), (3599.9, 0, 1), (3600, 0, 0), (1e6, 0, 0)],
)
def test_what_happened_is_within_the_window_until_it_is_as_old(
    passed: float, in_a_minute: int, in_an_hour: int
) -> None:
    clock = HandClock()
    count = RecentCount(clock, 3600)
    count.add()

    clock.move(passed)

    assert (count.within(60), count.within(3600), count.total()) == (
        in_a_minute,
        in_an_hour,
        in_an_hour,
    )


def test_several_things_may_happen_at_once() -> None:
    clock = HandClock()
    count = RecentCount(clock, 60)
    count.add(3)
    count.add()
    clock.move(30)
    count.add(5)

    assert (count.total(), count.within(10)) == (9, 5)
    clock.move(30)
    assert count.total() == 5


@given(steps)
def test_counts_are_those_of_who_remembers_everything(moves: list[tuple[int, int]]) -> None:
    clock = HandClock()
    count = RecentCount(clock, 60)
    happened: list[int] = []
    now = 0
    for tenths, number in moves:
        now += tenths
        # Set, not added up: sums of tenths are no tenths any more.
        clock._monotonic = 1000 + now / 10
        if number:
            count.add(number)
        happened += [now] * number
        assert count.total() == sum(at > now - 600 for at in happened)
        assert count.within(10) == sum(at > now - 100 for at in happened)


@given(st.integers(1, 300))
def test_memory_is_bounded_by_the_window(seconds: int) -> None:
    clock = HandClock()
    count = RecentCount(clock, 5)

    for _ in range(seconds):
        count.add(100)
        clock.move(0.05)

    assert len(count._ticks) == len(count._numbers) <= 51


@pytest.mark.parametrize(
    ("latencies", "average", "high"),
    [
        ([], 0, 0),
        ([0.5], 0.5, 0.5),
        ([1, 3], 2, 3),
        ([n / 100 for n in range(1, 101)], 0.505, 0.95),
        ([0.1] * 19 + [9], 0.545, 0.1),
        ([0.1] * 18 + [9], 0.568421, 9),
    ],
)
def test_latencies_have_a_mean_and_what_95_of_100_do_not_exceed(
    latencies: list[float], average: float, high: float
) -> None:
    recent = RecentLatencies(HandClock())
    for latency in reversed(latencies):
        recent.add(latency)

    assert recent.average() == pytest.approx(average, abs=1e-6)
    assert recent.high() == high


def test_old_latencies_do_not_count() -> None:
    clock = HandClock()
    recent = RecentLatencies(clock, seconds=300)
    recent.add(9)
    clock.move(200)
    recent.add(1)

    clock.move(99.9)
    assert recent.average() == 5
    clock.move(0.1)
    assert (recent.average(), recent.high()) == (1, 1)
    clock.move(200)
    assert (recent.average(), recent.high()) == (0, 0)


def test_of_many_latencies_the_last_count() -> None:
    recent = RecentLatencies(HandClock(), most=3)
    for latency in (9, 1, 2, 3):
        recent.add(latency)

    assert (recent.average(), recent.high()) == (2, 3)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=50))
def test_the_high_latency_is_one_that_was_seen_and_95_of_100_are_below(seen: list[float]) -> None:
    recent = RecentLatencies(HandClock())
    for latency in seen:
        recent.add(latency)

    assert recent.high() in seen
    assert sum(latency <= recent.high() for latency in seen) >= math.ceil(0.95 * len(seen))
    assert sum(latency < recent.high() for latency in seen) < 0.95 * len(seen)


def test_looks_errors_and_latencies_of_all_feeds_come_together() -> None:
    clock = HandClock()
    looks = RecentLooks(clock)
    looks.failed()
    clock.move(60)
    looks.failed()
    for latency in (0.2, 0.4):
        looks.looked(latency)

    assert (looks.errors_last_minute, looks.errors_last_hour) == (1, 2)
    assert looks.updates_per_minute == 2
    assert (looks.average_latency_ms, looks.p95_latency_ms) == (300, 400)
    clock.move(60)
    assert (looks.errors_last_minute, looks.updates_per_minute) == (0, 0)


def test_a_date_that_jumps_moves_no_window() -> None:
    clock = HandClock()
    looks = RecentLooks(clock)
    looks.failed()

    clock.set_date(clock.now().replace(year=2031))

    assert looks.errors_last_minute == 1
