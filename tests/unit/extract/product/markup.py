"""Builders of small product pages."""

from typing import Any

from penstock.extract.page.document import Document
from penstock.extract.product.reading import ProductPage, conclude, read_product
from penstock.kernel.records import Extraction
from tests.unit.extract.adapters.markup import data, page

URL = "https://shop.example/lamps/7"
BUY = "<button>Add to cart</button>"
IN_STOCK = "https://schema.org/InStock"
SOLD_OUT = "https://schema.org/OutOfStock"


def offer(price: Any = "20.00", currency: str = "EUR", **properties: Any) -> dict[str, Any]:
    """An offer that is in stock."""
    return {
        "@type": "Offer",
        "price": price,
        "priceCurrency": currency,
        "availability": IN_STOCK,
        **properties,
    }


def product(*offers: Any, name: str = "Desk Lamp", **properties: Any) -> dict[str, Any]:
    """A product with offers, one of twenty euros if none is given."""
    return {"@type": "Product", "name": name, "offers": list(offers) or [offer()], **properties}


def shop(shown: str, *items: Any, head: str = "", language: str = "en-US", title: str = "") -> str:
    """A page of a desk lamp: what stands beside its heading, and its structured data."""
    heading = title or "Desk Lamp"
    top = f"<title>{heading} | Shop</title>{head}" + "".join(data(item) for item in items)
    return page(f"<main><h1>{heading}</h1>{shown}</main>", top, language)


def document(text: str, url: str = URL) -> Document:
    """A page as adapters see it."""
    return Document(text, url)


def reading(text: str, url: str = URL) -> ProductPage:
    """All that is found on a page."""
    return read_product(document(text, url))


def extract(text: str, url: str = URL) -> Extraction:
    """What the generic adapter makes of a page."""
    return conclude(reading(text, url).found)


def price_of(text: str, url: str = URL) -> tuple[int | None, str | None]:
    """The price in minor units and its currency, if there is one to trust."""
    found = extract(text, url).fields
    return found.get("price_minor"), found.get("currency")


def rivals_of(text: str, url: str = URL) -> tuple[str, ...]:
    """The amounts that contradict each other."""
    fields = extract(text, url).fields
    assert "price_minor" not in fields
    return tuple(fields.get("rival_prices", ()))


def builds_tree(read: ProductPage) -> bool:
    """Whether the document tree had to be built."""
    return "tree" in vars(read.document)
