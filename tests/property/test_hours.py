"""Allowed hours, at whatever time of the day: property 24."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.kernel.hours import is_open, next_opening
from penstock.kernel.policy import AllowedHours

HOUR = timedelta(hours=1)
windows = (
    st.tuples(st.integers(0, 23), st.integers(0, 24))
    .filter(lambda window: window[0] != window[1])
    .map(lambda window: AllowedHours(start=window[0], end=window[1]))
)
moments = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
on_the_hour = moments.map(lambda moment: moment.replace(minute=0, second=0, microsecond=0))
just_before = on_the_hour.map(lambda moment: moment - timedelta(microseconds=1))


def hours_inside(window: AllowedHours) -> set[int]:
    """The hours of the day from the start on, up to and without the end."""
    end = window.end if window.end > window.start else window.end + 24
    return {hour % 24 for hour in range(window.start, end)}


# Feature: scraping-microservices, Property 24: Allowed scraping hours enforcement
@pytest.mark.property_number(24)
@settings(max_examples=300, deadline=None)
@given(windows, moments | on_the_hour | just_before)
def test_domain_is_open_inside_its_window_and_only_there(
    window: AllowedHours, now: datetime
) -> None:
    assert is_open(window, now) == (now.hour in hours_inside(window))

    opening = next_opening(window, now)

    assert is_open(window, opening)
    assert now <= opening < now + timedelta(days=1)
    passed = now
    while passed < opening:
        assert not is_open(window, passed)
        passed = passed.replace(minute=0, second=0, microsecond=0) + HOUR
    assert passed == opening
