"""When a page last changed: what sites write, and what it may mean."""

from datetime import UTC, datetime

import pytest

from penstock.extract.page.lastmod import read_lastmod


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026", datetime(2026, 1, 1), datetime(2027, 1, 2)),
        ("2026-02", datetime(2026, 2, 1), datetime(2026, 3, 4)),
        ("2026-02-03", datetime(2026, 2, 3), datetime(2026, 2, 4)),
        (" 2026-02-03T04:05:06Z ", datetime(2026, 2, 3, 4, 5, 6), datetime(2026, 2, 3, 4, 5, 6)),
        ("2026-02-03T04:05+02:00", datetime(2026, 2, 3, 2, 5), datetime(2026, 2, 3, 2, 5)),
        ("2026-02-03 04:05:06", datetime(2026, 2, 3, 4, 5, 6), datetime(2026, 2, 3, 4, 5, 6)),
        (
            "Tue, 03 Feb 2026 04:05:06 +0100",
            datetime(2026, 2, 3, 3, 5, 6),
            datetime(2026, 2, 3, 3, 5, 6),
        ),
    ],
)
def test_date_means_a_span_of_time(text: str, first: datetime, last: datetime) -> None:
    found = read_lastmod(text)

    assert found == (first.replace(tzinfo=UTC), last.replace(tzinfo=UTC))


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-13", "0001-01-01T00:00+14:00", "9999-12-31", "2" * 100, "2026-02-03Tx"],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert read_lastmod(text) is None


def test_day_may_be_after_any_moment_of_it() -> None:
    day = read_lastmod("2026-02-03")

    assert day is not None
    assert day.may_be_after(datetime(2026, 2, 3, 23, tzinfo=UTC))
    assert not day.may_be_after(datetime(2026, 2, 4, tzinfo=UTC))
