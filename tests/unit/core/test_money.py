"""Money: minor units by the exponent of each currency, exact both ways; what is money where."""

from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.core.money import (
    MAX_MAGNITUDE,
    currencies,
    currencies_of,
    exponent,
    in_use,
    to_decimal,
    to_minor,
)


@pytest.mark.parametrize(
    ("currency", "digits"),
    [
        ("EUR", 2),
        ("USD", 2),
        ("GBP", 2),
        ("INR", 2),
        ("JPY", 0),
        ("KRW", 0),
        ("ISK", 0),
        ("CLP", 0),
        ("VND", 0),
        ("KWD", 3),
        ("BHD", 3),
        ("TND", 3),
        ("CLF", 4),
    ],
)
def test_minor_unit_has_the_digits_of_its_currency(currency: str, digits: int) -> None:
    assert exponent(currency) == digits


@pytest.mark.parametrize(
    ("amount", "currency", "minor"),
    [
        ("19.99", "EUR", 1999),
        ("19.9", "EUR", 1990),
        ("19.990", "EUR", 1999),
        ("19", "EUR", 1900),
        ("1E+3", "EUR", 100_000),
        ("0", "EUR", 0),
        ("-5.50", "EUR", -550),
        ("1980", "JPY", 1980),
        ("1980.00", "JPY", 1980),
        ("1.25", "KWD", 1250),
        ("1.255", "KWD", 1255),
        ("12345678901234567890123456789012345.67", "EUR", 1234567890123456789012345678901234567),
    ],
)
def test_amount_becomes_minor_units(amount: str, currency: str, minor: int) -> None:
    assert to_minor(Decimal(amount), currency) == minor


@pytest.mark.parametrize(
    ("amount", "currency"),
    [
        ("19.999", "EUR"),
        ("0.001", "EUR"),
        ("19.8", "JPY"),
        ("1.2555", "KWD"),
        ("1E-40", "EUR"),
        ("NaN", "EUR"),
        ("sNaN", "EUR"),
        ("Infinity", "EUR"),
        ("-Infinity", "EUR"),
        (f"1E+{MAX_MAGNITUDE + 1}", "EUR"),
        ("1E+999999", "EUR"),
    ],
)
def test_amount_that_is_too_fine_or_none_has_no_minor_units(amount: str, currency: str) -> None:
    assert to_minor(Decimal(amount), currency) is None


@pytest.mark.parametrize(
    ("minor", "currency", "written"),
    [
        (1999, "EUR", "19.99"),
        (1900, "EUR", "19.00"),
        (5, "EUR", "0.05"),
        (0, "EUR", "0.00"),
        (-550, "EUR", "-5.50"),
        (1980, "JPY", "1980"),
        (1250, "KWD", "1.250"),
    ],
)
def test_minor_units_are_written_with_all_digits(minor: int, currency: str, written: str) -> None:
    assert str(to_decimal(minor, currency)) == written


@given(
    minor=st.integers(-(10**36), 10**36),
    currency=st.sampled_from(["EUR", "JPY", "KWD", "CLF"]),
)
def test_minor_units_survive_the_way_there_and_back(minor: int, currency: str) -> None:
    assert to_minor(to_decimal(minor, currency), currency) == minor


def test_precision_around_the_call_does_not_round_money() -> None:
    with localcontext(prec=3):
        assert to_decimal(123_456_789, "EUR") == Decimal("1234567.89")
        assert to_minor(Decimal("1234567.89"), "EUR") == 123_456_789


@pytest.mark.parametrize("code", ["EUR", "USD", "JPY", "KWD", "CHF", "XOF", "XAF", "XPF", "XCD"])
def test_money_of_today_is_in_use(code: str) -> None:
    assert code in in_use()
    assert code in currencies()


@pytest.mark.parametrize("code", ["DEM", "FRF", "ITL", "HRK", "ESP"])
def test_money_of_the_past_is_known_but_not_in_use(code: str) -> None:
    assert code in currencies()
    assert code not in in_use()


@pytest.mark.parametrize("code", ["XAU", "XAG", "XTS", "XXX", "XDR", "ABC", "eur", "$", ""])
def test_metals_codes_for_tests_and_other_words_are_no_money(code: str) -> None:
    assert code not in currencies()
    assert code not in in_use()


def test_every_currency_in_use_is_known() -> None:
    assert in_use() < currencies()


@pytest.mark.parametrize(
    ("country", "codes"),
    [
        ("DE", ("EUR",)),
        ("de", ("EUR",)),
        ("HR", ("EUR",)),
        ("US", ("USD",)),
        ("JP", ("JPY",)),
        ("CH", ("CHF",)),
        ("LI", ("CHF",)),
        ("SE", ("SEK",)),
        ("PA", ("PAB", "USD")),
        ("XX", ()),
        ("Germany", ()),
        ("", ()),
    ],
)
def test_country_has_the_currencies_in_use_there(country: str, codes: tuple[str, ...]) -> None:
    assert currencies_of(country) == codes
