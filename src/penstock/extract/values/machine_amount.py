"""Amounts in structured data, which should be plain numbers and often are not."""

import re
from decimal import Decimal

from penstock.extract.values.price import MAX_DIGITS, TWO_WAYS, Unclear, read_price
from penstock.extract.values.price_hints import PriceHints
from penstock.extract.values.price_mentions import MAX_TEXT

MAX_DECIMALS = 6
MAX_BITS = 300

_MACHINE = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")


def read_machine_amount(value: object, currency: str | None) -> tuple[Decimal, ...]:
    """Every value that an amount in structured data can have; one if there is no doubt.

    Shops do write `1.299` there for a thousand and more, so three decimals are two readings.
    """
    match value:
        case bool():
            return ()
        case str():
            return _written_amount(value.strip(), currency)
        case int() if value.bit_length() < MAX_BITS:
            return _bounded(Decimal(value))
        case float():
            return _bounded(Decimal(str(value)))
    return ()


def _written_amount(text: str, currency: str | None) -> tuple[Decimal, ...]:
    if len(text) > MAX_TEXT:
        return ()
    if not _MACHINE.fullmatch(text):
        return _displayed_amount(text, currency)
    number = Decimal(text)
    if _THOUSANDS.fullmatch(text):
        return (number, Decimal(text.replace(".", "")))
    return _bounded(number)


def _displayed_amount(text: str, currency: str | None) -> tuple[Decimal, ...]:
    """An amount in structured data that was written for people, in the offer's own currency."""
    price = read_price(text, PriceHints(currency))
    if isinstance(price, Unclear):
        return tuple(map(Decimal, price.readings)) if price.why == TWO_WAYS else ()
    return () if currency and price.currency != currency else (price.value,)


def _bounded(number: Decimal) -> tuple[Decimal, ...]:
    """The number, unless it is no amount; without the noise of binary fractions."""
    if not number.is_finite() or number < 0 or number.adjusted() > MAX_DIGITS:
        return ()
    decimals = -int(number.as_tuple().exponent)
    return (round(number, MAX_DECIMALS) if decimals > 2 * MAX_DECIMALS else number,)
