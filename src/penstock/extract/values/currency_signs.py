"""Signs and words for money, and the currencies that they may stand for.

A new one is a line of `SYMBOLS`. If it is not a word of up to six letters, it stands in `SIGN` as
well; if it is a letter, a unit or a word elsewhere, in one of the sets between them.
"""

from penstock.core.money import in_use
from penstock.extract.values.price_hints import PriceHints

CODE_LENGTH = 3

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
#: How signs are written in a text.
SIGN = (
    r"(?:(?<![^\W\d_])(?:[A-Za-z]{1,3}|(?:US|CA|C|AU|NZ|HK|NT|SG|MX) )\$"
    r"|\$(?:(?:US|CA|U)(?![^\W\d_]))?|[€£¥￥₹₨₩₽₴₸₺₪฿₫₱₦₵₡₲₾₼֏৳₮₭៛円元원]"
    r"|S/\.?|:-(?![()DPp])|บาท|د\.إ|ر\.س|ש[\"״]ח"
    r"|(?<![^\W\d_])[^\W\d_]{1,6}(?![^\W\d_])\.?)"
)


def possible_currencies(sign: str) -> tuple[str, ...]:
    """What a known sign, or a code, may stand for."""
    return SYMBOLS.get(sign, (sign,))


def known_sign(written: str, hints: PriceHints, excluded: frozenset[str]) -> str:
    """The sign as a key of the table or an ISO code; empty if it is not one for money."""
    code = written.rstrip(".")
    if len(code) == CODE_LENGTH and code.isascii() and (upper := code.upper()) in in_use():
        is_plain = code == upper and upper not in WORDLIKE
        if is_plain or upper in hints.likely:
            return upper
    key = written.casefold().replace("״", '"')
    if len(written) > 1 and written[-1] == "$":
        return _known_dollar(key.replace(" ", ""), written[:-1])
    if key not in SYMBOLS:
        key = key.rstrip(".")
    if key not in SYMBOLS or key in excluded:
        return ""
    if key in UNITLIKE and set(SYMBOLS[key]).isdisjoint(hints.likely):
        return ""
    return key


def _known_dollar(key: str, prefix: str) -> str:
    """What letters that touch a dollar say: `A$`, `MXN$`, or nothing as in `Now$`."""
    if key in SYMBOLS:
        return key
    if prefix in SYMBOLS["$"]:
        return prefix
    return "" if prefix.isupper() and len(prefix) < CODE_LENGTH else "$"
