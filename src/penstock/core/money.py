"""Money: integer minor units and an ISO 4217 code."""

from decimal import MAX_PREC, Context, Decimal
from functools import cache, lru_cache

from babel.core import get_global
from babel.numbers import get_currency_precision

#: More digits than this before the point are no amount of money.
MAX_MAGNITUDE = 40

_EXACT = Context(prec=MAX_PREC)


@cache
def currencies() -> frozenset[str]:
    """Every ISO 4217 code that is or was money, which metals and codes for tests are not."""
    known = get_global("all_currencies")
    return frozenset(code for code in known if code[0] != "X" or code in in_use())


@cache
def in_use() -> frozenset[str]:
    """The currencies that are legal tender somewhere."""
    countries = get_global("territory_currencies")
    return frozenset(code for country in countries for code in currencies_of(country))


@lru_cache(maxsize=1024)
def exponent(currency: str) -> int:
    """How many digits the minor unit of a currency has."""
    return get_currency_precision(currency)


def to_minor(amount: Decimal, currency: str) -> int | None:
    """An amount in minor units; None if it is finer than the currency, or no amount at all."""
    if not amount.is_finite() or amount.adjusted() > MAX_MAGNITUDE:
        return None
    minor = amount.scaleb(exponent(currency), _EXACT)
    whole = int(minor)
    return whole if whole == minor else None


def to_decimal(minor: int, currency: str) -> Decimal:
    """Minor units as an amount, with all digits of the currency."""
    return Decimal(minor).scaleb(-exponent(currency), _EXACT)


@lru_cache(maxsize=1024)
def currencies_of(country: str) -> tuple[str, ...]:
    """The currencies in use in a country, by its two-letter code."""
    rows = get_global("territory_currencies").get(country.upper(), ())
    return tuple(code for code, _, until, tender in rows if until is None and tender)
