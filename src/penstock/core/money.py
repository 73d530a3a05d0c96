"""Money: integer minor units and an ISO 4217 code."""

from decimal import Decimal
from functools import cache

from babel.core import get_global
from babel.numbers import get_currency_precision


@cache
def currencies() -> frozenset[str]:
    """Every ISO 4217 code that is or was in use."""
    return frozenset(get_global("all_currencies"))


@cache
def exponent(currency: str) -> int:
    """How many digits the minor unit of a currency has."""
    return get_currency_precision(currency)


def to_minor(amount: Decimal, currency: str) -> int | None:
    """An amount in minor units; None if it is finer than the currency."""
    minor = amount.scaleb(exponent(currency))
    whole = int(minor)
    return whole if whole == minor else None


def to_decimal(minor: int, currency: str) -> Decimal:
    """Minor units as an amount, with all digits of the currency."""
    return Decimal(minor).scaleb(-exponent(currency))


@cache
def currencies_of(country: str) -> tuple[str, ...]:
    """The currencies in use in a country, by its two-letter code."""
    rows = get_global("territory_currencies").get(country.upper(), ())
    return tuple(code for code, _, until, tender in rows if until is None and tender)
