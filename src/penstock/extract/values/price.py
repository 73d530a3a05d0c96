"""Prices in text: what can be read in two ways is not read at all, unless a hint says which.

A number is one price only if its separators leave no doubt: `1.299` may be a thousand or little
more than one. The currency decides where it can (no euro has three decimals), a hint may, and
otherwise the text is `Unclear`.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from penstock.core.money import currencies, exponent, to_minor
from penstock.extract.values.price_words import objection_to

MAX_TEXT = 300
MAX_DIGITS = 15
THREE_DIGITS = 3
RANGE = "it is a range, not a price"

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
    "฿": ("THB",),
    "บาท": ("THB",),
    "₫": ("VND",),
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
    "﷼": ("SAR", "IRR"),
    "r": ("ZAR",),
}
#: Codes that are words as well: taken only where the page uses that currency.
WORDLIKE = frozenset(
    [
        "ALL",
        "TOP",
        "TRY",
        "CUP",
        "PEN",
        "MOP",
        "GEL",
        "MAD",
        "BAM",
        "LAK",
        "ANG",
        "COP",
        "SOS",
        "SAR",
    ]
)
#: Signs that are letters or units as well: taken only in front of a number, or only behind one.
ONLY_BEFORE = frozenset(["r", "rs", "rp", "rm", "s/", "s/.", "bs", "ksh"])
ONLY_BEHIND = frozenset([":-", "р", "km", "kn", "din", "ft", "đ"])
#: Letters that mean money only where the page says so: `5 km`, `6 ft`.
UNITLIKE = frozenset(["km", "ft", "r", "р", "bs", "rm"])

_GAP = " \u00a0\u202f\u2009\u2007"
_APOSTROPHE = "'\u2019\u02bc\u066c"
_NUMBER = re.compile(
    rf"(?<![\d])\d+(?:[.,]\d+|[{_APOSTROPHE}]\d{{3}}(?!\d)|[{_GAP}]\d{{3}}(?!\d))*"
    r"(?P<dash>[.,] ?[-\u2013\u2014]{1,2}(?!\d))?"
)
_SYMBOL = (
    r"(?:[A-Za-z]{1,2}\$|\$(?:US|CA)?|[€£¥￥₹₨₩₽₴₸₺₪฿₫₱₦₵₡₲₾₼֏﷼円元원]|S/\.?|:-|บาท|د\.إ|ر\.س"
    r"|(?<![^\W\d_])[^\W\d_]{1,6}(?![^\W\d_])\.?)"
)
_BEFORE = re.compile(rf"({_SYMBOL})[{_GAP}]?:?[{_GAP}]?$")
_BEHIND = re.compile(rf"[{_GAP}]{{0,2}}({_SYMBOL})")
_MINUS = re.compile(rf"(?:^|[\s(])[-\u2212\u2013][{_GAP}]?$")
_BETWEEN = re.compile(rf"[{_GAP}]?(?:[-\u2013\u2014~\u301c]|to|bis|à|a|do|から)[{_GAP}]?")
_MACHINE = re.compile(r"\d+(?:\.\d+)?")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_INDIAN = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}")


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


def read_price(text: str, hints: PriceHints = NO_HINTS) -> Price | Unclear:
    """The one price that a short text names."""
    if len(text) > MAX_TEXT:
        return Unclear("this is a longer text than a price")
    mentions = list(mentions_in(text, hints))
    if not mentions:
        return Unclear("there is no number in it")
    marked = [mention for mention in mentions if mention.symbol] or mentions
    numbers = tuple(mention.number for mention in marked)
    if any(mention.objection == RANGE for mention in marked):
        return Unclear(RANGE, numbers)
    plain = [mention for mention in marked if not mention.objection]
    if not plain:
        return Unclear(marked[0].objection, numbers)
    read = {_read(mention, hints) for mention in plain}
    if len(read) > 1:
        return Unclear("it names several amounts", numbers)
    return read.pop()


def mentions_in(text: str, hints: PriceHints = NO_HINTS) -> Iterator[Mention]:
    """The numbers of a text that could be amounts of money, in order."""
    text = text[:MAX_TEXT] if text.isascii() else unicodedata.normalize("NFKC", text[:MAX_TEXT])
    last = -1
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        before, behind = text[:start], text[end:]
        if behind.lstrip()[:1] == "%":
            continue
        symbol, at = _symbol_before(before, hints), end
        if symbol:
            before = _BEFORE.sub("", before)
        if following := _symbol_behind(text, end, hints):
            symbol, at = symbol or following[0], following[1]
        number = match[0].removesuffix(match["dash"] or "")
        doubt = _objection(before[max(last, 0) :], before, text[at:], last)
        yield Mention(number, symbol, start, end, doubt)
        last = at


def _objection(between: str, before: str, behind: str, last: int) -> str:
    if last >= 0 and _BETWEEN.fullmatch(between):
        return RANGE
    if _MINUS.search(before):
        return "it is a deduction, not a price"
    meaning = objection_to(before, behind)
    return f"it is {meaning}, not the price" if meaning else ""


def _symbol_before(before: str, hints: PriceHints) -> str:
    match = _BEFORE.search(before)
    return _known(match[1], hints, ONLY_BEHIND) if match else ""


def _symbol_behind(text: str, end: int, hints: PriceHints) -> tuple[str, int] | None:
    match = _BEHIND.match(text, end)
    symbol = _known(match[1], hints, ONLY_BEFORE) if match else ""
    return (symbol, match.end()) if match and symbol else None


def _known(written: str, hints: PriceHints, excluded: frozenset[str]) -> str:
    """The sign as a key of the table or an ISO code; empty if it is not one for money."""
    expected = {hints.currency, *hints.regional}
    code = written.rstrip(".")
    if len(code) == THREE_DIGITS and code.isascii() and code.upper() in currencies():
        upper = code.upper()
        if code == upper and (upper not in WORDLIKE or upper in expected):
            return upper
        if upper in expected:
            return upper
    key = written.casefold() if written.casefold() in SYMBOLS else code.casefold()
    if key not in SYMBOLS or key in excluded:
        return ""
    if key in UNITLIKE and not expected.intersection(SYMBOLS[key]):
        return ""
    return key


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
    values = readings(mention.number, candidates, hints.decimal)
    if not values:
        return Unclear("its separators fit no way of writing numbers", (mention.number,))
    if len(values) > 1:
        return Unclear("it can be read in two ways", tuple(map(str, values)))
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
    if sign not in number:
        other = "." if sign == "," else ","
        return _grouped(number, other)
    whole, _, rest = number.partition(sign)
    if sign in rest or not rest.isdigit():
        return ()
    other = "." if sign == "," else ","
    wholes = _grouped(whole, other) if other in whole else (Decimal(whole),)
    return tuple(Decimal(f"{value}.{rest}") for value in wholes)


def _grouped(number: str, sign: str) -> tuple[Decimal, ...]:
    first, *groups = number.split(sign)
    regular = len(first) <= THREE_DIGITS and all(len(group) == THREE_DIGITS for group in groups)
    if regular or (sign == "," and _INDIAN.fullmatch(number)):
        return (Decimal(number.replace(sign, "")),)
    return ()


def read_machine_amount(value: object, currency: str | None) -> tuple[Decimal, ...]:
    """Every value that an amount in structured data can have; one if there is no doubt.

    Shops do write `1.299` there for a thousand and more, so three decimals are two readings.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return ()
    text = str(value).strip()
    if len(text) > MAX_TEXT:
        return ()
    if isinstance(value, str) and not _MACHINE.fullmatch(text):
        price = read_price(text, PriceHints(currency))
        return (price.value,) if isinstance(price, Price) else ()
    try:
        number = Decimal(text)
    except ArithmeticError:
        return ()
    if not number.is_finite() or number < 0 or number.adjusted() > MAX_DIGITS:
        return ()
    if isinstance(value, str) and _THOUSANDS.fullmatch(text) and number:
        return (number.normalize(), Decimal(text.replace(".", "")))
    return (number,)
