"""The calls of products: what readers ask the catalogue for, and how its answers are read."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from penstock.client.calls import (
    Call,
    list_of,
    opened,
    page_of,
    part_of_path,
    read_as,
    read_bytes,
)
from penstock.client.catalog_calls import Row, Time, get, iso
from penstock.client.catalog_models import (
    Availability,
    CatalogProduct,
    FoundPage,
    FoundProduct,
    Order,
    PricePoint,
    ProductImage,
    SearchOrder,
)
from penstock.client.models import Page

PRODUCTS = "/api/v1/products"
Amount = Decimal | str | None
Values = Sequence[str] | None


def _text(amount: Amount) -> str | None:
    return None if amount is None else str(amount)


def _chosen(
    *,
    price_min: Amount = None,
    price_max: Amount = None,
    currency: str | None = None,
    availability: Sequence[Availability] | None = None,
    brand: Values = None,
    category: Values = None,
    domain: Values = None,
    rating_min: Amount = None,
) -> Row:
    several = {"availability": availability, "brand": brand, "category": category}
    return {
        "price_min": _text(price_min),
        "price_max": _text(price_max),
        "currency": currency,
        "rating_min": _text(rating_min),
        **{name: values and list(values) for name, values in several.items()},
        "domain": domain and list(domain),
    }


def products(
    cursor: str | None,
    /,
    *,
    sort: Order | None = None,
    created_since: Time = None,
    updated_since: Time = None,
    at_once: int | None = None,
    **chosen: Any,
) -> Call[Page[CatalogProduct]]:
    """All products that fit: price_min, price_max, currency, availability, brand, category, ….

    Also domain and rating_min; availability, brand, category and domain are lists.
    """
    times = {"created_since": iso(created_since), "updated_since": iso(updated_since)}
    place = {"sort": sort, "cursor": cursor, "limit": at_once}
    read = page_of(CatalogProduct.model_validate)
    return get(PRODUCTS, read, **_chosen(**chosen), **times, **place)


def search(
    cursor: str | None,
    /,
    words: str,
    *,
    sort: SearchOrder | None = None,
    at_once: int | None = None,
    **chosen: Any,
) -> Call[Page[FoundProduct]]:
    """Everything that a search finds, the best first; filters as in `list`."""
    place = {"q": words, "sort": sort, "cursor": cursor, "limit": at_once}
    read = page_of(FoundProduct.model_validate)
    return get(f"{PRODUCTS}/search", read, **_chosen(**chosen), **place)


def search_page(
    words: str,
    *,
    sort: SearchOrder | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    **chosen: Any,
) -> Call[FoundPage]:
    """A part of what a search finds, and how much there is in all; filters as in `list`."""
    place = {"q": words, "sort": sort, "cursor": cursor, "limit": limit}
    return get(f"{PRODUCTS}/search", _read_found, **_chosen(**chosen), **place)


def _read_found(content: bytes) -> FoundPage:
    data, meta = opened(content)
    return FoundPage.model_validate({"items": data, **meta})


def product(product_id: str) -> Call[CatalogProduct]:
    """A product with its images."""
    return get(f"{PRODUCTS}/{part_of_path(product_id)}", read_as(CatalogProduct))


def prices(
    product_id: str, *, since: Time = None, until: Time = None, limit: int | None = None
) -> Call[list[PricePoint]]:
    """What a product cost, oldest first; the newest so many."""
    path = f"{PRODUCTS}/{part_of_path(product_id)}/prices"
    wanted = {"since": iso(since), "until": iso(until), "limit": limit}
    return get(path, list_of(PricePoint.model_validate), **wanted)


def images(product_id: str) -> Call[list[ProductImage]]:
    """The images of a product, each in its place."""
    path = f"{PRODUCTS}/{part_of_path(product_id)}/images"
    return get(path, list_of(ProductImage.model_validate))


def image(product_id: str, image_id: str) -> Call[bytes]:
    """The bytes of an image."""
    path = f"{PRODUCTS}/{part_of_path(product_id)}/images/{part_of_path(image_id)}"
    return get(path, read_bytes)
