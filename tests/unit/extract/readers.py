"""A reader with one small adapter, for tests of what stands around adapters."""

import os
from decimal import Decimal
from pathlib import Path

from penstock.extract.adapter import Adapter, Findings
from penstock.extract.page.document import Document
from penstock.extract.registry import Registry
from penstock.kernel.model import Page
from penstock.kernel.reader import Reader
from penstock.kernel.records import Extraction, ExtractReason
from penstock.quality.settings import QualitySettings
from penstock.quality.standalone import StandaloneJudge

LAMP = b'<h1>Lamp</h1><p class="price">12.50</p><p class="stock">In stock</p>'
URL = "https://shop.example/lamps/1"
#: A file that the setting for adapters can name.
FILE = Path(__file__)


def extract(document: Document) -> Extraction:
    """Name and price of a page; pages that say so make trouble."""
    if "PLEASE DIE" in document.text:
        os._exit(9)
    if "PLEASE FAIL" in document.text:
        raise ZeroDivisionError("as it was asked to")
    found = Findings()
    found.add("url", document.url, "the page's URL")
    found.add("name", document.first_text("h1"), "css h1")
    if price := document.first_text(".price"):
        found.add("price_minor", int(Decimal(price) * 100), "css .price", price)
        found.add("currency", "EUR", "known")
        found.add("availability", "IN_STOCK", "known")
    if not found.get("name"):
        return found.failed("product", ExtractReason.TITLE_NOT_FOUND, "no h1")
    return found.found("product")


def adapter(version: str = "1.0.0") -> Adapter:
    return Adapter(
        id="simple",
        version=version,
        gives="product",
        extract=extract,
        domain="shop.example",
        urls=("shop.example/*",),
    )


ADAPTER = adapter()


def reader(*adapters: Adapter) -> Reader:
    return Reader(Registry(adapters or (ADAPTER,)), StandaloneJudge(QualitySettings()))


def page(body: bytes = LAMP, url: str = URL) -> Page:
    return Page(url, 200, {"Content-Type": "text/html; charset=utf-8"}, body, 0.0)
