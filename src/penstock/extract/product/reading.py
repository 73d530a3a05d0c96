"""Products and offers on any site: structured data first, then the page itself.

Evidence is combined. Structured data that names one price is believed without building the
document tree if a glance at the page confirms it. Where it names several or none, or the page
seems to show another, what is displayed at the product's title decides; where that contradicts or
is itself unclear, no price is given and the rivals are named.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import Any
from urllib.parse import parse_qsl

from penstock.core.money import to_minor
from penstock.extract.adapter import Findings
from penstock.extract.page.document import Document, text_of
from penstock.extract.page.structured import as_list, types_of, within, without_fragment
from penstock.extract.product import embedded
from penstock.extract.product.glance import Glance, is_written
from penstock.extract.product.hints import price_hints
from penstock.extract.product.offers import Listing, Offer, main_listing, rating_of, text
from penstock.extract.product.other_pages import is_no_product
from penstock.extract.product.place import Place
from penstock.extract.product.shown_price import ShownPrice, Sighting
from penstock.extract.product.shown_stock import ShownStock
from penstock.extract.values.codes import labelled_code
from penstock.extract.values.gtin import read_gtin
from penstock.extract.values.machine_amount import read_machine_amount
from penstock.extract.values.price import Price
from penstock.extract.values.price_hints import PriceHints
from penstock.extract.values.stock import read_stock
from penstock.kernel.records import Availability, Extraction, ExtractReason

MAX_IMAGES = 20
MAX_ZONE_TEXT = 60_000
MAX_SKUS = 5
BESIDE_TITLE = "page, beside the title"
GTIN_KEYS = ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "ean", "upc", "isbn")
META_PRICES = ("product:sale_price:amount", "product:price:amount", "og:price:amount")
META_STOCK = ("product:availability", "og:availability", "availability")

SKU_ELEMENTS = ".sku,[itemprop=sku],[data-product-sku]"
WIDE_COLON = "\uff1a"

_CODE = re.compile(r"[A-Za-z0-9][\w./-]{2,39}")
_ID_NAME = re.compile(r"sku|pid|product|item|^id$", re.IGNORECASE)
_IS_ID = re.compile(r"""[iI][dD]\\?["']?\s*[:=]\s*\\?["']?$""")
_URL_TOKEN = re.compile(r"[A-Za-z]*\d[A-Za-z0-9]{4,}")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a source says the price is; several amounts where it leaves a choice."""

    source: str
    amounts: tuple[Decimal, ...]
    currency: str | None = None


class ProductPage:
    """One page's product, each part of it read on first use."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.glance = Glance(document)
        self.found = Findings()

    @cached_property
    def listing(self) -> Listing | None:
        """The product in the structured data."""
        return main_listing(self.document, self.glance)

    @cached_property
    def offers(self) -> tuple[Offer, ...]:
        """The offers that belong to this very URL, else all of them."""
        if not self.listing:
            return ()
        offers = [offer for offer in self.listing.offers if offer.amounts or offer.url]
        here = without_fragment(self.document.url)
        own = [one for one in offers if one.url and self._absolute(one.url) == here]
        sku = text(self.listing.item.get("sku"))
        same = [one for one in offers if sku and one.sku == sku]
        return tuple(own or same or self.listing.offers)

    def _absolute(self, url: str) -> str:
        return without_fragment(self.document.absolute(url) or "")

    @cached_property
    def name(self) -> str:
        """What the product is called."""
        listed = self.listing.name if self.listing else ""
        return listed or self.glance.name

    @cached_property
    def is_something_else(self) -> bool:
        """Whether the page is about an event, an article, a cart or the like, and no product."""
        return self.listing is None and is_no_product(self.document, self.glance.titles)

    @property
    def sums_up_others(self) -> bool:
        """Whether the page sells nothing itself, but lists what several sellers ask."""
        return any(offer.sellers > 1 for offer in self.offers) and not self.shown_stock.buy_label

    @cached_property
    def data(self) -> Any:
        """The product's object in a script, or an empty one."""
        return embedded.product_data(self.document, self.name) or {}

    @cached_property
    def hints(self) -> PriceHints:
        """What the page says about its currency."""
        stated = next((offer.currency for offer in self.offers if offer.currency), None)
        return price_hints(self.document, stated)

    @cached_property
    def place(self) -> Place:
        """Where on the page the product stands; needs the tree, as all that is shown."""
        return Place(self.document, self.name)

    @cached_property
    def shown_price(self) -> ShownPrice:
        """What the page displays as the price."""
        return ShownPrice(self.place, self.hints)

    @cached_property
    def shown_stock(self) -> ShownStock:
        """What the page displays of the stock."""
        return ShownStock(self.place)


def conclude(found: Findings) -> Extraction:
    """The extraction of what was found about a product: without a price there is a reason."""
    if not found.get("name"):
        return found.failed("product", ExtractReason.TITLE_NOT_FOUND, "no name of a product")
    if "price_minor" in found.fields or found.get("rival_prices"):
        return found.found("product")
    if found.get("availability") == Availability.OUT_OF_STOCK:
        detail = "out of stock, and the page shows no price"
        return found.failed("product", ExtractReason.OOS_NO_PRICE, detail)
    return found.failed("product", ExtractReason.PRICE_NOT_FOUND, "no price of this product")


def read_product(document: Document) -> ProductPage:
    """Everything that can be found about the product of a page."""
    page = ProductPage(document)
    _describe(page)
    _find_price(page)
    _find_list_price(page)
    _find_availability(page)
    _find_codes(page)
    return page


def _describe(page: ProductPage) -> None:
    found, document = page.found, page.document
    found.add("url", document.url, "the page's URL")
    if page.listing:
        _describe_listing(page, page.listing)
    found.add("name", page.name, "the page's title")
    found.add("brand", document.meta_value("product:brand", "og:brand"), "meta product:brand")
    found.add("category", document.meta_value("product:category"), "meta product:category")
    found.add("category", _breadcrumb(document), "json-ld BreadcrumbList")
    description = document.meta_value("og:description", "description")
    found.add("description", description, "meta description")
    found.add("image_urls", tuple(document.meta.get("og:image", ())[:MAX_IMAGES]), "meta og:image")


def _describe_listing(page: ProductPage, listing: Listing) -> None:
    found, item, source = page.found, listing.item, f"{listing.source} Product"
    found.add("name", listing.name, f"{source}.name")
    found.add("brand", text(item.get("brand") or item.get("manufacturer")), f"{source}.brand")
    found.add("category", text(item.get("category")), f"{source}.category")
    found.add("description", text(item.get("description")), f"{source}.description")
    found.add("mpn", text(item.get("mpn")), f"{source}.mpn")
    found.add("image_urls", tuple(_images(item.get("image"))), f"{source}.image")
    rating, count = rating_of(item)
    found.add("rating", rating, f"{source}.aggregateRating")
    found.add("review_count", count, f"{source}.aggregateRating")


def _images(value: Any) -> Iterator[str]:
    for image in as_list(value)[:MAX_IMAGES]:
        address = image.get("url") or image.get("contentUrl") if isinstance(image, dict) else image
        if written := text(address):
            yield written


def _breadcrumb(document: Document) -> str:
    """The category that the trail to the product ends in."""
    for item in within(document.json_ld):
        if "BreadcrumbList" in types_of(item):
            steps = [one for one in as_list(item.get("itemListElement")) if isinstance(one, dict)]
            names = [text(step.get("name")) or text(step.get("item")) for step in steps]
            # The last step is the product itself.
            return names[-2] if len(names) > 1 else ""
    return ""


def _find_price(page: ProductPage) -> None:
    """Believe what agrees; where sources disagree, name the rivals and give no price."""
    if page.is_something_else:
        return
    claims = list(_claims(page))
    amounts = _distinct(claims)
    if len(amounts) == 1 and amounts[0] and _is_confirmed(page, claims[0], amounts[0]):
        _settle(page, amounts[0], claims[0].source, claims[0].currency)
    elif not amounts and _believe_script(page):
        return
    elif sighting := page.shown_price.sighting:
        _compare(page, claims, amounts, sighting)
    elif len(amounts) == 1:
        _settle(page, amounts[0], claims[0].source, claims[0].currency)
    elif page.sums_up_others and page.shown_price.writes(min(amounts)):
        source = f"{claims[0].source}, the lowest of several sellers"
        _settle(page, min(amounts), source, claims[0].currency)
    else:
        _doubt(page, [*amounts, *_script_amounts(page)])


def _find_list_price(page: ProductPage) -> None:
    """The price that structured data calls the list price."""
    listed = {offer.list_amount for offer in page.offers if offer.list_amount}
    price, currency = page.found.get("price_minor"), page.found.get("currency")
    if price and len(listed) == 1:
        minor = to_minor(listed.pop(), currency)
        is_higher = minor is not None and minor > price
        source = f"{page.listing.source} Product.offers" if page.listing else ""
        page.found.add("list_price_minor", minor if is_higher else None, source)


def _is_confirmed(page: ProductPage, claim: Claim, amount: Decimal) -> bool:
    """Whether a glance at the page shows the amount, and no other where the price should be."""
    hints = replace(page.hints, currency=claim.currency or page.hints.currency)
    seen = page.glance.confirms(page.name, amount, hints)
    return is_written(page.document, amount) if seen is None else seen


def _compare(
    page: ProductPage, claims: list[Claim], amounts: list[Decimal], sighting: Sighting
) -> None:
    shown = {price.value: price for price in reversed(sighting.prices)}
    agreed = [price for value, price in shown.items() if value in amounts]
    if any(amounts) and len(agreed) == 1:
        _agree(page, claims[0], agreed[0], sighting)
    elif any(amounts):
        _doubt(page, [*amounts, *shown])
    elif not _is_offered(page, sighting):
        return
    elif len(shown) > 1:
        _doubt(page, shown)
    else:
        price = sighting.prices[0]
        _settle(page, price.value, BESIDE_TITLE, price.currency, sighting.text)
    if sighting.list_price and (currency := page.found.get("currency")):
        listed = to_minor(sighting.list_price.value, currency)
        page.found.add("list_price_minor", listed, "page, crossed out")


def _agree(page: ProductPage, claim: Claim, price: Price, sighting: Sighting) -> None:
    """Take what is stated and displayed, unless one says euros and the other dollars."""
    if claim.currency and price.currency and claim.currency != price.currency:
        _doubt(page, [price.value])
        return
    source = f"{claim.source}, and {BESIDE_TITLE}"
    _settle(page, price.value, source, claim.currency or price.currency, sighting.text)


def _is_offered(page: ProductPage, sighting: Sighting) -> bool:
    """Whether an amount that nothing but the page displays is asked for something."""
    kind = page.document.meta_value("og:type").rpartition(":")[2]
    if page.listing or kind == "product":
        return True
    if kind == "article":
        # Shops' pages say so as well, but reports on products only link to shops.
        button = page.shown_stock.buy_button
        return sighting.named and bool(button and button.node.tag != "a")
    return sighting.named or bool(page.shown_stock.buy_label)


def _believe_script(page: ProductPage) -> bool:
    """A price in a script counts if the page names the same amount beside the title."""
    amounts = _script_amounts(page)
    currency = embedded.currency_in(page.data) or page.hints.currency
    if len(amounts) != 1 or not currency or amounts[0] not in page.shown_price.mentioned:
        return False
    key, _ = embedded.price_in(page.data)
    _settle(page, amounts[0], f"script data, {key}", currency)
    return True


def _script_amounts(page: ProductPage) -> tuple[Decimal, ...]:
    return read_machine_amount(embedded.price_in(page.data)[1], embedded.currency_in(page.data))


def _claims(page: ProductPage) -> Iterator[Claim]:
    """What structured data says the price is, by source."""
    if page.listing:
        source = f"{page.listing.source} Product.offers"
        for offer in page.offers:
            if offer.amounts:
                yield Claim(source, offer.amounts, offer.currency)
    for name in META_PRICES:
        if value := page.document.meta_value(name):
            yield Claim(f"meta {name}", read_machine_amount(value, page.hints.currency))
            return


def _distinct(claims: Iterable[Claim]) -> list[Decimal]:
    return list(dict.fromkeys(amount for claim in claims for amount in claim.amounts))


def _settle(
    page: ProductPage, amount: Decimal, source: str, currency: str | None, shown: str = ""
) -> None:
    currency = currency or page.hints.currency
    if not currency:
        return
    minor = to_minor(amount, currency)
    if minor is None:
        _doubt(page, [amount])
        return
    page.found.add("price_minor", minor, source, shown or str(amount))
    page.found.add("currency", currency, source)


def _doubt(page: ProductPage, amounts: Iterable[Decimal]) -> None:
    rivals = tuple(dict.fromkeys(f"{amount.normalize():f}" for amount in amounts))
    page.found.add("rival_prices", rivals, "sources that disagree", " / ".join(rivals))


def _find_availability(page: ProductPage) -> None:
    stated, source = _stated_availability(page)
    if stated is Availability.OUT_OF_STOCK and page.shown_stock.buy_label:
        # One variant may be gone and the page sell the others: nobody knows which is meant.
        return
    if stated is Availability.IN_STOCK and _is_shown_gone(page):
        return
    page.found.add("availability", stated, source)
    if not stated:
        shown, words = page.shown_stock.availability
        if shown is not Availability.UNKNOWN:
            page.found.add("availability", shown, BESIDE_TITLE, words)


def _is_shown_gone(page: ProductPage) -> bool:
    if not page.glance.may_be_gone(page.name) or page.shown_stock.buy_label:
        return False
    return page.shown_stock.availability[0] is Availability.OUT_OF_STOCK


def _stated_availability(page: ProductPage) -> tuple[Availability | None, str]:
    """What structured data says; an offer that can be had speaks for the product."""
    if page.listing:
        stated = {offer.availability for offer in page.offers} - {Availability.UNKNOWN}
        source = f"{page.listing.source} Product.offers.availability"
        if len(stated) == 1 or Availability.IN_STOCK in stated:
            in_stock = Availability.IN_STOCK in stated
            return (Availability.IN_STOCK if in_stock else next(iter(stated))), source
        if any(offer.sellers for offer in page.offers):
            return Availability.IN_STOCK, f"{page.listing.source} AggregateOffer.offerCount"
    stated_by_meta = read_stock(page.document.meta_value(*META_STOCK))
    if stated_by_meta is Availability.UNKNOWN:
        return None, ""
    return stated_by_meta, "meta product:availability"


def _find_codes(page: ProductPage) -> None:
    found = page.found
    stated = _stated_sku(page)
    if not stated:
        _find_sku_in_url(page)
    elif page.document.shows(stated[0]):
        found.add("sku", *stated)
    if not found.get("sku"):
        _find_labelled_sku(page)
    if stated:
        found.add("sku", *stated)
    if page.listing:
        item, source = page.listing.item, f"{page.listing.source} Product"
        found.add("product_id", text(item.get("productID")), f"{source}.productID")
        for key in GTIN_KEYS:
            found.add("gtin", read_gtin(text(item.get(key))), f"{source}.{key}")
    if not found.get("sku"):
        found.add("sku", embedded.sku_in(page.data), "script data")


def _stated_sku(page: ProductPage) -> tuple[str, str] | None:
    if page.listing:
        for key in ("sku", "productID"):
            if value := text(page.listing.item.get(key)):
                return value, f"{page.listing.source} Product.{key}"
        skus = {offer.sku for offer in page.offers if offer.sku}
        if len(skus) == 1:
            return skus.pop(), f"{page.listing.source} Product.offers.sku"
    value = page.document.meta_value("product:retailer_item_id")
    return (value, "meta product:retailer_item_id") if value else None


def _find_labelled_sku(page: ProductPage) -> None:
    """The code that the page itself calls the product's number."""
    for node in page.document.css(SKU_ELEMENTS)[:MAX_SKUS]:
        code = text_of(node).strip("#:. ")
        if _CODE.fullmatch(code) and not page.place.is_elsewhere(node):
            page.found.add("sku", code, f"page {SKU_ELEMENTS}")
            return
    title = page.place.title
    texts = chain([text_of(title)] if title else [], (ring.text for ring in page.place.rings))
    for shown in texts:
        if found := labelled_code(shown[:MAX_ZONE_TEXT].replace(WIDE_COLON, ":")):
            code, words = found
            page.found.add("sku", code, "page, labelled", words)
            return


def _find_sku_in_url(page: ProductPage) -> None:
    """A number in the URL that the page uses as an id as well."""
    path, _, query = page.document.location.target.partition("?")
    named = [value for key, value in parse_qsl(query) if _ID_NAME.search(key)]
    markup = page.document.text
    for token in [*named, *reversed(_URL_TOKEN.findall(path))]:
        places = page.document.places_of(token) if token.isalnum() else ()
        if any(_IS_ID.search(markup, max(0, at - 12), at) for at in places):
            page.found.add("sku", token, "URL and ids on the page")
            return
