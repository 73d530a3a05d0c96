"""Plausibility: which price can follow which."""

import pytest

from penstock.quality.plausibility import Money, describe_jump


def usd(minor: int) -> Money:
    return Money(minor, "USD")


@pytest.mark.parametrize("minor", [1000, 2999, 3000, 334, 1])
def test_price_within_the_factor_is_believed(minor: int) -> None:
    factor = 1000.0 if minor == 1 else 3.0

    assert describe_jump(usd(minor), usd(1000), factor) is None


def test_price_beyond_the_factor_is_described_with_both_values() -> None:
    assert describe_jump(usd(4000), usd(1000), 3) == (
        "40.00 USD after 10.00 USD: 4.00 times up, more than 3 times"
    )
    assert describe_jump(usd(250), usd(1000), 3) == (
        "2.50 USD after 10.00 USD: 4.00 times down, more than 3 times"
    )


def test_price_just_beyond_the_factor_is_not_believed() -> None:
    assert describe_jump(usd(3001), usd(1000), 3) is not None
    assert describe_jump(usd(333), usd(1000), 3) is not None


def test_change_of_currency_is_never_believed() -> None:
    jump = describe_jump(Money(1000, "JPY"), usd(1000), float("inf"))

    assert jump == "1000 JPY after 10.00 USD: the currency changed"


def test_infinite_factor_believes_every_price() -> None:
    assert describe_jump(usd(99_999_999), usd(1), float("inf")) is None


def test_factor_of_one_believes_no_change() -> None:
    assert describe_jump(usd(1001), usd(1000), 1) is not None
    assert describe_jump(usd(1000), usd(1000), 1) is None


def test_price_after_a_worthless_one_is_not_believed() -> None:
    assert describe_jump(usd(1), usd(0), 3) is not None
