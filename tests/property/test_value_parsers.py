"""Parsers of values, whatever the text: no crash, no guess, and always the same answer."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stdnum import ean

from penstock.extract.values.ammunition import CALIBERS, cost_per_round, read_ammunition
from penstock.extract.values.contact import find_emails, find_phones, read_phone
from penstock.extract.values.gtin import read_gtin
from penstock.extract.values.stock import is_buy_label, phrases, read_stock
from penstock.extract.values.stock_words.languages import all_languages
from penstock.kernel.records import MAX_MINOR_UNITS, Availability
from penstock.quality.location import read_address, read_location
from penstock.quality.place_names import CODED_REGIONS

STOCK = all_languages()
NEGATIONS = sorted(phrases(STOCK.negations))
PROMISES = sorted(phrases(STOCK.pending))
PRESENT = sorted(
    phrase.replace("#", "3") for phrase in phrases(STOCK.in_stock) | phrases(STOCK.available)
)
ABSENT = sorted(phrases(STOCK.out_of_stock))
OFFERS = sorted(phrase.replace("#", "3") for phrase in phrases(STOCK.buy))
WORDS = [
    *("+49 30 901820", "tel:", "(212) 736-5000", "mailto:", "info@shop.de", "(at)", "[dot]", "@"),
    *("9mm", ".223", "5.56x45", "12 gauge", "115gr", "50 rounds", "case of", "boxes of", "x", '3"'),
    *("#8 shot", "1 oz", "slug", "FMJ", "brass", "4006381333931", "EAN:", "0", "1", "1,000", "-"),
    *("Berlin", "TX", "CA", "78701", "Germany", "Remote", "Greater", "Area", "Street", "(", ")"),
    *(",", ".", ";", "?", "/", "\u200b", "\u0130", "\u00df", "\ufdfa", "½", "२", "in stock", "not"),
]

any_text = st.text(st.characters(), max_size=60)
likely_text = st.lists(
    st.sampled_from(WORDS) | st.sampled_from(PRESENT + ABSENT + NEGATIONS + OFFERS), max_size=12
).map(" ".join)
glued_text = st.lists(st.sampled_from(WORDS), max_size=12).map("".join)
texts = any_text | likely_text | glued_text
regions = st.sampled_from([None, "US", "DE", "gb", "ZZ", ""])
spaces = st.text(" \t\n\u00a0", min_size=1, max_size=4)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text | st.just("US"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "@type", "addressCountry"]), inner, max_size=3)
    ),
    max_leaves=6,
)
ADDRESS_KEYS = ["addressLocality", "addressRegion", "addressCountry", "postalCode", "other"]


@pytest.mark.parametrize(
    "parse",
    [
        read_stock,
        is_buy_label,
        find_emails,
        read_phone,
        find_phones,
        read_gtin,
        read_ammunition,
        read_location,
    ],
)
@settings(max_examples=200, deadline=None)
@given(texts)
@example("\ud800 in stock 9mm \ud800@x.de, TX")
@example("\x00")
def test_any_text_gives_the_same_answer_twice(parse: Any, text: str) -> None:
    assert parse(text) == parse(text)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(NEGATIONS), st.sampled_from(PRESENT))
def test_negated_stock_is_never_in_stock(negation: str, present: str) -> None:
    assert read_stock(f"{negation} {present}") is not Availability.IN_STOCK
    assert read_stock(f"{present} {negation}") is not Availability.IN_STOCK
    assert read_stock(f"{negation}, {present}".upper()) is not Availability.IN_STOCK


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PROMISES), st.sampled_from(PRESENT))
def test_promised_stock_is_never_in_stock(promise: str, present: str) -> None:
    assert read_stock(f"{promise} {present}") is not Availability.IN_STOCK


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PRESENT), st.sampled_from(ABSENT))
def test_contradicting_stock_is_unknown(present: str, absent: str) -> None:
    assert read_stock(f"{present}. {absent}.") is Availability.UNKNOWN


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PRESENT + ABSENT + OFFERS), spaces, spaces)
def test_spaces_and_case_change_nothing(text: str, before: str, after: str) -> None:
    padded = before + text.replace(" ", after) + after

    assert read_stock(padded) is read_stock(text)
    assert read_stock(padded.upper()) is read_stock(text)
    assert is_buy_label(padded.upper()) is is_buy_label(text)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(PRESENT), st.sampled_from(["?", " soon", " when", ", notify me"]))
def test_question_about_stock_is_no_answer(present: str, question: str) -> None:
    assert read_stock(present) is Availability.IN_STOCK
    assert read_stock(present + question) is Availability.UNKNOWN


@pytest.mark.parametrize("absent", ABSENT)
def test_every_phrase_for_sold_out_is_known(absent: str) -> None:
    assert read_stock(absent) is Availability.OUT_OF_STOCK


@pytest.mark.parametrize("offer", OFFERS)
def test_every_offer_is_known_and_refused_when_sold_out(offer: str) -> None:
    assert is_buy_label(offer)
    assert not is_buy_label(f"{offer} (sold out)")


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([7, 11, 12, 13]), st.data())
def test_gtin_has_the_right_check_digit(length: int, data: st.DataObject) -> None:
    body = data.draw(st.text("0123456789", min_size=length, max_size=length))
    right = ean.calc_check_digit(body)

    found = {digit: read_gtin(body + digit) for digit in "0123456789"}

    assert found[right] in (None, body + right)
    assert not any(gtin for digit, gtin in found.items() if digit != right)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["", " ", "-"]), min_size=13, max_size=13))
def test_gtin_is_the_same_with_spaces_and_hyphens(gaps: list[str]) -> None:
    written = "".join(f"{digit}{gap}" for digit, gap in zip("4006381333931", gaps, strict=True))

    assert read_gtin(f"EAN: {written.rstrip(' -')}") == "4006381333931"


@settings(max_examples=200, deadline=None)
@given(texts, regions)
def test_phone_is_an_international_number_that_reads_as_itself(
    text: str, region: str | None
) -> None:
    one = read_phone(text, region)
    found = find_phones(text, region)

    assert len(set(found)) == len(found)
    for number in (*found, *([one] if one else [])):
        assert number.startswith("+")
        assert number[1:].isdecimal()
        assert read_phone(number) == number


@settings(max_examples=300, deadline=None)
@given(texts)
@example("'o'brien@shop.ie a.b@x.co")
@example("0@0.Aİ 0@İa.ai")
def test_address_has_one_domain_and_reads_as_itself(text: str) -> None:
    found = find_emails(text)

    assert len(set(found)) == len(found)
    for address in found:
        local, _, domain = address.partition("@")
        assert 0 < len(local) <= 64
        assert domain == domain.lower()
        assert "." in domain
        assert find_emails(address) == (address,)


@settings(max_examples=200, deadline=None)
@given(texts)
def test_ammunition_of_any_title_is_plausible(title: str) -> None:
    found = read_ammunition(title)

    assert found.caliber is None or found.caliber in CALIBERS
    assert found.grain_weight is None or found.grain_weight > 0
    assert found.round_count is None or found.round_count >= 1


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(list(CALIBERS)), min_size=2, max_size=2, unique=True))
def test_two_calibers_are_none(calibers: list[str]) -> None:
    first, second = calibers

    assert read_ammunition(f"Ammo {first} or {second}").caliber is None
    assert read_ammunition(f"Ammo {first} / {first}").caliber == first


@settings(max_examples=300, deadline=None)
@given(st.integers(1, MAX_MINOR_UNITS), st.integers(1, 100_000))
def test_rounds_cost_together_what_the_box_costs(price: int, rounds: int) -> None:
    cost = cost_per_round(price, rounds)

    assert cost.as_tuple().exponent == -4
    assert abs(cost * rounds - price) <= Decimal("0.00005") * rounds


@settings(max_examples=300, deadline=None)
@given(texts | st.text(max_size=400))
def test_location_keeps_the_text_and_adds_nothing_to_it(text: str) -> None:
    location = read_location(text)

    assert location.raw == text
    if location.city and location.city != location.country:
        assert location.city.split()[0] in text


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(CODED_REGIONS["US"].items())), st.sampled_from(["", " 12345"]))
def test_code_of_a_state_is_spelled_out_or_left_out(state: tuple[str, str], zip_code: str) -> None:
    code, name = state

    location = read_location(f"Springfield, {code}{zip_code}")

    assert location.city == "Springfield"
    if location.state_region is None:
        assert (code in ("DE", "IN"), zip_code, location.country) == (True, "", None)
    else:
        assert (location.state_region, location.country) == (name, "United States")


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(ADDRESS_KEYS), json_values, max_size=5) | json_values)
def test_address_of_any_shape_gives_a_location(address: Any) -> None:
    location = read_address(address)

    assert location == read_address(address)
    assert location.raw or not (location.city or location.state_region or location.country)
