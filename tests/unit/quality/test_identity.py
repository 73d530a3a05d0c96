"""Identity keys: which one a product gets, and which ones are none."""

import pytest

from penstock.core.urls import parse
from penstock.kernel.records import Product
from penstock.quality.identity import identity_key, parse_identity_key

PAGE = parse("https://shop.test/p/1?b=2&a=1")


def test_product_id_goes_before_sku_and_sku_before_url() -> None:
    assert identity_key(Product(product_id="77", sku="A-1"), PAGE) == "PID:77"
    assert identity_key(Product(sku="A-1"), PAGE) == "SKU:A-1"
    assert identity_key(Product(), PAGE).startswith("URL:")


def test_url_key_is_the_same_for_all_spellings_of_a_page() -> None:
    key = identity_key(Product(), PAGE)

    assert identity_key(Product(), parse("http://SHOP.test/p/1/?a=1&b=2&utm_id=3#x")) == key
    assert identity_key(Product(), parse("https://shop.test/p/2")) != key
    assert len(key) == len("URL:") + 16
    assert int(key.removeprefix("URL:"), 16) >= 0


@pytest.mark.parametrize("unfit", ["a:b", "", "  "])
def test_id_that_cannot_stand_in_a_key_is_passed_over(unfit: str) -> None:
    assert identity_key(Product(product_id=unfit, sku="A-1"), PAGE) == "SKU:A-1"
    assert identity_key(Product(product_id=unfit, sku=unfit), PAGE).startswith("URL:")


def test_longest_id_makes_a_key() -> None:
    assert identity_key(Product(product_id="x" * 255), PAGE) == f"PID:{'x' * 255}"


@pytest.mark.parametrize("key", ["PID:12345678", "SKU:FEDERAL-9MM-115-50", "URL:a1b2c3d4e5f67890"])
def test_key_is_taken_apart_again(key: str) -> None:
    assert ":".join(parse_identity_key(key)) == key


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "starts with one of PID, SKU, URL"),
        ("12345", "starts with one of"),
        ("pid:1", "starts with one of"),
        ("GTIN:1", "starts with one of"),
        ("PID:", "must not be empty"),
        ("PID: ", "must not be empty"),
        ("SKU:a:b", "must not contain a colon"),
        (f"SKU:{'x' * 256}", "at most 255 characters"),
    ],
)
def test_what_is_no_key_is_refused_with_a_reason(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_identity_key(text)
