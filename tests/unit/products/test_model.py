"""Money at the edge of the database, and what is no offer."""

from decimal import Decimal
from typing import Any

import pytest

from penstock.kernel.records import Product
from penstock.products.model import (
    CurrencyRefused,
    OfferRefused,
    amount_of,
    check_offer,
    refusal_of,
)


@pytest.mark.parametrize(
    ("minor", "currency", "amount"),
    [
        (1, "USD", "0.01"),
        (1999, "USD", "19.99"),
        (99_999_999, "EUR", "999999.99"),
        (1500, "JPY", "1500.00"),
        (99_999_999, "JPY", "99999999.00"),
    ],
)
def test_minor_units_become_an_amount_with_two_decimals(
    minor: int, currency: str, amount: str
) -> None:
    assert str(amount_of(minor, currency)) == amount


@pytest.mark.parametrize("currency", ["KWD", "BHD", "TND", "CLF"])
def test_currency_with_smaller_coins_than_two_decimals_is_refused(currency: str) -> None:
    with pytest.raises(CurrencyRefused, match=currency):
        amount_of(1000, currency)


@pytest.mark.parametrize(
    "facts",
    [
        {"name": None},
        {"price_minor": None},
        {"currency": None},
        {"price_minor": 0},
        {"price_minor": 100_000_000},
        {"currency": "KWD"},
    ],
)
def test_record_that_cannot_be_kept_is_refused_with_a_reason(facts: dict[str, Any]) -> None:
    record = Product(**({"name": "Box", "price_minor": 1, "currency": "USD"} | facts))

    with pytest.raises(OfferRefused) as raised:
        check_offer(record)

    assert str(refusal_of(record)) == str(raised.value)


def test_record_with_name_price_and_currency_is_kept() -> None:
    record = Product(name="Box", price_minor=1, currency="USD")

    assert check_offer(record) == Decimal("0.01")
    assert refusal_of(record) is None
