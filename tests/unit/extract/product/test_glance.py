"""A glance at the page's text confirms or contradicts a price without the document tree."""

from decimal import Decimal

import pytest

from penstock.extract.product.glance import Glance, is_written, spellings
from penstock.extract.values.price_hints import PriceHints
from tests.unit.extract.adapters.markup import data, meta, page
from tests.unit.extract.product.markup import document, product, shop


def confirms(shown: str, amount: str = "20", currency: str = "EUR") -> bool | None:
    read = document(page(f"<h1>Desk Lamp</h1>{shown}"))
    found = Glance(read).confirms("Desk Lamp", Decimal(amount), PriceHints(currency))
    assert "tree" not in vars(read)
    return found


@pytest.mark.parametrize(
    "shown",
    [
        "<p>20,00 €</p>",
        "<p>&euro;&nbsp;20.00</p>",
        "<p><i>€</i> <b>20</b></p>",
        "<p><b>20,00</b> <i>€</i></p>",
        "<p><del>35,00 €</del> <ins>20,00 €</ins></p>",
        '<p class="old-price"><b>35,00 €</b></p><p>20,00 €</p>',
        "<p>statt 35,00 €</p><p>20,00 €</p>",
        "<script>x = '35,00 €'</script><p>20,00 €</p>",
        "<select><option>35,00 €</option></select><p>20,00 €</p>",
        "<!-- <p>35,00 €</p> --><p>20,00 €</p>",
        '<p class="old"><img class="old"></p><p>20,00 €</p>',
        f"<p>It once cost 35,00 € but {'that was long ago ' * 4}</p><p>20,00 €</p>",
        "<p>12 reviews</p><p>20,00 €</p>",
    ],
)
def test_first_price_behind_the_heading_confirms(shown: str) -> None:
    assert confirms(shown) is True


@pytest.mark.parametrize(
    "shown",
    [
        "<p>35,00 €</p><p>20,00 €</p>",
        "<p><del>20,00 €</del> <ins>15,00 €</ins></p>",
        '<p class="was">20,00 €</p><p>15,00 €</p>',
        "<p>$20.00</p>",
    ],
)
def test_another_first_price_contradicts(shown: str) -> None:
    assert confirms(shown) is False


@pytest.mark.parametrize("shown", ["", "<p>20,00</p>", "<p>soon</p>", "<p>20,00 € / kg</p>"])
def test_without_a_price_there_is_nothing_to_say(shown: str) -> None:
    assert confirms(shown) is None


def test_only_the_heading_of_the_product_counts() -> None:
    read = document(page("<h1>Stool</h1><p>35,00 €</p><h1>Desk Lamp</h1><p>20,00 €</p>"))
    glance = Glance(read)

    assert glance.confirms("Desk Lamp", Decimal(20), PriceHints("EUR")) is True
    assert glance.confirms("Rug", Decimal(20), PriceHints("EUR")) is None


def test_page_calls_itself_by_title_and_headings() -> None:
    read = document(page("<h1> </h1><h1>A <b>B</b></h1>", f"<title>C</title>{meta(og_title='D')}"))

    assert Glance(read).titles == ("D", "C", "A B")


@pytest.mark.parametrize(
    ("body", "title", "name"),
    [
        ("<h1>Desk Lamp</h1>", "Desk Lamp | Shop", "Desk Lamp"),
        ("<h1><a href='/'>Shop</a></h1>", "Shop | Desk Lamp", "Shop | Desk Lamp"),
        ("<h1>Shop</h1>", "Desk Lamp | Shop", "Desk Lamp | Shop"),
        ("", "Desk Lamp | Shop", "Desk Lamp | Shop"),
    ],
)
def test_name_is_the_heading_that_the_title_begins_with(body: str, title: str, name: str) -> None:
    assert Glance(document(page(body, f"<title>{title}</title>"))).name == name


@pytest.mark.parametrize(
    ("shown", "gone"),
    [
        ('<p class="stock out-of-stock">x</p>', True),
        ("<p class='soldout'>x</p>", True),
        ('<p class="price__badge-sold-out">x</p>', False),
        ("<p>out-of-stock</p>", False),
        ("", False),
    ],
)
def test_product_may_be_gone_if_an_element_is_named_so(shown: str, gone: bool) -> None:
    assert Glance(document(shop(shown))).may_be_gone("Desk Lamp") is gone


def test_amount_is_written_in_any_spelling_outside_of_json_ld() -> None:
    assert is_written(document(page("1.299,00")), Decimal("1299.00"))
    assert is_written(document(page("<i data-p='1299.5'>1\u00a0299,50")), Decimal("1299.5"))
    assert not is_written(document(page("", data(product(price="1299.50")))), Decimal("1299.5"))
    assert not is_written(document(page("11299.50 1299.505")), Decimal("1299.5"))


def test_spellings_have_cents_only_where_there_are_some() -> None:
    assert spellings(Decimal("20.00")) == ["20", "20.00", "20,00", "20.0"]
    assert spellings(Decimal("0.5")) == ["0.50", "0,50"]


def test_unclosed_tags_cost_little() -> None:
    assert confirms("<s>" * 50_000) is None
    assert confirms("<!--" * 50_000) is None
    assert confirms('<p class="' * 50_000) is None
