"""Amounts in structured data: plain numbers, numbers for people, and what is no amount."""

# ruff: noqa: RUF001 - digits and signs of all scripts

from decimal import Decimal

import pytest

from penstock.extract.values.machine_amount import read_machine_amount
from penstock.extract.values.price_mentions import MAX_TEXT

HUGE = 10**5000


@pytest.mark.parametrize(
    ("value", "currency", "amounts"),
    [
        ("19.99", "EUR", ["19.99"]),
        (" 19.99 ", None, ["19.99"]),
        (19.99, "EUR", ["19.99"]),
        (5, None, ["5"]),
        (0, None, ["0"]),
        ("0.000", None, ["0"]),
        ("1.299", "EUR", ["1.299", "1299"]),
        ("24.990", "CLP", ["24.99", "24990"]),
        ("1,299", None, ["1.299", "1299"]),
        ("1299.0000", "EUR", ["1299"]),
        ("1,299.00", "EUR", ["1299"]),
        ("1.299,00", None, ["1299"]),
        ("12,50", "EUR", ["12.5"]),
        ("€12.50", "EUR", ["12.5"]),
        ("12.50 EUR", None, ["12.5"]),
        ("Price: 12.50", "EUR", ["12.5"]),
        (19.990000000000002, "EUR", ["19.99"]),
        ("59.94999999999999", "EUR", ["59.95"]),
        (1e5, None, ["100000"]),
        ("٣٫٥", None, ["3.5"]),
        ("12.50 EUR", "USD", []),
        ("£12.50", "EUR", []),
        ("10-20", "EUR", []),
        ("from 10", "EUR", []),
        ("Model 5000", "EUR", []),
        ("NaN", "EUR", []),
        ("Infinity", None, []),
        ("-5", None, []),
        ("1e5", None, []),
        ("", None, []),
        ("9" * (MAX_TEXT + 1), None, []),
        ("9" * 20, None, []),
        (float("nan"), None, []),
        (float("inf"), None, []),
        (-5, None, []),
        (-0.01, None, []),
        (1e22, None, []),
        (10**400, None, []),
        pytest.param(HUGE, None, [], id="huge"),
        (True, None, []),
        (None, None, []),
        ([5], None, []),
        ({"@value": 5}, None, []),
    ],
)
def test_amount_in_structured_data(value: object, currency: str | None, amounts: list[str]) -> None:
    assert read_machine_amount(value, currency) == tuple(Decimal(amount) for amount in amounts)
