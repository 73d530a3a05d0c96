"""Signs of money: which currency each stands for, and which words and units are none."""

# ruff: noqa: RUF001 - signs of money in all scripts

import pytest

from penstock.extract.values.currency_signs import SYMBOLS
from penstock.extract.values.price import Price, Unclear, read_price
from penstock.extract.values.price_hints import PriceHints
from penstock.extract.values.price_mentions import CONTRADICTORY
from tests.unit.extract.values.prices import money


@pytest.mark.parametrize("symbol", sorted(SYMBOLS))
def test_every_sign_is_read_where_its_currency_is_expected(symbol: str) -> None:
    hints = PriceHints(regional=(SYMBOLS[symbol][0],))

    spelled = (symbol, symbol.upper())
    found = {money(text, hints) for one in spelled for text in (f"{one} 500", f"500 {one}")}

    assert ("500", SYMBOLS[symbol][0]) in found


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("$5.99", "5.99"),
        ("Now$12.99", "12.99"),
        ("Plus$12", None),
        ("$.99", "0.99"),
        ("1 299,00 kr", "1299.00"),
        ("1 299:-", "1299"),
        ("¥1,980", "1980"),
        ("Rs. 1,299/-", "1299"),
        ("5 ﷼", "5"),
        ("12,50 lei", "12.50"),
        ("19.99", "19.99"),
        (" 19.99 ", "19.99"),
        ("Price: 19.99", "19.99"),
        ("12,-", "12"),
        ("12'345.60", "12345.60"),
        ("1,23,456", "123456"),
    ],
)
def test_sign_of_several_currencies_leaves_the_currency_open(text: str, amount: str | None) -> None:
    assert money(text) == ((amount, None) if amount else None)


@pytest.mark.parametrize(
    ("text", "hints", "currency"),
    [
        ("$5.99", PriceHints("CAD"), "CAD"),
        ("$5.99", PriceHints(regional=("EUR", "MXN")), "MXN"),
        ("$5.99 USD", PriceHints("CAD"), "USD"),
        ("CAD $5.99", PriceHints("USD"), "CAD"),
        ("£5.99", PriceHints("EUR"), "GBP"),
        ("5.99", PriceHints("EUR"), "EUR"),
        ("5.99", PriceHints(regional=("EUR",)), None),
        ("5,99 kr", PriceHints(regional=("NOK",)), "NOK"),
        ("TRY 5", PriceHints("TRY"), "TRY"),
        ("5 try", PriceHints("TRY"), "TRY"),
        ("R 100", PriceHints("ZAR"), "ZAR"),
        ("1299 р.", PriceHints(regional=("RUB",)), "RUB"),
        ("6 Ft", PriceHints("HUF"), "HUF"),
    ],
)
def test_hint_says_which_currency_a_sign_stands_for(
    text: str, hints: PriceHints, currency: str | None
) -> None:
    price = read_price(text, hints)

    assert isinstance(price, Price)
    assert price.currency == currency


@pytest.mark.parametrize(
    ("text", "currency", "amount"),
    [
        ("TOP 10", "TOP", "10"),
        ("ALL 50", "ALL", "50"),
        ("50 ALL", "ALL", "50"),
        ("5 km", "BAM", "5"),
        ("12 990 Ft", "HUF", "12990"),
        ("R 1 299,99", "ZAR", "1299.99"),
        ("RM 12.90", "MYR", "12.90"),
    ],
)
def test_word_or_unit_is_money_only_where_the_page_uses_it(
    text: str, currency: str, amount: str
) -> None:
    assert money(text) is None
    assert money(text, PriceHints("USD")) is None
    assert money(text, PriceHints(currency)) == (amount, currency)
    assert money(text, PriceHints(regional=(currency,))) == (amount, currency)


@pytest.mark.parametrize("text", ["€19 USD", "$19 EUR", "CAD 19 USD"])
def test_signs_for_different_currencies_contradict_each_other(text: str) -> None:
    assert read_price(text) == Unclear(CONTRADICTORY, ("19",))
