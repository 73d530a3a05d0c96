"""Whether a page shows that its product can be had: the stock line, else the buy button."""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

from penstock.extract.page.document import Node, text_of
from penstock.extract.page.structured import fold
from penstock.extract.product.place import Place, Ring, names_of
from penstock.extract.values.stock import is_buy_label, is_contact_label, read_stock
from penstock.kernel.records import Availability

MAX_BUTTONS = 400
MAX_LINES = 60
MAX_LABEL = 60
MAX_LABELS = 240
MAX_NEARBY = 4_000
MAX_NODES = 600

BUTTONS = (
    "button,input[type=submit],input[type=button],input[type=image],a[role=button],[class*=btn i],"
    "[class*=button i],[class*=buy i],[id*=buy i],[class*=cart i],[id*=cart i],[class*=basket i]"
)
STOCK = (
    "[class*=stock i],[id*=stock i],[class*=avail i],[id*=avail i],[class*=inventory i],"
    "[data-stock],[itemprop=availability],[class*=lager i],[class*=dispo i],[class*=nalich i]"
)
#: A shop in town has its own stock, and so has each size.
OF_A_PART = re.compile(
    r"shop-|store|pick-?up|collect|branch|filial|retrait|in-?shop|sizes?(?![a-z])|swatch"
)
PRESSED = frozenset(["a", "button"])
SPEAKING = frozenset(["p", "span", "div", "strong", "b", "em", "button", "dd", "td", "h2", "h3"])

_BUY_NAME = re.compile(
    r"add[-_]?to[-_]?(?:cart|basket|bag|trolley)|buy[-_]?(?:btn|button|now)|btn[-_]?buy"
)


class Button(NamedTuple):
    """Something to press that buys a product, not always this one."""

    node: Node
    label: str
    inside: frozenset[int]
    gives: Availability


class ShownStock:
    """What a page displays of its product's availability."""

    def __init__(self, place: Place) -> None:
        self._place = place

    @cached_property
    def availability(self) -> tuple[Availability, str]:
        """What the stock line nearest to the title says, else what the buy button does."""
        for ring in self._place.rings:
            seen = dict(self._stock_lines(ring))
            if len(seen) == 1:
                return next(iter(seen.items()))
            if seen:
                return Availability.UNKNOWN, " / ".join(seen.values())
            if button := self._buy_button(ring.zone):
                return button.gives, button.label
        return self._said_nearby

    @property
    def _said_nearby(self) -> tuple[Availability, str]:
        """What plain words beside the title say, or a button that cannot be pressed."""
        for zone in self._place.zones:
            if len(zone.text() or "") > MAX_NEARBY:
                break
            for node in islice(zone.traverse(), MAX_NODES):
                text = text_of(node) if node.tag in SPEAKING else ""
                is_gone = len(text) <= MAX_LABEL and read_stock(text) is Availability.OUT_OF_STOCK
                if is_gone and not self._is_of_another(node, zone):
                    return Availability.OUT_OF_STOCK, text
        return Availability.UNKNOWN, ""

    @cached_property
    def buy_button(self) -> Button | None:
        """The button that buys this product; None if there is none to press."""
        if not self._buttons:
            return None
        found = (self._buy_button(zone) for zone in self._place.zones)
        return next((button for button in found if button), None)

    @property
    def buy_label(self) -> str:
        """The label of that button; empty if there is none."""
        return self.buy_button.label if self.buy_button else ""

    def _stock_lines(self, ring: Ring) -> Iterator[tuple[Availability, str]]:
        zone = ring.zone
        elements = (part.css(STOCK) for part in ring.parts if part.tag != "-text")
        for node in islice(chain.from_iterable(elements), MAX_LINES):
            text = text_of(node)
            read = read_stock(text)
            if read is Availability.UNKNOWN or self._place.is_elsewhere(node, zone):
                continue
            names, tags = self._place.surroundings(node, zone)
            # A button carries the labels of all its states.
            if not tags & PRESSED and not OF_A_PART.search(names):
                yield read, text

    def _buy_button(self, zone: Node) -> Button | None:
        for button in self._buttons:
            if zone.mem_id in button.inside and not self._is_of_another(button.node, zone):
                return button
        return None

    def _is_of_another(self, node: Node, zone: Node) -> bool:
        around = node.parent if node.tag == "a" else node
        return self._place.is_elsewhere(node, zone) or (
            around is not None and self._place.is_of_another(around, zone)
        )

    @cached_property
    def _buttons(self) -> tuple[Button, ...]:
        found: dict[int, Button] = {}
        for node in self._place.document.css(BUTTONS)[:MAX_BUTTONS]:
            if node.mem_id not in found and _can_be_pressed(node) and (label := _label(node)):
                is_ahead = read_stock(label) is Availability.BACKORDER
                gives = Availability.BACKORDER if is_ahead else Availability.IN_STOCK
                found[node.mem_id] = Button(node, label, frozenset(_around(node)), gives)
        return tuple(found.values())


def _around(node: Node) -> Iterator[int]:
    parent = node.parent
    while parent is not None:
        yield parent.mem_id
        parent = parent.parent


def _label(node: Node) -> str:
    """What a button offers, if it offers to buy; buttons carry labels for other states, too."""
    attributes = node.attributes
    written = (node.text() or "")[:MAX_LABELS]
    if len(written) == MAX_LABELS:
        return ""
    written = fold(written) or attributes.get("value") or attributes.get("alt") or ""
    if len(written) <= MAX_LABEL and _is_offer(written):
        return written
    if written:
        first = next((words for part in node.iter() if (words := text_of(part))), "")
        return first if first != written and _is_offer(first) else ""
    names = names_of(node)
    return names if _BUY_NAME.search(names) else ""


def _is_offer(label: str) -> bool:
    if is_buy_label(label) or is_contact_label(label):
        return True
    return read_stock(label) is Availability.BACKORDER


def _can_be_pressed(node: Node) -> bool:
    attributes = node.attributes
    classes = (attributes.get("class") or "").lower()
    return (
        "disabled" not in attributes
        and attributes.get("aria-disabled") != "true"
        and "disabled" not in classes.replace("disabled:", "")
    )
