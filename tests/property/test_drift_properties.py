"""Properties of drift: what the pooling, the rates and the judgment keep to, whatever comes."""

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.quality.drift import (
    NUMBERS,
    SMALLEST_BATCH,
    Baseline,
    Counts,
    State,
    baseline_of,
    judge_batch,
)

OFFERS = ("valid", "dropped", "unknown", "quarantined", "zero")
FIELDS = ("brand", "sku", "gtin")


@st.composite
def runs(draw: st.DrawFn, most: int = 60) -> Counts:
    """Counts as a run can have them."""
    ends = {
        name: draw(st.integers(0, most // 6))
        for name in (
            "valid",
            "dropped",
            "unknown",
            "quarantined",
            "zero",
            "hidden",
            "away",
            "unread",
        )
    }
    extracted = sum(ends[name] for name in OFFERS)
    failed = ends["away"] + ends["unread"]
    return Counts(
        urls_attempted=extracted + failed + ends["hidden"],
        urls_succeeded=extracted + ends["hidden"],
        urls_failed=failed,
        offers_extracted=extracted,
        offers_valid=ends["valid"],
        offers_dropped=ends["dropped"] + ends["unknown"],
        offers_quarantined=ends["quarantined"] + ends["zero"],
        zero_price_count=ends["zero"],
        oos_no_price_count=ends["hidden"],
        unknown_availability_count=ends["unknown"],
        extraction_failures=ends["unread"],
        field_counts={name: draw(st.integers(0, ends["valid"])) for name in FIELDS},
    )


@given(runs())
def test_rates_are_shares(run: Counts) -> None:
    for rate in (run.failure_rate, run.drop_rate, run.yield_rate, run.drift_rate):
        assert rate is None or 0 <= rate <= 1


@given(st.lists(runs(most=24), min_size=1, max_size=12))
@settings(max_examples=200)
def test_every_url_is_judged_once_or_still_waits_to_be(history: list[Counts]) -> None:
    state, judged_urls = State(), 0
    for run in history:
        pooled = state.pooled.plus(run)
        judgment = judge_batch(run, state, Baseline())
        if pooled.urls_attempted >= SMALLEST_BATCH:
            judged_urls += pooled.urls_attempted
            assert judgment.state.pooled == Counts()
        else:
            assert judgment.state.pooled.urls_attempted == pooled.urls_attempted
            assert judgment.disable is None
        state = judgment.state
    total = sum(run.urls_attempted for run in history)
    assert judged_urls + state.pooled.urls_attempted == total


@given(runs(), st.integers(0, 50))
@settings(max_examples=200)
def test_hidden_prices_change_no_rate_of_drift(run: Counts, hidden: int) -> None:
    more = run.plus(Counts(urls_attempted=hidden, urls_succeeded=hidden, oos_no_price_count=hidden))
    assert more.drift_rate == run.drift_rate
    assert more.telling_yield_rate == run.telling_yield_rate


@given(st.lists(runs(), min_size=2, max_size=8))
@settings(max_examples=200)
def test_an_adapter_is_never_stopped_by_one_batch_alone(history: list[Counts]) -> None:
    state, bad_before = State(), False
    for run in history:
        judgment = judge_batch(run, state, Baseline())
        if judgment.disable is not None:
            assert bad_before
        after = judgment.state
        is_batch = after.pooled.urls_attempted == 0 and run.urls_attempted > 0
        if is_batch:
            bad_before = bool(
                after.failed_batches or after.empty_batches or after.zero_price_batches
            )
        state = after


@given(runs(), runs(), runs())
def test_together_is_the_same_in_any_order(one: Counts, two: Counts, three: Counts) -> None:
    assert one.plus(two).plus(three) == three.plus(one).plus(two)
    for name in NUMBERS:
        assert getattr(one.plus(two), name) == getattr(one, name) + getattr(two, name)


@given(st.lists(runs(), max_size=8), runs())
@settings(max_examples=200)
def test_what_is_usual_alerts_nobody(history: list[Counts], run: Counts) -> None:
    usual = baseline_of([run] * 3)
    judgment = judge_batch(run, State(), usual)
    surprises = {"failures_above_baseline", "yield_below_baseline", "fields_lost"}
    assert not surprises & {alert.kind for alert in judgment.alerts}
    assert baseline_of(history).sample_size <= len(history)
