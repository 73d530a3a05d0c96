"""When something comes again."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from penstock.core.errors import SettingsError
from penstock.queue.timing import Timing, read_span

NOW = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)
CHANCE = random.Random(1)


def test_an_interval_counts_from_now() -> None:
    assert Timing(every=90).next_after(NOW, CHANCE) == NOW + timedelta(seconds=90)


def test_cron_keeps_the_local_hour_when_the_clocks_change() -> None:
    timing = Timing(cron="0 6 * * *", zone="Europe/Berlin")
    # On 29 March 2026 Berlin goes from UTC+1 to UTC+2.
    first = timing.next_after(NOW, CHANCE)
    assert first == datetime(2026, 3, 29, 4, 0, tzinfo=UTC)
    assert Timing(cron="0 6 * * *").next_after(NOW, CHANCE).hour == 6


def test_jitter_only_ever_makes_it_later() -> None:
    timing = Timing(every=60, jitter=30)
    delays = [(timing.next_after(NOW, CHANCE) - NOW).total_seconds() for _ in range(200)]
    assert 60 <= min(delays) < max(delays) <= 90


def test_span_tells_how_far_apart_two_times_are() -> None:
    assert Timing(every=15).span(NOW) == 15
    assert Timing(cron="*/10 * * * *").span(NOW) == 600


def test_timing_survives_the_way_through_json() -> None:
    timing = Timing(cron="5 4 * * 1", zone="Asia/Tokyo", jitter=3.0)
    assert Timing(**timing.as_json()) == timing


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"every": 5.0, "cron": "* * * * *"},
        {"every": 0.5},
        {"cron": "61 * * * *"},
        {"cron": "* * * * *", "zone": "Mars/Olympus"},
        {"every": 5.0, "jitter": -1.0},
    ],
)
def test_a_timing_that_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        Timing(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("15m", 900), ("1.5h", 5400), ("1d12h", 129600), ("2 W", 1209600)],
)
def test_spans_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert read_span(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "m", "5x", "1h30", "-5m", "1h nonsense"])
def test_what_is_no_span_is_refused_with_examples(text: str) -> None:
    with pytest.raises(SettingsError, match="15m"):
        read_span(text)
