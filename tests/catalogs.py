"""What the catalogue must make of the pages of goods01 … goods20.test."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

from penstock.core.money import to_decimal
from penstock.kernel.records import Availability, ExtractReason
from tests.site.catalog_items import (
    SHOPS,
    CatalogItem,
    Markup,
    Picture,
    Trouble,
    catalog_item,
)

HOSTS = tuple(SHOPS)
PAGES = 100

AVAILABILITIES = {
    "InStock": Availability.IN_STOCK,
    "OutOfStock": Availability.OUT_OF_STOCK,
    "BackOrder": Availability.BACKORDER,
}
#: Facts that a page of some markup does not state for machines: of those nothing is known.
UNSTATED: dict[Markup, tuple[str, ...]] = {
    "open-graph": ("rating", "review_count", "gtin", "mpn"),
    "plain": ("rating", "review_count", "gtin", "mpn", "brand", "category"),
    "bare": ("rating", "review_count", "gtin", "mpn", "brand", "category", "description"),
}


@dataclass(frozen=True, slots=True)
class ExpectedImage:
    """A picture; of one that is not good, nothing can be kept."""

    url: str
    alt: str
    kind: Literal["primary", "gallery"]
    position: int
    content_type: str
    width: int
    height: int
    trouble: Trouble
    is_good: bool


@dataclass(frozen=True, slots=True)
class ExpectedProduct:
    """What a page gives; None for what it does not state."""

    url: str
    name: str
    price: Decimal | None
    currency: str | None
    availability: Availability
    brand: str | None
    category: str | None
    description: str | None
    sku: str
    gtin: str | None
    mpn: str | None
    rating: Decimal | None
    review_count: int | None
    images: tuple[ExpectedImage, ...]
    reason: ExtractReason | None
    """Why the adapter gives no record to trust: it is sold out, and shows no price."""
    is_denied: bool
    """Whether robots.txt forbids the page."""


def expected(host: str, number: int) -> ExpectedProduct:
    """What the page of a shop's product gives, as long as nobody changes it."""
    return expected_of(catalog_item(host, number))


def expected_of(item: CatalogItem) -> ExpectedProduct:
    """What the page of a product gives, also of one that was changed."""
    shop = SHOPS[item.host]
    unstated: dict[str, Any] = dict.fromkeys(UNSTATED.get(shop.markup, ()))
    if shop.markup == "bare":
        unstated["images"] = ()
    return replace(_whole(item), **unstated)


def _whole(item: CatalogItem) -> ExpectedProduct:
    has_price = item.price_minor is not None
    return ExpectedProduct(
        url=item.url,
        name=item.title,
        price=decimal_price(item.price_minor, item.currency),
        currency=item.currency if has_price else None,
        availability=AVAILABILITIES[item.availability],
        brand=item.brand,
        category=item.category,
        description=item.description,
        sku=item.sku,
        gtin=item.gtin,
        mpn=item.mpn,
        rating=item.rating,
        review_count=item.reviews,
        images=tuple(_image(picture, place) for place, picture in enumerate(item.pictures)),
        reason=None if has_price else ExtractReason.OOS_NO_PRICE,
        is_denied=item.number in SHOPS[item.host].denied,
    )


def decimal_price(minor: int | None, currency: str | None) -> Decimal | None:
    return None if minor is None or currency is None else to_decimal(minor, currency)


def _image(picture: Picture, position: int) -> ExpectedImage:
    return ExpectedImage(
        url=picture.url,
        alt=picture.alt,
        kind="gallery" if position else "primary",
        position=position,
        content_type=f"image/{picture.format}",
        width=picture.width,
        height=picture.height,
        trouble=picture.trouble,
        is_good=picture.is_good,
    )


def all_urls(shops: Iterable[str] = HOSTS, pages: int = PAGES) -> list[str]:
    """The product pages of shops, also those that robots.txt forbids."""
    return [f"http://{host}/product/{number}" for host in shops for number in range(1, pages + 1)]
