"""Product data in scripts is found by the product's name, and currencies where they agree."""

from typing import Any

import pytest

from penstock.extract.product.embedded import (
    currency_in,
    page_currency,
    price_in,
    product_data,
    sku_in,
)
from tests.unit.extract.adapters.markup import page
from tests.unit.extract.product.markup import document


def found(script: str, name: str = "Desk Lamp") -> Any:
    return product_data(document(page(f"<script>{script}</script>")), name)


def test_object_with_the_products_name_and_a_price_is_found() -> None:
    script = 'var p = {id: 7, name: "Desk Lamp", price: 20, currency: "EUR"};'

    assert found(script) == {"id": 7, "name": "Desk Lamp", "price": 20, "currency": "EUR"}


def test_objects_of_other_products_are_passed_over() -> None:
    script = 'dl.push({"name":"Stool","price":5}); dl.push({"item_name":"Desk Lamp","price":20})'

    assert found(script) == {"item_name": "Desk Lamp", "price": 20}
    assert found('x = {"name":"Stool","price":5}') is None


def test_inner_objects_do_not_hide_the_outer_one() -> None:
    script = 'p = {"name":"Desk Lamp","size":{"w":1},"price":20}'

    assert found(script)["price"] == 20


def test_names_are_not_taken_from_another_script() -> None:
    assert found('p = {"name":"Desk Lamp", "x": 1</script><script>"price": 20}') is None


@pytest.mark.parametrize(
    ("data", "price"),
    [
        ({"price": 30, "salePrice": 20}, ("salePrice", 20)),
        ({"price": 30, "salePrice": 0}, ("price", 30)),
        ({"name": "x"}, ("", None)),
    ],
)
def test_price_that_holds_now_goes_first(data: dict[str, Any], price: tuple[str, Any]) -> None:
    assert price_in(data) == price


def test_currency_must_be_one() -> None:
    assert currency_in({"currency": "eur"}) == "EUR"
    assert currency_in({"currency": "€"}) == ""


def test_number_of_the_product_is_a_text() -> None:
    assert sku_in({"productId": 77}) == "77"


@pytest.mark.parametrize(
    ("script", "currency"),
    [
        ('{"currency":"EUR"}', "EUR"),
        ("priceCurrency = 'SEK';", "SEK"),
        (r"\"currencyCode\":\"NOK\"", "NOK"),
        ('Shopify.currency = {"active":"CAD","rate":"1.0"};', "CAD"),
        ('{"currency":"EUR"} {"currency":"EUR"}', "EUR"),
        ('{"currency":"EUR"} {"currency":"USD"}', None),
        ('{"currency":"FOO"}', None),
        ("", None),
    ],
)
def test_currency_of_the_page_is_the_one_its_scripts_agree_on(
    script: str, currency: str | None
) -> None:
    assert page_currency(document(page(f"<script>{script}</script>"))) == currency
