"""Where on a page the product stands: its title, and the elements around it."""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from penstock.extract.page.document import Document, Node, text_of
from penstock.extract.page.structured import without_fragment
from penstock.extract.product.names import is_part, same_words

MAX_LEVELS = 14
MAX_TITLES = 400
MAX_TITLE = 300
MAX_AROUND = 200
MAX_CARD_LEVELS = 6
MAX_CARD_NODES = 200
SHORTEST_TITLE = 4

TITLES = "h1"
OTHER_TITLES = "h2,h3,[class*=title i],[class*=name i],[id*=title i],[itemprop=name]"
HEADINGS = frozenset(["h2", "h3", "h4", "h5", "h6"])
#: Elements whose content is not about this product.
ELSEWHERE = re.compile(
    r"relat|recommend|carousel|slider|slick|swiper|upsell|up-sell|cross-?sell|similar|also|viewed"
    r"|recent|bundle|accessor|suggest|compare-?(?:list|products)|mini-?cart|minibasket|cart-?total"
    r"|basket-?total|(?:^| |site-|page-|main-|global-)header|footer|navbar|nav-|menu"
    r"|breadcrumb|review|comment|popup|modal|drawer|wishlist|newsletter|sponsor|advert|faq|frequently"
    r"|other-?(?:offer|seller|vendor|product|item)|more-?(?:offer|seller|product|from)"
)
#: Headings above other products.
OTHERS = re.compile(
    r"\b(?:also|auch|aussi|anche|ook|andre|related|similar|recommend\w*|alternativ\w*|popular"
    r"|recently|best ?sellers?|bought together|more from|you (?:may|might)|pairs? well|goes with"
    r"|ähnliche\w*|andere kunden|passend\w*|zubehör|empfehl\w*|beliebt\w*|similaires?|vous aimerez"
    r"|complémentaires?|correlat\w*|simili|potrebbe|relacionad\w*|similares|también|também"
    r"|gerelateerd\w*|vergelijkbare?|liknande|relatert?e|relaterade|lignende|podobne|podobné"
    r"|polecane|zobacz|související|похожие|рекоменд\w*|с этим)\b"
    r"|関連|おすすめ|推薦|推荐|相关|相關|관련|추천|คล้าย|مشابه|ذات صلة",
    re.IGNORECASE,
)
ASIDE = frozenset(["nav", "footer", "aside", "select", "option", "dialog", "label"])
CONTENT = frozenset(["main", "article", "section"])
NAMING = frozenset(["class", "id", "itemprop", "data-testid", "data-test", "data-hook"])
#: What a style says that a name says elsewhere.
STYLES = (
    (re.compile(r"line-through"), "strike"),
    (re.compile(r"display:\s*none|visibility:\s*hidden"), "hidden"),
)


class Ring(NamedTuple):
    """A zone, and the parts of it that stand outside of the zone within."""

    zone: Node
    parts: tuple[Node, ...]

    @property
    def text(self) -> str:
        """What those parts say, on one line."""
        return " ".join(" ".join(part.text(separator=" ") for part in self.parts).split())


class Place:
    """The product's title on a page, and ever wider zones around it."""

    def __init__(self, document: Document, name: str) -> None:
        self.document = document
        self._name = name
        self._here = without_fragment(document.url)
        self._zones: list[Node] = []
        self._rings: list[Ring] = []
        self._names: dict[int, str] = {}
        self._listed: dict[int, bool] = {}
        self._others: dict[int, int] = {}

    @cached_property
    def title(self) -> Node | None:
        """The element that names the product."""
        headings = [(node, text) for node in self.document.css(TITLES) if (text := text_of(node))]
        named = self._name or self.document.meta_value("og:title") or self.document.title
        for node, text in headings:
            if same_words(text[:MAX_TITLE], named) or same_words(named, text[:MAX_TITLE]):
                return node
        if len(headings) == 1:
            return headings[0][0]
        return self._other_title(named)

    def _other_title(self, named: str) -> Node | None:
        for node in self.document.css(OTHER_TITLES)[:MAX_TITLES]:
            words = text_of(node)
            if len(words) >= SHORTEST_TITLE and words in named and not self.is_elsewhere(node):
                return node
        return None

    @property
    def zones(self) -> Iterator[Node]:
        """Elements around the title, from the nearest to the whole page, each with more text."""
        yield from self._zones
        if self._zones:
            node, size = self._zones[-1].parent, len(self._zones[-1].text() or "")
        else:
            node, size = (self.title.parent if self.title else self.document.tree.body), -1
        while node is not None and node.tag not in ("html", "-undef"):
            length = len(node.text() or "")
            if length > size and len(self._zones) < MAX_LEVELS:
                self._zones.append(node)
                yield node
                size = length
            node = node.parent

    @property
    def rings(self) -> Iterator[Ring]:
        """The zones, each without the one before: what was nothing there is nothing later on."""
        inner: Node | None = None
        for place, zone in enumerate(self.zones):
            if place == len(self._rings):
                parts = (zone,) if inner is None else tuple(_outside(inner, zone))
                self._rings.append(Ring(zone, parts))
            yield self._rings[place]
            inner = zone

    def surroundings(self, element: Node, zone: Node) -> tuple[str, set[str]]:
        """The names and the tags of an element and of all around it, up to a zone."""
        names, tags = [], set()
        for node in _upwards(element, zone):
            tags.add(node.tag or "")
            if node.mem_id not in self._names:
                self._names[node.mem_id] = names_of(node)
            names.append(self._names[node.mem_id])
        return " ".join(names), tags

    def is_elsewhere(self, node: Node, zone: Node | None = None) -> bool:
        """Whether an element belongs to something else on the page."""
        limit = zone or self.document.tree.body
        if limit is None:
            return False
        return is_about_something_else(*self.surroundings(node, limit))

    def is_of_another(self, element: Node, zone: Node) -> bool:
        """Whether an element is part of a link to another page, or of a card with such a link."""
        if element.mem_id not in self._others:
            self._others[element.mem_id] = self._other_around(element)
        other = self._others[element.mem_id]
        return bool(other) and any(node.mem_id == other for node in _upwards(element, zone))

    def _other_around(self, element: Node) -> int:
        """The nearest element around one that is about something else; zero if there is none."""
        around = islice(_upwards(element, self.document.tree.body), MAX_AROUND)
        for level, node in enumerate(around):
            if node.tag == "a" and self._leads_away(node):
                return node.mem_id
            is_near = 0 < level <= MAX_CARD_LEVELS
            if is_near and (self._is_listed(node) or self._is_headed(node, element)):
                return node.mem_id
        return 0

    def _leads_away(self, link: Node) -> bool:
        href = link.attributes.get("href")
        target = self.document.absolute(href) if href else None
        return target is not None and without_fragment(target) != self._here

    def _is_listed(self, node: Node) -> bool:
        """Whether an element is one of several alike in a row, each with a link of its own."""
        if node.mem_id not in self._listed:
            others = list(_alike(node))
            is_one = bool(others) and self._has_link(node) and any(map(self._has_link, others))
            self._listed[node.mem_id] = is_one
        return self._listed[node.mem_id]

    def _has_link(self, node: Node) -> bool:
        link = node.css_first("a[href]")
        return link is not None and self._leads_away(link)

    def _is_headed(self, node: Node, element: Node) -> bool:
        """Whether a heading above an element links to another product, or names others."""
        for part in islice(node.traverse(), MAX_CARD_NODES):
            if part.mem_id == element.mem_id:
                return False
            if part.tag in HEADINGS:
                return self._is_others(part)
        return False

    def _is_others(self, heading: Node) -> bool:
        words = text_of(heading)
        if is_part(words, self._name):
            return False
        link = heading.css_first("a[href]") or _link_around(heading)
        return bool(link and self._leads_away(link)) or bool(OTHERS.search(words))


def _upwards(element: Node, zone: Node | None) -> Iterator[Node]:
    limit = zone.mem_id if zone else 0
    node: Node | None = element
    while node is not None and node.mem_id != limit:
        yield node
        node = node.parent


def _outside(inner: Node, zone: Node) -> Iterator[Node]:
    for node in _upwards(inner, zone):
        siblings = node.parent.iter(include_text=True) if node.parent else ()
        yield from (sibling for sibling in siblings if sibling.mem_id != node.mem_id)


def _link_around(heading: Node) -> Node | None:
    parent = heading.parent
    return parent if parent is not None and parent.tag == "a" else None


def _alike(node: Node) -> Iterator[Node]:
    """The elements next to one that have its tag and its class."""
    kind = (node.tag, node.attributes.get("class"))
    for step in ("next", "prev"):
        sibling = getattr(node, step)
        if sibling is not None and sibling.tag == "-text":
            sibling = getattr(sibling, step)
        if sibling is not None and (sibling.tag, sibling.attributes.get("class")) == kind:
            yield sibling


def is_about_something_else(names: str, tags: set[str]) -> bool:
    """Whether elements of these names and tags hold other content; an article has a header, too."""
    if tags & ASIDE or ("header" in tags and not tags & CONTENT):
        return True
    return bool(ELSEWHERE.search(names))


def names_of(node: Node) -> str:
    """What an element is called by its class, id and the like, and what its style makes of it."""
    names = []
    for name, value in node.attributes.items():
        if name in NAMING:
            names.append(value or "")
        elif name == "style":
            names += [word for pattern, word in STYLES if pattern.search(value or "")]
        elif name == "hidden":
            names.append(name)
    return " ".join(names).lower()
