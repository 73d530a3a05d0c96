"""For adapters of one shop: a few selectors, and the generic reading for everything else."""

from collections.abc import Mapping

from penstock.extract.adapter import Findings
from penstock.extract.page.document import Document, text_of
from penstock.extract.product.reading import ProductPage, conclude, read_product
from penstock.extract.values.price import Price, read_price
from penstock.extract.values.stock import read_stock
from penstock.kernel.records import Availability, Extraction, ExtractReason

#: A shop's adapter that names these and does not find them is out of date.
REQUIRED = ("name", "price")


def product_page(document: Document, selectors: Mapping[str, str]) -> Extraction:
    """The product of a page whose fields stand where the selectors say.

    A selector may end in `@attribute`; `price` and `availability` are read as what they are.
    Fields without a selector, or whose element is missing, come from the generic reading; if
    that element is the name or the price, the page has changed.
    """
    page = read_product(document)
    found = Findings()
    for field, selector in selectors.items():
        shown = select(document, selector)
        if not shown and field in REQUIRED and not _is_gone(page):
            detail = f"{field}: nothing matches '{selector}'"
            return page.found.failed("product", ExtractReason.SELECTOR_NOT_FOUND, detail)
        _add(found, page, field, shown, selector)
    _fill(found, page.found)
    return conclude(found)


def select(document: Document, selector: str) -> tuple[str, ...]:
    """The texts or attributes of all that a selector matches."""
    path, _, attribute = selector.partition("@")
    nodes = document.css(path)
    texts = (node.attributes.get(attribute) if attribute else text_of(node) for node in nodes)
    return tuple(text for text in texts if text)


def _is_gone(page: ProductPage) -> bool:
    """Whether the product cannot be had, so that the page may well hide its price."""
    return bool(page.found.get("availability") == Availability.OUT_OF_STOCK)


def _add(
    found: Findings, page: ProductPage, field: str, shown: tuple[str, ...], selector: str
) -> None:
    if not shown:
        return
    if field == "price":
        _add_price(found, page, shown[0], selector)
    elif field == "availability":
        read = read_stock(shown[0])
        found.add(field, None if read is Availability.UNKNOWN else read, selector, shown[0])
    elif field == "image_urls":
        found.add(field, shown, selector)
    else:
        found.add(field, shown[0], selector)


def _add_price(found: Findings, page: ProductPage, shown: str, selector: str) -> None:
    price = read_price(shown, page.hints)
    if isinstance(price, Price) and price.minor is not None:
        found.add("price_minor", price.minor, selector, shown)
        found.add("currency", price.currency, selector, shown)
    else:
        found.add("rival_prices", (shown,), selector)


def _fill(found: Findings, other: Findings) -> None:
    """Take over what was not found; of two prices, never a half from each."""
    priced = {"price_minor", "currency", "rival_prices"}
    has_price = bool(priced & found.fields.keys())
    for field, value in other.fields.items():
        if not (has_price and field in priced):
            found.add(field, value, *other.evidence[field])
