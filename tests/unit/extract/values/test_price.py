"""Prices in text: every way of writing them is read, and what leaves a doubt is not."""

# ruff: noqa: RUF001 - signs of money in all scripts

import pytest

from penstock.extract.values.price import TWO_WAYS, Price, Unclear, read_price
from penstock.extract.values.price_hints import PriceHints
from penstock.extract.values.price_mentions import MAX_TEXT, RANGE
from tests.unit.extract.values.prices import money, why


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("19,99€", "19.99", "EUR"),
        ("€ 19,99", "19.99", "EUR"),
        ("19,99\u00a0€", "19.99", "EUR"),
        ("19,99 EUR", "19.99", "EUR"),
        ("19.99 Euro", "19.99", "EUR"),
        ("EUR 1.299", "1299", "EUR"),
        ("1.299,- €", "1299", "EUR"),
        ("1.299,– €", "1299", "EUR"),
        ("€ 12,--", "12", "EUR"),
        ("1.234.567,89 €", "1234567.89", "EUR"),
        ("1\u202f299,00\u00a0€", "1299.00", "EUR"),
        ("1\u2009299,00 €", "1299.00", "EUR"),
        ("19€99", "19.99", "EUR"),
        ("£1,299.00", "1299.00", "GBP"),
        ("£5.99p", "5.99", "GBP"),
        ("R$ 1.234,56", "1234.56", "BRL"),
        ("₹1,23,456.78", "123456.78", "INR"),
        ("₹1,299/-", "1299", "INR"),
        ("CHF 1'299.00", "1299.00", "CHF"),
        ("1’299.00 CHF", "1299.00", "CHF"),
        ("1´299.00 CHF", "1299.00", "CHF"),
        ("CHF 12.–", "12", "CHF"),
        ("Fr. 12.50", "12.50", "CHF"),
        ("1 299,00 Kč", "1299.00", "CZK"),
        ("12,- Kč", "12", "CZK"),
        ("1 299,00 zł", "1299.00", "PLN"),
        ("1 299,50 ₽", "1299.50", "RUB"),
        ("1 299 грн", "1299", "UAH"),
        ("1.299,00 TL", "1299.00", "TRY"),
        ("₺1.299,00", "1299.00", "TRY"),
        ("1,980円", "1980", "JPY"),
        ("１，９８０円", "1980", "JPY"),
        ("12,000원", "12000", "KRW"),
        ("₩12,000", "12000", "KRW"),
        ("120.000đ", "120000", "VND"),
        ("Rp 120.000", "120000", "IDR"),
        ("S/.12.50", "12.50", "PEN"),
        ("120 บาท", "120", "THB"),
        ("١٩٫٩٩ €", "19.99", "EUR"),
        ("١٬٢٩٩٫٥٠ د.إ", "1299.50", "AED"),
        ("£१२", "12", "GBP"),
        ('5 ש"ח', "5", "ILS"),
        ("₪\u200e19.90", "19.90", "ILS"),
        ("$12.99 USD", "12.99", "USD"),
        ("USD $12.99", "12.99", "USD"),
        ("US$12.99", "12.99", "USD"),
        ("US $12.99", "12.99", "USD"),
        ("12.99 US$", "12.99", "USD"),
        ("12.99 $US", "12.99", "USD"),
        ("CAD $5.99", "5.99", "CAD"),
        ("CAD$5.99", "5.99", "CAD"),
        ("C $5.99", "5.99", "CAD"),
        ("A$5", "5", "AUD"),
        ("AU$ 5", "5", "AUD"),
        ("AU $5", "5", "AUD"),
        ("RD$12", "12", "DOP"),
        ("NT$1,299", "1299", "TWD"),
        ("$24.990 CLP", "24990", "CLP"),
        ("BHD 1,250.500", "1250.500", "BHD"),
        ("0,500 KWD", "0.500", "KWD"),
        ("Price: £12.99", "12.99", "GBP"),
        ("Only £12.99!", "12.99", "GBP"),
        ("£0.00", "0.00", "GBP"),
    ],
)
def test_price_is_read_in_every_spelling(text: str, amount: str, currency: str) -> None:
    assert money(text) == (amount, currency)


@pytest.mark.parametrize(
    ("text", "both"),
    [
        ("1.299", ("1.299", "1299")),
        ("1,299", ("1.299", "1299")),
        ("1.250 KWD", ("1.250", "1250")),
        ("KWD 12,500", ("12.500", "12500")),
    ],
)
def test_three_digits_behind_one_sign_can_be_read_in_two_ways(
    text: str, both: tuple[str, str]
) -> None:
    assert read_price(text) == Unclear("it can be read in two ways", both)


@pytest.mark.parametrize(
    ("text", "decimal", "amount"),
    [("1.299", ",", "1299"), ("1.299", ".", "1.299"), ("1,299", ".", "1299"), ("19.99", ",", None)],
)
def test_decimal_sign_of_the_page_settles_it(text: str, decimal: str, amount: str | None) -> None:
    assert money(text, PriceHints(decimal=decimal)) == ((amount, None) if amount else None)


@pytest.mark.parametrize(
    "text", ["$1,299.999", "JPY 19.99", "1234.567 €", "01.299 €", "₩12.50", "CLP 5,5"]
)
def test_amount_finer_than_its_currency_is_refused(text: str) -> None:
    assert "no such small unit" in why(text)


@pytest.mark.parametrize(
    "text",
    [
        *("1.299.00", "1,2345.00 €", "1.2.3", "€1.299.00", "1,299,00", "0.299.000 €"),
        *("0,123.45 €", ".99.99", "$.99,5"),
    ],
)
def test_separators_that_fit_no_way_of_writing_are_refused(text: str) -> None:
    assert "separators" in why(text)


@pytest.mark.parametrize(
    "text",
    [
        "£12 - £15",
        "£12–£15",
        "£12-15",
        "12-15 £",
        "$12.99 \u2212 $15.99",
        "€10 to €20",
        "10 bis 20 €",
        "€10 up to €20",
        "1,980円～2,980円",
        "¥1,980〜¥2,980",
        "from $10 to $20",
        "£5 - £5",
    ],
)
def test_range_is_no_price(text: str) -> None:
    assert why(text) == RANGE


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("from £12.99", "a starting price"),
        ("ab 12,99 €", "a starting price"),
        ("£10+", "a starting price"),
        ("£10 and up", "a starting price"),
        ("1,980円～", "a starting price"),
        ("1,980円から", "a starting price"),
        ("2 for £5", "a price for several"),
        ("£5 for 2", "a price for several"),
        ("£3.50/kg", "a price per measure"),
        ("£3.50 per 100g", "a price per measure"),
        ("1 kg = 11,98 €", "a price per measure"),
        ("Grundpreis: 11,98 €", "a price per measure"),
        ("3 x 9,99 €", "an instalment"),
        ("4 payments of $25.00", "an instalment"),
        ("$25/mo", "an instalment"),
        ("12x de R$ 108,25", "an instalment"),
        ("Delivery: £3.99", "a cost of delivery"),
        ("£3.99 delivery", "a cost of delivery"),
        ("zzgl. 4,99 € Versand", "a cost of delivery"),
        ("Save £5", "a deduction"),
        ("£5 off", "a deduction"),
        ("$10 off $50", "a deduction"),
        ("Was £20", "an older or recommended price"),
        ("UVP 29,99 €", "an older or recommended price"),
        ("£20 RRP", "an older or recommended price"),
        ("£20 ex VAT", "a price without tax"),
        ("20,00 € zzgl. MwSt.", "a price without tax"),
        ("VAT £4", "a price without tax"),
        ("1,980円（税抜）", "a price without tax"),
        ("up to £50", "a limit"),
        ("approx. £25", "an estimate"),
        ("Members £5", "a price for some buyers"),
    ],
)
def test_words_say_what_an_amount_is_instead(text: str, meaning: str) -> None:
    assert why(text) == f"it is {meaning}, not the price"


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("Was £20.00 Now £15.00", "15.00"),
        ("£15.00 was £20.00", "15.00"),
        ("£15.00 RRP £20.00", "15.00"),
        ("RRP £20.00 £15.00", "15.00"),
        ("£15.00 (was £20.00)", "15.00"),
        ("Statt 29,99 € nur 19,99 €", "19.99"),
        ("De R$ 1.500,00 por R$ 1.299,00", "1299.00"),
        ("£16.67 ex VAT £20.00 inc VAT", "20.00"),
        ("£20.00 inc VAT £16.67 ex VAT", "20.00"),
        ("ex VAT £16.67 inc VAT £20.00", "20.00"),
        ("Inc. VAT: £20.00", "20.00"),
        ("£20.00 (£16.67 ex VAT)", "20.00"),
        ("£20.00 Delivery: £3.99", "20.00"),
        ("£20.00 + £3.99 p&p", "20.00"),
        ("5,99 € zzgl. Versandkosten", "5.99"),
        ("5,99 € inkl. MwSt. zzgl. Versand", "5.99"),
        ("5,99 € zzgl. 4,99 € Versand", "5.99"),
        ("5,99 € (11,98 €/kg)", "5.99"),
        ("5,99 € (1 kg = 11,98 €)", "5.99"),
        ("£5.99 each, 3 for £15", "5.99"),
        ("R$ 1.299,00 em 12x de R$ 108,25", "1299.00"),
        ("£5 (20% off)", "5"),
        ("-20% £15", "15"),
        ("%20 ₺150", "150"),
        ("£5 - save £2", "5"),
        ("500 g 5,99 €", "5.99"),
        ("£19.99 12 pack", "19.99"),
        ("£5.99 £5.99", "5.99"),
    ],
)
def test_current_price_is_told_from_the_amounts_around_it(text: str, amount: str) -> None:
    found = money(text)

    assert found is not None
    assert found[0] == amount


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("£15.00 £20.00", "several amounts"),
        ("$12.99 / €11.00", "several amounts"),
        ("£20.00 RRP £15.00", "the lower one"),
        ("Was £10 now £15", "the lower one"),
        ("£3.99 delivery £20.00", "may belong to either"),
        ("£20.00 delivery £3.99", "may belong to either"),
        ("£12.99 USD", "different currencies"),
        ("19 99 €", "a part of it"),
        ("$19 99", "a part of it"),
        ("19 € 99", "a part of it"),
        ("2024 299 €", "a part of it"),
        ("Size 42 £12", "a part of it"),
        ("S23 899 €", "part of a number"),
        ("1E5 €", "part of a number"),
        ("$19⁹⁹", "part of a number"),
        ("€5²", "part of a number"),
        ("5½ €", "part of a number"),
        ("$.999", "part of a number"),
        ("Rs .99", "dot may belong"),
        ("$1.5k", "rounded"),
        ("£2 million", "rounded"),
        ("¥5万", "rounded"),
        ("Fr. 12.05.", "part of a number"),
        ("-£5.00", "a deduction"),
        ("£-5.00", "a deduction"),
        ("−5 €", "a deduction"),
        (f"£{'9' * 16}", "too long"),
        (f"£5 {'x' * MAX_TEXT}", "longer text"),
        ("Free", "no number"),
        ("20% off", "no number"),
        ("", "no number"),
    ],
)
def test_what_leaves_a_doubt_is_refused_with_a_reason(text: str, reason: str) -> None:
    assert reason in why(text)


@pytest.mark.parametrize("hints", [PriceHints(), PriceHints("EUR"), PriceHints(regional=("EUR",))])
@pytest.mark.parametrize(
    "text",
    [
        *(
            "Model 5000",
            "iPhone 12",
            "Save 10",
            "50 rounds",
            "Size 42",
            "5 stars",
            "Qty 1",
            "No. 5",
        ),
        *("ALL 50", "TRY 1", "TOP 10", "AMD 5600", "24 AWG", "5 KGS", "XXX 5", "XAU 1", "LVL 5"),
        *("5 km", "6 ft", "R 100", "99p", "50 cents", "99¢", "#5", "(5.00)", "5/5", "4.5 (123)"),
        *("2024-10-05", "12/05", "12/05/2024", "30 x 40 cm", "30x40", "30*40", "1e5", "1 2 3"),
        *("+49 30 901820", "(212) 736-5000", "030/901820", "call 0800 123 456", "20:15", "5 usd"),
        *("-5", "5 - EUR", "1..2", "½", "①", "²"),
    ],
)
def test_number_that_is_no_price_is_not_made_one(text: str, hints: PriceHints) -> None:
    assert money(text, hints) is None


def test_symbol_and_minor_units_come_with_the_price() -> None:
    price = read_price("19,99 €")

    assert isinstance(price, Price)
    assert (price.symbol, price.minor) == ("€", 1999)


def test_price_without_currency_has_no_minor_units() -> None:
    price = read_price("19.99")

    assert isinstance(price, Price)
    assert price.minor is None


@pytest.mark.parametrize(
    ("text", "hints", "amount", "currency"),
    [
        ("1.299", PriceHints("EUR"), "1299", "EUR"),
        ("1,980", PriceHints("JPY"), "1980", "JPY"),
        ("12,-", PriceHints("EUR"), "12", "EUR"),
        ("1.250 KWD", PriceHints(decimal="."), "1.250", "KWD"),
        ("1.250 KWD", PriceHints(decimal=","), "1250", "KWD"),
        ("¥1,980", PriceHints(regional=("JPY",)), "1980", "JPY"),
        ("¥1,980", PriceHints(regional=("CNY",)), "1980", "CNY"),
        ("￥１，９８０", PriceHints("JPY"), "1980", "JPY"),
        ("Rs. 1,299", PriceHints("PKR"), "1299", "PKR"),
        ("$5", PriceHints("EUR", regional=("MXN",)), "5", "MXN"),
        ("$5", PriceHints("CAD", regional=("AUD",)), "5", "CAD"),
        ("$5", PriceHints("EUR"), "5", None),
    ],
)
def test_hint_decides_what_the_text_leaves_open(
    text: str, hints: PriceHints, amount: str, currency: str | None
) -> None:
    assert money(text, hints) == (amount, currency)


@pytest.mark.parametrize(
    ("text", "hints", "unclear"),
    [
        ("1.299", PriceHints("KWD"), Unclear(TWO_WAYS, ("1.299", "1299"))),
        ("1.299", PriceHints(regional=("EUR",)), Unclear(TWO_WAYS, ("1.299", "1299"))),
        ("¥19.80", PriceHints("JPY"), Unclear("JPY has no such small unit", ("19.80",))),
    ],
)
def test_hint_that_does_not_decide_leaves_the_doubt(
    text: str, hints: PriceHints, unclear: Unclear
) -> None:
    assert read_price(text, hints) == unclear


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("$5 - $10", ("5", "10")),
        ("5 to 10 €", ("10",)),
        ("£20.00 £15.00", ("20.00", "15.00")),
        ("Was £15 Now £20", ("15", "20")),
        ("$19 99", ("19",)),
        ("12 34", ("12", "34")),
        ("1,2,3", ("1,2,3",)),
        ("Size 42", ("42",)),
        ("from £10", ("10",)),
        ("Free", ()),
    ],
)
def test_refusal_names_the_amounts_it_is_about(text: str, numbers: tuple[str, ...]) -> None:
    unclear = read_price(text)

    assert isinstance(unclear, Unclear)
    assert unclear.readings == numbers


@pytest.mark.parametrize("text", ["Price £100 shipping £10", "£100 £10 shipping"])
def test_word_belongs_to_the_side_where_the_other_words_stand(text: str) -> None:
    assert money(text) == ("100", "GBP")


@pytest.mark.parametrize(
    ("text", "minor"),
    [("12 €", 1200), ("1.299 €", 129_900), ("1,980円", 1980), ("KWD 12.5", 12_500), ("£0", 0)],
)
def test_minor_units_follow_the_exponent_of_the_currency(text: str, minor: int) -> None:
    price = read_price(text)

    assert isinstance(price, Price)
    assert price.minor == minor


@pytest.mark.parametrize("text", ["£8 (£5 - £10)", "£5 - £10 now £8", "£8, £5 to £10"])
def test_amount_beside_a_range_is_no_price_either(text: str) -> None:
    assert why(text) == RANGE
