"""Product data that scripts carry: state objects, data layers, variables."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from penstock.core.money import currencies
from penstock.extract.page.document import Document
from penstock.extract.page.loose_json import read_literal
from penstock.extract.product.names import same_words
from penstock.extract.product.offers import text

MAX_LOOKS = 40
MAX_BACK = 6_000

NAMES = ("name", "title", "productName", "item_name", "product_name", "productTitle")
PRICES = ("salePrice", "finalPrice", "currentPrice", "sellingPrice", "price", "priceNumber")
CURRENCIES = ("currency", "priceCurrency", "currencyCode", "currency_code")
SKUS = ("sku", "productCode", "articleNumber", "productSKU", "item_id", "productId", "product_id")

_BRACE = re.compile(r"[{}]")
# Both begin with letters that are found fast; a capital before them does not matter.
_PRICE_KEY = re.compile(r"""rice(?:Number)?["']?\s*:""")
_CURRENCY_VALUE = re.compile(
    r"""urrency(?:_?[cC]ode|I[sS][oO]|Name)?\\?["']?\s*[:=]\s*(?:\{\s*["']?active["']?\s*:\s*)?"""
    r"""\\?["']([A-Z]{3})\\?["']"""
)


def product_data(document: Document, name: str) -> Mapping[str, Any] | None:
    """The object in a script that has a price and the product's own name."""
    for found in _objects_with_price(document.text):
        named = _first(found, NAMES)
        if named and (same_words(named, name) or same_words(name, named)):
            return found
    return None


def _objects_with_price(page: str) -> Iterator[Mapping[str, Any]]:
    end = 0
    for count, match in enumerate(_PRICE_KEY.finditer(page)):
        if count == MAX_LOOKS:
            return
        if match.start() < end:
            continue
        start, close = _opening(page, match.start()), _closing(page, match.end())
        found = read_literal(page[start:close], 0) if start >= 0 else None
        if isinstance(found, dict):
            end = match.end()
            yield found


def _opening(page: str, at: int) -> int:
    """Where the object begins that a key stands in; -1 if not nearby."""
    depth = 0
    for place in range(at - 1, max(at - MAX_BACK, -1), -1):
        character = page[place]
        if character == "}":
            depth += 1
        elif character == "{":
            if depth == 0:
                return place
            depth -= 1
        elif character == "<" and page.startswith("<script", place):
            return -1
    return -1


def _closing(page: str, at: int) -> int:
    """Where the object ends that a key stands in, or how far it is read at most."""
    depth = 1
    for brace in _BRACE.finditer(page, at, at + MAX_BACK):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return at + MAX_BACK


def price_in(data: Mapping[str, Any]) -> tuple[str, Any]:
    """The key and the value of the price that holds now."""
    return next(((key, data[key]) for key in PRICES if data.get(key)), ("", None))


def currency_in(data: Mapping[str, Any]) -> str:
    """The currency the object names; empty if it names none that there is."""
    code = _first(data, CURRENCIES).upper()
    return code if code in currencies() else ""


def sku_in(data: Mapping[str, Any]) -> str:
    """The object's own number for the product."""
    return _first(data, SKUS)


def _first(data: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((found for key in keys if (found := text(data.get(key)))), "")


def page_currency(document: Document) -> str | None:
    """The one currency that the page's scripts speak of; None if there is none or several."""
    known = set(_CURRENCY_VALUE.findall(document.text)) & currencies()
    return known.pop() if len(known) == 1 else None
