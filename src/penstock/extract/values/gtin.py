"""GTINs: the number under a product's barcode, if it identifies the product everywhere."""

import re
import unicodedata

from stdnum import ean

MAX_LENGTH = 64

_LABEL = re.compile(
    r"\W*(?:ean|upc|gtin|jan|isbn|bar ?code)(?:[/ ](?:ean|upc|gtin|code))?"
    r"(?:-?(?:8|12|13|14|a)\b|[ -](?:8|12|13|14|a)(?=\s{0,3}[:#])|\b|(?=\d))"
    r"\s{0,3}(?:number|no\.?|code)?\s{0,3}[:#=]?",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\s*[0-9](?:[ \u2010-\u2015-]{0,2}[0-9]){7,13}\s*")
_GTIN_8_PADDING = "00000"
# Numbers that a shop gives itself, and those of coupons and refunds.
_RESTRICTED = ("02", "04", "05", "2", "980", "981", "982", "983", "984", "99")
_RESTRICTED_8 = ("0", "2")


def read_gtin(text: str) -> str | None:
    """The GTIN-8, -12, -13 or -14 that a text is, as digits; None if its check digit is wrong.

    Numbers for use inside one shop are refused: they identify nothing outside of it.
    """
    if len(text) > MAX_LENGTH:
        return None
    plain = unicodedata.normalize("NFKC", text)
    label = _LABEL.match(plain)
    number = plain[label.end() :] if label else plain
    if not _DIGITS.fullmatch(number):
        return None
    digits = re.sub(r"\D", "", number)
    return digits if ean.is_valid(digits) and _is_global(digits) else None


def _is_global(digits: str) -> bool:
    """Whether the number is given out for one product in the whole world."""
    body = digits.zfill(14)[1:]
    if body.startswith(_GTIN_8_PADDING):
        return not body.removeprefix(_GTIN_8_PADDING).startswith(_RESTRICTED_8)
    return not body.startswith(_RESTRICTED)
