"""Rules and comparisons that hold for whatever prices and readings there are."""

from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.products.model import Seen
from penstock.quality.compare import Change, compare_readings
from penstock.workloads.monitor.rules import Rule, RuleKind, matches

PRICES = st.integers(1, 5000).map(lambda minor: Decimal(minor) / 100)
SEEN = st.builds(
    Seen,
    price=PRICES,
    currency=st.sampled_from(["USD", "EUR"]),
    availability=st.sampled_from(["IN_STOCK", "OUT_OF_STOCK", "BACKORDER"]),
    observed_at=st.just(0),
)
BELOW = Rule("r", RuleKind.BELOW_PRICE, "t", threshold=Decimal(25), currency="USD")
READINGS = st.fixed_dictionaries(
    {
        "adapter": st.sampled_from(["lamps@1.0.0", "lamps@2.0.0"]),
        "verdict": st.sampled_from(["accept", "drop", "quarantine", None]),
        "verdict_reason": st.sampled_from([None, "OOS_NO_PRICE", "INVALID_PRICE"]),
        "price": st.none() | st.sampled_from(["1.00", "2.00"]),
    },
    optional={
        "name": st.none() | st.text(max_size=3),
        "invalid": st.dictionaries(st.text(), st.text()),
    },
)
OPPOSITE = {
    Change.SAME: Change.SAME,
    Change.CHANGED: Change.CHANGED,
    Change.NEWLY_GOOD: Change.NEWLY_FAILING,
    Change.NEWLY_FAILING: Change.NEWLY_GOOD,
}


@settings(max_examples=200)
@given(st.lists(SEEN, min_size=1, max_size=20))
def test_rule_on_an_amount_speaks_once_each_time_it_comes_true(history: list[Seen]) -> None:
    truths = [
        seen.currency == "USD" and seen.availability != "OUT_OF_STOCK" and seen.price < 25
        for seen in history
    ]
    befores = [None, *history]

    spoken = [
        matches(BELOW, before, after) for before, after in zip(befores, history, strict=False)
    ]

    expected = [now and not before for before, now in zip([False, *truths], truths, strict=False)]
    assert spoken == expected


@settings(max_examples=200)
@given(SEEN, SEEN, st.integers(1, 10_000))
def test_drop_is_told_exactly_when_it_is_large_enough(
    before: Seen, after: Seen, hundredths: int
) -> None:
    threshold = Decimal(hundredths) / 100
    rule = Rule("r", RuleKind.DROP_PERCENT, "t", threshold=threshold)

    is_told = matches(rule, before, after)

    comparable = before.currency == after.currency and after.availability != "OUT_OF_STOCK"
    # In whole numbers, without any rounding.
    drop = int(before.price * 100) - int(after.price * 100)
    assert is_told == (comparable and drop * 10_000 >= hundredths * int(before.price * 100))


@settings(max_examples=200)
@given(READINGS, READINGS)
def test_comparison_is_the_same_from_both_sides(one: dict[str, Any], other: dict[str, Any]) -> None:
    there, back = compare_readings(one, other), compare_readings(other, one)

    assert compare_readings(one, one).change is Change.SAME
    assert back.change is OPPOSITE[there.change]
    assert {each.field: (each.before, each.after) for each in there.differences} == {
        each.field: (each.after, each.before) for each in back.differences
    }
    assert (there.change is Change.SAME) <= (there.differences == ())
