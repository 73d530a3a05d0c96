"""Where on a page the product stands: its title, and the elements around it."""

import re
from collections.abc import Iterator
from functools import cached_property

from penstock.extract.page.document import Document, Node, text_of
from penstock.extract.page.structured import without_fragment
from penstock.extract.product.offers import same_words

MAX_LEVELS = 14
MAX_TITLES = 400
MAX_TITLE = 300
SHORTEST_TITLE = 4

TITLES = "h1"
OTHER_TITLES = "h2,h3,[class*=title i],[class*=name i],[id*=title i],[itemprop=name]"
#: Elements whose content is not about this product.
ELSEWHERE = re.compile(
    r"relat|recommend|carousel|slider|slick|swiper|upsell|up-sell|cross-?sell|similar|also|viewed"
    r"|recent|bundle|accessor|suggest|compare-?(?:list|products)|mini-?cart|minibasket|cart-?total"
    r"|basket-?total|(?:^| |site-|page-|main-|global-)header|footer|navbar|nav-|menu"
    r"|breadcrumb|review|comment|popup|modal|drawer|wishlist|newsletter|sponsor|advert|faq|frequently"
)
ASIDE = frozenset(["nav", "footer", "aside", "select", "option", "dialog", "label"])
CONTENT = frozenset(["main", "article", "section"])
NAMING = ("class", "id", "itemprop", "data-testid", "data-test")


class Place:
    """The product's title on a page, and ever wider zones around it."""

    def __init__(self, document: Document, name: str) -> None:
        self.document = document
        self._name = name
        self._here = without_fragment(document.url)
        self._zones: list[Node] = []

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

    def surroundings(self, element: Node, zone: Node) -> tuple[str, set[str]]:
        """The names and the tags of an element and of all around it, up to a zone."""
        names, tags = [], set()
        node: Node | None = element
        while node is not None and node.mem_id != zone.mem_id:
            tags.add(node.tag or "")
            names.append(names_of(node))
            node = node.parent
        return " ".join(names), tags

    def is_elsewhere(self, node: Node, zone: Node | None = None) -> bool:
        """Whether an element belongs to something else on the page."""
        limit = zone or self.document.tree.body
        if limit is None:
            return False
        return is_about_something_else(*self.surroundings(node, limit))

    def leads_away(self, element: Node, zone: Node) -> bool:
        """Whether an element is part of a link to another page."""
        node: Node | None = element
        while node is not None and node.mem_id != zone.mem_id:
            if node.tag == "a" and (href := node.attributes.get("href")):
                target = self.document.absolute(href)
                if target and without_fragment(target) != self._here:
                    return True
            node = node.parent
        return False


def is_about_something_else(names: str, tags: set[str]) -> bool:
    """Whether elements of these names and tags hold other content; an article has a header, too."""
    if tags & ASIDE or ("header" in tags and not tags & CONTENT):
        return True
    return bool(ELSEWHERE.search(names))


def names_of(node: Node) -> str:
    """What an element is called by its class, id and the like."""
    attributes = node.attributes
    return " ".join([value for name in NAMING if (value := attributes.get(name))]).lower()
