"""Quantity tiers: of `1-4: $25, 5-9: $24, 10+: $23` the price of one piece holds."""

import re

_QUANTITY = (
    r"(?:(?:qty|quantity|buy|menge|anzahl|quantité|quantità|cantidad|ilość|množství)\s*[:.]?\s*)?"
)
_UNITS = (
    r"\s*(?:pcs?|pieces?|units?|items?|box(?:es)?|packs?|stück|stk|st|pz|pezzi|uds?|ks|szt|db|шт)?"
    r"\.?\s*:?"
)
_BETWEEN = r"\s*(?:[-\u2013\u2014~]|to|bis|à|a|do|до)\s*"
_FROM = r"(?:(?:ab|from|od|от|dès|à partir de|da|desde|vanaf|från|fra|\u2265|>=?)\s*)?"
_UP_TO = r"(?:bis|up to|jusqu'à|fino a|hasta|até|do|до|tot|\u2264|<=?)\s*"
_MORE = r"(?:\s*(?:\+|or more|and up|and more|oder mehr|et plus|o más|ou mais))?"
_NUMBER = r"(\d{1,6})"

_TIER = re.compile(
    rf"{_QUANTITY}(?:{_NUMBER}{_BETWEEN}\d{{1,6}}|{_FROM}{_NUMBER}{_UNITS}{_MORE}|{_UP_TO}\d{{1,6}})"
    rf"{_UNITS}",
    re.IGNORECASE,
)


def least_quantity(label: str) -> int | None:
    """From how many pieces on the price behind a label holds; None if the label is no tier."""
    match = _TIER.fullmatch(label.strip())
    if match is None:
        return None
    return int(match[1] or match[2] or 1)
