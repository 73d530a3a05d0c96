"""Product pages of sgammo.com: ammunition, on WooCommerce with a theme of its own.

Other products' prices and buttons stand on the same page, so that everything is tied to the
product's id: the body's `postid-<id>` and the value of its own buy button.
"""

import re

from penstock.extract.adapter import Adapter, Findings
from penstock.extract.page.document import Document, text_of
from penstock.extract.product.reading import ProductPage, conclude, read_product
from penstock.extract.values.ammunition import cost_per_round, read_ammunition
from penstock.kernel.records import Availability, Extraction, ExtractReason

TITLE = "h1.sgammo-content-single-product__title"
STOCK = "p.stock"
BUY = "button.single_add_to_cart_button[name=add-to-cart]"
STATES = {"in-stock": Availability.IN_STOCK, "out-of-stock": Availability.OUT_OF_STOCK}
PRICE = ("price_minor", "currency", "rival_prices", "list_price_minor")
FROM_STRUCTURED_DATA = (
    *("url", "sku", "gtin", "brand", "category"),
    *("description", "image_urls", "rating", "review_count"),
)

_POST_ID = re.compile(r"(?:^|\s)postid-(\d+)(?:\s|$)")


def extract(document: Document) -> Extraction:
    """The offer of a product page."""
    page = read_product(document)
    found = Findings()
    found.add("name", document.first_text(TITLE), TITLE)
    match = _POST_ID.search(document.attribute("body", "class"))
    found.add("product_id", match[1] if match else None, "body.postid")
    is_offered = any(offer.amounts for offer in page.offers)
    # Without a price in the product's own data, one on the page is that of another product.
    for field in FROM_STRUCTURED_DATA + (PRICE if is_offered else ()):
        if field in page.found.fields:
            found.add(field, page.found.fields[field], *page.found.evidence[field])
    if not found.get("name") or not found.get("product_id"):
        return _changed(found, page)
    availability, shown = _availability(document, found.fields["product_id"])
    if availability is not Availability.UNKNOWN:
        found.add("availability", availability, STOCK, shown)
    _add_ammunition(found)
    return conclude(found)


def _changed(found: Findings, page: ProductPage) -> Extraction:
    missing = TITLE if not found.get("name") else "body.postid-<id>"
    if page.listing:
        reason = ExtractReason.PAGE_STRUCTURE_CHANGED
        return found.failed("product", reason, f"there is a product, but no {missing}")
    return found.failed("product", ExtractReason.TITLE_NOT_FOUND, f"nothing matches {missing}")


def _availability(document: Document, product_id: str) -> tuple[Availability, str]:
    """The stock line, unless the product's own button contradicts it."""
    said = {
        (state, text_of(node))
        for node in document.css(STOCK)
        for name, state in STATES.items()
        if name in (node.attributes.get("class") or "").split()
    }
    buttons = {node.attributes.get("value") for node in document.css(BUY)}
    states = {state for state, _ in said}
    if len(states) != 1:
        return Availability.UNKNOWN, ""
    state, shown = next(iter(said))
    if (state is Availability.OUT_OF_STOCK) == (product_id in buttons):
        return Availability.UNKNOWN, shown
    return state, shown


def _add_ammunition(found: Findings) -> None:
    """Calibre, grains and rounds, which stand in the title."""
    title = found.fields["name"]
    read = read_ammunition(title)
    for field in (
        *("caliber", "grain_weight", "round_count", "case_material", "bullet_type"),
        *("load_type", "shell_length"),
    ):
        found.add(field, getattr(read, field), "title", title)
    price, rounds = found.get("price_minor"), read.round_count
    if price and rounds:
        found.add("cost_per_round_minor", cost_per_round(price, rounds), "price over rounds")


ADAPTER = Adapter(
    id="sgammo",
    version="1.0.0",
    gives="product",
    extract=extract,
    domain="sgammo.com",
    urls=("sgammo.com/product/*",),
)
