"""Structured data of a page: JSON-LD and meta tags by scanning, microdata and RDFa from the tree.

All of it comes out in one shape, JSON-LD's: an item is a dict with "@type" and its properties.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from penstock.extract.page.loose_json import MAX_CHARACTERS, read_json

Item = dict[str, Any]

MAX_BLOCKS = 60
MAX_ITEMS = 2_000
MAX_DEPTH = 30
MAX_ELEMENTS = 20_000
MAX_CLIMB = 400
MAX_TEXT = 5_000
MAX_META = 400
MAX_TAG = 8_000
MAX_ATTRIBUTES = 500

_JSON_LD = re.compile(r"""(?i)\stype\s*=\s*["']?\s*application/ld(?:\+|&#43;|&#x2b;|&plus;)json""")
#: How the type is written, and how else; long words are found faster than short ones.
_JSON_LD_TYPE, _ODD_JSON_LD = "pplication/ld", "/LD+JSON"
_SCRIPT_END = re.compile(r"</[sS][cC][rR][iI][pP][tT]")
_META = re.compile(r"<[mM][eE][tT][aA](?=[\s/])")
_TAG_REST = re.compile(r"""(?:[^>"']++|"[^"]*+"|'[^']*+')*+""")
_ATTRIBUTE = re.compile(
    r"""(?<![\w:.-])([a-z][\w:.-]*+)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""", re.I
)
_NAME_PARTS = re.compile(r"[/#:]")
#: The attributes that hold the value of an element, by its tag.
_VALUE_ATTRIBUTES = {
    **dict.fromkeys(["a", "link", "area"], "href"),
    **dict.fromkeys(["img", "source", "video", "audio", "iframe", "embed", "track"], "src"),
    **dict.fromkeys(["data", "meter", "input"], "value"),
    "object": "data",
    "time": "datetime",
}
#: Vocabularies of RDFa whose properties are not schema.org's, though some have the same name.
_OTHER_VOCABULARIES = frozenset(
    ["og", "fb", "twitter", "article", "product", "dc", "dcterms", "foaf", "sioc", "content", "cc"]
)


def fold(text: str) -> str:
    """Text on one line, without space around it."""
    return " ".join(text.split())


def types_of(item: Mapping[str, Any]) -> tuple[str, ...]:
    """The bare names of an item's types: `http://schema.org/Product` is `Product`."""
    named = item.get("@type") or ()
    many = named if isinstance(named, list) else [named]
    return tuple(bare_name(name) for name in many if isinstance(name, str))


def bare_name(name: str) -> str:
    """The last part of a name that may be a URL or have a prefix."""
    return name if name.isalnum() else _NAME_PARTS.split(name.strip().rstrip("/"))[-1]


def as_list(value: Any) -> list[Any]:
    """A value that may be a list, as one."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def json_ld(text: str, spans: Iterable[tuple[int, int]]) -> tuple[Item, ...]:
    """Every item of the page's JSON-LD blocks, outermost first, graphs and lists unfolded."""
    items: list[Item] = []
    left = MAX_CHARACTERS
    for start, end in spans:
        if end - start <= left:
            left -= end - start
            items.extend(_unfold(read_json(text[start:end])))
    return tuple(items[:MAX_ITEMS])


def json_ld_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where the JSON-LD blocks of a page begin and end; those in comments do not count."""
    found: list[tuple[int, int]] = []
    for at in _mentions_of_json_ld(text):
        tag = text.rfind("<", max(0, at - MAX_ATTRIBUTES), at)
        start = text.find(">", at, at + MAX_ATTRIBUTES) + 1
        since = found[-1][1] if found else 0
        if tag < since or not start or text.find(">", tag, at) >= 0:
            continue
        is_block = text[tag : tag + 7].lower() == "<script" and _JSON_LD.search(text, tag, start)
        if is_block and not in_comment(text, tag, since):
            end = _SCRIPT_END.search(text, start)
            found.append((start, end.start() if end else len(text)))
    return tuple(found)


def _mentions_of_json_ld(text: str) -> Iterator[int]:
    spelling, at = _JSON_LD_TYPE, text.find(_JSON_LD_TYPE)
    if at < 0 and "schema.org" in text:
        spelling, at = _ODD_JSON_LD, text.find(_ODD_JSON_LD)
    for _ in range(MAX_BLOCKS):
        if at < 0:
            return
        yield at
        at = text.find(spelling, at + 1)


def in_comment(text: str, at: int, since: int = 0) -> bool:
    """Whether a place is inside a comment; `since` is a place before it that is not."""
    opening = text.rfind("<!--", since, at)
    if opening < 0 or text.find("-->", opening, at) >= 0:
        return False
    # In a script these are characters like any others.
    script = max(text.rfind(name, since, opening) for name in ("<script", "<SCRIPT"))
    return script < 0 or bool(_SCRIPT_END.search(text, script, opening))


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
    end = text.find("</head")
    if end < 0:
        end = text.find("</HEAD")
    head = _without_comments(text[:end] if end >= 0 else text)
    for match in islice(_META.finditer(head), MAX_META):
        attributes = attributes_of(head, match.end())
        value = fold(html.unescape(attributes.get("content", "")))
        if not value:
            continue
        names = f"{attributes.get('property', '')} {attributes.get('name', '')}".lower().split()
        for name in dict.fromkeys(names):
            tags.setdefault(name, []).append(value)
    return tags


def attributes_of(text: str, at: int) -> dict[str, str]:
    """The attributes of a tag, from a place in it on, as they are written; the first of two counts.

    A tag that is longer than any real one, or has no end, has none.
    """
    found: dict[str, str] = {}
    for name, one, two, bare in _ATTRIBUTE.findall(text, at, _end_of_tag(text, at)):
        found.setdefault(name.lower(), one or two or bare)
    return found


def _end_of_tag(text: str, at: int) -> int:
    """Where a tag ends, which is not in a quoted value; at its beginning if nowhere near."""
    end = text.find(">", at, at + MAX_TAG)
    if end >= 0 and not (text.count('"', at, end) % 2 or text.count("'", at, end) % 2):
        return end
    inside = _TAG_REST.match(text, at, at + MAX_TAG)
    return inside.end() if inside and text.startswith(">", inside.end()) else at


def _without_comments(text: str) -> str:
    if "<!--" not in text:
        return text
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join([*parts, text[at:]])


@dataclass(frozen=True, slots=True)
class Syntax:
    """The attributes a syntax marks items with."""

    scope: str
    type: str
    property: str
    reference: str
    others: frozenset[str] = frozenset()


MICRODATA = Syntax("itemscope", "itemtype", "itemprop", "itemref")
RDFA = Syntax("typeof", "typeof", "property", "", _OTHER_VOCABULARIES)


@dataclass(slots=True)
class _Found:
    """An item on its way: the element that holds it, its owner, and how deep that makes it."""

    item: Item
    element: LexborNode
    owner: "_Found | None" = None
    depth: int = 0


@dataclass(slots=True)
class _Page:
    """The items of a document by their elements, and by the ids of elements that belong to them."""

    items: dict[int, _Found] = field(default_factory=dict)
    referred: dict[str, _Found] = field(default_factory=dict)
    owners: dict[int, _Found | None] = field(default_factory=dict)


def marked_up(tree: LexborHTMLParser, syntax: Syntax) -> tuple[tuple[Item, LexborNode], ...]:
    """The outermost items of a document, each with the element that holds it."""
    elements = tree.css(f"[{syntax.scope}],[{syntax.property}]")[:MAX_ELEMENTS]
    # An element that matches both halves of the selector comes twice.
    marked = [(node, node.attributes) for node in {one.mem_id: one for one in elements}.values()]
    page = _Page()
    for element, attributes in marked:
        if syntax.scope in attributes:
            found = _Found({"@type": (attributes.get(syntax.type) or "").split()}, element)
            page.items[element.mem_id] = found
            for name in (attributes.get(syntax.reference) or "").split():
                page.referred.setdefault(name, found)
    for element, attributes in marked:
        _add_to_owner(page, element, attributes, syntax)
    return tuple((one.item, one.element) for one in page.items.values() if one.owner is None)


def _add_to_owner(
    page: _Page, element: LexborNode, attributes: Mapping[str, str | None], syntax: Syntax
) -> None:
    names = [
        name
        for name in (attributes.get(syntax.property) or "").split()
        if name.partition(":")[0] not in syntax.others
    ]
    owner = _owner(page, element) if names else None
    if owner is None:
        return
    own = page.items.get(element.mem_id)
    if own is None:
        value: Any = _value(element, attributes)
    elif owner.depth < MAX_DEPTH and not _is_inside(owner, own):
        own.owner, own.depth, value = owner, owner.depth + 1, own.item
    else:
        return
    for name in names:
        _add(owner.item, name, value)


def _is_inside(one: _Found, other: _Found) -> bool:
    """Whether an item is another or part of it: references can go in circles."""
    step: _Found | None = one
    while step is not None and step is not other:
        step = step.owner
    return step is other


def _owner(page: _Page, element: LexborNode) -> _Found | None:
    """The item that a property belongs to: the one around it, or one that refers to it."""
    passed: list[int] = []
    node: LexborNode | None = element
    owner = None
    for _ in range(MAX_CLIMB):
        if node is None:
            break
        if node.mem_id in page.owners:
            owner = page.owners[node.mem_id]
            break
        if node is not element and (owner := page.items.get(node.mem_id)):
            break
        if page.referred and (owner := page.referred.get(node.attributes.get("id") or "")):
            break
        passed.append(node.mem_id)
        node = node.parent
    # Below an item there is another owner, and so it is kept for all but the element itself.
    for mem_id in passed[1:]:
        page.owners[mem_id] = owner
    return owner


def _add(owner: Item, name: str, value: Any) -> None:
    name = bare_name(name)
    if name not in owner:
        owner[name] = value
    elif isinstance(owner[name], list):
        owner[name].append(value)
    else:
        owner[name] = [owner[name], value]


def _value(element: LexborNode, attributes: Mapping[str, str | None]) -> str:
    for name in ("content", "resource", "datetime", _VALUE_ATTRIBUTES.get(element.tag or "", "")):
        if value := attributes.get(name):
            return fold(value)
    return fold(element.text()[:MAX_TEXT])


def without_fragment(url: str) -> str:
    """A URL for comparing where items point."""
    return url.partition("#")[0].rstrip("/")
