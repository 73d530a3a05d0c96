"""Headcounts: how many people a company employs, as a range.

A range that the company gives stays as it is; one number becomes the usual band around it.
"""

import re
from collections.abc import Iterator
from itertools import islice

from penstock.extract.page.things import Found, Thing

#: The upper ends of the bands that people know from company directories.
BAND_ENDS = (10, 50, 200, 500, 1_000, 5_000, 10_000)
MOST_PEOPLE = 5_000_000
MAX_TEXT = 100
MAX_MENTIONS = 50
BEFORE = 60

_FIGURE = r"(?:\d{1,3}(?:[.,' ]\d{3}){1,2}|\d{1,7})(?!\d|[.,]\d|e[+-])(?: ?k\b)?"
_UNTIL = r" ?(?:[-\u2013\u2014]|\b(?:to|bis|à|a)\b) ?"
_SPAN = rf"(?<![\w.,-])(?P<low>{_FIGURE})(?:{_UNTIL}(?P<high>{_FIGURE}))?"
_MORE = r"(?P<more>\b(?:over|more than|above|über|mehr als|rund über|plus de|más de|oltre) |> ?)?"
_SIZE = re.compile(rf"{_MORE}{_SPAN}(?P<plus> ?\+)?", re.I)
_PEOPLE = (
    r"employees|staff|team members|colleagues|mitarbeite\w{1,8}|beschäftigte|(?P<vague>people)"
    r"|salariés|collaborateurs|empleados|dipendenti|medewerkers|anställda"
)
_SIZE_OF_STAFF = re.compile(rf"{_MORE}{_SPAN}(?P<plus> ?\+)? (?:{_PEOPLE})\b", re.I)
#: Whom the company sells to, rather than who works for it.
_OTHERS = re.compile(
    r"\b(?:compan(?:y|ies)|business(?:es)?|teams|organi[sz]ations?|firms|enterprises|customers?"
    r"|clients?|plans?|helped|helps|unternehmen (?:mit|ab|von)|entreprises|empresas|kunden)\b",
    re.I,
)
_SELVES = re.compile(
    r"\b(?:we|we.re|our|us|wir|unsere?[mn]?|nous|notre|somos|nuestro|team of|employs|employing"
    r"|beschäftig\w{1,3}|emploie)\b",
    re.I,
)
_TEAM = re.compile(
    r"\b(?:team of|we are|we.re|we employ)(?: (?:about|around|some|now|almost))? $", re.I
)


def structured_headcount(organisation: Thing) -> Found | None:
    """What an organisation's own data say."""
    source = organisation.source("numberOfEmployees")
    for part in organisation.parts("numberOfEmployees"):
        text = read_headcount(part) if isinstance(part, str) else _quantity(part)
        if text:
            return Found(text, source)
    return None


def _quantity(quantity: Thing) -> str:
    low, high = quantity.text("minValue"), quantity.text("maxValue")
    if low and high:
        return read_headcount(f"{low}-{high}")
    return read_headcount(f"{low}+" if low else quantity.text("value"))


def read_headcount(text: str) -> str:
    """The range that a short text like "51 - 200", "250+" or "350" stands for; empty if none."""
    size = _SIZE.search(text.replace(".0", "") if text.endswith(".0") else text[:MAX_TEXT])
    return _range(size) if size else ""


def headcount_in_words(text: str) -> str:
    """How many people a company says, in a text, that it employs; empty if it does not say."""
    return next(_told(text), "")


def _told(text: str) -> Iterator[str]:
    for size in islice(_SIZE_OF_STAFF.finditer(text), MAX_MENTIONS):
        before = text[max(0, size.start() - BEFORE) : size.start()]
        is_own = _TEAM.search(before) if size["vague"] else size["high"] or _SELVES.search(before)
        if is_own and not _OTHERS.search(before) and (found := _range(size)):
            yield found


def _range(size: re.Match[str]) -> str:
    low = _count(size["low"])
    high = _count(size["high"]) if size["high"] else low
    if not 0 < low <= high <= MOST_PEOPLE:
        return ""
    if low == high and (size["plus"] or size["more"]) and low <= BAND_ENDS[-1]:
        return f"{low}+"
    return _band(low) if _band(low) == _band(high) else f"{low}-{high}"


def _count(figure: str) -> int:
    digits = re.sub(r"\D", "", figure)
    return int(digits) * (1_000 if figure[-1] in "kK" else 1)


def _band(count: int) -> str:
    start = 1
    for end in BAND_ENDS:
        if count <= end:
            return f"{start}-{end}"
        start = end + 1
    return f"{start}+"
