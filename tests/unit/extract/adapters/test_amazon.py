"""Amazon's pages give the price to pay in the buy box, and nobody else's."""

import pytest

from penstock.core.urls import parse
from penstock.extract.adapters.amazon import ADAPTER, CURRENCIES
from penstock.extract.registry import open_registry
from penstock.kernel.records import Availability, Extraction, ExtractReason
from tests.unit.extract.adapters.markup import page, read

URL = "https://www.amazon.com/dp/B0TESTKTL1"
TITLE = '<span id="productTitle"> Brookvale Kettle </span>'


def extract(body: str, url: str = URL) -> Extraction:
    return read(ADAPTER, page(TITLE + body), url)


def box(price: str, kind: str = "corePrice_feature_div") -> str:
    read_out = f'<i class="a-offscreen">{price}</i>'
    return f'<div id="{kind}"><i class="a-price priceToPay">{read_out}</i></div>'


def stock(words: str) -> str:
    return f'<div id="availability">{words}</div>'


@pytest.mark.parametrize(
    "body",
    [
        box("$39.95"),
        box("$39.95", "corePriceDisplay_desktop_feature_div"),
        '<b id="priceblock_dealprice">$39.95</b><b id="priceblock_ourprice">$45.00</b>',
        '<b id="priceblock_ourprice">$39.95</b>',
        '<b id="price_inside_buybox">$39.95</b>',
        '<b id="kindle-price">$39.95</b>',
        '<i class="swatchElement selected"><b class="a-color-price">$39.95</b></i>',
    ],
)
def test_price_to_pay_is_found_in_every_layout(body: str) -> None:
    found = extract(body).fields

    assert (found["price_minor"], found["currency"]) == (3995, "USD")


def test_price_in_parts_is_read_where_the_text_for_screen_readers_is_blank() -> None:
    parts = (
        '<div id="corePriceDisplay_desktop_feature_div"><i class="a-price priceToPay">'
        '<i class="a-offscreen"> </i><i aria-hidden="true"><i class="a-price-symbol">$</i>'
        '<i class="a-price-whole">39<i class="a-price-decimal">.</i></i>'
        '<i class="a-price-fraction">95</i></i></i></div>'
    )

    assert extract(parts).fields["price_minor"] == 3995


def test_range_of_prices_is_not_a_price() -> None:
    end = '<i class="a-price"><i class="a-offscreen">{}</i></i>'
    ends = f"{end.format('$12.99')} - {end.format('$24.99')}"
    found = extract(f'<div id="corePrice_feature_div"><i class="a-price-range">{ends}</i></div>')

    assert "price_minor" not in found.fields
    assert found.fields["rival_prices"] == ("$12.99", "$24.99")


def test_prices_of_other_sellers_and_products_are_left_alone() -> None:
    other = '<div id="sims"><i class="a-price"><i class="a-offscreen">$21.99</i></i></div>'

    found = extract(other + stock("In Stock"))

    assert found.reason is ExtractReason.PRICE_NOT_FOUND


def test_struck_price_is_the_list_price_if_it_is_higher() -> None:
    struck = '<b class="priceBlockStrikePriceString">{}</b>'

    assert extract(box("$39.95") + struck.format("$49.99")).fields["list_price_minor"] == 4999
    assert "list_price_minor" not in extract(box("$39.95") + struck.format("$9.99")).fields


@pytest.mark.parametrize(
    ("url", "shown", "minor", "currency"),
    [
        ("https://www.amazon.co.uk/dp/B0TESTKTL1", "£31.50", 3150, "GBP"),
        ("https://www.amazon.de/gp/product/B0TESTKTL1", "1.299,00 €", 129900, "EUR"),
        ("https://www.amazon.fr/x/dp/B0TESTKTL1/ref=1", "12,44 €", 1244, "EUR"),
        ("https://www.amazon.it/dp/B0TESTKTL1", "8,33 €", 833, "EUR"),
        ("https://www.amazon.ca/dp/B0TESTKTL1", "$39.95", 3995, "CAD"),
    ],
)
def test_each_country_has_its_currency(url: str, shown: str, minor: int, currency: str) -> None:
    found = extract(box(shown), url).fields

    assert (found["price_minor"], found["currency"], found["sku"]) == (
        minor,
        currency,
        "B0TESTKTL1",
    )
    assert open_registry().choose(parse(url), "product").adapter is ADAPTER


def test_every_country_has_its_addresses() -> None:
    assert len(ADAPTER.urls) == 2 * len(CURRENCIES)
    assert ADAPTER.matching(parse("https://shop.example/dp/B0TESTKTL1")) is None


@pytest.mark.parametrize(
    ("body", "availability"),
    [
        (stock("Only 4 left in stock."), Availability.IN_STOCK),
        (stock("Derzeit nicht verfügbar."), Availability.OUT_OF_STOCK),
        (
            stock("Currently unavailable.") + '<input id="add-to-cart-button" value="Add to Cart">',
            Availability.OUT_OF_STOCK,
        ),
        ('<input id="add-to-cart-button" value="Add to Cart">', Availability.IN_STOCK),
        (
            '<i id="dmusicBuy"><b class="a-button-text">Buy MP3 Album</b></i>',
            Availability.IN_STOCK,
        ),
        ('<i id="buybox-see-all-buying-choices">See all</i>', Availability.IN_STOCK),
        ("", None),
    ],
)
def test_stock_line_goes_before_the_button_and_other_sellers(
    body: str, availability: Availability | None
) -> None:
    assert extract(body).fields.get("availability") is availability


def test_sold_out_without_a_price_is_expected() -> None:
    assert extract(stock("Currently unavailable.")).reason is ExtractReason.OOS_NO_PRICE


def test_number_of_the_page_goes_before_that_of_the_url() -> None:
    assert extract('<input id="ASIN" value="B0TESTVAR2">').fields["sku"] == "B0TESTVAR2"
    assert extract("").fields["sku"] == "B0TESTKTL1"
    assert "sku" not in extract("", "https://www.amazon.com/gp/help/x").fields


@pytest.mark.parametrize(
    ("byline", "brand"),
    [
        ("Visit the Brookvale Store", "Brookvale"),
        ("Besuchen Sie den Falkner-Store", "Falkner"),
        ("Marque: Orsel", "Orsel"),
        ("Ida Marsh", "Ida Marsh"),
    ],
)
def test_byline_names_the_brand(byline: str, brand: str) -> None:
    assert extract(f'<a id="bylineInfo">{byline}</a>').fields["brand"] == brand


def test_stars_and_their_number_are_read_in_every_country() -> None:
    stars = '<i id="acrPopover">4,2 von 5 Sternen</i>'
    found = extract(f'{stars}<i id="acrCustomerReviewText">1.204 Bewertungen</i>').fields

    assert (str(found["rating"]), found["review_count"]) == ("4.2", 1204)


def test_largest_image_goes_first() -> None:
    sizes = '{"https://i.example/s.jpg":[30,30],"https://i.example/l.jpg":[90,90]}'
    body = f"<img id=landingImage src='https://i.example/s.jpg' data-a-dynamic-image='{sizes}'>"

    assert extract(body).fields["image_urls"] == (
        "https://i.example/l.jpg",
        "https://i.example/s.jpg",
    )
    assert (
        extract("<img id=landingImage src=x data-a-dynamic-image='{'>").fields.get("image_urls")
        is None
    )


def test_category_and_description_are_found() -> None:
    trail = '<div id="wayfinding-breadcrumbs_feature_div"><a>Home</a><a>Kettles</a></div>'
    bullets = '<div id="feature-bullets"><ul><li>Boils.</li><li>Stops.</li></ul></div>'
    found = extract(trail + bullets).fields

    assert (found["category"], found["description"]) == ("Kettles", "Boils. Stops.")


def test_captcha_is_a_blocked_page() -> None:
    captcha = page('<form action="/errors/validateCaptcha"></form>')

    assert read(ADAPTER, captcha, URL).reason is ExtractReason.BLOCKED_PAGE
    assert read(ADAPTER, page("<p>Sorry</p>"), URL).reason is ExtractReason.TITLE_NOT_FOUND
