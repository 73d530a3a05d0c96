"""The words that were looked for, marked in what was found."""

from collections.abc import Collection, Iterator, Mapping
from html import escape

from penstock.products.search.analysis import Place, composed, places_in

#: Characters of a long text that are shown, and how many of them stand before the first word.
SHOWN, BEFORE = 240, 60
ELLIPSIS = "…"


def highlight(fields: Mapping[str, str | None], stems: Collection[str]) -> dict[str, str]:
    """HTML of those fields that have one of some stems; of a long text the part around it."""
    found = {name: mark(text, stems) for name, text in fields.items() if text}
    return {name: html for name, html in found.items() if html is not None}


def mark(text: str, stems: Collection[str]) -> str | None:
    """HTML of a text with its words of some stems in `<em>`; None if it has none of them."""
    text = composed(text)
    places = [place for place in places_in(text) if _has(place, stems)]
    if not places:
        return None
    start, end = _part_around(places[0], len(text))
    marked = "".join(_pieces(text, [place for place in places if place.end <= end], start, end))
    return f"{ELLIPSIS * (start > 0)}{marked}{ELLIPSIS * (end < len(text))}"


def _has(place: Place, stems: Collection[str]) -> bool:
    return any(word.stem in stems for word in place.words)


def _part_around(place: Place, length: int) -> tuple[int, int]:
    if length <= SHOWN:
        return 0, length
    start = min(max(0, place.start - BEFORE), length - SHOWN)
    return start, max(start + SHOWN, place.end)


def _pieces(text: str, places: list[Place], start: int, end: int) -> Iterator[str]:
    at = start
    for place in places:
        yield escape(text[at : place.start])
        yield f"<em>{escape(text[place.start : place.end])}</em>"
        at = place.end
    yield escape(text[at:end])
