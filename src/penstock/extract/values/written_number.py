"""Numbers as people write them: where one stands in a text, and every value it can have.

`1.299` may be a thousand or little more than one. The currency decides where it can (no euro has
three decimals), a page's decimal sign may, and otherwise there are two readings.
"""

import re
import unicodedata
from decimal import Decimal

from penstock.core.money import exponent

THREE_DIGITS = 3

_APOSTROPHE = "'\u2019\u02bc\u066c"

#: Spaces that part thousands.
GAP = " \u00a0\u202f\u2009\u2007"
#: The decimal sign of Arabic numbers, which no other number has.
DECIMAL = "\u066b"
#: Stands in a plain text for a raised digit or a fraction.
RAISED = "\u2044"
#: A number with its separators, and the dash that stands for no cents.
NUMBER = re.compile(
    rf"(?<!\d)(?:(?<![\w.,/])\.(?=\d\d(?!\d)))?"
    rf"(?:[1-9]\d{{0,2}}(?:[{GAP}{_APOSTROPHE}]\d{{3}}(?!\d))+|\d+)(?:[.,{DECIMAL}]\d+)*"
    r"(?P<dash>[.,] ?[-\u2013\u2014]{1,2}(?!\d))?"
)

_ODD = re.compile(
    "(?P<unseen>[\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff])"
    "|(?P<raised>[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2089\u2150-\u215f\u2460-\u24ff])"
    "|(?P<quote>[\u00b4\u2032])|(?P<digit>(?![0-9])\\d)"
)
#: The French way: `19€99`.
_CENTS = re.compile(r"(?<=\d)([€£])(\d\d)(?![\d.,])")
_INDIAN = re.compile(r"[1-9]\d?(?:,\d{2})+,\d{3}")


def plain_text(text: str) -> str:
    """The text with plain digits and without signs that cannot be seen.

    A raised digit or a fraction becomes a mark: `$19⁹⁹` is not `$1999`.
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", _ODD.sub(_plain_character, text))
    return _CENTS.sub(rf"{DECIMAL}\2\1", text)


def _plain_character(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "digit":
            return str(unicodedata.decimal(match[0]))
        case "raised":
            return RAISED
        case "quote":
            return "'"
    return ""


def readings(
    number: str, candidates: tuple[str, ...] = (), decimal: str | None = None
) -> tuple[Decimal, ...]:
    """Every value that a written number can have in one of the currencies."""
    number = re.sub(rf"[{GAP}{_APOSTROPHE}]", "", number)
    if number[0] == ".":
        return (Decimal(number),) if number[1:].isdigit() else ()
    if DECIMAL in number:
        whole, _, rest = number.partition(DECIMAL)
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
