"""The timeout of a feed, in examples; its bounds are among the properties."""

import pytest

from penstock.workloads.live.settings import LiveSettings
from penstock.workloads.live.timeouts import Timeouts


def look(timeouts: Timeouts, *latencies: float) -> float:
    for latency in latencies:
        timeouts.looked(latency)
    return timeouts.seconds


@pytest.mark.parametrize(
    ("latencies", "seconds"),
    [
        *(([2.1] * 9, 30), ([2.1] * 10, 45), ([2.0] * 10, 30), ([2.1] * 19, 45)),
        *(([2.1] * 20, 67.5), ([2.1] * 30, 101.25), ([2.1] * 40, 120), ([2.1] * 90, 120)),
        *(([0.4] * 10, 24), ([0.5] * 10, 30), ([0.4] * 20, 19.2), ([0.4] * 30, 15.36)),
        *(([0.4] * 40, 15), ([0.4] * 90, 15)),
        *(([0.0] * 9 + [21.0], 45), ([1.0] * 30, 30)),
    ],
)
def test_the_timeout_follows_the_average_of_ten_looks(
    latencies: list[float], seconds: float
) -> None:
    assert look(Timeouts(LiveSettings()), *latencies) == pytest.approx(seconds)


def test_each_ten_looks_are_looked_at_once() -> None:
    timeouts = Timeouts(LiveSettings())
    look(timeouts, *[3.0] * 10)
    assert look(timeouts, *[1.0] * 10) == 45


def test_it_stays_as_it_is_without_the_switch() -> None:
    timeouts = Timeouts(LiveSettings(enable_adaptive_timeouts=False, page_timeout_seconds=20))
    assert look(timeouts, *[9.0] * 10, *[0.1] * 30) == 20


@pytest.mark.parametrize(("first", "latency"), [(10, 0.1), (200, 9.0)])
def test_the_timeout_of_the_settings_is_never_out_of_bounds(first: float, latency: float) -> None:
    assert look(Timeouts(LiveSettings(page_timeout_seconds=first)), *[latency] * 20) == first
