"""Whatever a page holds, it is read without a fault, and nothing unsound is accepted."""

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.app import open_reader
from penstock.extract.adapters import ADAPTERS
from penstock.extract.page.document import Document
from penstock.extract.values.price import Price, Unclear, read_price
from penstock.extract.values.price_hints import PriceHints
from penstock.kernel.model import Page
from penstock.kernel.reader import Reader
from penstock.kernel.records import Accept, Availability, Product
from penstock.settings import load_settings
from tests.site.shops import SHOPS, product_page

URL = "https://shop01.test/product/1"
IDS = [adapter.id for adapter in ADAPTERS]

#: What pages are made of, whole and broken.
PIECES = (
    *("<div>", "</div>", "<h1>", "</h1>", "<p class=price>", "</p>", "<del>", "</del>", "<s>"),
    *("<script>", "</script>", '<script type="application/ld+json">', "<!--", "-->", "<", ">"),
    *('<div itemscope itemtype="http://schema.org/Product">', "<span itemprop=name>", "</span>"),
    *('<span itemprop="offers" itemscope itemtype="http://schema.org/Offer">', "<button>"),
    *('<meta itemprop="price" content="', '<meta property="og:price:amount" content="', '">'),
    *('{"@type":"Product","name":"', '","offers":{"price":"', '"}}', "[", "]", "{", "}", ",", '"'),
    *("Lamp", "$19.99", "1.299 €", "£5", "was", "In stock", "Sold out", "Add to cart", "&amp;"),
    *("&#x3c;", "\x00", "\ud83d\ude00", "\u202e", "é", " ", "\n", "0", "12,-", "SKU: A-1"),
)
soup = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["19.99", "1.299", "-5", "InStock", "http://schema.org/OutOfStock", "USD"])
)
KEYS = (
    *("@type", "@graph", "name", "offers", "price", "lowPrice", "highPrice", "priceCurrency"),
    *("availability", "sku", "gtin13", "brand", "image", "aggregateRating", "ratingValue", "url"),
    *("hasVariant", "priceSpecification", "offerCount", "address", "title", "hiringOrganization"),
)
TYPES = (
    "Product",
    "Offer",
    "AggregateOffer",
    "JobPosting",
    "Organization",
    "Person",
    "ProductGroup",
)
trees = st.recursive(
    leaves | st.sampled_from(TYPES),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
        | st.builds(
            lambda kind, rest: {"@type": kind, **rest},
            st.sampled_from(TYPES),
            st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
        )
    ),
    max_leaves=25,
)


@cache
def reader() -> Reader:
    return open_reader(load_settings())


def page(html: str) -> Page:
    return Page(URL, 200, {"Content-Type": "text/html; charset=utf-8"}, html.encode(), 0.0)


def check(html: str, wanted: str) -> None:
    """Read a page, twice; if its record is accepted, it is sound."""
    reading = reader().read(page(html), wanted)
    assert reading.as_json() == reader().read(page(html), wanted).as_json()
    json.dumps(reading.as_json()).encode()
    record = reading.record
    if isinstance(reading.judgment.verdict, Accept) and isinstance(record, Product):
        assert record.name
        assert record.currency
        assert 1 <= (record.price_minor or 0) <= 99_999_999
        assert record.availability is not Availability.UNKNOWN
        assert not record.rival_prices


@pytest.mark.parametrize("wanted", IDS)
@settings(max_examples=60)
@given(html=soup)
def test_soup_of_tags_is_read_without_a_fault(wanted: str, html: str) -> None:
    check(html.encode("utf-8", "replace").decode(), wanted)


@pytest.mark.parametrize("wanted", IDS)
@settings(max_examples=60)
@given(data=trees)
def test_json_ld_of_any_shape_is_read_without_a_fault(wanted: str, data: Any) -> None:
    block = json.dumps(data).replace("</", "<\\/")
    check(f'<h1>Lamp</h1><script type="application/ld+json">{block}</script>', wanted)


@settings(max_examples=120)
@given(
    host=st.sampled_from(sorted(SHOPS)),
    cuts=st.lists(st.tuples(st.integers(0, 4_000), st.integers(0, 300), soup), max_size=4),
)
def test_damaged_product_pages_are_read_without_a_fault(
    host: str, cuts: list[tuple[int, int, str]]
) -> None:
    html = product_page(host, 3)
    for start, length, replacement in cuts:
        html = html[:start] + replacement + html[start + length :]
    check(html.encode("utf-8", "replace").decode(), "product")


@settings(max_examples=60)
@given(text=soup)
def test_every_view_of_a_document_is_made_without_a_fault(text: str) -> None:
    document = Document(text.encode("utf-8", "replace").decode(), URL)
    assert isinstance(document.visible_text, str)
    assert all(link.url.startswith("http") for link in document.links)
    views = (document.json_ld, document.microdata, document.rdfa, document.meta, document.title)
    assert all(view is not None for view in views)


@settings(max_examples=500)
@given(
    text=st.text(
        alphabet="0123456789.,'\u2019 -\u2013$€£¥kr₹RsUSDEURfromab/kgx\u00a0", max_size=24
    ),
    currency=st.sampled_from([None, "USD", "EUR", "JPY", "KWD", "CLP"]),
)
def test_a_price_is_exact_or_refused(text: str, currency: str | None) -> None:
    read = read_price(text, PriceHints(currency))
    assert read == read_price(text, PriceHints(currency))
    if isinstance(read, Unclear):
        assert read.why
        return
    assert isinstance(read, Price)
    assert read.value >= 0
    digits = str(int(read.value)) if read.value >= 1 else ""
    assert digits in "".join(filter(str.isdigit, text))
    if read.currency:
        assert read.minor is not None


@given(whole=st.integers(1, 999), rest=st.integers(100, 999))
def test_three_digits_behind_one_sign_need_a_currency(whole: int, rest: int) -> None:
    for sign in ".,":
        assert isinstance(read_price(f"{whole}{sign}{rest}"), Unclear)
        price = read_price(f"{whole}{sign}{rest} €")
        assert isinstance(price, Price)
        assert price.value == whole * 1000 + rest
