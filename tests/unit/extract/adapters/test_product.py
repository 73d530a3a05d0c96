"""The generic product adapter stands by what it finds, or says why not."""

from penstock.core.urls import parse
from penstock.extract.adapters.product import ADAPTER
from penstock.extract.registry import open_registry
from penstock.kernel.records import ExtractReason
from tests.unit.extract.adapters.markup import read
from tests.unit.extract.product.markup import BUY, URL, shop


def test_a_product_is_found_without_a_selector() -> None:
    found = read(ADAPTER, shop(f'<p class="price">20,00 €</p>{BUY}'), URL)

    assert found.ok
    assert found.adapter == "product@1.0.0"
    assert (found.fields["name"], found.fields["price_minor"]) == ("Desk Lamp", 2000)


def test_a_page_without_a_price_has_a_reason() -> None:
    found = read(ADAPTER, shop(BUY), URL)

    assert found.reason is ExtractReason.PRICE_NOT_FOUND
    assert found.fields["availability"] == "IN_STOCK"


def test_an_empty_page_has_a_reason() -> None:
    assert read(ADAPTER, "  ", URL).reason is ExtractReason.EMPTY_PAGE


def test_it_serves_every_site_that_has_no_adapter_of_its_own() -> None:
    assert ADAPTER.urls == ()
    assert open_registry().choose(parse(URL), "product").adapter.id == "product"
