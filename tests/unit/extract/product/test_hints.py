"""What a sign for money stands for is told by data, country and language, in this order."""

import pytest

from penstock.extract.product.hints import price_hints
from penstock.extract.values.price_hints import PriceHints
from tests.unit.extract.adapters.markup import page
from tests.unit.extract.product.markup import document


def hints(
    url: str = "https://shop.example/7", language: str = "", body: str = "", head: str = ""
) -> PriceHints:
    return price_hints(document(page(body, head, language), url), None)


def test_stated_currency_goes_first() -> None:
    meta = '<meta property="og:price:currency" content="usd">'
    read = document(page("", meta))

    assert price_hints(read, "EUR").currency == "EUR"
    assert price_hints(read, None).currency == "USD"


def test_scripts_say_it_where_nothing_else_does() -> None:
    assert hints(body='<script>x={"currency":"SEK"}</script>').currency == "SEK"
    wrong = '<meta property="og:price:currency" content="€">'
    assert hints(head=wrong, body='<script>x={"currency":"SEK"}</script>').currency == "SEK"


@pytest.mark.parametrize(
    ("url", "language", "currencies"),
    [
        ("https://shop.example.se/7", "", ("SEK",)),
        ("https://shop.co.uk/7", "en", ("GBP",)),
        ("https://shop.example/7", "de-CH", ("CHF",)),
        ("https://shop.example/7", "zh-Hant-TW", ("TWD",)),
        ("https://shop.example/7", "ru", ("RUB",)),
        ("https://shop.example/7", "en", ("USD",)),
        ("https://shop.example/7", "", ()),
        ("https://shop.example/7", "xx", ()),
    ],
)
def test_country_of_host_or_language_tells_the_currency(
    url: str, language: str, currencies: tuple[str, ...]
) -> None:
    assert hints(url, language).regional == currencies


def test_english_pages_that_name_another_dollar_are_not_american() -> None:
    assert hints(language="en", body="All prices in CAD").regional == ()
    assert hints(language="en", body="CADDY").regional == ("USD",)


def test_likely_country_is_not_asked_where_the_currency_is_known() -> None:
    assert price_hints(document(page(language="en")), "EUR").regional == ()
