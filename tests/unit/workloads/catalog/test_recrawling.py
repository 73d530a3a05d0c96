"""When a page is crawled again, in examples; the bounds are among the properties."""

import random

import pytest
from pydantic import ValidationError

from penstock.workloads.catalog.recrawling import next_interval, retry_pause, wanted_frequency
from penstock.workloads.catalog.settings import CatalogSettings, pace_entry

DAY = 86_400
SETTINGS = CatalogSettings()


def interval(
    wanted: int = DAY,
    present: int | None = None,
    *,
    price_changed: bool = False,
    quiet: int = 0,
    settings: CatalogSettings = SETTINGS,
) -> int | None:
    return next_interval(
        wanted, present, price_changed=price_changed, unchanged_in_a_row=quiet, settings=settings
    )


@pytest.mark.parametrize(
    ("task", "domain", "wanted"), [(60, 70, 60), (None, 70, 70), (0, 70, 0), (None, None, DAY)]
)
def test_the_task_says_how_often_else_the_domain_else_the_settings(
    task: int | None, domain: int | None, wanted: int
) -> None:
    found = wanted_frequency({"crawl_frequency": task}, {"crawl_frequency": domain}, SETTINGS)
    assert found == wanted


def test_once_is_once() -> None:
    assert interval(0) is None
    assert interval(0, DAY, price_changed=True) is None


def test_a_price_that_changed_halves_the_interval_and_quiet_adds_half_of_it() -> None:
    assert interval(price_changed=True) == DAY // 2
    assert interval(present=7200, price_changed=True) == 3 * 3600
    assert [interval(quiet=quiet) for quiet in (1, 2, 3, 4, 6)] == [
        *(DAY, DAY, DAY * 3 // 2, DAY),
        DAY * 3 // 2,
    ]


def test_what_somebody_wants_is_never_out_of_bounds() -> None:
    assert interval(90) == 90
    assert interval(90, price_changed=True) == 90
    assert interval(365 * DAY) == 365 * DAY
    assert interval(365 * DAY, quiet=3) == 365 * DAY


def test_a_retry_waits_twice_as_long_each_time_up_to_a_bound() -> None:
    settings = CatalogSettings(retry_seconds=10, max_retry_seconds=100)
    pauses = [retry_pause(tries, settings, random.Random(1)) for tries in (0, 1, 2, 3, 4, 1000)]
    # The same chance each time: what is left of it is the rule.
    assert [pause / pauses[0] for pause in pauses] == [1, 2, 4, 8, 10, 10]
    assert 7.5 <= pauses[0] <= 12.5


def test_bounds_that_cross_are_refused() -> None:
    with pytest.raises(ValidationError, match="is greater than"):
        CatalogSettings(min_frequency_seconds=120, max_frequency_seconds=60)


def test_a_pace_without_a_delay_is_as_many_as_may_go_at_once() -> None:
    entry = pace_entry(0, 5)
    assert (entry.tokens_per_interval, entry.interval_seconds, entry.max_concurrent) == (5, 1, 5)
    entry = pace_entry(10, 5)
    assert (entry.tokens_per_interval, entry.interval_seconds) == (1, 10)
    assert entry.request_delay_ms == 10_000
