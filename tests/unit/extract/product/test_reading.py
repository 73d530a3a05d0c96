"""Evidence is combined: what agrees is believed, what disagrees is named and not believed."""

from typing import Any

import pytest

from penstock.kernel.records import Availability, ExtractReason
from tests.unit.extract.adapters.markup import ODD_VALUES, data, meta, page
from tests.unit.extract.product.markup import (
    BUY,
    SOLD_OUT,
    URL,
    builds_tree,
    extract,
    offer,
    price_of,
    product,
    reading,
    rivals_of,
    shop,
)

SHOWN = '<p class="price">20,00 €</p>'
PRICE_META = '<meta property="product:price:amount" content="{}">'
CURRENCY_META = '<meta property="product:price:currency" content="EUR">'


def availability(text: str) -> Any:
    return extract(text).fields.get("availability")


def sku(text: str, url: str = URL) -> Any:
    return extract(text, url).fields.get("sku")


def test_stated_price_that_is_displayed_needs_no_tree() -> None:
    read = reading(shop(SHOWN, product(sku="L7", url=URL)) + "L7")

    assert read.found.fields["price_minor"] == 2000
    assert read.found.evidence["price_minor"].source == "json-ld Product.offers"
    assert not builds_tree(read)


def test_stated_price_counts_where_none_is_displayed() -> None:
    assert price_of(shop("", product())) == (2000, "EUR")


def test_stale_data_is_not_believed() -> None:
    assert rivals_of(shop('<p class="price">25,00 €</p>', product())) == ("20", "25")


def test_stale_data_is_not_believed_for_the_price_of_another_product() -> None:
    other = f'<section class="related">{SHOWN}</section>'

    assert rivals_of(shop(f'<p class="price">25,00 €</p>{other}', product())) == ("20", "25")


def test_list_price_in_the_data_is_not_believed() -> None:
    shown = '<p class="price"><del>20,00 €</del> <ins>15,00 €</ins></p>'

    assert rivals_of(shop(shown, product())) == ("20", "15")


def test_the_same_number_in_another_currency_is_not_believed() -> None:
    assert rivals_of(shop('<p class="price">$20.00</p>', product())) == ("20",)


def test_of_several_stated_prices_the_displayed_one_counts() -> None:
    found = extract(shop(SHOWN, product(offer("20"), offer("25"))))

    assert found.fields["price_minor"] == 2000
    assert (
        found.evidence["price_minor"].source == "json-ld Product.offers, and page, beside the title"
    )


def test_of_several_displayed_prices_the_stated_one_counts() -> None:
    shown = "<p><b>25,00 €</b> <b>20,00 €</b></p>"

    assert price_of(shop(shown, product())) == (2000, "EUR")


def test_several_prices_on_both_sides_are_rivals() -> None:
    shown = "<p><b>25,00 €</b> <b>20,00 €</b></p>"

    assert set(rivals_of(shop(shown, product(offer("20"), offer("25"))))) == {"20", "25"}


def test_several_stated_prices_and_none_displayed_are_rivals() -> None:
    assert rivals_of(shop("", product(offer("20"), offer("25")))) == ("20", "25")


def test_offer_of_this_very_url_counts_alone() -> None:
    own = offer("25", url=f"{URL}?variant=2")
    text = shop('<p class="price">25,00 €</p>', product(offer("20", url=URL), own))

    assert price_of(text, f"{URL}?variant=2") == (2500, "EUR")


def test_offer_with_the_products_code_counts_alone() -> None:
    offers = [offer("20", sku="S"), offer("25", sku="M")]

    assert price_of(shop("", product(*offers, sku="M"))) == (2500, "EUR")


def test_meta_tags_state_a_price_too() -> None:
    head = PRICE_META.format("20.00") + CURRENCY_META

    assert price_of(shop(SHOWN, head=head)) == (2000, "EUR")
    assert set(rivals_of(shop("", product(offer("25")), head=head))) == {"20", "25"}


def test_sale_price_in_meta_tags_goes_first() -> None:
    sale = '<meta property="product:sale_price:amount" content="15">'

    assert price_of(shop("", head=PRICE_META.format("20") + sale + CURRENCY_META)) == (1500, "EUR")


def test_displayed_price_counts_where_nothing_is_stated() -> None:
    found = extract(shop(SHOWN + BUY))

    assert (found.fields["price_minor"], found.fields["currency"]) == (2000, "EUR")
    assert found.evidence["price_minor"] == ("page, beside the title", "20,00 €")


def test_displayed_price_replaces_a_stated_zero() -> None:
    assert price_of(shop(SHOWN, product(offer("0")))) == (2000, "EUR")
    assert price_of(shop("", product(offer("0")))) == (0, "EUR")


@pytest.mark.parametrize(
    ("shown", "head", "is_price"),
    [
        ("<b>20,00 €</b>", "", False),
        (f"<b>20,00 €</b>{BUY}", "", True),
        (SHOWN, "", True),
        ("<b>20,00 €</b>", '<meta property="og:type" content="product">', True),
        (f"{SHOWN}{BUY}", '<meta property="og:type" content="article">', True),
        (SHOWN, '<meta property="og:type" content="article">', False),
        (
            f'{SHOWN}<a class="btn" href="https://other.example/">Buy now</a>',
            '<meta property="og:type" content="article">',
            False,
        ),
    ],
)
def test_amount_is_a_price_only_if_something_is_offered(
    shown: str, head: str, is_price: bool
) -> None:
    assert (price_of(shop(shown, head=head)) == (2000, "EUR")) is is_price


@pytest.mark.parametrize(
    ("url", "title"), [("https://shop.example/cart", "Desk Lamp"), (URL, "Page not found")]
)
def test_pages_that_sell_nothing_have_no_price(url: str, title: str) -> None:
    found = extract(shop(SHOWN + BUY, title=title), url)

    assert found.reason is ExtractReason.PRICE_NOT_FOUND


def test_product_in_the_data_goes_before_the_title() -> None:
    text = shop(SHOWN, product(name="Page not found"), title="Page not found")

    assert price_of(text) == (2000, "EUR")


def test_sign_without_a_known_currency_gives_no_price() -> None:
    assert price_of(shop(f'<p class="price">$20.00</p>{BUY}', language="xx")) == (None, None)
    assert price_of(shop(f'<p class="price">$20.00</p>{BUY}', language="en-CA")) == (2000, "CAD")


def test_amount_finer_than_its_currency_is_doubted() -> None:
    assert rivals_of(shop("", product(offer("20.5", "JPY")))) == ("20.5",)


def test_crossed_out_price_is_the_list_price() -> None:
    shown = '<p class="price"><del>30,00 €</del> 20,00 €</p>'

    assert extract(shop(shown + BUY)).fields["list_price_minor"] == 3000


def test_list_price_in_the_data_is_kept_if_it_is_higher() -> None:
    def listed(price: str) -> Any:
        specification = [{"price": "20"}, {"price": price, "priceType": "ListPrice"}]
        own = product({"priceCurrency": "EUR", "priceSpecification": specification})
        return extract(shop("", own)).fields.get("list_price_minor")

    assert listed("30") == 3000
    assert listed("10") is None


def test_script_is_believed_if_the_page_names_the_same_amount() -> None:
    script = '<script>p={"name":"Desk Lamp","price":20,"currency":"EUR"}</script>'

    found = extract(shop(f"<p>from 20,00 €</p>{script}"))

    assert found.fields["price_minor"] == 2000
    assert found.evidence["price_minor"].source == "script data, price"


def test_cents_in_a_script_are_not_believed() -> None:
    script = '<script>p={"name":"Desk Lamp","price":2000,"currency":"EUR"}</script>'

    assert price_of(shop(f"{SHOWN}{script}")) == (2000, "EUR")
    assert rivals_of(shop(script)) == ("2000",)


def test_script_without_a_currency_leaves_the_price_to_the_page() -> None:
    script = '<script>p={"name":"Desk Lamp","price":20}</script>'

    assert price_of(shop(f"{SHOWN}{script}", language="xx")) == (2000, "EUR")


def test_lowest_of_several_sellers_counts_where_nothing_is_sold() -> None:
    sellers = {"lowPrice": "20", "highPrice": "30", "priceCurrency": "EUR", "offerCount": 4}

    assert price_of(shop("<p>20,00 bis 30,00 EUR</p>", product(sellers))) == (2000, "EUR")
    assert rivals_of(shop(f"<p>20,00 bis 30,00 EUR</p>{BUY}", product(sellers))) == ("20", "30")
    cards = '<a href="/a">Lamp A 20,00 €</a><a href="/b">Lamp B 30,00 €</a>'
    assert rivals_of(shop(cards, product(sellers))) == ("20", "30")


def test_stated_stock_counts() -> None:
    assert availability(shop(SHOWN, product())) is Availability.IN_STOCK
    gone = product(offer(availability=SOLD_OUT))
    assert availability(shop(SHOWN, gone)) is Availability.OUT_OF_STOCK
    head = '<meta property="product:availability" content="instock">'
    assert availability(shop(SHOWN, head=head)) is Availability.IN_STOCK


def test_one_offer_in_stock_speaks_for_the_product() -> None:
    offers = [offer(availability=SOLD_OUT), offer()]

    assert availability(shop(SHOWN, product(*offers))) is Availability.IN_STOCK


def test_sellers_are_evidence_of_stock() -> None:
    sellers = {"lowPrice": "20", "priceCurrency": "EUR", "offerCount": 4}

    assert availability(shop(SHOWN, product(sellers))) is Availability.IN_STOCK


def test_stated_stock_that_the_page_contradicts_is_left_out() -> None:
    gone = product(offer(availability=SOLD_OUT))

    assert availability(shop(SHOWN + BUY, gone)) is None
    line = '<p class="stock out-of-stock">Sold out</p>'
    assert availability(shop(SHOWN + line, product())) is None
    assert availability(shop(SHOWN + line + BUY, product())) is Availability.IN_STOCK


def test_displayed_stock_counts_where_none_is_stated() -> None:
    assert availability(shop(f'{SHOWN}<p class="stock">Auf Lager</p>')) is Availability.IN_STOCK


def test_sold_out_without_a_price_is_expected() -> None:
    found = extract(shop('<p class="stock">Sold out</p>'))

    assert found.reason is ExtractReason.OOS_NO_PRICE


def test_page_without_a_name_has_no_title() -> None:
    assert extract(page("<p>x</p>")).reason is ExtractReason.TITLE_NOT_FOUND


def test_stated_code_counts() -> None:
    assert sku(shop(SHOWN, product(sku="L-7"))) == "L-7"
    assert sku(shop(SHOWN, product(productID="77"))) == "77"
    assert sku(shop(SHOWN, product(offer(sku="SQ1")))) == "SQ1"
    assert sku(shop(SHOWN, product(offer(sku="S"), offer(sku="M")))) is None
    assert sku(shop(SHOWN, head=meta(**{"product:retailer_item_id": "R9"}))) == "R9"


def test_displayed_code_goes_before_a_stated_one_that_is_not_shown() -> None:
    shown = f"{SHOWN}<p>Item no: 4711-A</p>"

    assert sku(shop(shown, product(sku="internal1"))) == "4711-A"
    assert sku(shop(f"{shown} internal1", product(sku="internal1"))) == "internal1"


def test_element_named_for_the_code_has_it() -> None:
    assert sku(shop(f'{SHOWN}<b class="sku">OW-RP</b>')) == "OW-RP"
    assert sku(shop(f'{SHOWN}<p class="related"><b class="sku">OW-RP</b></p>')) is None
    assert sku(shop(f'{SHOWN}<b class="sku">not available now</b>')) is None


def test_wide_colon_parts_label_and_code() -> None:
    assert sku(shop(f"{SHOWN}<p>商品番号\uff1aHY-0031</p>")) == "HY-0031"


def test_number_in_the_url_is_the_code_if_the_page_uses_it_as_an_id() -> None:
    url = "https://shop.example/p/desk-lamp-880123?x=1"

    assert sku(shop(f'{SHOWN}<i data-id="880123"></i>'), url) == "880123"
    assert sku(shop(SHOWN), url) is None
    assert sku(shop(f"{SHOWN}<script>pid='abc77'</script>"), f"{URL}?pid=abc77") == "abc77"


def test_code_in_a_script_comes_last() -> None:
    script = '<script>p={"name":"Desk Lamp","price":20,"sku":"S7"}</script>'

    assert sku(shop(SHOWN + script)) == "S7"


def test_trade_number_needs_its_check_digit() -> None:
    def gtin(**codes: str) -> Any:
        return extract(shop(SHOWN, product(**codes))).fields.get("gtin")

    assert gtin(gtin13="4006381333931") == "4006381333931"
    assert gtin(isbn="978-0-306-40615-7") == "9780306406157"
    assert gtin(gtin13="4006381333932") is None


def test_description_of_the_product_is_taken_from_its_data_first() -> None:
    own = product(
        brand={"name": "Arc"},
        category="Lamps",
        description="Shines.",
        mpn="A-7",
        image=["/a.jpg", {"contentUrl": "/b.jpg"}, {}],
        aggregateRating={"ratingValue": "4.5", "reviewCount": "8"},
    )
    found = extract(shop(SHOWN, own, head=meta(description="Other"))).fields

    assert (found["brand"], found["category"], found["mpn"]) == ("Arc", "Lamps", "A-7")
    assert found["description"] == "Shines."
    assert found["image_urls"] == ("/a.jpg", "/b.jpg")
    assert (str(found["rating"]), found["review_count"]) == ("4.50", 8)


def test_description_of_the_product_is_taken_from_meta_tags_else() -> None:
    tags = {"product:brand": "Arc", "og:image": "/a.jpg", "description": "Shines."}
    trail = {
        "@type": "BreadcrumbList",
        "itemListElement": [{"name": "Home"}, {"item": {"name": "Lamps"}}, {"name": "Desk Lamp"}],
    }
    found = extract(shop(SHOWN, trail, head=meta(**tags))).fields

    assert (found["name"], found["brand"], found["category"]) == ("Desk Lamp", "Arc", "Lamps")
    assert (found["description"], found["image_urls"]) == ("Shines.", ("/a.jpg",))


@pytest.mark.parametrize("value", ODD_VALUES)
def test_odd_values_break_nothing(value: Any) -> None:
    keys = ("sku", "brand", "image", "url", "productID", "gtin13", "aggregateRating", "category")
    item = {"@type": "Product", "name": value, "offers": value, **dict.fromkeys(keys, value)}

    extract(shop(SHOWN, item))
    extract(shop(SHOWN, {**product(), **dict.fromkeys(keys, value)}))
    extract(page("", data({"@type": "BreadcrumbList", "itemListElement": value})))
