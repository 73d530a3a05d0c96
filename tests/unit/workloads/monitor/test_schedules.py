"""When targets are due."""

import random
from datetime import UTC, datetime

import pytest

from penstock.core.errors import SettingsError
from penstock.workloads.monitor.schedules import next_due, timing_of

NOON = int(datetime(2026, 3, 4, 12, 0, tzinfo=UTC).timestamp() * 1000)
HOUR = 3_600_000


def due_in(schedule: str | None, seed: int = 1) -> float:
    """Hours until a target is due that was read at noon."""
    return (next_due(schedule, NOON, random.Random(seed)) - NOON) / HOUR


def test_a_cron_expression_is_kept_to_the_minute() -> None:
    assert due_in("30 12 * * *") == 0.5
    assert due_in("0 6 * * *") == 18
    assert due_in("0 */4 * * *") == 4


def test_a_span_is_stretched_by_chance_so_that_shops_spread() -> None:
    found = {due_in("6h", seed) for seed in range(20)}
    assert len(found) == 20
    assert all(6 <= hours <= 6.6 for hours in found)


def test_without_a_schedule_it_is_once_a_day() -> None:
    assert 24 <= due_in(None) <= 26.4


@pytest.mark.parametrize(
    "schedule", ["", "daily", "61 * * * *", "* * *", "30s", "* * * * * *", "0h"]
)
def test_what_is_no_schedule_is_refused(schedule: str) -> None:
    with pytest.raises(SettingsError):
        timing_of(schedule)
