"""Amounts in a text: numbers, the signs beside them, and what speaks against the price."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from penstock.core.money import in_use
from penstock.extract.values.currency_signs import (
    ONLY_BEFORE,
    ONLY_BEHIND,
    SIGN,
    WORDLIKE,
    known_sign,
    possible_currencies,
)
from penstock.extract.values.price_hints import NO_HINTS, PriceHints
from penstock.extract.values.price_words import label_between, objection_to
from penstock.extract.values.written_number import DECIMAL, GAP, NUMBER, RAISED, plain_text

MAX_TEXT = 300
MAX_SIGN = 16
RANGE = "it is a range, not a price"
DEDUCTION = "it is a deduction, not a price"
OLDER = "it is an older or recommended price, not the price"
UNSURE = "a word between two amounts may belong to either"
SPLIT = "the number beside it may be a part of it"
PARTIAL = "only a part of a number can be read"
ROUNDED = "it is rounded to thousands or more"
CONTRADICTORY = "the signs beside it stand for different currencies"

_BEFORE = re.compile(rf"({SIGN})\s?:?\s?$")
_BEHIND = re.compile(rf"\s{{0,2}}({SIGN})")
_CODE_BEFORE = re.compile(r"(?<![^\W\d_])([A-Z]{3})\s?$")
_CODE_BEHIND = re.compile(r"\s{0,2}([A-Z]{3})(?![^\W_])(?!\s?\d)")
_PERCENT = ("%", "\u066a")
_DASHES = ("-", "\u2212", "\u2013")
_PERCENT_BEHIND = re.compile(r"\s*[%\u066a]")
_MINUS = re.compile(rf"(?:^|[\s($€£¥₹]|[A-Z]{{3}})[-\u2212\u2013][{GAP}]?$")
_DANGLING = re.compile(r"(?:^|[^\w/])[.,]$")
_NAME_BEFORE = re.compile(r"(?:\d[^\W\d_]{1,3}|(?<![^\W\d_])[^\W\d_])$")
_SCALE = re.compile(
    r"(?:k|m|mn|bn)(?![^\W_])"
    r"|\s?(?:thousand|tausend|tsd|million|millionen|millions|mio|mrd|mln|billion|mil|mille|тыс|млн"
    r"|lakh|lac|crore)(?![^\W\d_])|\s?[万萬億亿천만]",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"[{GAP}]?(?:[-\u2010-\u2015\u2212~\u301c\u2026]|\.\.\.|to|up to|until|bis|bis zu|à|a|al|do"
    rf"|до|tot|til|till|hasta|até|jusqu['\u2019]à|から)[{GAP}]?"
)
#: A Friday in German: `Fr. 12.05.`
_DATE = re.compile(r"fr\.? (?:[0-2]?\d|3[01])\.(?:0?\d|1[0-2])\.", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_HAS_DECIMALS = re.compile(rf"[.,{DECIMAL}]\d{{1,2}}$")


@dataclass(frozen=True, slots=True)
class Mention:
    """A number in a text, with the sign beside it and what speaks against its being the price."""

    number: str
    symbol: str
    start: int
    end: int
    objection: str = ""


class _Sign(NamedTuple):
    """The sign of an amount, empty if there is none, and how far the amount reaches with it."""

    symbol: str
    first: int
    last: int
    doubt: str = ""


class _Spot(NamedTuple):
    """Where a number stands: from `start` to `end`, and with its signs from `first` to `last`."""

    number: str
    sign: _Sign
    start: int
    end: int

    @property
    def symbol(self) -> str:
        return self.sign.symbol

    @property
    def first(self) -> int:
        return self.sign.first

    @property
    def last(self) -> int:
        return self.sign.last


def mentions_in(text: str, hints: PriceHints = NO_HINTS) -> Iterator[Mention]:
    """The numbers of a text that could be amounts of money, in order."""
    return mentions_in_plain(plain_text(text[:MAX_TEXT]), hints)


def mentions_in_plain(text: str, hints: PriceHints) -> Iterator[Mention]:
    """The same of a text that is short, and plain already."""
    spots = list(_spots(text, hints))
    objections = [_own_objection(text, spot) for spot in spots]
    for place, (one, other) in enumerate(pairwise(spots)):
        between = text[one.last : other.first]
        if _BETWEEN.fullmatch(between):
            objections[place] = objections[place + 1] = RANGE
        elif not between.strip() and _may_be_split(one, other):
            objections[place] = objections[place + 1] = SPLIT
        elif one.symbol and other.symbol and (meaning := label_between(between)):
            labels = _labels(text, spots)
            if labels == "behind":
                objections[place] = _not_the_price(meaning)
                objections[place + 1] = _own_objection(text, other, other.first)
            elif labels != "before":
                objections[place] = objections[place + 1] = UNSURE
    for spot, objection in zip(spots, objections, strict=True):
        yield Mention(spot.number, spot.symbol, spot.start, spot.end, objection)


def _spots(text: str, hints: PriceHints) -> Iterator[_Spot]:
    last = 0
    for match in NUMBER.finditer(text):
        start, end = match.span()
        if _PERCENT_BEHIND.match(text, end) or text[last:start].rstrip().endswith(_PERCENT):
            continue
        sign = (
            _sign_before(text, last, start, end, hints)
            or _sign_behind(text, start, end, hints)
            or _Sign("", start, end)
        )
        last = sign.last
        yield _Spot(match[0].removesuffix(match["dash"] or ""), sign, start, end)


def _sign_before(text: str, since: int, start: int, end: int, hints: PriceHints) -> _Sign | None:
    """The sign in front of a number, made precise by a code: `CAD $5`, `$5 USD`."""
    match = _BEFORE.search(text, max(since, start - MAX_SIGN), start)
    symbol = known_sign(match[1], hints, ONLY_BEHIND) if match else ""
    if not match or not symbol:
        return None
    first = match.start()
    possible = possible_currencies(symbol)
    code = _CODE_BEFORE.search(text, max(since, first - MAX_SIGN), first)
    if code and code[1] in possible:
        return _Sign(code[1], code.start(), end)
    if (code := _CODE_BEHIND.match(text, end)) and code[1] in in_use():
        if code[1] in possible:
            return _Sign(code[1], first, code.end())
        if code[1] not in WORDLIKE:
            return _Sign(symbol, first, code.end(), CONTRADICTORY)
    return _Sign(symbol, first, end)


def _sign_behind(text: str, start: int, end: int, hints: PriceHints) -> _Sign | None:
    match = _BEHIND.match(text, end)
    if not match or _belongs_to_next(text, match):
        return None
    symbol = known_sign(match[1], hints, ONLY_BEFORE)
    return _Sign(symbol, start, match.end()) if symbol else None


def _belongs_to_next(text: str, sign: re.Match[str]) -> bool:
    """Whether a sign stands closer to the number behind it: `Size 42 £12`."""
    return sign[0][0].isspace() and text[sign.end() : sign.end() + 1].isdigit()


def _may_be_split(one: _Spot, other: _Spot) -> bool:
    """Whether two numbers side by side may be one: `19 99 €`, `$19 99`."""
    if bool(one.symbol) == bool(other.symbol):
        return False
    return bool(other.symbol) or not _HAS_DECIMALS.search(one.number)


def _labels(text: str, spots: Sequence[_Spot]) -> str:
    """Whether the words of a text stand before its amounts or behind them; empty if unknown."""
    marked = [spot for spot in spots if spot.symbol]
    if not marked:
        return ""
    leads = bool(_LETTER.search(text, 0, marked[0].first))
    trails = bool(_LETTER.search(text, marked[-1].last))
    if leads == trails:
        return ""
    return "before" if leads else "behind"


def _own_objection(text: str, spot: _Spot, since: int = 0) -> str:
    """What speaks against a number by what stands before it, from a place on, and behind it."""
    before, behind = text[since : spot.first], text[spot.last :]
    if spot.sign.doubt:
        return spot.sign.doubt
    if _has_minus(before) or (spot.first < spot.start and _has_minus(text[since : spot.start])):
        return DEDUCTION
    if RAISED in (text[spot.start - 1 : spot.start], text[spot.end : spot.end + 1]):
        return PARTIAL
    if before.endswith((".", ",")) and _DANGLING.search(before) and spot.first == spot.start:
        return PARTIAL
    if spot.symbol == "fr" and _DATE.match(text, spot.first):
        return PARTIAL
    if _SCALE.match(text, spot.end) or (spot.last > spot.end and _SCALE.match(text, spot.last)):
        return ROUNDED
    if meaning := objection_to(before, behind):
        return _not_the_price(meaning)
    if spot.first == spot.start and before[-1:].isalpha() and _NAME_BEFORE.search(before):
        return PARTIAL
    return ""


def _has_minus(before: str) -> bool:
    return before.rstrip().endswith(_DASHES) and _MINUS.search(before) is not None


def _not_the_price(meaning: str) -> str:
    return f"it is {meaning}, not the price"
