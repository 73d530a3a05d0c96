"""The displayed price is the one of this product, to be paid now, for one piece."""

from decimal import Decimal

import pytest

from penstock.extract.product.place import Place
from penstock.extract.product.shown_price import ShownPrice
from penstock.extract.values.price_hints import PriceHints
from tests.unit.extract.adapters.markup import page
from tests.unit.extract.product.markup import document


def shown(body: str, currency: str = "EUR") -> ShownPrice:
    read = document(page(f"<main><h1>Desk Lamp</h1>{body}</main>"))
    return ShownPrice(Place(read, "Desk Lamp"), PriceHints(currency))


def price(body: str, currency: str = "EUR") -> str | None:
    """The one price, several joined by `or`, or None."""
    sighting = shown(body, currency).sighting
    values = dict.fromkeys(str(one.value) for one in sighting.prices) if sighting else ()
    return " or ".join(values) or None


def test_price_beside_the_title_is_seen() -> None:
    sighting = shown('<p class="price">20,00 €</p>').sighting

    assert sighting is not None
    assert [(one.value, one.currency) for one in sighting.prices] == [(Decimal("20.00"), "EUR")]
    assert (sighting.text, sighting.named) == ("20,00 €", True)


def test_amount_in_an_element_of_no_name_is_not_named_a_price() -> None:
    sighting = shown("<p>20,00 €</p>").sighting

    assert sighting is not None
    assert not sighting.named


def test_nearest_amount_goes_before_those_further_away() -> None:
    assert price("<p>20,00 €</p></main><p>35,00 €</p><main>") == "20.00"


def test_two_amounts_in_one_place_are_both_named() -> None:
    assert price("<b>20,00 €</b> <b>35,00 €</b>") == "20.00 or 35.00"


def test_amounts_called_a_price_go_before_others() -> None:
    assert price('<b>35,00 €</b> <b class="price">20,00 €</b>') == "20.00"


@pytest.mark.parametrize(
    "other",
    [
        "<del>35,00 €</del>",
        "<s>35,00 €</s>",
        '<i class="price-strike">35,00 €</i>',
        '<i class="line-through">35,00 €</i>',
        '<i style="text-decoration:line-through">35,00 €</i>',
        '<i class="old-price">35,00 €</i>',
        '<i class="regular-price">35,00 €</i>',
    ],
)
def test_older_price_is_the_list_price(other: str) -> None:
    sighting = shown(f"<p class=price>{other} <b>20,00 €</b></p>").sighting

    assert sighting is not None
    assert [one.value for one in sighting.prices] == [Decimal("20.00")]
    assert sighting.list_price is not None
    assert sighting.list_price.value == Decimal("35.00")


def test_price_called_regular_counts_where_it_is_the_only_one() -> None:
    assert price('<b class="regular-price">20,00 €</b>') == "20.00"


@pytest.mark.parametrize("tag", ["del", "s", "strike"])
def test_crossed_out_price_never_counts(tag: str) -> None:
    assert price(f"<p class=price><{tag}>35,00 €</{tag}></p>") is None


@pytest.mark.parametrize(
    "other",
    [
        '<p class="shipping">5,00 €</p>',
        '<p class="savings">5,00 €</p>',
        '<p class="price-per-kg">5,00 €</p>',
        '<p class="member-price">5,00 €</p>',
        '<p class="promotion">5,00 €</p>',
        '<p class="trade-in">5,00 €</p>',
        '<p class="is-hidden">5,00 €</p>',
        '<p class="omnibus">5,00 €</p>',
        "<p hidden>5,00 €</p>",
        '<p style="display: none">5,00 €</p>',
        "<p>Versand <b>5,00 €</b></p>",
        "<p><b>5,00 €</b> / kg</p>",
        "<dl><dt>Was</dt><dd>5,00 €</dd></dl>",
        '<div class="related"><b>5,00 €</b></div>',
        '<a href="/stool">5,00 €</a>',
        "<b>0,00 €</b>",
        "<label>5,00 €</label>",
    ],
)
def test_amounts_of_something_else_are_passed_over(other: str) -> None:
    assert price(f"{other}<div><b>20,00 €</b></div>") == "20.00"
    assert price(other) is None


@pytest.mark.parametrize(
    "names", ["no-js-hidden", "hidden-xs", "md:hidden", "price-per-sellable-unit", "promo-price"]
)
def test_names_that_only_sound_like_something_else_do_not_matter(names: str) -> None:
    assert price(f'<p class="{names}">20,00 €</p>') == "20.00"


def test_words_of_another_amount_are_not_held_against_a_price() -> None:
    assert price("<p><b>12.990 €</b> <i>mtl. ab 199 €</i></p>") == "12990"
    assert price("<div><b>20,00 €</b></div><div>Statt <b>35,00 €</b></div>") == "20.00"


def test_price_with_tax_goes_before_the_one_without() -> None:
    body = '<p class="price incl">24,00 €</p><p class="price {}">20,00 €</p>'

    assert price(body.format("excl")) == "24.00"
    assert price(body.format("without-tax")) == "24.00"
    assert price("<p><b>20,00 €</b> exkl. MwSt.</p><p><b>24,00 €</b> inkl. MwSt.</p>") == "24.00"


def test_words_behind_an_amount_are_not_held_against_the_next() -> None:
    assert price("<p><b>20,00 €</b> HT <b>24,00 €</b> TTC</p>") == "24.00"


def test_price_without_tax_counts_where_it_is_the_only_one() -> None:
    assert price('<p class="price--withoutTax">$20.00</p>', "USD") == "20.00"


def test_the_internet_is_not_net() -> None:
    both = '<b class="price-internet">20,00 €</b> <b class="price-card">18,00 €</b>'

    assert price(both) == "20.00 or 18.00"


@pytest.mark.parametrize(
    "body",
    [
        "<p><b>119</b><sup>90</sup><i>€</i></p>",
        "<p><i>€</i><b>119</b><sup>90</sup></p>",
        "<p><b>€119</b><sup>90</sup></p>",
        "<p> <i>€</i> <b>119</b> <sup>90</sup> </p>",
        "<p><b>119</b><i>,</i><b>90</b> €</p>",
    ],
)
def test_cents_in_an_element_of_their_own_are_cents(body: str) -> None:
    assert price(body) == "119.90"


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("<p><b>1.299</b><sup>90</sup> €</p>", "1299.90"),
        ("<p><i>€</i><b>1</b><b>299</b></p>", "1299"),
        # Whether it is 19 or 19.97, nobody knows; it is not 1997.
        ("<p><i>€</i><b>19</b><span>97 reviews</span></p>", None),
    ],
)
def test_numbers_in_several_elements_are_read_as_they_look(body: str, value: str | None) -> None:
    assert price(body) == value


def test_sign_may_stand_in_an_element_beside_the_number() -> None:
    body = "<div><del>¥198.00</del> <em>¥</em><strong>128.00</strong></div>"

    assert price(body, "CNY") == "128.00"


def test_amount_beside_one_per_piece_is_the_price() -> None:
    assert price("<p>24,00 € <small>(2,00 € / Stück)</small></p>") == "24.00"


def test_bare_number_is_no_price() -> None:
    assert price("<p class=price>20,00</p>") is None


def test_table_of_tiers_gives_the_price_of_one() -> None:
    rows = "<tr><td>1-4</td><td>$25</td></tr><tr><td>5-9</td><td>$24</td></tr>"

    assert price(f"<table>{rows}<tr><td>10+</td><td>$23</td></tr></table>", "USD") == "25"


def test_tiers_of_the_same_price_are_one_price() -> None:
    rows = "<tr><td>1-9</td><td>$25</td></tr><tr><td>10+</td><td>$25</td></tr>"

    assert price(f"<table>{rows}</table>", "USD") == "25"


def test_price_beside_a_table_of_tiers_for_many_holds() -> None:
    rows = "<li><i>5+</i> <b>$24</b></li><li><i>10+</i> <b>$23</b></li>"

    assert price(f"<p>$25</p><ul>{rows}</ul>", "USD") == "25"


def test_one_number_before_a_price_makes_no_tier() -> None:
    assert price("<p>$25</p><ul><li><i>7</i> <b>$24</b></li></ul>", "USD") == "25 or 24"


def test_amount_that_stands_alone_goes_before_one_in_a_sentence() -> None:
    assert price("<p>20,00 €</p><p>Bring your old lamp and get 5,00 € for it</p>") == "20.00"


def test_starting_price_ends_the_search() -> None:
    assert price('<p>from <b>20,00 €</b></p></main><p class="price">35,00 €</p><main>') is None


def test_mentioned_amounts_include_starting_prices() -> None:
    assert shown("<p>from 20,00 €</p>").mentioned == {Decimal(20)}
    assert shown("<p>7 lamps</p>").mentioned == frozenset()


def test_amount_is_written_with_the_product_or_not_at_all() -> None:
    cards = '<a href="/stool">Stool 1.149,50 €</a>'

    assert shown("<p>1.149,50 - 1.558,00 each</p>").writes(Decimal("1149.50"))
    assert not shown(cards).writes(Decimal("1149.50"))
    assert not shown("<p class=related>1149.50</p>").writes(Decimal("1149.50"))
