"""The price that a page displays with the product's title and buy button.

The reading starts at the title and widens, zone by zone, until an amount comes into view that
nothing speaks against: not crossed out, not in a carousel, a link to something else or a basket,
not an instalment, a delivery cost or a price per measure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from penstock.extract.page.document import Node, text_of
from penstock.extract.product.place import Place, is_about_something_else
from penstock.extract.values.price import (
    Mention,
    Price,
    PriceHints,
    Unclear,
    mentions_in,
    read_price,
    readings,
)

MAX_NODES = 6_000
MAX_PRICE_TEXT = 60
MAX_LINE = 160
MAX_CLIMB = 3
MAX_SCANNED = 3_000
STEP = 150

#: Names of elements that hold what the product cost, or should cost.
OUTDATED = re.compile(
    r"old|was(?![a-z])|rrp|msrp|strike|stroke|crossed|before|previous|compare|uvp|original"
    r"|list-?price|price-?list|retail|regular|undiscounted|through|base-?price|ancien|antes"
)
#: Names of elements that hold some other amount.
BESIDE = re.compile(
    r"sav(?:e|ing)|discount-?(?:amount|value|label)|shipp|deliver|postage|instal|finance|klarna"
    r"|credit|month|per-?unit|unit-?price|price-?per|base-?unit|tax|vat(?![a-z])|excl|bonus|points"
    r"|loyalty|reward|coupon|voucher|deposit|tier|quantity-?price|bulk|tooltip|hidden(?![a-z])"
)
CROSSED = frozenset(["del", "s", "strike"])
PRICE_NAME = re.compile(r"price|preis|prix|prezzo|precio|preco|pris|cena|hinta|hind|amount|kaina")

_DIGIT = re.compile(r"\d")
_NO_DIGIT = re.compile(r"\D+")


@dataclass(frozen=True, slots=True)
class Amount:
    """A price on the page, with the names of the elements around it."""

    price: Price
    node: Node
    names: str
    outdated: bool

    @property
    def named_price(self) -> bool:
        """Whether the elements around it are called a price."""
        return bool(PRICE_NAME.search(self.names))


@dataclass(frozen=True, slots=True)
class Sighting:
    """The amounts at the place where the price should be: one if there is no doubt."""

    prices: tuple[Price, ...]
    text: str
    list_price: Price | None = None


class ShownPrice:
    """What a page displays as its product's price."""

    def __init__(self, place: Place, hints: PriceHints) -> None:
        self._place = place
        own = (hints.currency,) if hints.currency else ()
        # The page's currencies only tell what a sign stands for: a bare number is no price.
        self._signs = PriceHints(None, hints.decimal, (*own, *hints.regional))
        self._known: dict[int, tuple[Price, Node] | None] = {}

    @cached_property
    def sighting(self) -> Sighting | None:
        """The price nearest to the title, or None if no amount stands where it should."""
        for zone in self._place.zones:
            amounts = list(self._amounts(zone))
            current = [amount for amount in amounts if not amount.outdated] or amounts
            if current:
                return _decide(current, amounts)
            if any("starting" in mention.objection for mention in self._mentions(zone)):
                # There are several prices, and what stands further away is just one of them.
                return None
        return None

    @cached_property
    def mentioned(self) -> frozenset[Decimal]:
        """Every amount in the nearest place that names any, starting prices and all."""
        for zone in self._place.zones:
            marked = [mention for mention in self._mentions(zone) if mention.symbol]
            values = [value for mention in marked for value in readings(mention.number)]
            if values:
                return frozenset(values)
        return frozenset()

    def _mentions(self, zone: Node) -> Iterator[Mention]:
        text = " ".join((zone.text() or "")[: 2 * MAX_SCANNED].split())
        for start in range(0, min(len(text), MAX_SCANNED), STEP):
            yield from mentions_in(text[start : start + 2 * STEP], self._signs)

    def _amounts(self, zone: Node) -> Iterator[Amount]:
        seen: set[int] = set()
        for count, leaf in enumerate(zone.traverse(include_text=True)):
            if count == MAX_NODES:
                return
            if leaf.tag != "-text" or not _DIGIT.search(leaf.text() or ""):
                continue
            if leaf.mem_id not in self._known:
                self._known[leaf.mem_id] = self._price_around(leaf)
            found = self._known[leaf.mem_id]
            if found is None or found[1].mem_id in seen:
                continue
            seen.add(found[1].mem_id)
            if amount := self._amount(*found, zone):
                yield amount

    def _price_around(self, leaf: Node) -> tuple[Price, Node] | None:
        """The smallest element around a number whose text is that number with a currency."""
        digits = _NO_DIGIT.sub("", leaf.text() or "")
        node = leaf.parent
        for _ in range(MAX_CLIMB):
            text = " ".join((node.text() or "")[:MAX_LINE].split()) if node else ""
            if node is None or len(text) > MAX_PRICE_TEXT:
                return None
            marked = [mention for mention in mentions_in(text, self._signs) if mention.symbol]
            if len(marked) > 1:
                return None
            if marked and digits in _NO_DIGIT.sub("", marked[0].number):
                price = read_price(text, self._signs)
                return (price, node) if isinstance(price, Price) else None
            node = node.parent
        return None

    def _amount(self, price: Price, element: Node, zone: Node) -> Amount | None:
        names, tags = self._place.surroundings(element, zone)
        if is_about_something_else(names, tags) or BESIDE.search(names):
            return None
        if price.value == 0 or self._place.leads_away(element, zone):
            return None
        around = read_price(_line(element), self._signs)
        if isinstance(around, Unclear) and "not the price" in around.why:
            return None
        return Amount(price, element, names, bool(tags & CROSSED or OUTDATED.search(names)))


def _line(element: Node) -> str:
    """The amount with the words beside it."""
    line = text_of(element)
    node = element.parent
    for _ in range(MAX_CLIMB):
        wider = text_of(node) if node else ""
        if node is None or len(wider) > MAX_LINE:
            break
        line = wider
        node = node.parent
    return line


def _decide(current: list[Amount], amounts: list[Amount]) -> Sighting:
    """One price if all amounts agree, or if those called a price do."""
    named = [amount for amount in current if amount.named_price] or current
    values = {amount.price.value for amount in named}
    older = {amount.price for amount in amounts if amount.outdated and amount not in current}
    if len(values) == 1:
        list_price = older.pop() if len(older) == 1 else None
        return Sighting((named[0].price,), text_of(named[0].node), list_price)
    texts = dict.fromkeys(text_of(amount.node) for amount in named)
    return Sighting(tuple(amount.price for amount in named), " / ".join(texts))
