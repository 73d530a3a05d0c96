"""Carts, searches, errors and articles are known by address, data and title."""

import pytest

from penstock.extract.product.other_pages import is_no_product
from tests.unit.extract.adapters.markup import data, page
from tests.unit.extract.product.markup import URL, document


def is_other(url: str = URL, *titles: str, head: str = "") -> bool:
    return is_no_product(document(page("", head), url), titles)


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example/",
        "https://shop.example/?ref=x",
        "https://shop.example/en/cart",
        "https://shop.example/Warenkorb.html",
        "https://shop.example/search?q=lamp",
    ],
)
def test_address_of_a_cart_a_search_or_the_home_page_tells(url: str) -> None:
    assert is_other(url)


@pytest.mark.parametrize(
    "title",
    [
        "Page not found | Shop",
        "404",
        "Seite nicht gefunden \u2013 Shop",
        "Page introuvable",
        "ページが見つかりません\uff5c店",
        "Your cart",
        "Mon panier | Shop",
        "Search results for lamp",
        "Log in - Shop",
        "About us",
    ],
)
def test_title_of_an_error_a_cart_or_a_login_tells(title: str) -> None:
    assert is_other(URL, title)
    assert is_other(URL, "Shop", title)


@pytest.mark.parametrize(
    "title",
    ["Desk Lamp | Shop", "Large Basket", "Shopping Bag Holder", "Search Light 404 | Shop", ""],
)
def test_title_of_a_product_does_not(title: str) -> None:
    assert not is_other(URL, title)


@pytest.mark.parametrize("kind", ["MusicEvent", "NewsArticle", "Recipe", "CollectionPage"])
def test_data_about_something_else_tells(kind: str) -> None:
    assert is_other(head=data({"@type": kind}))


def test_data_about_the_site_does_not() -> None:
    assert not is_other(head=data({"@type": "WebPage"}, {"@type": "BreadcrumbList"}))
