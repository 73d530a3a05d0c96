"""Structured data of a page: JSON-LD and meta tags by scanning, microdata and RDFa from the tree.

All of it comes out in one shape, JSON-LD's: an item is a dict with "@type" and its properties.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urldefrag

from selectolax.lexbor import LexborHTMLParser, LexborNode

from penstock.extract.page.loose_json import MAX_CHARACTERS, read_json

Item = dict[str, Any]

MAX_BLOCKS = 60
MAX_ITEMS = 2_000
MAX_DEPTH = 30
MAX_ELEMENTS = 20_000
MAX_TEXT = 5_000
MAX_META = 400
MAX_ATTRIBUTES = 500

_META = re.compile(r"<meta\b([^>]{1,4000})>", re.I)
_ATTRIBUTE = re.compile(r"""([a-z][\w:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.I)
_LINKING = {"a": "href", "link": "href", "area": "href", "img": "src", "source": "src"}


def fold(text: str) -> str:
    """Text on one line, without space around it."""
    return " ".join(text.split())


def types_of(item: Mapping[str, Any]) -> tuple[str, ...]:
    """The bare names of an item's types: `http://schema.org/Product` is `Product`."""
    named = item.get("@type") or ()
    many = named if isinstance(named, list) else [named]
    return tuple(re.split(r"[/#:]", name.strip())[-1] for name in many if isinstance(name, str))


def as_list(value: Any) -> list[Any]:
    """A value that may be a list, as one."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def json_ld(text: str, spans: Iterable[tuple[int, int]]) -> tuple[Item, ...]:
    """Every item of the page's JSON-LD blocks, outermost first, graphs and lists unfolded."""
    items: list[Item] = []
    for start, end in spans:
        if end - start <= MAX_CHARACTERS:
            items.extend(_unfold(read_json(text[start:end])))
    return tuple(items[:MAX_ITEMS])


def json_ld_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where the JSON-LD blocks of a page begin and end; those in comments do not count."""
    found: list[tuple[int, int]] = []
    at = 0
    for _ in range(MAX_BLOCKS):
        at = text.find("ld+json", at + 1)
        if at < 0:
            break
        start = text.find(">", at, at + MAX_ATTRIBUTES) + 1
        tag = text.rfind("<", max(0, at - MAX_ATTRIBUTES), at)
        if start and text[tag : tag + 7].lower() == "<script" and not _in_comment(text, tag):
            end = text.find("</script", start)
            found.append((start, end if end >= 0 else len(text)))
    return tuple(found)


def _in_comment(text: str, at: int) -> bool:
    return text.rfind("<!--", 0, at) > text.rfind("-->", 0, at)


def _unfold(value: Any) -> Iterator[Item]:
    for element in as_list(value):
        if not isinstance(element, dict):
            if isinstance(element, list):
                yield from _unfold(element)
            continue
        if graph := element.get("@graph"):
            yield from _unfold(graph)
        if "@type" in element:
            yield element


def within(items: Iterable[Item], skip: frozenset[str] = frozenset()) -> Iterator[Item]:
    """Items and those nested in them, outermost first; not through the properties to skip."""
    level: list[Any] = list(items)
    count = 0
    for _ in range(MAX_DEPTH):
        deeper: list[Any] = []
        for item in level:
            count += 1
            if count > MAX_ITEMS:
                return
            yield item
            for name, value in item.items():
                if name not in skip and name[:1] != "@":
                    deeper += _items_in(value)
        if not deeper:
            return
        level = deeper


def _items_in(value: Any) -> list[Item]:
    if isinstance(value, dict):
        return [value]
    if isinstance(value, list):
        return [element for element in value if isinstance(element, dict)]
    return []


def meta_tags(text: str) -> dict[str, list[str]]:
    """The contents of meta tags by name or property, in lower case."""
    tags: dict[str, list[str]] = {}
    head = text.find("</head")
    for count, match in enumerate(_META.finditer(text, 0, head if head >= 0 else len(text))):
        if count == MAX_META:
            break
        pairs = _ATTRIBUTE.findall(match[1])
        attributes = {name.lower(): one or two or bare for name, one, two, bare in pairs}
        content = attributes.get("content")
        if not content:
            continue
        name = attributes.get("property") or attributes.get("name")
        if name:
            value = fold(html.unescape(content))
            tags.setdefault(name.lower(), []).append(value)
    return tags


@dataclass(frozen=True, slots=True)
class Syntax:
    """The attributes a syntax marks items with."""

    scope: str
    type: str
    property: str


MICRODATA = Syntax("itemscope", "itemtype", "itemprop")
RDFA = Syntax("typeof", "typeof", "property")


def marked_up(tree: LexborHTMLParser, syntax: Syntax) -> tuple[tuple[Item, LexborNode], ...]:
    """The outermost items of a document, each with the element that holds it."""
    items: dict[int, Item] = {}
    outermost: list[tuple[Item, LexborNode]] = []
    elements = tree.css(f"[{syntax.scope}],[{syntax.property}]")
    last = 0
    for element in elements[:MAX_ELEMENTS]:
        if element.mem_id == last:
            continue  # it matched both halves of the selector
        last = element.mem_id
        attributes = element.attributes
        item: Item | None = None
        if syntax.scope in attributes:
            item = {"@type": (attributes.get(syntax.type) or "").split()}
            items[element.mem_id] = item
        owner = _owner(element, items)
        names = (attributes.get(syntax.property) or "").split()
        if owner is not None and names:
            for name in names:
                _add(owner, name, item if item is not None else _value(element, attributes))
        elif item is not None:
            outermost.append((item, element))
    return tuple(outermost)


def _owner(element: LexborNode, items: dict[int, Item]) -> Item | None:
    parent = element.parent
    for _ in range(200):
        if parent is None:
            return None
        if (item := items.get(parent.mem_id)) is not None:
            return item
        parent = parent.parent
    return None


def _add(owner: Item, name: str, value: Any) -> None:
    name = re.split(r"[/#:]", name)[-1]
    if name not in owner:
        owner[name] = value
    elif isinstance(owner[name], list):
        owner[name].append(value)
    else:
        owner[name] = [owner[name], value]


def _value(element: LexborNode, attributes: Mapping[str, str | None]) -> str:
    for name in ("content", "datetime", _LINKING.get(element.tag or ""), "value"):
        if name and (value := attributes.get(name)):
            return fold(value)
    return fold(element.text()[:MAX_TEXT])


def without_fragment(url: str) -> str:
    """A URL for comparing where items point."""
    return urldefrag(url)[0].rstrip("/")
