"""Whether a page shows that its product can be had: the stock line, else the buy button."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from penstock.extract.page.document import Node, text_of
from penstock.extract.page.structured import fold
from penstock.extract.product.place import Place, names_of
from penstock.extract.values.stock import is_buy_label, is_contact_label, read_stock
from penstock.kernel.records import Availability

MAX_BUTTONS = 400
MAX_LINES = 60
MAX_LABEL = 60
MAX_LABELS = 240

BUTTONS = (
    "button,input[type=submit],input[type=button],input[type=image],a[role=button],[class*=btn i],"
    "[class*=button i],[class*=buy i],[id*=buy i],[class*=cart i],[id*=cart i],[class*=basket i]"
)
STOCK = (
    "[class*=stock i],[id*=stock i],[class*=avail i],[id*=avail i],[class*=inventory i],"
    "[data-stock],[itemprop=availability],[class*=lager i],[class*=dispo i],[class*=nalich i]"
)
#: A shop in town has its own stock.
IN_TOWN = re.compile(r"shop-|store|pick-?up|collect|branch|filial|retrait|in-?shop")
PRESSED = frozenset(["a", "button"])

_BUY_NAME = re.compile(
    r"add[-_]?to[-_]?(?:cart|basket|bag|trolley)|buy[-_]?(?:btn|button|now)|btn[-_]?buy"
)


class Button(NamedTuple):
    """Something to press that buys a product, not always this one."""

    node: Node
    label: str
    inside: frozenset[int]


class ShownStock:
    """What a page displays of its product's availability."""

    def __init__(self, place: Place) -> None:
        self._place = place

    @cached_property
    def availability(self) -> tuple[Availability, str]:
        """What the stock line nearest to the title says, else what the buy button does."""
        for zone in self._place.zones:
            seen = dict(self._stock_lines(zone))
            if len(seen) == 1:
                return next(iter(seen.items()))
            if seen:
                return Availability.UNKNOWN, " / ".join(seen.values())
            if label := self._buy_label(zone):
                return Availability.IN_STOCK, label
        return Availability.UNKNOWN, ""

    @cached_property
    def buy_label(self) -> str:
        """The label of the button that buys this product; empty if there is none to press."""
        if not self._buttons:
            return ""
        return next((label for zone in self._place.zones if (label := self._buy_label(zone))), "")

    def _stock_lines(self, zone: Node) -> Iterator[tuple[Availability, str]]:
        for node in zone.css(STOCK)[:MAX_LINES]:
            text = text_of(node)
            read = read_stock(text)
            if read is Availability.UNKNOWN or self._place.is_elsewhere(node, zone):
                continue
            names, tags = self._place.surroundings(node, zone)
            # A button carries the labels of all its states.
            if not tags & PRESSED and not IN_TOWN.search(names):
                yield read, text

    def _buy_label(self, zone: Node) -> str:
        for button in self._buttons:
            if zone.mem_id in button.inside and not self._place.is_elsewhere(button.node, zone):
                return button.label
        return ""

    @cached_property
    def _buttons(self) -> tuple[Button, ...]:
        found: dict[int, Button] = {}
        for node in self._place.document.css(BUTTONS)[:MAX_BUTTONS]:
            if node.mem_id not in found and _can_be_pressed(node) and (label := _label(node)):
                found[node.mem_id] = Button(node, label, frozenset(_around(node)))
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
    return is_buy_label(label) or is_contact_label(label)


def _can_be_pressed(node: Node) -> bool:
    attributes = node.attributes
    classes = (attributes.get("class") or "").lower()
    return (
        "disabled" not in attributes
        and attributes.get("aria-disabled") != "true"
        and "disabled" not in classes.replace("disabled:", "")
    )
