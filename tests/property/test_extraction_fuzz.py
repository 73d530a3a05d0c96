"""Reading pages, against what is known to be right: other writers of prices and JSON, whole pages.

That no page at all is read with a fault is shown beside this, in test_untrusted_pages.
"""

# ruff: noqa: RUF001 - signs of money in all scripts

import json
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from babel import Locale
from babel.numbers import format_currency
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.app import open_reader
from penstock.core.money import exponent, to_decimal, to_minor
from penstock.extract.adapters import ADAPTERS
from penstock.extract.page.document import Document
from penstock.extract.page.loose_json import MAX_DEPTH, read_json, read_literal
from penstock.extract.page.taming import tame
from penstock.extract.values.currency_signs import SYMBOLS
from penstock.extract.values.machine_amount import read_machine_amount
from penstock.extract.values.price import Price, read_price
from penstock.extract.values.price_hints import PriceHints
from penstock.extract.values.price_mentions import mentions_in
from penstock.kernel.model import Page
from penstock.kernel.reader import Reader
from penstock.kernel.records import Accept, Availability, Product
from penstock.settings import load_settings
from tests.site.shops import PRODUCT_NUMBERS, SHOPS, product, product_page

MARKETS = [
    *("en_US USD", "en_GB GBP", "en_CA CAD", "fr_CA CAD", "en_AU AUD", "de_DE EUR", "de_AT EUR"),
    *("de_CH CHF", "fr_CH CHF", "fr_FR EUR", "nl_NL EUR", "it_IT EUR", "es_ES EUR", "pt_PT EUR"),
    *("fi_FI EUR", "el_GR EUR", "sk_SK EUR", "et_EE EUR", "lt_LT EUR", "pt_BR BRL", "es_MX MXN"),
    *("es_CL CLP", "es_AR ARS", "es_PE PEN", "sv_SE SEK", "nb_NO NOK", "da_DK DKK", "is_IS ISK"),
    *("pl_PL PLN", "cs_CZ CZK", "hu_HU HUF", "ro_RO RON", "bg_BG BGN", "sr_Latn_RS RSD"),
    *("uk_UA UAH", "ru_RU RUB", "kk_KZ KZT", "tr_TR TRY", "he_IL ILS", "ar_AE AED", "ar_EG EGP"),
    *("ar_SA SAR", "ar_KW KWD", "fa_IR IRR", "hi_IN INR", "en_IN INR", "bn_BD BDT", "th_TH THB"),
    *("vi_VN VND", "id_ID IDR", "ms_MY MYR", "en_PH PHP", "ja_JP JPY", "ko_KR KRW", "zh_CN CNY"),
    *("zh_TW TWD", "en_ZA ZAR", "en_KE KES", "en_NG NGN", "ka_GE GEL"),
]
#: Words and signs beside amounts, and amounts.
PIECES = (
    *("$", "€", "£", "¥", "kr", "USD", "EUR", "R$", "Rs.", "CHF", "zł", "円", "%", "from", "was"),
    *("now", "save", "per", "kg", "/mo", "x", "for", "to", "-", "–", "(", ")", ":", ",", ".", "/"),
    *("5", "19.99", "19,99", "1.299", "1,299", "1 299,00", "12'345.60", "12,-", ".99", "½", "²"),
    *(
        "\u00a0",
        "\u202f",
        "\u200e",
        "٣٫٥",
        "१",
        "５",
        "VAT",
        "excl.",
        "delivery",
        "RRP",
        "k",
        "off",
    ),
)

amounts = st.integers(1, 99_999_999)
price_texts = st.lists(st.sampled_from(PIECES), max_size=10).flatmap(
    lambda pieces: st.sampled_from(["", " "]).map(lambda gap: gap.join(pieces))
)
hints = st.builds(
    PriceHints,
    st.sampled_from([None, "USD", "EUR", "JPY", "KWD"]),
    st.sampled_from([None, ".", ","]),
    st.sampled_from([(), ("SEK",), ("CAD", "EUR")]),
)
json_texts = st.text(st.characters(codec="utf-8"), max_size=10)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | json_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(json_texts, inner, max_size=3),
    max_leaves=12,
)
json_pieces = st.lists(
    st.sampled_from(
        (
            *"{}[]():,;\"'`\\/*+-.01eE \n\x00",
            *("//", "/*", "*/", "<!--", "-->", "true", "null", "a", "\\u12", "\\ud83d", "\\x4"),
            *("${", "&quot;", "]]>", "é", "NaN", "1.2.3", "function(){"),
        )
    ),
    max_size=40,
).map("".join)


@cache
def reader() -> Reader:
    return open_reader(load_settings())


def page(body: bytes, charset: str = "utf-8") -> Page:
    headers = {"Content-Type": f"text/html; charset={charset}"}
    return Page("https://shop01.test/product/1", 200, headers, body, 0.0)


def assert_sound(record: Any) -> None:
    assert isinstance(record, Product)
    assert record.name
    assert record.currency
    assert record.price_minor
    assert record.availability is not Availability.UNKNOWN
    assert not record.rival_prices


def depth_of(value: Any) -> int:
    level, depth = [value], 0
    while level := [
        inner
        for outer in level
        if isinstance(outer, dict | list)
        for inner in (outer.values() if isinstance(outer, dict) else outer)
    ]:
        depth += 1
    return depth


@pytest.mark.parametrize("market", MARKETS)
@settings(max_examples=30, deadline=None)
@given(minor=amounts)
@example(129_900)
@example(1_299)
@example(5)
def test_price_written_by_the_rules_of_a_country_is_read_right_or_not_at_all(
    market: str, minor: int
) -> None:
    locale, currency = market.split()
    amount = to_decimal(minor, currency)
    text = format_currency(amount, currency, locale=Locale.parse(locale))

    price = read_price(text, PriceHints(regional=(currency,)))

    if isinstance(price, Price):
        assert (price.value, price.currency) in ((amount, currency), (amount, None))
    else:
        assert price.why == "it can be read in two ways" or not _is_known(text, currency), text


def _is_known(text: str, currency: str) -> bool:
    """Whether a text has a sign that is known to stand for a currency."""
    signs = {sign for sign, codes in SYMBOLS.items() if currency in codes} | {currency.lower()}
    return any(sign in text.lower() for sign in signs)


@settings(max_examples=400, deadline=None)
@given(price_texts, hints)
@example("$" + "1" * 400, PriceHints())
@example("\ud800 5 €", PriceHints())
def test_any_text_of_prices_gives_one_that_is_sound_or_a_reason(
    text: str, around: PriceHints
) -> None:
    price = read_price(text, around)

    assert price == read_price(text, around)
    assert list(mentions_in(text, around)) == list(mentions_in(text, around))
    if not isinstance(price, Price):
        assert price.why
        return
    assert price.value.is_finite()
    assert price.value >= 0
    if price.currency:
        assert price.minor == price.value.scaleb(exponent(price.currency))


@settings(max_examples=300, deadline=None)
@given(st.none() | st.booleans() | st.integers() | st.floats() | price_texts, hints)
def test_amount_of_any_data_is_finite_and_not_negative(value: Any, around: PriceHints) -> None:
    found = read_machine_amount(value, around.currency)

    assert len(found) <= 2
    assert all(amount.is_finite() and amount >= 0 for amount in found)


@settings(max_examples=200, deadline=None)
@given(st.integers(-(10**30), 10**30), st.sampled_from(["EUR", "JPY", "KWD", "CLF"]))
def test_minor_units_and_amounts_are_the_same_money(minor: int, currency: str) -> None:
    assert to_minor(to_decimal(minor, currency), currency) == minor
    finer = to_decimal(minor, currency) + Decimal("0.00001")
    assert minor >= 10**20 or minor <= -(10**20) or to_minor(finer, currency) is None


@settings(max_examples=300, deadline=None)
@given(st.lists(json_values, max_size=3) | st.dictionaries(json_texts, json_values, max_size=3))
def test_json_is_the_same_with_a_comment_and_a_comma_too_many(value: Any) -> None:
    text = json.dumps(value)
    loose = f"/* {{ */ {text[:-1]}{',' if value else ''}{text[-1]} // ]"

    assert read_json(text) == value
    assert read_json(loose) == value
    assert read_literal(f"x = {loose}", 0) == value


@settings(max_examples=500, deadline=None)
@given(json_pieces)
@example("{'a':'\\ud83d'}")
@example("[" * 500)
def test_any_text_gives_data_that_can_be_stored(text: str) -> None:
    for value in (read_json(text), read_literal(text, 0)):
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        assert depth_of(value) <= MAX_DEPTH + 2


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            (
                *("<b>", "</b>", "<p>", "</p>", "<a x='>'>", "<!--", "-->", "<svg>", "</svg>", "'"),
                *('"', "<select>", "<option>", "</select>", "<script>", "</script>", "<math>", "x"),
            )
        ),
        max_size=60,
    ).map("".join),
    st.integers(1, 2_000),
)
def test_tamed_page_is_a_beginning_of_the_page(piece: str, times: int) -> None:
    text = piece * times

    tamed = tame(text)

    # Odd selects, drawings and formulas become elements like any other; one may be cut through.
    assert text.startswith(tamed.replace("<x-", "<").removesuffix("<x"))
    assert tame(tamed) == tamed


@pytest.mark.parametrize("host", sorted(SHOPS))
def test_whole_product_pages_are_read_as_they_are(host: str) -> None:
    for number in PRODUCT_NUMBERS:
        truth = product(host, number)
        reading = reader().read(page(product_page(host, number).encode()), "product")
        record = reading.record
        assert isinstance(record, Product)
        assert (record.price_minor, record.currency) == (truth.price_minor, truth.currency)
        assert (record.name, record.sku) == (truth.title, truth.sku)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(sorted(SHOPS)),
    st.lists(st.tuples(st.integers(0, 6_000), st.binary(max_size=4)), min_size=1, max_size=30),
    st.sampled_from(["utf-8", "latin-1", "utf-16", "shift_jis", "nonsense"]),
)
def test_page_with_wrong_bytes_gives_no_wrong_price(
    host: str, damage: list[tuple[int, bytes]], charset: str
) -> None:
    body = product_page(host, 3).encode()
    for at, wrong in damage:
        body = body[:at] + wrong + body[at + len(wrong) :]

    reading = reader().read(page(body, charset), "product")

    assert reading.as_json() == reader().read(page(body, charset), "product").as_json()
    if isinstance(reading.judgment.verdict, Accept):
        assert_sound(reading.record)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(ADAPTERS))
def test_bytes_of_any_kind_are_read_without_a_fault(body: bytes, adapter: Any) -> None:
    document = Document.of(page(body))

    found = adapter.read(document)

    assert found.adapter == adapter.name
    assert found == adapter.read(Document.of(page(body)))
