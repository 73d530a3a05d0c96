"""Signs of money, found fast: whether a text is worth a careful reading of its prices."""

import re

from penstock.extract.values.price import SYMBOLS

#: Forms that a text has before it is read.
WIDE = "\uff04\uffe1\uffe6\ufdfc"

_MARKS = WIDE + "".join(
    sorted({sign for key in SYMBOLS for sign in key if not sign.isalpha() and sign not in ".:/-"})
)
_SPACED = sorted(key for key in SYMBOLS if key.replace(".", "").isalpha() and key[0] < "\u0e00")
_UNSPACED = sorted(key for key in SYMBOLS if key.isalpha() and key[0] >= "\u0e00")
# Any word of three letters may be a code.
_WORDS = rf"(?<![^\W\d_])(?:[a-z]{{3}}|{'|'.join(map(re.escape, _SPACED))})(?![^\W\d_])"
_SIGN = rf"[{re.escape(_MARKS)}]|s/|:-|{'|'.join(_UNSPACED)}|{_WORDS}"

#: A sign or a word that may stand for money.
MONEY = re.compile(_SIGN, re.IGNORECASE)
#: The same, beside a number.
AMOUNT = re.compile(rf"\d\s{{0,2}}(?:{_SIGN})|(?:{_SIGN})\.?:?\s{{0,2}}\d", re.IGNORECASE)
