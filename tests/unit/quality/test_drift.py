"""Drift: what is counted, what is pooled, what is said and what stops an adapter."""

from dataclasses import replace
from typing import Any

import pytest

from penstock.quality.drift import Baseline, Counts, Judgment, State, baseline_of, judge_batch

NOTHING_USUAL = Baseline()


def counts(attempted: int, **numbers: Any) -> Counts:
    """A run in which all that is not said otherwise went well."""
    failed = numbers.get("urls_failed", numbers.get("extraction_failures", 0))
    hidden = numbers.get("oos_no_price_count", 0)
    extracted = attempted - failed - hidden
    lost = numbers.get("unknown_availability_count", 0) + numbers.get("zero_price_count", 0)
    usual = {
        "urls_attempted": attempted,
        "urls_failed": failed,
        "urls_succeeded": attempted - failed,
        "offers_extracted": extracted,
        "offers_valid": extracted - lost,
        "offers_dropped": numbers.get("unknown_availability_count", 0),
        "offers_quarantined": numbers.get("zero_price_count", 0),
    }
    return Counts(**{**usual, **numbers})


def judged(*runs: Counts, baseline: Baseline = NOTHING_USUAL) -> Judgment:
    """The judgment on the last of some runs."""
    state = State()
    for run in runs:
        judgment = judge_batch(run, state, baseline)
        state = judgment.state
    return judgment


def kinds(judgment: Judgment) -> set[str]:
    return {alert.kind for alert in judgment.alerts}


BAD = counts(20, extraction_failures=11)
GOOD = counts(20)


@pytest.mark.parametrize(
    ("runs", "alerts", "stops"),
    [
        ([GOOD], set(), False),
        ([counts(20, extraction_failures=10)], set(), False),
        ([BAD], {"high_failure_rate"}, False),
        ([BAD, BAD], {"high_failure_rate"}, True),
        ([BAD, GOOD, BAD], {"high_failure_rate"}, False),
        # What says nothing stands neither for the adapter nor against it.
        ([BAD, counts(20, oos_no_price_count=20), BAD], {"high_failure_rate"}, True),
        ([BAD, counts(20, urls_failed=20, urls_unreachable=20), BAD], {"high_failure_rate"}, True),
        ([BAD, counts(20, oos_no_price_count=20)], set(), False),
        ([BAD, counts(20, oos_no_price_count=19), BAD], {"high_failure_rate"}, False),
        ([counts(19, extraction_failures=19)], set(), False),
        ([counts(10, extraction_failures=10)] * 2, {"high_failure_rate", "no_offers"}, False),
        ([counts(10, extraction_failures=10)] * 4, {"high_failure_rate", "no_offers"}, True),
        ([counts(20, unknown_availability_count=11)] * 2, {"high_failure_rate"}, True),
        ([counts(20, oos_no_price_count=20)] * 3, set(), False),
        ([counts(25, oos_no_price_count=15, extraction_failures=6)], {"high_failure_rate"}, False),
        # The site was away: nobody can tell whether the adapter fits.
        ([counts(20, urls_failed=20, urls_unreachable=20)] * 3, set(), False),
        ([counts(20, urls_failed=20, urls_unreachable=19)] * 3, set(), False),
        # It was there, and all its pages were gone.
        ([counts(20, urls_failed=20)], {"no_offers"}, False),
        ([counts(20, urls_failed=20)] * 2, {"no_offers"}, True),
        # It is sold out, and one page is gone.
        ([counts(20, urls_failed=1, oos_no_price_count=19)] * 2, set(), False),
        ([counts(20, extraction_failures=20)], {"high_failure_rate", "no_offers"}, False),
        ([counts(20, zero_price_count=1)], {"zero_price"}, False),
        ([counts(20, zero_price_count=1)] * 2, {"zero_price"}, True),
        ([counts(5, zero_price_count=1)], {"zero_price"}, False),
        ([counts(5, zero_price_count=1)] * 3, {"zero_price"}, False),
    ],
)
def test_what_is_said_and_what_stops_an_adapter(
    runs: list[Counts], alerts: set[str], stops: bool
) -> None:
    judgment = judged(*runs)
    assert kinds(judgment) == alerts
    assert (judgment.disable is not None) == stops


def test_small_runs_are_pooled_until_they_are_a_batch() -> None:
    small = counts(7, extraction_failures=7)
    first, second = judged(small), judged(small, small)
    assert (first.rate, second.rate) == (None, None)
    assert second.state.pooled.urls_attempted == 14
    third = judged(small, small, small)
    assert third.rate == 1.0
    assert third.state.pooled == Counts()
    assert third.state.failed_batches == 1


def test_rates_are_of_what_they_should_be() -> None:
    run = counts(10, extraction_failures=2, oos_no_price_count=2, unknown_availability_count=1)
    assert run.failure_rate == 0.2
    assert run.yield_rate == 0.5
    assert run.drop_rate == pytest.approx(1 / 6)
    assert run.drift_rate == 3 / 8
    assert Counts().failure_rate is None
    assert Counts().drift_rate is None


def test_a_baseline_needs_three_good_runs_of_a_batch_each() -> None:
    small, large = counts(19), counts(20, urls_failed=4)
    assert not baseline_of([large, large]).is_established
    assert not baseline_of([small] * 5).is_established
    usual = baseline_of([large, counts(40, urls_failed=4), counts(20), small])
    assert usual.is_established
    assert (usual.failure_rate, usual.yield_rate) == (0.1, 0.9)


def test_much_more_failures_than_usual_are_told_of_though_they_are_not_many() -> None:
    usual = Baseline(failure_rate=0.05, yield_rate=0.9, sample_size=3)
    worse = counts(20, urls_failed=7)
    assert kinds(judged(worse, baseline=usual)) == {"failures_above_baseline"}
    assert kinds(judged(worse)) == set()
    assert kinds(judged(counts(20, urls_failed=6), baseline=usual)) == set()


@pytest.mark.parametrize(("usual", "failed", "attempted"), [((7, 21), 14, 24), ((6, 21), 15, 28)])
def test_exactly_a_quarter_more_failures_are_not_told_of_however_they_are_written(
    usual: tuple[int, int], failed: int, attempted: int
) -> None:
    share = usual[0] / usual[1]
    for kept in (share, round(share, 4)):
        baseline = Baseline(failure_rate=kept, yield_rate=0.1, sample_size=3)
        assert kinds(judged(counts(attempted, urls_failed=failed), baseline=baseline)) == set()
        worse = counts(attempted, urls_failed=failed + 1)
        assert kinds(judged(worse, baseline=baseline)) == {"failures_above_baseline"}


def test_exactly_half_of_the_usual_yield_is_not_told_of_however_it_is_written() -> None:
    for kept in (3 / 21, round(3 / 21, 4)):
        usual = Baseline(failure_rate=1.0, yield_rate=kept, sample_size=3)
        half = replace(counts(28), offers_valid=2, offers_dropped=26)
        assert kinds(judged(half, baseline=usual)) == set()
        less = replace(half, offers_valid=1, offers_dropped=27)
        assert kinds(judged(less, baseline=usual)) == {"yield_below_baseline"}


def test_a_yield_below_half_of_the_usual_is_told_of() -> None:
    usual = Baseline(failure_rate=0.3, yield_rate=0.7, sample_size=3)
    dropped = replace(counts(20), offers_valid=6, offers_dropped=14)
    assert kinds(judged(dropped, baseline=usual)) == {"yield_below_baseline"}


def test_sold_out_pages_do_not_lower_the_yield() -> None:
    usual = Baseline(failure_rate=0.0, yield_rate=0.9, sample_size=3)
    assert kinds(judged(counts(40, oos_no_price_count=30), baseline=usual)) == set()


def test_a_field_that_is_lost_silently_is_told_of() -> None:
    usual = baseline_of([replace(GOOD, field_counts={"brand": 20, "sku": 4, "gtin": 10})] * 3)
    fewer = replace(GOOD, field_counts={"brand": 10, "gtin": 6})
    judgment = judged(fewer, baseline=usual)
    assert kinds(judgment) == {"fields_lost"}
    assert "brand (100% before, 50% now)" in judgment.alerts[0].message
    assert "sku" not in judgment.alerts[0].message
    assert "gtin" not in judgment.alerts[0].message


def test_counts_survive_the_way_through_a_store() -> None:
    run = counts(12, extraction_failures=3, field_counts={"brand": 5})
    assert Counts.of(run.as_json()) == run
    assert Counts.of({}) == Counts()
