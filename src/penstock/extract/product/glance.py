"""A glance at a page: what can be told from its text without building the document tree.

It only confirms. What it does not see for sure is left to a reading of the tree.
"""

import html
import re
from collections import deque
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

from penstock.extract.page.document import Document
from penstock.extract.page.structured import fold
from penstock.extract.product.names import akin
from penstock.extract.product.signs import names_amount
from penstock.extract.values.currency_signs import possible_currencies
from penstock.extract.values.price_hints import PriceHints
from penstock.extract.values.price_mentions import mentions_in
from penstock.extract.values.written_number import readings

MAX_HEADINGS = 3
MAX_TAGS = 300
MAX_LEFT_OPEN = 6
#: What is longer tells a story, and names no price.
MAX_PIECE = 60
#: How far behind the heading to look.
WINDOW = 8_000
WORDS_BESIDE = 3
THOUSAND_DIGITS = 3
THOUSAND_SIGNS = (",", ".", " ", "\u00a0", "\u202f", "\u2019")

UNSEEN = frozenset(
    ["script", "style", "template", "noscript", "svg", "select", "del", "s", "strike"]
)
GONE = ("out-of-stock", "outofstock", "sold-out", "soldout")
VOID = frozenset(["img", "input", "br", "hr", "meta", "link", "source"])
#: Names of elements that hold what the product cost before, or another amount.
ASIDE = re.compile(
    r"""class=["'][^"']*?(?:old|was(?![a-z])|rrp|msrp|strike|cross|compare|list-?price|sav(?:e|ing)"""
    r"""|regular|unit-?price|hidden|excl)"""
)

_DIGIT = re.compile(r"\d")
_HEADING = re.compile(r"<h1\b[^>]{0,1000}>(.{0,3000}?)</h1\s*>", re.DOTALL)
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]{0,40})([^<>]{0,3000})>")
_GONE = re.compile(
    r"""class=["'](?:[^"'>]{0,100}\s)?(?:out-?of-?stock|sold-?out)(?:\s[^"'>]{0,100})?["']"""
)


class Heading(NamedTuple):
    """A main heading: its words, where it ends in the text, and whether it leads to a page."""

    words: str
    end: int
    is_link: bool


class Glance:
    """What can be seen of a page in passing."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._found: dict[str, Heading | None] = {}

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """What the page calls itself: its title for sharing, its title tag, its main headings."""
        titles = [self.document.meta_value("og:title"), self.document.title]
        titles += [heading.words for heading in self._headings()]
        return tuple(title for title in titles if title)

    @cached_property
    def name(self) -> str:
        """What the page calls its product: the heading its title begins with, else the title."""
        title = self.document.meta_value("og:title") or self.document.title
        headings = (one.words for one in self._headings() if not one.is_link)
        return next((one for one in headings if title.lower().startswith(one.lower())), title)

    def confirms(self, name: str, amount: Decimal, hints: PriceHints) -> bool | None:
        """Whether the first price behind the heading that names a product is this amount.

        None if there is no price to be seen.
        """
        heading = self._heading_of(name)
        if heading is None:
            return None
        markup = self.document.text[heading.end : heading.end + WINDOW]
        for text in _texts_with_amounts(markup):
            for mention in mentions_in(text, hints):
                if mention.symbol and not mention.objection:
                    return amount in readings(mention.number) and _may_be(mention.symbol, hints)
        return None

    def may_be_gone(self, name: str) -> bool:
        """Whether an element named for being sold out stands behind the heading."""
        heading = self._heading_of(name)
        markup = self.document.text[heading.end : heading.end + WINDOW] if heading else ""
        return any(word in markup for word in GONE) and bool(_GONE.search(markup))

    def _heading_of(self, name: str) -> Heading | None:
        if name not in self._found:
            fitting = (one for one in self._headings() if akin(one.words, name))
            self._found[name] = next(fitting, None)
        return self._found[name]

    def _headings(self) -> Iterator[Heading]:
        text, at = self.document.text, -1
        for _ in range(MAX_HEADINGS):
            at = text.find("<h1", at + 1)
            if at < 0:
                return
            match = _HEADING.match(text, at)
            if match and (words := _visible(match[1])):
                yield Heading(words, match.end(), "<a" in match[1])


def is_written(document: Document, amount: Decimal) -> bool:
    """Whether an amount stands on the page besides in its JSON-LD, in some spelling."""
    return any(
        not document.in_json_ld(at)
        for spelling in spellings(amount)
        for at in document.places_of(spelling)
    )


def spellings(amount: Decimal) -> list[str]:
    """The ways in which pages write an amount."""
    whole, _, rest = f"{amount.normalize():f}".partition(".")
    wholes = [whole]
    if len(whole) > THOUSAND_DIGITS:
        groups = f"{int(whole):,}"
        wholes += [groups.replace(",", sign) for sign in THOUSAND_SIGNS]
    if not rest:
        return [start + end for start in wholes for end in ("", ".00", ",00", ".0")]
    cents = rest.ljust(2, "0")
    return [f"{start}{sign}{cents}" for start in wholes for sign in ".,"]


def _may_be(symbol: str, hints: PriceHints) -> bool:
    """Whether a sign can stand for the currency that the page states."""
    return not hints.currency or hints.currency in possible_currencies(symbol)


def _visible(markup: str) -> str:
    """The words of markup that are seen."""
    return _plain(_pieces(markup))


def _texts_with_amounts(markup: str) -> Iterator[str]:
    """Short texts that may name an amount of money, each with some words around it."""
    words: deque[str] = deque(maxlen=2 * WORDS_BESIDE)
    left, had_number = 0, False
    for piece in chain(_pieces(markup), [""] * WORDS_BESIDE):
        words.append(piece)
        has_number = bool(_DIGIT.search(piece))
        if left:
            left -= 1
            if not left:
                yield _plain(words)
        elif (has_number or had_number) and names_amount(_plain(words)):
            left = WORDS_BESIDE
        had_number = has_number


def _plain(pieces: Iterable[str]) -> str:
    return fold(html.unescape(" ".join(pieces)))


def _pieces(markup: str) -> Iterator[str]:
    """The texts between tags, without what is unseen, crossed out or named for another amount."""
    first, *others = markup.split("<!--")
    markup = first + "".join(other.partition("-->")[2] for other in others)
    opened: list[tuple[str, str]] = []
    at = 0
    for tag in islice(_TAG.finditer(markup), MAX_TAGS):
        start, end = tag.span()
        if 0 < start - at <= MAX_PIECE and _is_seen(piece := markup[at:start], opened):
            yield piece
        slash, name, marks = tag.groups()
        at, name = end, name.lower()
        if slash:
            _close(name, opened)
        elif name not in VOID:
            opened.append((name, marks))
    yield markup[at : at + MAX_PIECE].partition("<")[0]


def _close(name: str, opened: list[tuple[str, str]]) -> None:
    """End the innermost element of a name; what was left open in it ends as well."""
    for place in range(len(opened) - 1, max(-1, len(opened) - MAX_LEFT_OPEN), -1):
        if opened[place][0] == name:
            del opened[place:]
            return


def _is_seen(piece: str, opened: list[tuple[str, str]]) -> bool:
    if piece.isspace() or not UNSEEN.isdisjoint([name for name, _ in opened]):
        return False
    return not _DIGIT.search(piece) or not any(ASIDE.search(marks.lower()) for _, marks in opened)
