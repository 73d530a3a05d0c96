"""An adapter of one shop is a few selectors; everything else is read generically."""

from collections.abc import Mapping

import pytest

from penstock.extract.product.shop import product_page, select
from penstock.kernel.records import Availability, Extraction, ExtractReason
from tests.unit.extract.product.markup import BUY, SOLD_OUT, document, offer, product, shop

SHOWN = '<p class="price">20,00 €</p>'


def extract(text: str, selectors: Mapping[str, str]) -> Extraction:
    return product_page(document(text), selectors)


def test_selectors_go_before_the_generic_reading() -> None:
    text = shop(f'{SHOWN}<i class="name">Arc</i><i class="now">15,00 €</i>', product(brand="Arc"))

    found = extract(text, {"name": ".name", "price": ".now"})

    assert (found.fields["name"], found.fields["price_minor"]) == ("Arc", 1500)
    assert found.fields["brand"] == "Arc"
    assert found.evidence["price_minor"] == (".now", "15,00 €")


def test_selector_may_name_an_attribute() -> None:
    read = document(shop('<i data-code="7"></i><i data-code="8">x</i><i></i>'))

    assert select(read, "i@data-code") == ("7", "8")
    assert select(read, "i") == ("x",)


def test_first_match_of_a_selector_counts() -> None:
    text = shop(f'{SHOWN}{BUY}<i class="b">Arc</i><i class="b">Bow</i>')

    assert extract(text, {"brand": ".b"}).fields["brand"] == "Arc"


def test_stock_and_images_are_read_as_what_they_are() -> None:
    text = shop(f'{SHOWN}<i class="s">Ausverkauft</i><img src="/a.jpg"><img src="/b.jpg">')

    found = extract(text, {"availability": ".s", "image_urls": "img@src"}).fields

    assert found["availability"] is Availability.OUT_OF_STOCK
    assert found["image_urls"] == ("/a.jpg", "/b.jpg")


def test_unclear_stock_is_left_to_the_generic_reading() -> None:
    found = extract(shop(f'{SHOWN}{BUY}<i class="s">Perhaps</i>'), {"availability": ".s"})

    assert found.fields["availability"] is Availability.IN_STOCK


def test_unclear_price_is_doubted_and_not_mended() -> None:
    found = extract(shop(f'{SHOWN}<i class="now">15 € - 20 €</i>', product()), {"price": ".now"})

    assert "price_minor" not in found.fields
    assert "currency" not in found.fields
    assert found.fields["rival_prices"] == ("15 € - 20 €",)


@pytest.mark.parametrize("field", ["name", "price"])
def test_missing_element_of_a_required_field_means_a_changed_page(field: str) -> None:
    found = extract(shop(SHOWN + BUY), {field: ".gone"})

    assert found.reason is ExtractReason.SELECTOR_NOT_FOUND
    assert found.detail == f"{field}: nothing matches '.gone'"


def test_other_missing_elements_do_not_matter() -> None:
    assert extract(shop(SHOWN + BUY), {"brand": ".gone"}).ok


def test_sold_out_product_may_hide_its_price() -> None:
    text = shop("", product({**offer(availability=SOLD_OUT), "price": None}))

    assert extract(text, {"price": ".gone"}).reason is ExtractReason.OOS_NO_PRICE
