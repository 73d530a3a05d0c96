"""A page as adapters see it: every view of it is made on first use, and once."""

import html
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from penstock.core.errors import UrlError
from penstock.core.urls import Url, parse
from penstock.extract.page import structured
from penstock.extract.page.structured import Item, fold
from penstock.extract.page.taming import tame
from penstock.kernel.model import Page

MAX_CHARACTERS = 12_000_000
MAX_VISIBLE = 200_000
MAX_LINKS = 5_000
MAX_ELEMENT = 20_000
MAX_HEAD = 300_000
MAX_TITLE = 2_000
MAX_BASES = 20
MAX_PLACES = 400
MAX_RUN = 120
UNSEEN = ["script", "style", "noscript", "template", "svg"]

_ABSOLUTE = ("https://", "http://")
_JOINING = (".", ",")
_MARKUP = re.compile(r"[<>{}=\"]")
_TITLE = re.compile(r"<title\b[^>]{0,200}>", re.IGNORECASE)
_TITLE_END = re.compile(r"</title", re.IGNORECASE)
_HTML = re.compile(r"<html\b[^>]{0,2000}", re.IGNORECASE)
_LANGUAGE = re.compile(
    r"""\s(?:xml:)?lang\s*=\s*["']?\s*([a-z]{2,3}(?:[-_][a-z]{2,4}){0,2})(?![a-z])""", re.IGNORECASE
)
_BASE = re.compile(r"<[bB][aA][sS][eE](?=\s)")

Node = LexborNode


class Link(NamedTuple):
    """Where a link leads, absolute, and what it says."""

    url: str
    text: str


class Document:
    """The text of a page at a URL. Structured data is scanned; the tree is built when asked for."""

    def __init__(self, text: str, url: str, utf8: bytes | None = None) -> None:
        self.text = text[:MAX_CHARACTERS]
        self.url = url
        self._utf8 = utf8

    @classmethod
    def of(cls, page: Page) -> "Document":
        """The document of a fetched page."""
        # The parser wants UTF-8: bytes that are need not be made again from the text.
        return cls(page.text, page.url, page.body if page.is_utf8 else None)

    @cached_property
    def location(self) -> Url:
        """The URL, parsed."""
        return parse(self.url)

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """The document tree without scripts and styles; the dearest of the views."""
        tamed = tame(self.text)
        is_whole = tamed is self.text
        tree = LexborHTMLParser(self._utf8 if self._utf8 and is_whole else tamed)
        tree.strip_tags(UNSEEN)
        return tree

    @cached_property
    def _base(self) -> Url:
        """What relative references start from: the first base element with an address, or here."""
        here = self.location
        end = self.text.find("</head", 0, MAX_HEAD)
        for match in islice(_BASE.finditer(self.text, 0, end if end >= 0 else MAX_HEAD), MAX_BASES):
            href = structured.attributes_of(self.text, match.end()).get("href")
            if href and not structured.in_comment(self.text, match.start()):
                return _resolve(html.unescape(href), here) or here
        return here

    def css(self, selector: str) -> list[Node]:
        """All elements that a selector matches."""
        return self.tree.css(selector)

    def first(self, selector: str) -> Node | None:
        """The first element that a selector matches."""
        return self.tree.css_first(selector)

    def first_text(self, selector: str) -> str:
        """The text of the first match that has any; empty if there is none."""
        return next((text for node in self.css(selector) if (text := text_of(node))), "")

    def attribute(self, selector: str, name: str) -> str:
        """An attribute of the first match that has it; empty if there is none."""
        values = (node.attributes.get(name) for node in self.css(selector))
        return next((fold(value) for value in values if value), "")

    @cached_property
    def visible_text(self) -> str:
        """Roughly what a reader sees, on one line, cut to a sane length."""
        body = self.tree.body
        return fold(body.text(separator=" ")[: MAX_VISIBLE * 2])[:MAX_VISIBLE] if body else ""

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The links of the page, in order, absolute; what is not http or https is left out."""
        found = []
        left = MAX_CHARACTERS
        for node in self.css("a[href]")[:MAX_LINKS]:
            if left > 0 and (url := self.absolute(node.attributes.get("href") or "")):
                text = node.text(separator=" ")
                # Links within links repeat what stands in the innermost.
                left -= len(text)
                found.append(Link(url, fold(text[:MAX_ELEMENT])))
        return tuple(found)

    def absolute(self, reference: str) -> str | None:
        """A reference on the page as an absolute URL, or None if it leads nowhere on the web."""
        try:
            base = self.location if reference.startswith(_ABSOLUTE) else self._base
        except UrlError:
            return None
        url = _resolve(reference, base)
        return url.href if url else None

    @cached_property
    def title(self) -> str:
        """What the title tag says."""
        match = _TITLE.search(self.text, 0, MAX_HEAD)
        if not match:
            return ""
        title, *closed = _TITLE_END.split(self.text[match.end() : match.end() + MAX_TITLE], 1)
        return fold(html.unescape(title if closed else title.partition("<")[0]))

    @cached_property
    def language(self) -> str:
        """The language the page declares, in lower case, like `de-ch`; empty if it does not."""
        tag = _HTML.search(self.text, 0, MAX_HEAD)
        match = _LANGUAGE.search(tag[0]) if tag else None
        return match[1].lower().replace("_", "-") if match else ""

    @cached_property
    def meta(self) -> dict[str, list[str]]:
        """The contents of meta tags by name or property."""
        return structured.meta_tags(self.text)

    def meta_value(self, *names: str) -> str:
        """The first content of the first of the named meta tags; empty if there is none."""
        return next((self.meta[name][0] for name in names if name in self.meta), "")

    @cached_property
    def json_ld(self) -> tuple[Item, ...]:
        """The items of the JSON-LD blocks."""
        return structured.json_ld(self.text, self._json_ld_spans)

    @cached_property
    def _json_ld_spans(self) -> tuple[tuple[int, int], ...]:
        return structured.json_ld_spans(self.text)

    def in_json_ld(self, at: int) -> bool:
        """Whether a place in the text is inside a JSON-LD block."""
        return any(start <= at < end for start, end in self._json_ld_spans)

    def places_of(self, words: str) -> Iterator[int]:
        """Where words stand in the text that are not part of a longer word or number."""
        at, text = -1, self.text
        for _ in range(MAX_PLACES if words else 0):
            at = text.find(words, at + 1)
            if at < 0:
                return
            before, behind = text[at - 1 : at], text[at + len(words) : at + len(words) + 2]
            joined = before.isalnum() or before in _JOINING or behind[:1].isalnum()
            if not joined and not (behind[:1] in _JOINING and behind[1:].isalnum()):
                yield at

    def shows(self, words: str) -> bool:
        """Whether words can be read on the page or in its URL, not only in markup and scripts."""
        if words and words in self.url:
            return True
        for at in self.places_of(words):
            opening = self.text.rfind(">", max(0, at - MAX_RUN), at)
            beside = self.text[opening + 1 : at] if opening >= 0 else "<"
            if not _MARKUP.search(beside):
                return True
        return False

    @cached_property
    def microdata(self) -> tuple[tuple[Item, Node], ...]:
        """The outermost microdata items with their elements."""
        if "itemscope" not in self.text:
            return ()
        return structured.marked_up(self.tree, structured.MICRODATA)

    @cached_property
    def rdfa(self) -> tuple[tuple[Item, Node], ...]:
        """The outermost RDFa items with their elements."""
        if "typeof=" not in self.text:
            return ()
        return structured.marked_up(self.tree, structured.RDFA)


def text_of(node: Node) -> str:
    """The text of an element, on one line; of a very long one, its beginning."""
    return fold(node.text(separator=" ")[:MAX_ELEMENT])


def _resolve(reference: str, base: Url) -> Url | None:
    try:
        return parse(reference.strip(), base)
    except UrlError:
        return None
