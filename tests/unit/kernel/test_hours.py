"""Hours: when a domain's window is open, and when it opens next."""

from datetime import UTC, datetime

import pytest

from penstock.kernel.hours import is_open, next_opening
from penstock.kernel.policy import AllowedHours

DAY = AllowedHours(start=6, end=22)
NIGHT = AllowedHours(start=22, end=6)
EVENING = AllowedHours(start=18, end=24)
ALWAYS = AllowedHours(start=0, end=24)


def at(time: str, day: int = 4) -> datetime:
    return datetime.fromisoformat(f"2026-03-{day:02}T{time}").replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "time", "is_inside"),
    [
        (DAY, "05:59:59.999999", False),
        (DAY, "06:00", True),
        (DAY, "21:59:59.999999", True),
        (DAY, "22:00", False),
        (NIGHT, "21:59:59.999999", False),
        (NIGHT, "22:00", True),
        (NIGHT, "00:00", True),
        (NIGHT, "05:59:59.999999", True),
        (NIGHT, "06:00", False),
        (EVENING, "23:59:59.999999", True),
        (EVENING, "00:00", False),
        (ALWAYS, "00:00", True),
        (ALWAYS, "23:59:59.999999", True),
        (None, "03:00", True),
    ],
)
def test_window_includes_its_start_and_not_its_end(
    hours: AllowedHours | None, time: str, is_inside: bool
) -> None:
    assert is_open(hours, at(time)) is is_inside


@pytest.mark.parametrize(
    ("hours", "now", "opening"),
    [
        (DAY, at("03:10"), at("06:00")),
        (DAY, at("22:00"), at("06:00", day=5)),
        (NIGHT, at("06:00"), at("22:00")),
        (EVENING, at("00:00"), at("18:00")),
        (DAY, at("12:34:56"), at("12:34:56")),
        (None, at("03:10"), at("03:10")),
    ],
)
def test_next_opening_is_now_or_the_next_start(
    hours: AllowedHours | None, now: datetime, opening: datetime
) -> None:
    assert next_opening(hours, now) == opening
