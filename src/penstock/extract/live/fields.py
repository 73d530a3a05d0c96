"""Fields of a page by CSS selectors that are tried in order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.extract.live.adapter import Snapshot, State, Unreadable
from penstock.extract.page.document import Document, text_of
from penstock.kernel.records import ExtractReason

MAX_SHOWN = 60
MAX_LIST = 100
_NUMBER = re.compile(r"[0-9]{1,15}")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """What a selector found; `place` is 0 for the first of those that were tried."""

    text: str
    selector: str
    place: int


def first(document: Document, *selectors: str) -> Found | None:
    """The text that the first selector finds which finds any; it may end in `@attribute`."""
    for place, selector in enumerate(selectors):
        css, _, attribute = selector.partition("@")
        text = document.attribute(css, attribute) if attribute else document.first_text(css)
        if text:
            return Found(text, selector, place)
    return None


class Fields:
    """Fields of one page, gathered; what is missing or odd among them makes it unreadable.

    That a field was not where it used to be is noted: the page is about to change for good.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._missing: list[str] = []
        self._odd: list[str] = []
        self._notes: list[str] = []

    def text(self, name: str, *selectors: str) -> str:
        """A field that every page has."""
        found = self.optional(name, *selectors)
        if found is None:
            self._missing.append(f"{name} ({', '.join(selectors)})")
        return found or ""

    def number(self, name: str, *selectors: str) -> int:
        """A whole number that every page has, written with digits alone."""
        text = self.text(name, *selectors)
        return self._as_number(name, text) if text else 0

    def choice(self, name: str, meanings: Mapping[str, T], *selectors: str) -> T | None:
        """What a field means whose texts are known; any other text is odd."""
        text = self.text(name, *selectors)
        if text and text not in meanings:
            self.refuse(name, text)
        return meanings.get(text)

    def optional(self, name: str, *selectors: str) -> str | None:
        """A field that may be missing."""
        found = first(self._document, *selectors)
        if found is None:
            return None
        self._note(name, found.selector, found.place)
        return found.text

    def optional_number(self, name: str, *selectors: str) -> int | None:
        """A whole number that may be missing."""
        text = self.optional(name, *selectors)
        return None if text is None else self._as_number(name, text)

    def texts(self, name: str, *selectors: str) -> list[str]:
        """The texts of all elements of the first selector that finds any; there may be none."""
        for place, selector in enumerate(selectors):
            nodes = self._document.css(selector)[:MAX_LIST]
            if nodes:
                self._note(name, selector, place)
                return [text_of(node) for node in nodes]
        return []

    def numbers(self, name: str, *selectors: str) -> list[int]:
        """The same of whole numbers."""
        return [self._as_number(name, text) for text in self.texts(name, *selectors)]

    def refuse(self, name: str, text: str) -> None:
        """Say that a field is not what it should be."""
        self._odd.append(f"{name} is {text[:MAX_SHOWN]!r}")

    def snapshot(self, payload: Mapping[str, Any], state: State | None) -> Snapshot | Unreadable:
        """What was gathered, unless something is missing or odd, the state too."""
        if self._missing:
            detail = f"not found: {'; '.join(self._missing)}"
            return Unreadable(ExtractReason.SELECTOR_NOT_FOUND, detail)
        if self._odd or state is None:
            return odd("; ".join(self._odd) or "its state is not known")
        return Snapshot(payload, state, tuple(self._notes))

    def _as_number(self, name: str, text: str) -> int:
        if _NUMBER.fullmatch(text):
            return int(text)
        self.refuse(name, text)
        return 0

    def _note(self, name: str, selector: str, place: int) -> None:
        if place:
            self._notes.append(f"{name} was found by {selector}, the fallback number {place}")


def odd(detail: str) -> Unreadable:
    """A page that has what it should have, but says something strange in it."""
    return Unreadable(ExtractReason.PAGE_STRUCTURE_CHANGED, detail)


def refusals(errors: Sequence[Mapping[str, Any]]) -> str:
    """What a validator has against something, on one line, without what was in it."""
    told = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}".lstrip(": ") for one in errors)
    return "; ".join(told)
