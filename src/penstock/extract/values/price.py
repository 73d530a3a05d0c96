"""Prices in text: what can be read in two ways is not read at all, unless a hint says which.

A number is one price only if its separators leave no doubt: `1.299` may be a thousand or little
more than one. The currency decides where it can (no euro has three decimals), a hint may, and
otherwise the text is `Unclear`.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from penstock.core.money import exponent, in_use, to_minor
from penstock.extract.values.price_words import label_between, objection_to, says_only_price

MAX_TEXT = 300
MAX_DIGITS = 15
MAX_DECIMALS = 6
MAX_SIGN = 16
CODE_LENGTH = 3
THREE_DIGITS = 3
RANGE = "it is a range, not a price"
DEDUCTION = "it is a deduction, not a price"
OLDER = "it is an older or recommended price, not the price"
UNSURE = "a word between two amounts may belong to either"
SPLIT = "the number beside it may be a part of it"
PARTIAL = "only a part of a number can be read"
ROUNDED = "it is rounded to thousands or more"
CONTRADICTORY = "the signs beside it stand for different currencies"
TWO_WAYS = "it can be read in two ways"

#: Signs and words for money, and what they may stand for.
SYMBOLS: dict[str, tuple[str, ...]] = {
    "$": (
        *("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN", "CLP", "COP", "ARS", "UYU"),
        *("BRL", "DOP", "JMD", "TTD", "BSD", "BBD", "BZD", "XCD", "FJD", "LRD", "NAD", "BMD"),
    ),
    "us$": ("USD",),
    "$us": ("USD",),
    "ca$": ("CAD",),
    "c$": ("CAD",),
    "$ca": ("CAD",),
    "a$": ("AUD",),
    "au$": ("AUD",),
    "nz$": ("NZD",),
    "hk$": ("HKD",),
    "nt$": ("TWD",),
    "s$": ("SGD",),
    "sg$": ("SGD",),
    "mx$": ("MXN",),
    "rd$": ("DOP",),
    "j$": ("JMD",),
    "tt$": ("TTD",),
    "bz$": ("BZD",),
    "ec$": ("XCD",),
    "bds$": ("BBD",),
    "col$": ("COP",),
    "$u": ("UYU",),
    "r$": ("BRL",),
    "€": ("EUR",),
    "eur": ("EUR",),
    "euro": ("EUR",),
    "euros": ("EUR",),
    "£": ("GBP",),
    "¥": ("JPY", "CNY"),
    "￥": ("JPY", "CNY"),
    "円": ("JPY",),
    "元": ("CNY", "TWD", "HKD"),
    "₹": ("INR",),
    "rs": ("INR", "PKR", "LKR", "NPR", "MUR"),
    "₨": ("INR", "PKR", "LKR", "NPR", "MUR"),
    "৳": ("BDT",),
    "₩": ("KRW",),
    "원": ("KRW",),
    "₽": ("RUB",),
    "руб": ("RUB", "BYN"),
    "р": ("RUB", "BYN"),
    "₴": ("UAH",),
    "грн": ("UAH",),
    "₸": ("KZT",),
    "тг": ("KZT",),
    "тенге": ("KZT",),
    "лв": ("BGN",),
    "zł": ("PLN",),
    "zl": ("PLN",),
    "kč": ("CZK",),
    "ft": ("HUF",),
    "lei": ("RON", "MDL"),
    "kr": ("SEK", "NOK", "DKK", "ISK"),
    "kr.": ("SEK", "NOK", "DKK", "ISK"),
    ":-": ("SEK", "NOK", "DKK"),
    "fr": ("CHF",),
    "sfr": ("CHF",),
    "₺": ("TRY",),
    "tl": ("TRY",),
    "₪": ("ILS",),
    "nis": ("ILS",),
    'ש"ח': ("ILS",),
    "฿": ("THB",),
    "บาท": ("THB",),
    "₫": ("VND",),
    "₮": ("MNT",),
    "₭": ("LAK",),
    "៛": ("KHR",),
    "đ": ("VND",),
    "₱": ("PHP",),
    "rp": ("IDR",),
    "rm": ("MYR",),
    "₦": ("NGN",),
    "₵": ("GHS",),
    "ksh": ("KES",),
    "₡": ("CRC",),
    "₲": ("PYG",),
    "₾": ("GEL",),
    "₼": ("AZN",),
    "֏": ("AMD",),
    "din": ("RSD",),
    "дин": ("RSD",),
    "kn": ("HRK",),
    "km": ("BAM",),
    "s/": ("PEN",),
    "s/.": ("PEN",),
    "bs": ("BOB",),
    "dhs": ("AED", "MAD"),
    "د.إ": ("AED",),
    "ر.س": ("SAR",),
    "ریال": ("SAR", "IRR", "QAR", "OMR", "YER"),
    "ريال": ("SAR", "IRR", "QAR", "OMR", "YER"),
    "r": ("ZAR",),
}
#: Codes that are words as well: taken only where the page uses that currency.
WORDLIKE = frozenset(
    (
        *("ALL", "AMD", "ANG", "AWG", "BAM", "BOB", "BSD", "BTN", "COP", "CRC", "CUP", "GEL"),
        *("KGS", "LAK", "MAD", "MDL", "MOP", "NAD", "PEN", "SAR", "SOS", "TOP", "TRY"),
    )
)
#: Signs that are letters or units as well: taken only in front of a number, or only behind one.
ONLY_BEFORE = frozenset(["r", "rs", "rp", "rm", "s/", "s/.", "bs", "ksh"])
ONLY_BEHIND = frozenset([":-", "р", "km", "kn", "din", "ft", "đ"])
#: Letters that mean money only where the page says so: `5 km`, `6 ft`.
UNITLIKE = frozenset(["km", "ft", "r", "р", "bs", "rm"])

_GAP = " \u00a0\u202f\u2009\u2007"
_APOSTROPHE = "'\u2019\u02bc\u066c"
_DECIMAL = "\u066b"
_RAISED = "\u2044"

_ODD = re.compile(
    "(?P<unseen>[\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff])"
    "|(?P<raised>[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2089\u2150-\u215f\u2460-\u24ff])"
    "|(?P<quote>[\u00b4\u2032])|(?P<digit>(?![0-9])\\d)"
)
#: The French way: `19€99`.
_CENTS = re.compile(r"(?<=\d)([€£])(\d\d)(?![\d.,])")
_NUMBER = re.compile(
    rf"(?<!\d)(?:(?<![\w.,/])\.(?=\d\d(?!\d)))?"
    rf"(?:[1-9]\d{{0,2}}(?:[{_GAP}{_APOSTROPHE}]\d{{3}}(?!\d))+|\d+)(?:[.,{_DECIMAL}]\d+)*"
    r"(?P<dash>[.,] ?[-\u2013\u2014]{1,2}(?!\d))?"
)
_SYMBOL = (
    r"(?:(?<![^\W\d_])(?:[A-Za-z]{1,3}|(?:US|CA|C|AU|NZ|HK|NT|SG|MX) )\$"
    r"|\$(?:(?:US|CA|U)(?![^\W\d_]))?|[€£¥￥₹₨₩₽₴₸₺₪฿₫₱₦₵₡₲₾₼֏৳₮₭៛円元원]"
    r"|S/\.?|:-(?![()DPp])|บาท|د\.إ|ر\.س|ש[\"״]ח"
    r"|(?<![^\W\d_])[^\W\d_]{1,6}(?![^\W\d_])\.?)"
)
_BEFORE = re.compile(rf"({_SYMBOL})\s?:?\s?$")
_BEHIND = re.compile(rf"\s{{0,2}}({_SYMBOL})")
_CODE_BEFORE = re.compile(r"(?<![^\W\d_])([A-Z]{3})\s?$")
_CODE_BEHIND = re.compile(r"\s{0,2}([A-Z]{3})(?![^\W_])(?!\s?\d)")
_PERCENT = ("%", "\u066a")
_DASHES = ("-", "\u2212", "\u2013")
_PERCENT_BEHIND = re.compile(r"\s*[%\u066a]")
_MINUS = re.compile(rf"(?:^|[\s($€£¥₹]|[A-Z]{{3}})[-\u2212\u2013][{_GAP}]?$")
_DANGLING = re.compile(r"(?:^|[^\w/])[.,]$")
_NAME_BEFORE = re.compile(r"(?:\d[^\W\d_]{1,3}|(?<![^\W\d_])[^\W\d_])$")
_SCALE = re.compile(
    r"(?:k|m|mn|bn)(?![^\W_])"
    r"|\s?(?:thousand|tausend|tsd|million|millionen|millions|mio|mrd|mln|billion|mil|mille|тыс|млн"
    r"|lakh|lac|crore)(?![^\W\d_])|\s?[万萬億亿천만]",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"[{_GAP}]?(?:[-\u2010-\u2015\u2212~\u301c\u2026]|\.\.\.|to|up to|until|bis|bis zu|à|a|al|do"
    rf"|до|tot|til|till|hasta|até|jusqu['\u2019]à|から)[{_GAP}]?"
)
#: A Friday in German: `Fr. 12.05.`
_DATE = re.compile(r"fr\.? (?:[0-2]?\d|3[01])\.(?:0?\d|1[0-2])\.", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_HAS_DECIMALS = re.compile(rf"[.,{_DECIMAL}]\d{{1,2}}$")
_MACHINE = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
_INDIAN = re.compile(r"[1-9]\d?(?:,\d{2})+,\d{3}")


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


@dataclass(frozen=True, slots=True)
class PriceHints:
    """What the page or a policy says: its currency, its decimal sign, its country's currencies.

    `currency` is taken where the text names none. `regional` only tells which dollar or crown a
    sign stands for.
    """

    currency: str | None = None
    decimal: str | None = None
    regional: tuple[str, ...] = ()


NO_HINTS = PriceHints()


@dataclass(frozen=True, slots=True)
class Mention:
    """A number in a text, with the sign beside it and what speaks against its being the price."""

    number: str
    symbol: str
    start: int
    end: int
    objection: str = ""


class _Spot(NamedTuple):
    """Where a number stands: from `start` to `end`, and with its signs from `first` to `last`."""

    number: str
    sign: "_Sign"
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


class _Sign(NamedTuple):
    """The sign of an amount, empty if there is none, and how far the amount reaches with it."""

    symbol: str
    first: int
    last: int
    doubt: str = ""


def read_price(text: str, hints: PriceHints = NO_HINTS) -> Price | Unclear:
    """The one price that a short text names."""
    if len(text) > MAX_TEXT:
        return Unclear("this is a longer text than a price")
    text = _plain(text)
    mentions = list(_mentions(text, hints))
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


def mentions_in(text: str, hints: PriceHints = NO_HINTS) -> Iterator[Mention]:
    """The numbers of a text that could be amounts of money, in order."""
    return _mentions(_plain(text[:MAX_TEXT]), hints)


def _plain(text: str) -> str:
    """The text with plain digits and without signs that cannot be seen.

    A raised digit or a fraction becomes a mark: `$19⁹⁹` is not `$1999`.
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", _ODD.sub(_plain_character, text))
    return _CENTS.sub(rf"{_DECIMAL}\2\1", text)


def _plain_character(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "digit":
            return str(unicodedata.decimal(match[0]))
        case "raised":
            return _RAISED
        case "quote":
            return "'"
    return ""


def _mentions(text: str, hints: PriceHints) -> Iterator[Mention]:
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
    for match in _NUMBER.finditer(text):
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
    symbol = _known(match[1], hints, ONLY_BEHIND) if match else ""
    if not match or not symbol:
        return None
    first = match.start()
    possible = SYMBOLS.get(symbol, (symbol,))
    if (code := _CODE_BEFORE.search(text, max(since, first - MAX_SIGN), first)) and (
        code[1] in possible
    ):
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
    symbol = _known(match[1], hints, ONLY_BEFORE)
    return _Sign(symbol, start, match.end()) if symbol else None


def _belongs_to_next(text: str, sign: re.Match[str]) -> bool:
    """Whether a sign stands closer to the number behind it: `Size 42 £12`."""
    return sign[0][0].isspace() and text[sign.end() : sign.end() + 1].isdigit()


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


def _may_be_split(one: _Spot, other: _Spot) -> bool:
    """Whether two numbers side by side may be one: `19 99 €`, `$19 99`."""
    if bool(one.symbol) == bool(other.symbol):
        return False
    return bool(other.symbol) or not _HAS_DECIMALS.search(one.number)


def _own_objection(text: str, spot: _Spot, since: int = 0) -> str:
    """What speaks against a number by what stands before it, from a place on, and behind it."""
    before, behind = text[since : spot.first], text[spot.last :]
    if spot.sign.doubt:
        return spot.sign.doubt
    if _has_minus(before) or (spot.first < spot.start and _has_minus(text[since : spot.start])):
        return DEDUCTION
    if _RAISED in (text[spot.start - 1 : spot.start], text[spot.end : spot.end + 1]):
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


def _known(written: str, hints: PriceHints, excluded: frozenset[str]) -> str:
    """The sign as a key of the table or an ISO code; empty if it is not one for money."""
    expected = {hints.currency, *hints.regional}
    code = written.rstrip(".")
    if len(code) == CODE_LENGTH and code.isascii() and code.upper() in in_use():
        upper = code.upper()
        if code == upper and (upper not in WORDLIKE or upper in expected):
            return upper
        if upper in expected:
            return upper
    key = written.casefold().replace("״", '"')
    if len(written) > 1 and written[-1] == "$":
        return _known_dollar(key.replace(" ", ""), written[:-1])
    if key not in SYMBOLS:
        key = key.rstrip(".")
    if key not in SYMBOLS or key in excluded:
        return ""
    if key in UNITLIKE and not expected.intersection(SYMBOLS[key]):
        return ""
    return key


def _known_dollar(key: str, prefix: str) -> str:
    """What letters that touch a dollar say: `A$`, `MXN$`, or nothing as in `Now$`."""
    if key in SYMBOLS:
        return key
    if prefix in SYMBOLS["$"]:
        return prefix
    return "" if prefix.isupper() and len(prefix) < CODE_LENGTH else "$"


def _candidates(symbol: str, hints: PriceHints) -> tuple[str, ...]:
    """The currencies that a sign may stand for here; one if there is no doubt."""
    if not symbol:
        return (hints.currency,) if hints.currency else ()
    possible = SYMBOLS.get(symbol, (symbol,))
    for likely in (hints.currency, *hints.regional):
        if likely in possible:
            return (likely,)
    return possible


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


def readings(
    number: str, candidates: tuple[str, ...] = (), decimal: str | None = None
) -> tuple[Decimal, ...]:
    """Every value that a written number can have in one of the currencies."""
    number = re.sub(rf"[{_GAP}{_APOSTROPHE}]", "", number)
    if number[0] == ".":
        return (Decimal(number),) if number[1:].isdigit() else ()
    if _DECIMAL in number:
        whole, _, rest = number.partition(_DECIMAL)
        return _with_decimal(f"{whole.replace('.', ',')}.{rest}", ".")
    signs = [sign for sign in ".," if sign in number]
    if not signs:
        return (Decimal(number),)
    if decimal:
        return _with_decimal(number, decimal)
    last = max(signs, key=number.rfind)
    if len(signs) > 1:
        return _with_decimal(number, last)
    if number.count(last) > 1:
        return _grouped(number, last)
    return _one_sign(number, last, candidates)


def _one_sign(number: str, sign: str, candidates: tuple[str, ...]) -> tuple[Decimal, ...]:
    whole, _, rest = number.partition(sign)
    as_decimal = Decimal(f"{whole}.{rest}")
    if len(rest) != THREE_DIGITS or len(whole) > THREE_DIGITS or whole.startswith("0"):
        return (as_decimal,)
    as_thousands = Decimal(whole + rest)
    # Nobody displays a thousandth of a unit that the currency does not have.
    if candidates and all(exponent(code) < THREE_DIGITS for code in candidates):
        return (as_thousands,)
    return (as_decimal, as_thousands)


def _with_decimal(number: str, sign: str) -> tuple[Decimal, ...]:
    other = "." if sign == "," else ","
    if sign not in number:
        return _grouped(number, other)
    whole, _, rest = number.partition(sign)
    if not rest.isdigit():
        return ()
    wholes = _grouped(whole, other) if other in whole else (Decimal(whole),)
    return tuple(Decimal(f"{value}.{rest}") for value in wholes)


def _grouped(number: str, sign: str) -> tuple[Decimal, ...]:
    first, *groups = number.split(sign)
    regular = len(first) <= THREE_DIGITS and all(len(group) == THREE_DIGITS for group in groups)
    if first[0] != "0" and (regular or (sign == "," and _INDIAN.fullmatch(number))):
        return (Decimal(number.replace(sign, "")),)
    return ()


def read_machine_amount(value: object, currency: str | None) -> tuple[Decimal, ...]:
    """Every value that an amount in structured data can have; one if there is no doubt.

    Shops do write `1.299` there for a thousand and more, so three decimals are two readings.
    """
    match value:
        case bool():
            return ()
        case str():
            return _written_amount(value.strip(), currency)
        case int() if value.bit_length() < MAX_TEXT:
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
