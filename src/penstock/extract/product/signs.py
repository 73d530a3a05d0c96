"""Signs of money, found fast: whether a text is worth a careful reading of its prices."""

import re
import sys

from penstock.extract.patterns import either_case
from penstock.extract.values.currency_signs import SYMBOLS

#: Forms that a text has before it is read.
WIDE = "\uff04\uffe1\uffe6\ufdfc"
#: The longest sign, and what may stand between it and a number.
MAX_BEFORE = max(map(len, SYMBOLS)) + len(".:  ")

_MARKS = WIDE + "".join(
    sorted({sign for key in SYMBOLS for sign in key if not sign.isalpha() and sign not in ".:/-"})
)
_SPACED = sorted(key for key in SYMBOLS if key.replace(".", "").isalpha() and key[0] < "\u0e00")
_UNSPACED = sorted(key for key in SYMBOLS if key.isalpha() and key[0] >= "\u0e00")
_KNOWN = either_case("|".join(map(re.escape, _SPACED)))
# Any word of three letters may be a code.
_WORDS = rf"(?<![^\W\d_])(?:[a-zA-Z]{{3}}|{_KNOWN})(?![^\W\d_])"
_SIGN = rf"[{re.escape(_MARKS)}]|[sS]/|:-|{'|'.join(_UNSPACED)}|{_WORDS}"

#: A sign or a word that may stand for money.
MONEY = re.compile(_SIGN)

_NUMBER = re.compile(r"\d+")
_BEFORE = re.compile(rf"(?:{_SIGN})\.?:?\s{{0,2}}\Z")
_BEHIND = re.compile(rf"\s{{0,2}}(?:{_SIGN})")


def names_amount(text: str, start: int = 0, end: int = sys.maxsize) -> bool:
    """Whether such a sign stands beside a number in a part of a text."""
    for number in _NUMBER.finditer(text, start, end):
        first, last = number.span()
        before = max(start, first - MAX_BEFORE)
        if _BEHIND.match(text, last, end) or _BEFORE.search(text, before, first):
            return True
    return False
