"""Products and offers in structured data, whatever syntax it was written in."""

import html
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from penstock.core.money import currencies, exponent
from penstock.extract.page.document import Document
from penstock.extract.page.structured import Item, as_list, fold, types_of, within, without_fragment
from penstock.extract.product.glance import Glance
from penstock.extract.product.names import akin, same_words
from penstock.extract.values.machine_amount import read_machine_amount
from penstock.extract.values.stock import read_stock
from penstock.kernel.records import Availability

PRODUCT_TYPES = frozenset(
    (
        *("product", "productgroup", "individualproduct", "productmodel", "someproducts"),
        *("vehicle", "car", "motorcycle", "book"),
    )
)
#: Properties that lead from a product to other products.
RELATED = frozenset(
    (
        *(
            "isRelatedTo",
            "isSimilarTo",
            "isAccessoryOrSparePartFor",
            "isConsumableFor",
            "hasVariant",
        ),
        *("itemListElement", "mainEntityOfPage", "review", "reviews", "isVariantOf"),
    )
)
LIST_PRICES = frozenset(["listprice", "strikethroughprice", "msrp", "srp", "suggestedretailprice"])
MAX_OFFERS = 200
MAX_URLS = 20
MAX_NESTING = 8
BEST_RATING = 5
THREE_DECIMALS = 3
#: The name or the URL fits; an offer alone says nothing.
FITTING = 2


@dataclass(frozen=True, slots=True)
class Offer:
    """One offer; more than one amount means that its price can be read in several ways.

    With `sellers` it sums up the offers of others, and the amounts are the lowest and highest.
    """

    amounts: tuple[Decimal, ...]
    currency: str | None
    availability: Availability = Availability.UNKNOWN
    url: str = ""
    sku: str = ""
    list_amount: Decimal | None = None
    sellers: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """A product in structured data with its offers; `source` says in which syntax it stood."""

    source: str
    item: Mapping[str, Any]
    offers: tuple[Offer, ...] = field(default=())

    @property
    def name(self) -> str:
        """The product's name."""
        return text(self.item.get("name"))


def text(value: Any, nesting: int = MAX_NESTING) -> str:
    """A value as text: the first of a list, the name of an item."""
    if isinstance(value, list):
        texts = (text(element, nesting - 1) for element in value if nesting)
        return next((found for found in texts if found), "")
    if isinstance(value, dict):
        inner = value.get("name") or value.get("@value") or value.get("@id")
        return text(inner, nesting - 1) if nesting else ""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, str):
        return fold(html.unescape(value))
    return str(value) if isinstance(value, int | float) else ""


def main_listing(document: Document, glance: Glance) -> Listing | None:
    """The product that the page is about; None if there is none or no telling which."""
    for source, items in _sources(document):
        found = [Listing(source, item, tuple(offers_of(item))) for item in _products(items)]
        found = [listing for listing in found if listing.name or listing.offers]
        if found and (chosen := _the_one(found, document, glance)):
            return chosen
    return None


def _sources(document: Document) -> Iterator[tuple[str, Iterable[Item]]]:
    yield "json-ld", document.json_ld
    yield "microdata", (item for item, _ in document.microdata)
    yield "rdfa", (item for item, _ in document.rdfa)


def _products(items: Iterable[Item]) -> list[Item]:
    return [
        item
        for item in within(items, RELATED)
        if any(name.lower() in PRODUCT_TYPES for name in types_of(item)) and len(item) > 1
    ]


def _the_one(found: list[Listing], document: Document, glance: Glance) -> Listing | None:
    """The listing that fits the page best; one alone need only have something in common with it."""
    title = document.meta_value("og:title") or document.title
    fits = [_fit(listing, document, title) for listing in found]
    best = found[fits.index(max(fits))]
    if max(fits) >= FITTING:
        return best
    if len(found) > 1:
        return next((one for one in found if _is_named(one, glance, same_words)), None)
    return best if not best.name or _is_named(best, glance, akin) else None


def _fit(listing: Listing, document: Document, title: str) -> int:
    """How well a listing fits the page: its own URL says most, then the name."""
    here = without_fragment(document.url)
    urls = [text(listing.item.get("url")), *(one.url for one in listing.offers[:MAX_URLS])]
    return (
        4 * any(url and without_fragment(document.absolute(url) or "") == here for url in urls)
        + 2 * same_words(listing.name, title)
        + bool(listing.offers)
    )


def _is_named(listing: Listing, glance: Glance, fits: Callable[[str, str], bool]) -> bool:
    return not glance.titles or any(fits(listing.name, title) for title in glance.titles)


def offers_of(item: Mapping[str, Any]) -> Iterator[Offer]:
    """The offers of a product, those of its variants and of aggregates among them."""
    waiting = as_list(_get(item, "offers")) + [
        offer
        for variant in as_list(item.get("hasVariant"))
        if isinstance(variant, dict)
        for offer in _with_sku(variant)
    ]
    for count, offer in enumerate(waiting):
        if count == MAX_OFFERS:
            return
        if isinstance(offer, list):
            waiting += offer
        elif isinstance(offer, dict):
            nested = as_list(offer.get("offers"))
            if nested:
                waiting += nested
            elif not _for_many(offer):
                yield _offer(offer)


def _get(item: Mapping[str, Any], name: str) -> Any:
    """A property that some write with a capital."""
    return item.get(name) or item.get(name.capitalize())


def _with_sku(variant: Mapping[str, Any]) -> list[Any]:
    sku = text(variant.get("sku"))
    offers = as_list(variant.get("offers"))
    return [{"sku": sku, **offer} if isinstance(offer, dict) else offer for offer in offers]


def _offer(item: Mapping[str, Any]) -> Offer:
    currency = _currency(item)
    amounts, list_amount = _amounts(item, currency)
    return Offer(
        amounts,
        currency,
        read_stock(text(_get(item, "availability"))),
        text(item.get("url")),
        text(item.get("sku")),
        list_amount,
        int(_one(item.get("offerCount")) or 0) if "lowPrice" in item else 0,
    )


def _currency(item: Mapping[str, Any]) -> str | None:
    specifications = [one for one in as_list(item.get("priceSpecification")) if _is_item(one)]
    for holder in (item, *specifications):
        code = text(holder.get("priceCurrency")).upper()
        if code in currencies():
            return code
    return None


def _amounts(
    item: Mapping[str, Any], currency: str | None
) -> tuple[tuple[Decimal, ...], Decimal | None]:
    """What the offer costs now, and the list price where it is told apart."""
    direct = _values(item.get("price"), currency)
    current, listed = _specified(item, currency)
    if not direct:
        direct = _values(item.get("lowPrice"), currency)
        highest = _values(item.get("highPrice"), currency)
        if highest and highest != direct:
            direct += tuple(value for value in highest if value not in direct)
    return direct or current, listed


def _values(value: Any, currency: str | None) -> tuple[Decimal, ...]:
    found: list[Decimal] = []
    for element in as_list(value):
        readings = read_machine_amount(element, currency)
        if currency and exponent(currency) == THREE_DECIMALS:
            readings = readings[:1]  # three decimals are no thousands where money has them
        found += [one for one in readings if one not in found]
    return tuple(found)


def _specified(
    item: Mapping[str, Any], currency: str | None
) -> tuple[tuple[Decimal, ...], Decimal | None]:
    """Prices of specifications: for one piece, neither a list price nor one per measure."""
    current: list[Decimal] = []
    listed: Decimal | None = None
    for entry in as_list(item.get("priceSpecification")):
        if not _is_item(entry) or _is_for_some(entry):
            continue
        values = _values(entry.get("price"), currency)
        if text(entry.get("priceType")).rpartition("/")[2].lower() in LIST_PRICES:
            listed = values[0] if len(values) == 1 else listed
        else:
            current += [value for value in values if value not in current]
    return tuple(current), listed


def _is_for_some(specification: Mapping[str, Any]) -> bool:
    """Whether a price is one per measure, for members, or for many pieces."""
    if "referenceQuantity" in specification or "validForMemberTier" in specification:
        return True
    return _for_many(specification)


def _for_many(specification: Mapping[str, Any]) -> bool:
    """Whether a price holds only from two pieces on."""
    quantity = specification.get("eligibleQuantity")
    least = quantity.get("minValue") if isinstance(quantity, dict) else None
    values = read_machine_amount(least, None)
    return bool(values) and values[0] > 1


def _is_item(value: Any) -> bool:
    return isinstance(value, dict)


def rating_of(item: Mapping[str, Any]) -> tuple[Decimal | None, int | None]:
    """Stars on a scale to five, and how many people gave them."""
    rating = next((one for one in as_list(item.get("aggregateRating")) if _is_item(one)), None)
    if rating is None:
        return None, None
    value = _one(rating.get("ratingValue"))
    best = _one(rating.get("bestRating")) or Decimal(BEST_RATING)
    count = _one(rating.get("reviewCount"))
    if count is None:
        count = _one(rating.get("ratingCount"))
    stars = value * BEST_RATING / best if value is not None and best >= 1 else None
    whole = int(count) if count is not None and count == int(count) else None
    return (round(stars, 2) if stars is not None else None), whole


def _one(value: Any) -> Decimal | None:
    value = value[0] if isinstance(value, list) and value else value
    if isinstance(value, str):
        value = value.replace(",", ".").strip()
    values = read_machine_amount(value, None)
    return values[0] if values else None
