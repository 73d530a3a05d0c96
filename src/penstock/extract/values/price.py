"""Prices in text: what can be read in two ways is not read at all, unless a hint says which.

`written_number` knows every value of a number, `price_mentions` finds the amounts of a text and
what speaks against them; here one of them is chosen, or none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from penstock.core.money import to_minor
from penstock.extract.values.currency_signs import possible_currencies
from penstock.extract.values.price_hints import NO_HINTS, PriceHints
from penstock.extract.values.price_mentions import (
    MAX_TEXT,
    OLDER,
    RANGE,
    SPLIT,
    UNSURE,
    Mention,
    mentions_in_plain,
)
from penstock.extract.values.price_words import says_only_price
from penstock.extract.values.written_number import plain_text, readings

MAX_DIGITS = 15
TWO_WAYS = "it can be read in two ways"


@dataclass(frozen=True, slots=True)
class Price:
    """An amount; the currency is None where the text and the hints do not tell.

    `symbol` is the sign or code beside the number, empty if there was none.
    """

    value: Decimal
    currency: str | None
    symbol: str = field(default="", compare=False)

    @property
    def minor(self) -> int | None:
        """The amount in minor units, if the currency is known and not coarser than the amount."""
        return to_minor(self.value, self.currency) if self.currency else None


@dataclass(frozen=True, slots=True)
class Unclear:
    """No price: why, and what the text could mean if it could mean something."""

    why: str
    readings: tuple[str, ...] = ()


def read_price(text: str, hints: PriceHints = NO_HINTS) -> Price | Unclear:
    """The one price that a short text names."""
    if len(text) > MAX_TEXT:
        return Unclear("this is a longer text than a price")
    text = plain_text(text)
    mentions = list(mentions_in_plain(text, hints))
    if not mentions:
        return Unclear("there is no number in it")
    marked = [mention for mention in mentions if mention.symbol]
    if marked:
        return _choose(marked, hints)
    return _read_bare(text, mentions, hints)


def _read_bare(text: str, mentions: Sequence[Mention], hints: PriceHints) -> Price | Unclear:
    """The price in a text without a sign for money: one number, and no more than the word price."""
    if len(mentions) > 1:
        numbers = tuple(mention.number for mention in mentions)
        return Unclear("it names several numbers and no currency", numbers)
    price, one = _choose(mentions, hints), mentions[0]
    if isinstance(price, Price) and not says_only_price(text[: one.start], text[one.end :]):
        return Unclear("it names no currency, and more than a number", (one.number,))
    return price


def _choose(mentions: Sequence[Mention], hints: PriceHints) -> Price | Unclear:
    numbers = tuple(mention.number for mention in mentions)
    for doubt in (RANGE, UNSURE, SPLIT):
        if any(mention.objection == doubt for mention in mentions):
            return Unclear(doubt, numbers)
    plain = [mention for mention in mentions if not mention.objection]
    if not plain:
        return Unclear(mentions[0].objection, numbers)
    read = {_read(mention, hints) for mention in plain}
    if len(read) > 1:
        return Unclear("it names several amounts", numbers)
    price = read.pop()
    older = [_read(mention, hints) for mention in mentions if mention.objection == OLDER]
    if isinstance(price, Price) and any(_is_lower(one, price) for one in older):
        return Unclear("what it calls the older price is the lower one", numbers)
    return price


def _is_lower(older: Price | Unclear, price: Price) -> bool:
    return isinstance(older, Price) and older.value < price.value


def _read(mention: Mention, hints: PriceHints) -> Price | Unclear:
    candidates = _candidates(mention.symbol, hints)
    if sum(character.isdigit() for character in mention.number) > MAX_DIGITS:
        return Unclear("the number is too long for a price")
    if mention.number[0] == "." and mention.symbol.isalpha():
        return Unclear("the dot may belong to the sign before it", (mention.number,))
    values = readings(mention.number, candidates, hints.decimal)
    if not values:
        return Unclear("its separators fit no way of writing numbers", (mention.number,))
    if len(values) > 1:
        return Unclear(TWO_WAYS, tuple(map(str, values)))
    value = values[0]
    currency = candidates[0] if len(candidates) == 1 else None
    if candidates and all(to_minor(value, code) is None for code in candidates):
        return Unclear(f"{candidates[0]} has no such small unit", (str(value),))
    return Price(value, currency, mention.symbol)


def _candidates(symbol: str, hints: PriceHints) -> tuple[str, ...]:
    """The currencies that a sign may stand for here; one if there is no doubt."""
    if not symbol:
        return (hints.currency,) if hints.currency else ()
    possible = possible_currencies(symbol)
    expected = next((code for code in hints.likely if code in possible), None)
    return (expected,) if expected else possible
