"""An adapter for lamps.test, a shop of the demo, as somebody might have written it."""

from penstock.extract.adapter import Adapter, Findings
from penstock.extract.page.document import Document
from penstock.kernel.records import Availability, Extraction, ExtractReason

VERSION = "1.0.0"
PRICE = ".price"


def extract(document: Document) -> Extraction:
    """The lamp on a page."""
    found = Findings()
    found.add("url", document.url, "the page")
    found.add("name", document.first_text("h1"), "h1")
    text = document.first_text(PRICE)
    if not text:
        return found.failed("product", ExtractReason.SELECTOR_NOT_FOUND, f"no {PRICE}")
    found.add("price_minor", int(text.strip("$").replace(".", "")), PRICE, text)
    found.add("currency", "USD", PRICE, text)
    found.add("availability", Availability.IN_STOCK, ".stock", document.first_text(".stock"))
    return found.found("product")


ADAPTER = Adapter(
    id="lamps",
    version=VERSION,
    gives="product",
    extract=extract,
    domain="lamps.test",
    urls=("lamps.test/*",),
)
