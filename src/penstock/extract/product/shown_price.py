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
from itertools import chain, islice

from penstock.extract.page.document import Node, text_of
from penstock.extract.product.glance import spellings
from penstock.extract.product.place import Place, Ring, is_about_something_else
from penstock.extract.product.signs import MONEY, names_amount
from penstock.extract.product.tiers import least_quantity
from penstock.extract.values.price import Price, read_price
from penstock.extract.values.price_hints import PriceHints
from penstock.extract.values.price_mentions import Mention, mentions_in
from penstock.extract.values.written_number import readings

MAX_NODES = 6_000
MAX_PRICE_TEXT = 60
MAX_LINE = 160
MAX_CLIMB = 3
MAX_SCANNED = 3_000
MAX_RAW = 1_000
STEP = 150
FEW_WORDS = 3
TWO_TIERS = 2

#: Names of elements that hold what the product cost, or should cost.
OUTDATED = re.compile(
    r"old|was(?![a-z])|rrp|msrp|strike|stroke|crossed|before|previous|compare|uvp|original"
    r"|list-?price|price-?list|retail|regular|undiscounted|through|base-?price|ancien|antes"
)
#: Names of elements that hold some other amount.
BESIDE = re.compile(
    r"sav(?:e|ing)|discount-?(?:amount|value|label)|shipp|deliver|postage|instal|finance|klarna"
    r"|credit|month|per-?unit|unit-?price|price-?per-?(?:kg|unit|quantity|weight|measure|100|lit|oz)"
    r"|base-?unit|tax-?(?:amount|value)|bonus|points|loyalty|reward|coupon|voucher|deposit|tier"
    r"|quantity-?price|bulk|tooltip|(?:^| )(?:is-|u-)?hidden(?: |$)|member|clubcard|club-?price"
    r"|promotions?(?!-?price)|multi-?buy|trade-?in|cash-?back|afterpay|pay-?later|subscri"
    r"|grundpreis|omnibus|lowest-?price"
)
#: Names of elements that hold the price without tax, where another has it.
NET = re.compile(
    r"excl|ex-?(?:tax|vat)|without-?tax|pre-?tax|(?<![a-z])net(?:to|t)?(?![a-z])|bez-?dph|hors-?tax"
)
CROSSED = frozenset(["del", "s", "strike"])
CROSSED_OUT = re.compile(r"strike|line-?through|crossed")
PRICE_NAME = re.compile(r"price|preis|prix|prezzo|precio|preco|pris|cena|hinta|hind|amount|kaina")

_DIGIT = re.compile(r"\d")
_NO_DIGIT = re.compile(r"\D+")
_CENTS = re.compile(r"\d{2}")
_WHOLE = re.compile(r"(?:^|[^\d.,])(\d{1,3}(?:[.,'\u2019 \u00a0\u202f]\d{3})*|\d+)$")
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Amount:
    """A price on the page, with the names of the elements around it."""

    price: Price
    node: Node
    names: str
    outdated: bool
    crossed: bool

    @property
    def named_price(self) -> bool:
        """Whether the elements around it are called a price."""
        return bool(PRICE_NAME.search(self.names))

    @property
    def alone(self) -> bool:
        """Whether hardly a word stands in its element."""
        return len(_LETTERS.findall(text_of(self.node))) <= FEW_WORDS

    @property
    def least_quantity(self) -> int | None:
        """From how many pieces on it holds, if it stands in a table that says so."""
        node = self.node.parent
        own = text_of(self.node)
        for _ in range(MAX_CLIMB):
            before = text_of(node).partition(own)[0].strip() if node else ""
            if node is None or before:
                return least_quantity(before)
            node = node.parent
        return None


@dataclass(frozen=True, slots=True)
class Sighting:
    """The amounts at the place where the price should be: one if there is no doubt."""

    prices: tuple[Price, ...]
    text: str
    list_price: Price | None = None
    named: bool = False


class ShownPrice:
    """What a page displays as its product's price."""

    def __init__(self, place: Place, hints: PriceHints) -> None:
        self._place = place
        own = (hints.currency,) if hints.currency else ()
        # The page's currencies only tell what a sign stands for: a bare number is no price.
        self._signs = PriceHints(None, hints.decimal, (*own, *hints.regional))

    @cached_property
    def sighting(self) -> Sighting | None:
        """The price nearest to the title, or None if no amount stands where it should."""
        for ring in self._place.rings:
            amounts = list(self._amounts(ring))
            valid = [amount for amount in amounts if not amount.crossed]
            current = [amount for amount in valid if not amount.outdated] or valid
            if current:
                return _decide(current, amounts)
            if any("starting" in mention.objection for mention in self._mentions(ring)):
                # There are several prices, and what stands further away is just one of them.
                return None
        return None

    @cached_property
    def mentioned(self) -> frozenset[Decimal]:
        """Every amount in the nearest place that names any, starting prices and all."""
        for ring in self._place.rings:
            marked = [mention for mention in self._mentions(ring) if mention.symbol]
            values = [value for mention in marked for value in readings(mention.number)]
            if values:
                return frozenset(values)
        return frozenset()

    def writes(self, amount: Decimal) -> bool:
        """Whether an amount stands on the page in some spelling, and not with another product."""
        ways = spellings(amount)
        return any(
            self._is_about_product(leaf, ring.zone)
            for ring in self._place.rings
            for leaf in _leaves(ring)
            if any(way in (leaf.text() or "") for way in ways)
        )

    def _is_about_product(self, leaf: Node, zone: Node) -> bool:
        around = leaf.parent or leaf
        names, tags = self._place.surroundings(around, zone)
        return not (is_about_something_else(names, tags) or self._place.is_of_another(around, zone))

    def _mentions(self, ring: Ring) -> Iterator[Mention]:
        text = ring.text
        for start in range(0, min(len(text), MAX_SCANNED), STEP):
            if names_amount(text, start, start + 2 * STEP):
                yield from mentions_in(text[start : start + 2 * STEP], self._signs)

    def _amounts(self, ring: Ring) -> Iterator[Amount]:
        seen: set[int] = set()
        for leaf in _leaves(ring):
            found = self._price_around(leaf)
            if found is None or found[1].mem_id in seen:
                continue
            seen.add(found[1].mem_id)
            if amount := self._amount(*found, ring.zone):
                yield amount

    def _price_around(self, leaf: Node) -> tuple[Price, Node] | None:
        """The smallest element around a number whose text is that number with a currency."""
        own = (leaf.text() or "").strip()
        digits = _NO_DIGIT.sub("", own)
        node = leaf.parent
        for _ in range(MAX_CLIMB):
            text = _written(node)
            if node is None or not text:
                return None
            marked = self._marked(text)
            if len(marked) > 1:
                price = self._one_of(marked, own, text)
                return (price, leaf.parent) if price and leaf.parent else None
            if marked and digits in _NO_DIGIT.sub("", marked[0].number):
                return self._with_cents(text, node)
            node = node.parent
        return None

    def _one_of(self, marked: list[Mention], own: str, text: str) -> Price | None:
        """The price of a number that stands with others; its sign may stand beside it."""
        if len(self._marked(own)) == 1:
            price = read_price(own, self._signs)
            return price if isinstance(price, Price) else None
        places = [place for place, mention in enumerate(marked) if mention.number == own]
        if len(places) != 1:
            return None
        place = places[0]
        start = marked[place - 1].end if place else 0
        end = marked[place + 1].start if place + 1 < len(marked) else len(text)
        price = read_price(text[start:end], self._signs)
        return price if isinstance(price, Price) and price.symbol else None

    def _with_cents(self, text: str, node: Node) -> tuple[Price, Node] | None:
        """The price of an element, with the cents that stand in one beside it."""
        price = read_price(text, self._signs)
        wider = _written(node.parent)
        if len(wider) > len(text) and wider.startswith(text):
            longer = read_price(wider, self._signs)
            if isinstance(price, Price) and isinstance(longer, Price):
                price = longer if int(longer.value) == price.value else price
        return (price, node) if isinstance(price, Price) else None

    def _amount(self, price: Price, element: Node, zone: Node) -> Amount | None:
        names, tags = self._place.surroundings(element, zone)
        if is_about_something_else(names, tags) or BESIDE.search(names):
            return None
        if price.value == 0 or self._place.is_of_another(element, zone):
            return None
        if self._is_denied(element, price):
            return None
        crossed = bool(tags & CROSSED or CROSSED_OUT.search(names))
        return Amount(price, element, names, bool(crossed or OUTDATED.search(names)), crossed)

    def _is_denied(self, element: Node, price: Price) -> bool:
        """Whether the words beside an amount say that it is something else."""
        near, line = _lines(element)
        return self._denies(near, price) and self._denies(line, price)

    def _denies(self, line: str, price: Price) -> bool:
        same = [one for one in self._marked(line) if price.value in readings(one.number)]
        return bool(same) and all("not the price" in mention.objection for mention in same)

    def _marked(self, line: str) -> list[Mention]:
        if not MONEY.search(line):
            return []
        return [mention for mention in mentions_in(line, self._signs) if mention.symbol]


def _leaves(ring: Ring) -> Iterator[Node]:
    """The texts of a ring that have a digit."""
    nodes = chain.from_iterable(part.traverse(include_text=True) for part in ring.parts)
    for node in islice(nodes, MAX_NODES):
        if node.tag == "-text" and _DIGIT.search(node.text() or ""):
            yield node


def _written(node: Node | None) -> str:
    """The text of a small element; cents that stand in an element of their own get their sign."""
    raw = (node.text() or "") if node else ""
    if node is None or len(raw) > MAX_RAW or len(" ".join(raw.split())) > MAX_PRICE_TEXT:
        return ""
    written = ""
    for leaf in node.traverse(include_text=True):
        if leaf.tag == "-text":
            written = _joined(written, leaf.text() or "")
    return " ".join(written.split())


def _joined(written: str, text: str) -> str:
    whole = _WHOLE.search(written.rstrip()) if _CENTS.fullmatch(text.strip()) else None
    if whole:
        return written.rstrip() + ("," if "." in whole[1] else ".") + text.strip()
    # `19` and `97 reviews` are two numbers, `1` and `299` are one.
    is_other = written[-1:].isdigit() and text[:1].isdigit() and _LETTERS.search(text)
    return f"{written} {text}" if is_other else written + text


def _lines(element: Node) -> tuple[str, str]:
    """The amount with the words nearest to it: without those of other amounts, and with them."""
    own = near = text_of(element)
    inner = element
    for _ in range(MAX_CLIMB):
        node = inner.parent
        is_found = _LETTERS.search(near.replace(own, ""))
        if is_found or node is None or len(node.text() or "") > MAX_RAW:
            break
        parts = (
            near if part.mem_id == inner.mem_id else _words_of(part)
            for part in node.iter(include_text=True)
        )
        near, inner = " ".join(" ".join(parts).split()), node
    return near[:MAX_LINE], text_of(inner)[:MAX_LINE]


def _words_of(node: Node) -> str:
    """The text of a node; nothing if an amount of its own stands in it."""
    if node.tag == "-text":
        return node.text() or ""
    words = text_of(node)
    return "" if names_amount(words) else words


def _decide(current: list[Amount], amounts: list[Amount]) -> Sighting:
    """One price if all amounts agree, or if those do that have more to say for themselves."""
    chosen = current
    for narrower in (_named, _with_tax, _of_one_piece, _alone):
        if len({amount.price.value for amount in chosen}) > 1:
            chosen = narrower(chosen) or chosen
    is_named = any(amount.named_price for amount in chosen)
    older = {amount.price for amount in amounts if amount.outdated and amount not in current}
    if len({amount.price.value for amount in chosen}) == 1:
        list_price = older.pop() if len(older) == 1 else None
        return Sighting((chosen[0].price,), text_of(chosen[0].node), list_price, is_named)
    texts = dict.fromkeys(text_of(amount.node) for amount in chosen)
    prices = tuple(amount.price for amount in chosen)
    return Sighting(prices, " / ".join(texts), None, is_named)


def _named(amounts: list[Amount]) -> list[Amount]:
    return [amount for amount in amounts if amount.named_price]


def _with_tax(amounts: list[Amount]) -> list[Amount]:
    return [amount for amount in amounts if not NET.search(amount.names)]


def _alone(amounts: list[Amount]) -> list[Amount]:
    return [amount for amount in amounts if amount.alone]


def _of_one_piece(amounts: list[Amount]) -> list[Amount]:
    """Without the tiers for many; one tier alone is no table."""
    least = [amount.least_quantity for amount in amounts]
    if sum(quantity is not None for quantity in least) < TWO_TIERS:
        return amounts
    single = [amount for amount, quantity in zip(amounts, least, strict=True) if quantity == 1]
    unbound = [amount for amount, quantity in zip(amounts, least, strict=True) if quantity is None]
    return single or unbound
