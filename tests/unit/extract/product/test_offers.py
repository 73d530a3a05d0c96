"""Offers are read from structured data of any shape; another product's are left alone."""

from decimal import Decimal
from typing import Any

import pytest

from penstock.extract.product.glance import Glance
from penstock.extract.product.offers import (
    Listing,
    Offer,
    main_listing,
    offers_of,
    rating_of,
    text,
)
from penstock.kernel.records import Availability
from tests.unit.extract.adapters.markup import ODD_VALUES, data, meta, page
from tests.unit.extract.product.markup import SOLD_OUT, URL, document, offer, product, shop


def listing(text: str, url: str = URL) -> Listing | None:
    read = document(text, url)
    return main_listing(read, Glance(read))


def name_of(text: str, url: str = URL) -> str | None:
    found = listing(text, url)
    return found.name if found else None


def offers(*values: Any, **properties: Any) -> list[Offer]:
    return list(offers_of({"@type": "Product", "offers": list(values), **properties}))


def amounts(*values: Any, **properties: Any) -> list[tuple[Decimal, ...]]:
    return [one.amounts for one in offers(*values, **properties)]


def test_offer_has_price_currency_stock_and_code() -> None:
    (found,) = offers(offer("19.90", sku="L7", url="/lamps/7", availability=SOLD_OUT))

    assert found == Offer((Decimal("19.90"),), "EUR", Availability.OUT_OF_STOCK, "/lamps/7", "L7")


def test_capitalised_properties_count_as_well() -> None:
    item = {"Offers": {"price": "12", "priceCurrency": "EUR", "Availability": SOLD_OUT}}

    (found,) = offers_of(item)

    assert (found.amounts, found.availability) == ((Decimal(12),), Availability.OUT_OF_STOCK)


def test_aggregate_without_its_offers_has_two_ends_and_sellers() -> None:
    aggregate = {"lowPrice": "10", "highPrice": 12, "priceCurrency": "EUR", "offerCount": "4"}

    (found,) = offers(aggregate)

    assert (found.amounts, found.sellers) == ((Decimal(10), Decimal(12)), 4)


def test_aggregate_of_one_price_has_one_amount() -> None:
    assert amounts({"lowPrice": "10", "highPrice": "10.00"}) == [(Decimal(10),)]


def test_offers_inside_an_aggregate_speak_for_it() -> None:
    nested = {"@type": "AggregateOffer", "lowPrice": "1", "offers": [offer("5"), [offer("6")]]}

    assert amounts(nested) == [(Decimal(5),), (Decimal(6),)]


def test_variants_bring_their_offers_and_codes() -> None:
    item = {"hasVariant": [{"sku": "S", "offers": offer("5")}, {"sku": "M", "offers": offer("6")}]}

    found = list(offers_of(item))

    assert [(one.sku, one.amounts[0]) for one in found] == [("S", Decimal(5)), ("M", Decimal(6))]


@pytest.mark.parametrize(
    "specification",
    [
        {"price": "9", "referenceQuantity": {"value": 1, "unitCode": "KGM"}},
        {"price": "9", "validForMemberTier": {"@id": "#gold"}},
        {"price": "9", "eligibleQuantity": {"minValue": 10}},
    ],
)
def test_prices_per_measure_for_members_and_for_many_are_not_the_price(
    specification: dict[str, Any],
) -> None:
    plain = {"price": "20", "priceCurrency": "EUR"}

    assert amounts({"priceSpecification": [specification, plain]}) == [(Decimal(20),)]


def test_list_price_is_told_apart() -> None:
    listed = {"price": "30", "priceType": "https://schema.org/StrikethroughPrice"}

    (found,) = offers({"priceSpecification": [listed, {"price": "20", "priceCurrency": "EUR"}]})

    assert (found.amounts, found.list_amount) == ((Decimal(20),), Decimal(30))
    assert found.currency == "EUR"


def test_offer_for_many_pieces_is_left_out() -> None:
    many = offer("18", eligibleQuantity={"minValue": 10})

    assert amounts(offer("20", eligibleQuantity={"minValue": 1}), many) == [(Decimal(20),)]


def test_three_decimals_are_thousands_only_where_money_has_fewer() -> None:
    assert amounts(offer("1.299", "EUR")) == [(Decimal("1.299"), Decimal(1299))]
    assert amounts(offer("24.900", "KWD")) == [(Decimal("24.9"),)]


def test_unknown_currency_is_none() -> None:
    assert offers(offer(currency="€"))[0].currency is None


@pytest.mark.parametrize("value", ODD_VALUES)
def test_odd_values_break_nothing(value: Any) -> None:
    list(offers_of({"offers": value, "hasVariant": value}))
    list(offers_of({"offers": offer(value, value if isinstance(value, str) else "EUR")}))
    rating_of({"aggregateRating": value})
    rating_of({"aggregateRating": {"ratingValue": value, "reviewCount": value}})


def test_only_so_many_offers_are_read() -> None:
    assert len(offers(*[offer()] * 1000)) == 200


def test_text_of_a_value_is_decoded_and_bounded() -> None:
    nested: Any = "deep"
    for _ in range(900):
        nested = [nested]

    assert text("Elo&iacute;sa  Bed") == "Eloísa Bed"
    assert text({"name": ["", {"@value": "Lamp"}]}) == "Lamp"
    assert text(nested) == ""


def test_stars_are_out_of_five() -> None:
    assert rating_of({"aggregateRating": {"ratingValue": "8,5", "bestRating": 10}}) == (
        Decimal("4.25"),
        None,
    )
    counted = {"ratingValue": 4.5, "ratingCount": "1"}
    assert rating_of({"aggregateRating": [None, counted]}) == (Decimal("4.5"), 1)


def test_of_several_products_the_one_of_this_url_counts() -> None:
    other = product(name="Desk Lamp Large", url="/lamps/8")
    own = product(name="Something", url="/lamps/7#top")

    assert name_of(shop("", other, own)) == "Something"


def test_the_url_of_an_offer_counts_too() -> None:
    own = product(offer(url=URL), name="Deal of the day")

    assert name_of(shop("", product(name="Else"), own)) == "Deal of the day"


def test_of_several_products_the_one_in_the_title_counts() -> None:
    assert name_of(shop("", product(name="Degreaser"), product())) == "Desk Lamp"


def test_of_several_products_the_one_in_the_heading_counts() -> None:
    head = "<title>Our shop</title>" + data(product(name="Degreaser"), product())

    assert name_of(page("<h1>Desk Lamp</h1>", head)) == "Desk Lamp"


def test_several_strangers_are_a_list() -> None:
    assert name_of(shop("", product(name="Stool"), product(name="Chair"))) is None


def test_a_lone_stranger_is_another_product() -> None:
    assert name_of(shop("", product(name="Degreaser 500 ml"))) is None


@pytest.mark.parametrize("name", ["Lamps for desks", "Desklamp X", ""])
def test_a_lone_product_need_only_have_something_in_common(name: str) -> None:
    assert name_of(shop("", product(name=name))) == name


def test_a_lone_product_counts_where_the_page_has_no_title() -> None:
    assert name_of(page("", data(product(name="Degreaser")))) == "Degreaser"


def test_names_without_spaces_are_compared_by_parts() -> None:
    assert name_of(shop("", product(name="南部鉄器急須"), title="南部鉄器急須大")) == "南部鉄器急須"


def test_related_products_inside_the_product_are_not_looked_at() -> None:
    own = product(isRelatedTo=[product(name="Desk Lamp", url=URL)])

    found = listing(shop("", own))

    assert found is not None
    assert "isRelatedTo" in found.item


def test_json_ld_goes_before_microdata_and_rdfa() -> None:
    scope = (
        '<div itemscope itemtype="http://schema.org/Product"><b itemprop="name">Desk Lamp</b></div>'
    )
    typed = (
        '<div vocab="http://schema.org/" typeof="Product"><b property="name">Desk Lamp</b></div>'
    )

    found = [listing(shop(scope + typed, product())), listing(shop(scope)), listing(shop(typed))]

    assert [one.source for one in found if one] == ["json-ld", "microdata", "rdfa"]


def test_title_for_sharing_goes_before_the_title_tag() -> None:
    head = meta(og_title="Floor Lamp")

    assert name_of(shop("", product(name="Floor Lamp"), product(), head=head)) == "Floor Lamp"
