"""The catalogue: products by words and filters, each with its prices and pictures."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, get_args

from fastapi import Response

from penstock.console import (
    catalog_domains,
    catalog_errors,
    catalog_submissions,
    catalog_tasks,
)
from penstock.console.asking import an_id, one_of, word
from penstock.console.charts import Point, line_chart
from penstock.console.filters import at
from penstock.console.pages import Ask, Console, View
from penstock.console.services import Services
from penstock.products import catalogue_reading as reading
from penstock.products.search.ports import Filters, SearchLost, Total
from penstock.products.search.ports import Sort as SearchSort
from penstock.web.errors import InvalidRequest, NotFound, invalid
from penstock.web.files import HARMLESS
from penstock.workloads.catalog.product_cursors import LONGEST, cursor_of, read_cursor
from penstock.workloads.catalog.product_routes import AMOUNT, IMAGE_AGE
from penstock.workloads.catalog.product_views import Stock
from penstock.workloads.catalog.service import Products

PART, MOST_PRICES = 24, 500
FIELDS = ("q", "brand", "category", "domain", "availability", "price_min", "price_max")
ASKED = (*FIELDS, "currency", "sort")
#: Pictures that a browser shows and that run nothing.
IMAGE_TYPES = frozenset(
    {"image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/bmp"}
)
MARKS = {"in_stock": "good", "out_of_stock": "bad", "backorder": "slow"}


@dataclass(frozen=True, slots=True)
class Part:
    """Some products, where the next ones begin, and how many were found if they were counted."""

    rows: Sequence[Mapping[str, Any]] = ()
    next: str | None = None
    total: Total | None = None


def add(console: Console, services: Services) -> None:
    """Show products; the crawler has modules of its own."""
    products = services.catalog.products
    _add_search(console, products)
    _add_one(console, products)
    for area in (catalog_tasks, catalog_submissions, catalog_errors, catalog_domains):
        area.add(console, services)


def _add_search(console: Console, products: Products) -> None:
    @console.page("/catalog")
    async def search(ask: Ask) -> View:
        typed = {name: ask.get(name) for name in ASKED if ask.get(name)}
        part, errors, is_lost = Part(), dict[str, str](), False
        try:
            part = await _find(products, typed, ask.get("after") or None)
        except InvalidRequest as error:
            errors = {each["field"]: each["message"] for each in (error.meta or {})["errors"]}
        except SearchLost:
            is_lost = True
        return View(
            "catalog_products.html",
            {
                "title": "Products",
                "typed": typed,
                "errors": errors,
                "lost": is_lost,
                "is_filtered": bool(typed),
                "products": part.rows,
                "pictures": await products.pictures([row["id"] for row in part.rows]),
                "total": part.total,
                "next": part.next,
                "stock": get_args(Stock),
                "sorts": [each.value for each in reading.Sort],
            },
            status=422 if errors else 200,
        )


async def _find(products: Products, typed: Mapping[str, str], after: str | None) -> Part:
    """Products by words from the index, without words from the store itself."""
    said = _said(typed)
    if after is not None and len(after) > LONGEST:
        raise invalid("cursor", "is not one of this list: begin without a cursor")
    if words := word(typed.get("q", "")):
        sort = one_of(SearchSort, typed.get("sort", ""))
        found = await products.search(words, Filters(**said), sort=sort, cursor=after, limit=PART)
        return Part(found.products, found.next_cursor, found.total)
    order = one_of(reading.Sort, typed.get("sort", "")) or reading.Sort.NEWEST
    place = read_cursor(after, order)
    wanted = reading.Filter(**said, sort=order, after=place, limit=PART + 1)
    rows = await products.list(wanted)
    following = cursor_of(rows[PART - 1], order) if len(rows) > PART else None
    return Part([row | {"highlights": {}} for row in rows[:PART]], following)


def _said(typed: Mapping[str, str]) -> dict[str, Any]:
    """What both kinds of filters have."""
    several = {
        name: tuple(filter(None, [word(typed.get(name, ""))]))
        for name in ("brand", "category", "domain")
    }
    stock = typed.get("availability")
    currency = typed.get("currency", "").upper()
    if currency and not re.fullmatch(r"[A-Z]{3}", currency):
        raise invalid("currency", "has three letters, such as EUR")
    return {
        **several,
        "availability": (stock,) if stock in get_args(Stock) else (),
        "price_min": _amount(typed, "price_min"),
        "price_max": _amount(typed, "price_max"),
        "currency": currency or None,
    }


def _amount(typed: Mapping[str, str], name: str) -> Decimal | None:
    text = typed.get(name)
    if text is None:
        return None
    if not re.fullmatch(AMOUNT, text) or not text.isascii():
        raise invalid(name, "is an amount such as 19.99")
    return Decimal(text)


def _add_one(console: Console, products: Products) -> None:
    @console.page("/catalog/products/{id}")
    async def show(ask: Ask) -> View:
        product = await products.get(an_id(ask.path["id"], "product"))
        prices = await products.prices(product["id"], limit=MOST_PRICES)
        return View(
            "catalog_product.html",
            {
                "title": product["product_name"] or product["url"],
                "product": product,
                "prices": prices,
                "chart": _chart(prices),
                "offers": await products.offers(product),
                "image_types": IMAGE_TYPES,
            },
        )

    @console.page("/catalog/products/{id}/images/{image}")
    async def picture(ask: Ask) -> Response:
        product_id = an_id(ask.path["id"], "product")
        row = await products.image(product_id, an_id(ask.path["image"], "image"))
        if row["content_type"] not in IMAGE_TYPES:
            raise NotFound("This image is of a kind that is not shown")
        data = await products.image_bytes(row)
        headers = {"Cache-Control": f"private, max-age={IMAGE_AGE}", **HARMLESS}
        return Response(data, media_type=row["content_type"], headers=headers)


def _chart(prices: Sequence[Mapping[str, Any]]) -> str | None:
    """What a product cost in the currency that it has now."""
    if not prices:
        return None
    currency = prices[-1]["currency"]
    points = [
        Point(
            row["observed_at"],
            float(row["price"]),
            MARKS.get(row["availability"] or "", ""),
            f"{row['price']} {currency}, {row['availability'] or 'unknown'}, "
            f"{at(row['observed_at'])}",
        )
        for row in prices
        if row["currency"] == currency
    ]
    ends = at(int(points[0].x)), at(int(points[-1].x))
    return line_chart(points, f"Price in {currency} over time", ends)
