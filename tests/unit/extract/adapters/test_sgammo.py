"""Everything on an SGAmmo page is tied to the product's own id."""

from typing import Any

import pytest

from penstock.core.urls import parse
from penstock.extract.adapters.sgammo import ADAPTER
from penstock.extract.registry import open_registry
from penstock.kernel.records import Availability, Extraction, ExtractReason
from tests.unit.extract.adapters.markup import data, read
from tests.unit.extract.product.markup import SOLD_OUT, offer, product

URL = "https://www.sgammo.com/product/9mm/50-round-box/"
NAME = "50 Round Box - 9mm Luger 115 Grain FMJ Ammo by Brindle - Brass Case"
IN = '<p class="stock in-stock">In stock</p>'
OUT = '<p class="stock out-of-stock">Out of stock</p>'
OTHER = (
    '<li class="product"><a href="/product/other/"><h2>1000 Round Case - 9mm</h2></a>'
    '<span class="price">$269.00</span>'
    '<button name="add-to-cart" value="78" class="single_add_to_cart_button">Add</button></li>'
)


def button(number: int = 77) -> str:
    kind = "single_add_to_cart_button button alt"
    return f'<button name="add-to-cart" value="{number}" class="{kind}">Add to cart</button>'


def item(**properties: Any) -> dict[str, Any]:
    return product(offer("13.95", "USD"), name=NAME, sku="BRD9115", url=URL, **properties)


def extract(
    stock: str = IN + button(),
    listing: dict[str, Any] | None = None,
    name: str = NAME,
    number: str = "postid-77",
) -> Extraction:
    title = f'<h1 class="sgammo-content-single-product__title">{name}</h1>' if name else ""
    price = '<p class="price">$13.95</p>' if listing is None else ""
    body = f'<body class="single {number} woocommerce">{title}{price}{stock}</body>'
    head = f"<title>{NAME} - SGAmmo</title>{data(listing or item())}"
    return read(ADAPTER, f'<html lang="en-US"><head>{head}</head>{body}</html>', URL)


def test_offer_has_price_id_and_code() -> None:
    found = extract()

    assert found.ok
    assert found.fields["name"] == NAME
    assert (found.fields["price_minor"], found.fields["currency"]) == (1395, "USD")
    assert (found.fields["product_id"], found.fields["sku"]) == ("77", "BRD9115")


def test_title_tells_calibre_grains_rounds_and_cost() -> None:
    found = extract().fields

    assert found["caliber"] == "9mm Luger"
    assert (found["grain_weight"], found["round_count"]) == (115, 50)
    assert (found["case_material"], found["bullet_type"]) == ("brass", "FMJ")
    assert float(found["cost_per_round_minor"]) == 27.9


@pytest.mark.parametrize(
    ("stock", "availability"),
    [
        (IN + button(), Availability.IN_STOCK),
        (OUT, Availability.OUT_OF_STOCK),
        (OUT + OTHER, Availability.OUT_OF_STOCK),
        (IN + button() + OTHER, Availability.IN_STOCK),
        (IN + OTHER, None),
        (OUT + button(), None),
        (IN + OUT + button(), None),
        (button(), None),
        ("<p class='stock'>In stock</p>" + button(), None),
    ],
)
def test_stock_line_and_own_button_must_agree(
    stock: str, availability: Availability | None
) -> None:
    assert extract(stock).fields.get("availability") is availability


def test_sold_out_product_keeps_its_price() -> None:
    gone = product(offer("13.95", "USD", availability=SOLD_OUT), name=NAME)
    found = extract(OUT, gone)

    assert found.ok
    assert found.fields["price_minor"] == 1395


def test_price_of_another_product_is_not_taken_for_a_missing_one() -> None:
    unpriced = product({"availability": SOLD_OUT}, name=NAME)
    found = extract(OUT + '<p class="price">$269.00</p>', unpriced)

    assert found.reason is ExtractReason.OOS_NO_PRICE
    assert "price_minor" not in found.fields


@pytest.mark.parametrize(("name", "number"), [("", "postid-77"), (NAME, "page-77")])
def test_product_without_its_marks_is_a_changed_page(name: str, number: str) -> None:
    found = extract(name=name, number=number)

    assert found.reason is ExtractReason.PAGE_STRUCTURE_CHANGED


def test_page_without_a_product_has_no_title() -> None:
    found = read(ADAPTER, "<html><body><h1>About us</h1></body></html>", URL)

    assert found.reason is ExtractReason.TITLE_NOT_FOUND


def test_it_serves_the_product_pages_of_its_shop() -> None:
    registry = open_registry()

    assert registry.choose(parse(URL), "").adapter is ADAPTER
    assert registry.choose(parse("https://www.sgammo.com/about/"), "product").adapter is not ADAPTER
