"""The normaliser, whatever a page says: properties 31 to 35."""

import re
import string
from collections.abc import Iterator
from typing import Any, get_args
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.urls import DEFAULT_PORTS, TRACKING_PARAMETERS, parse
from penstock.kernel.records import Extraction, JobPosting, Kind, Location, Record
from penstock.quality.links import PLAIN_URL, clean_url
from penstock.quality.normalise import RECORDS, normalise
from penstock.quality.text import Unfit, clean_text

#: Pieces that texts with markup are made of, whole and broken.
MARKUP = (
    *("<b>", "</b>", "<br/>", "<p class='a > b'>", '<img alt="', "<script>", "</script>", "<!--"),
    *("-->", "<", ">", "</", "&lt;", "&gt;", "&amp;", "&#60;", "&", "lt;", "b", "'", '"', "="),
    *("\x00", "\ud800", "\u00a0", "\n", " ", "shoe", "5", "é"),
)
TAG = re.compile(r"<(?:[A-Za-z/!?])")
SPACES = re.compile(r"\s\s|[^\S ]|^\s|\s$")

kinds = st.sampled_from(get_args(Kind))
any_text = st.text(st.characters()) | st.lists(st.sampled_from(MARKUP), max_size=12).map("".join)
address_parts = (
    "streetAddress",
    "addressLocality",
    "addressRegion",
    "addressCountry",
    "city",
    "raw",
)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.binary() | any_text
)
raw_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(any_text, inner, max_size=4)
        | st.dictionaries(st.sampled_from(address_parts), inner, min_size=1)
    ),
    max_leaves=5,
)
words = st.text(string.ascii_letters + string.digits, min_size=1, max_size=8)
hosts = st.sampled_from(["shop.test", "www.Shop.test", "192.0.2.1", "bücher.example", "[::1]"])
names = words | st.sampled_from([*sorted(TRACKING_PARAMETERS), "utm_source", "UTM_x", "utm%5Fy"])
addresses = st.builds(
    "{}://{}{}/{}?{}#{}".format,
    st.sampled_from(["http", "https", "HTTP"]),
    hosts,
    st.sampled_from(["", ":80", ":443", ":8080"]),
    st.lists(words, max_size=3).map("/".join),
    st.lists(st.builds("{}={}".format, names, words), max_size=5).map("&".join),
    words,
)
labels = st.sampled_from(
    ["shop", "xn--a", "xn--bcher-kva", "a-", "-a", "1", "0x7f", "Shop", "x" * 64]
)
segments = st.sampled_from(["", ".", "..", "a..b", ".a", "a.", "%2e", "~", "p-1_2.jpg", "é", " "])
nearly_plain_addresses = st.builds(
    "https://{}.{}/{}{}".format,
    st.lists(labels, min_size=1, max_size=3).map(".".join),
    st.sampled_from(["test", "co", "1", "c"]),
    st.lists(segments, max_size=4).map("/".join),
    st.sampled_from(["", "?", "?a=1&b", "?a='", "?a/../b=,+", "#a"]),
)


def fields_of(kind: Kind) -> st.SearchStrategy[dict[str, Any]]:
    """Raw fields of a kind: any of its own with anything in it, and some that it has not."""
    own = sorted(RECORDS[kind].model_fields)
    return st.dictionaries(st.sampled_from(own) | words, raw_values, max_size=len(own))


extractions = kinds.flatmap(lambda kind: st.builds(Extraction, st.just(kind), fields_of(kind)))
#: Values that are valid, by field; a record made of them has no gaps.
VALID: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(["url", "posting_url", "profile_url", "website_url"], addresses),
    **dict.fromkeys(["price_minor", "list_price_minor"], st.integers(1, 99_999_999)),
    **dict.fromkeys(["location", "headquarters"], st.just("Berlin, Germany")),
    **dict.fromkeys(["rating", "grain_weight"], st.decimals("0.01", 5, places=2)),
    **dict.fromkeys(["review_count", "round_count", "shipping_minor"], st.integers(1, 10**6)),
    "cost_per_round_minor": st.decimals(1, 10**6, places=3),
    "currency": st.sampled_from(["USD", "eur"]),
    "availability": st.sampled_from(["IN_STOCK", "BACKORDER"]),
    "rival_prices": st.lists(words, min_size=1, max_size=3),
    "image_urls": st.lists(addresses, min_size=1, max_size=5),
    "gtin": st.from_regex(r"[0-9]{13}", fullmatch=True),
    "tax_included": st.booleans(),
    "contact_email": st.just("info@shop.test"),
    "contact_phone": st.just("+49 30 901820"),
}


def valid_fields(kind: Kind) -> st.SearchStrategy[dict[str, Any]]:
    own = RECORDS[kind].model_fields
    return st.fixed_dictionaries({name: VALID.get(name, words) for name in own})


full_extractions = kinds.flatmap(
    lambda kind: st.builds(Extraction, st.just(kind), valid_fields(kind))
)


def texts_of(record: Record) -> Iterator[str]:
    """Every text of a record that stands for itself; what a place was read from does not."""
    for _, value in record:
        match value:
            case str():
                yield value
            case tuple():
                yield from value
            case Location():
                yield from filter(None, (value.city, value.state_region, value.country))


def is_tracking(name: str) -> bool:
    return name.lower() in TRACKING_PARAMETERS or name.lower().startswith("utm_")


# Feature: scraping-microservices, Property 31: Result normalization produces valid schema
@pytest.mark.property_number(31)
@settings(max_examples=200, deadline=None)
@given(extractions)
def test_record_is_valid_and_its_texts_are_plain(extraction: Extraction) -> None:
    record = normalise(extraction).record

    assert type(record) is RECORDS[extraction.kind]
    assert type(record).model_validate(record.model_dump()) == record
    for text in texts_of(record):
        assert text
        assert not TAG.search(text)
        assert not SPACES.search(text)
        assert clean_text(text) == text


# Feature: scraping-microservices, Property 32: Partial result on validation failure
@pytest.mark.property_number(32)
@settings(max_examples=300, deadline=None)
@given(st.data(), kinds)
def test_invalid_fields_are_named_and_the_valid_ones_kept(data: st.DataObject, kind: Kind) -> None:
    own = sorted(RECORDS[kind].model_fields)
    good = data.draw(valid_fields(kind))
    bad = data.draw(st.sets(st.sampled_from(own), min_size=1))
    whole = normalise(Extraction(kind, good))
    spoilt = {name: object() if name in bad else value for name, value in good.items()}

    partial = normalise(Extraction(kind, {**spoilt, "unheard_of": 1}))

    assert whole.invalid == {}
    assert partial.invalid.keys() == {*bad, "unheard_of"}
    for name in own:
        missing = RECORDS[kind].model_fields[name].default
        expected = missing if name in bad else getattr(whole.record, name)
        assert getattr(partial.record, name) == expected
        assert name in bad or expected != missing


# Feature: scraping-microservices, Property 33: URL normalization
@pytest.mark.property_number(33)
@settings(max_examples=500, deadline=None)
@given(addresses)
def test_url_is_https_and_free_of_tracking(text: str) -> None:
    before, cleaned = parse(text), clean_url(text)
    wanted = [pair for pair in parse_qsl(urlsplit(before.href).query) if not is_tracking(pair[0])]
    port = before.port if before.port != DEFAULT_PORTS[before.scheme] else DEFAULT_PORTS["https"]

    assert cleaned is not None
    after = parse(cleaned)
    assert cleaned == after.href
    assert (after.scheme, after.host, after.port) == ("https", before.host, port)
    assert after.target.partition("?")[0] == before.target.partition("?")[0]
    assert parse_qsl(urlsplit(cleaned).query) == wanted
    assert clean_url(cleaned) == cleaned


# Feature: scraping-microservices, Property 34: Location normalization structure
@pytest.mark.property_number(34)
@settings(max_examples=300, deadline=None)
@given(any_text)
def test_location_is_structured_and_keeps_its_text(text: str) -> None:
    found = normalise(Extraction("job_posting", {"location": text}))

    assert isinstance(found.record, JobPosting)
    place = found.record.location
    if place is None:
        assert "location" in found.invalid or not text.strip()
        return
    assert set(place.model_dump()) == {"city", "state_region", "country", "raw"}
    # What no database can hold is not kept, everything else is.
    assert place.raw == re.sub("[\x00\ud800-\udfff]", "", text)[:1000]


# Feature: scraping-microservices, Property 35: Result serialization round trip
@pytest.mark.property_number(35)
@settings(max_examples=200, deadline=None)
@given(extractions | full_extractions)
def test_record_comes_back_from_json_as_it_was(extraction: Extraction) -> None:
    record = normalise(extraction).record

    assert type(record).model_validate_json(record.model_dump_json()) == record


@settings(max_examples=1000, deadline=None)
@given(any_text)
def test_cleaning_a_text_twice_changes_nothing(text: str) -> None:
    try:
        once = clean_text(text)
    except Unfit:
        return

    assert clean_text(once) == once
    assert not TAG.search(once)


@settings(max_examples=500, deadline=None)
@given(any_text | addresses, st.sampled_from(["", "https://shop.test/dir/?q=1", "nowhere"]))
def test_any_text_gives_a_usable_url_or_none(text: str, base: str) -> None:
    cleaned = clean_url(text, base)

    if cleaned is not None:
        assert parse(cleaned).href == cleaned
        assert cleaned.startswith("https://")
        assert clean_url(cleaned) == cleaned


@settings(max_examples=400, deadline=None)
@given(st.from_regex(PLAIN_URL, fullmatch=True) | nearly_plain_addresses)
def test_url_taken_for_plain_is_what_the_parser_makes_of_it(text: str) -> None:
    if PLAIN_URL.fullmatch(text):
        assert parse(text).href == text
