"""When a price rule has come true."""

from decimal import Decimal

import pytest

from penstock.products.model import Seen
from penstock.workloads.monitor.rules import Rule, RuleKind, matches


def seen(price: str, availability: str = "IN_STOCK", currency: str = "USD") -> Seen:
    return Seen(Decimal(price), currency, availability, 0)


def rule(kind: RuleKind, threshold: str | None = None) -> Rule:
    is_amount = kind is RuleKind.BELOW_PRICE
    amount = None if threshold is None else Decimal(threshold)
    return Rule("r", kind, target_id="t", threshold=amount, currency="USD" if is_amount else None)


DROP = rule(RuleKind.DROP_PERCENT, "10")
BELOW = rule(RuleKind.BELOW_PRICE, "20.00")
STOCK = rule(RuleKind.BACK_IN_STOCK)


@pytest.mark.parametrize(
    ("wanted", "before", "after", "is_true"),
    [
        (DROP, seen("100"), seen("90"), True),
        (DROP, seen("100"), seen("90.01"), False),
        (DROP, seen("90"), seen("100"), False),
        (DROP, None, seen("1"), False),
        (DROP, seen("100"), seen("50", currency="EUR"), False),
        (DROP, seen("100"), seen("50", "OUT_OF_STOCK"), False),
        (rule(RuleKind.DROP_PERCENT, "33.33"), seen("3"), seen("2"), True),
        (BELOW, seen("25"), seen("19.99"), True),
        (BELOW, seen("25"), seen("20.00"), False),
        (BELOW, seen("19.50"), seen("19.00"), False),
        (BELOW, None, seen("19.00"), True),
        (BELOW, seen("25"), seen("19.00", currency="EUR"), False),
        (BELOW, seen("25"), seen("19.00", "OUT_OF_STOCK"), False),
        (BELOW, seen("19.00", "OUT_OF_STOCK"), seen("19.00"), True),
        (BELOW, seen("19.00", currency="EUR"), seen("19.00"), True),
        (STOCK, seen("25", "OUT_OF_STOCK"), seen("25"), True),
        (STOCK, seen("25"), seen("25"), False),
        (STOCK, None, seen("25"), False),
        (STOCK, seen("25", "OUT_OF_STOCK"), seen("25", "BACKORDER"), False),
    ],
)
def test_rule_comes_true(wanted: Rule, before: Seen | None, after: Seen, is_true: bool) -> None:
    assert matches(wanted, before, after) is is_true
