"""What is always true of the crawler's times."""

import random

from hypothesis import given
from hypothesis import strategies as st

from penstock.workloads.catalog.recrawling import (
    FURTHEST,
    JITTER,
    next_interval,
    retry_pause,
)
from penstock.workloads.catalog.settings import CatalogSettings

seconds = st.integers(1, 10**8)
bounds = st.tuples(st.integers(60, 10**7), st.integers(60, 10**7)).map(sorted)
crawls = st.lists(st.tuples(st.booleans(), st.integers(0, 50)), max_size=60)


@given(wanted=seconds, limits=bounds, quiet=st.integers(1, 10), seen=crawls)
def test_whatever_is_seen_an_interval_stays_within_its_bounds(
    wanted: int, limits: list[int], quiet: int, seen: list[tuple[bool, int]]
) -> None:
    settings = CatalogSettings(
        min_frequency_seconds=limits[0], max_frequency_seconds=limits[1], quiet_crawls=quiet
    )
    present: int | None = None
    for price_changed, in_a_row in seen:
        before = present or wanted
        present = next_interval(
            wanted,
            present,
            price_changed=price_changed,
            unchanged_in_a_row=0 if price_changed else in_a_row,
            settings=settings,
        )
        assert present is not None
        assert min(wanted, limits[0]) <= present <= max(wanted, limits[1])
        assert min(wanted, wanted // FURTHEST) <= present <= wanted * FURTHEST
        # Never the wrong way: a change does not lengthen it, and quiet does not shorten it.
        assert present <= before if price_changed else present >= before


@given(wanted=st.integers(0, 10**8), present=st.none() | seconds, changed=st.booleans())
def test_without_learning_an_interval_is_what_is_wanted(
    wanted: int, present: int | None, changed: bool
) -> None:
    found = next_interval(
        wanted,
        present,
        price_changed=changed,
        unchanged_in_a_row=3,
        settings=CatalogSettings(is_adaptive=False),
    )
    assert found == (wanted or None)


@given(
    retries=st.integers(0, 10_000),
    first=st.floats(0.001, 10_000),
    most=st.floats(0.001, 100_000),
    seed=st.integers(),
)
def test_a_pause_is_bounded_and_never_nothing(
    retries: int, first: float, most: float, seed: int
) -> None:
    settings = CatalogSettings(retry_seconds=first, max_retry_seconds=most)
    pause = retry_pause(retries, settings, random.Random(seed))
    assert 0 < min(first, most) * (1 - JITTER) <= pause <= most * (1 + JITTER)
