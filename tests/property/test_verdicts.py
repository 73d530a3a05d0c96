"""The judge, whatever it is given: what cannot be trusted is never accepted."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.urls import parse
from penstock.kernel.records import (
    MAX_MINOR_UNITS,
    Accept,
    Availability,
    Drop,
    Extraction,
    ExtractReason,
    Product,
    Quarantine,
    Verdict,
)
from penstock.quality.identity import identity_key, parse_identity_key
from penstock.quality.judge import RunHistory, Standing, judge
from penstock.quality.normalise import normalise
from penstock.quality.plausibility import Money, describe_jump
from penstock.quality.settings import QualitySettings

amounts = st.integers(1, MAX_MINOR_UNITS)
currencies = st.sampled_from(["USD", "EUR", "JPY"])
ids = st.none() | st.sampled_from(["A-1", "a:1", "77"])
factors = st.floats(1, 100)
odd = st.none() | st.text(max_size=5) | st.floats() | st.booleans() | st.lists(st.integers())


def mostly(good: st.SearchStrategy[Any], *bad: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """One in four is bad, so that a whole record often is good but for one field."""
    return st.integers(0, 3).flatmap(lambda dice: good if dice else st.one_of(*bad))


offers = st.builds(
    Extraction,
    st.just("product"),
    st.fixed_dictionaries(
        {
            "url": mostly(st.sampled_from(["https://shop.test/1", "http://shop.test/2"]), odd),
            "name": mostly(st.just("Shoe"), odd),
            "price_minor": mostly(amounts, st.integers(), st.just(0), odd),
            "currency": mostly(currencies, odd),
            "availability": mostly(st.sampled_from(["IN_STOCK", "OUT_OF_STOCK"]), odd),
            "rival_prices": mostly(st.just([]), st.lists(st.text(min_size=1), min_size=1), odd),
            "sku": ids,
            "product_id": ids,
        }
    ),
    reason=mostly(st.none(), st.just(ExtractReason.OOS_NO_PRICE)),
)
keys = st.sampled_from(["SKU:A-1", "SKU:77", "PID:A-1", "PID:77"])
standings = st.builds(
    Standing,
    st.builds(RunHistory, st.dictionaries(keys, st.builds(Money, amounts, currencies))),
    st.builds(QualitySettings, max_price_factor=factors),
)
sound_offers = st.builds(
    Extraction,
    st.just("product"),
    st.fixed_dictionaries(
        {
            "url": st.just("https://shop.test/1"),
            "name": st.just("Shoe"),
            "price_minor": amounts,
            "currency": currencies,
            "availability": st.sampled_from(["IN_STOCK", "OUT_OF_STOCK", "BACKORDER"]),
            "sku": ids,
        }
    ),
)


def verdict_on(extraction: Extraction, standing: Standing) -> Verdict:
    return judge(extraction, normalise(extraction), standing)


def key_of(extraction: Extraction) -> str:
    product = normalise(extraction).record
    assert isinstance(product, Product)
    return identity_key(product, parse(product.url or ""))


def is_blank(extraction: Extraction, field: str) -> bool:
    value = extraction.fields[field]
    return isinstance(value, str) and not value.strip()


@settings(max_examples=1000, deadline=None)
@given(offers, standings)
def test_accepted_offer_has_all_that_makes_it_trusted(
    extraction: Extraction, standing: Standing
) -> None:
    normalised = normalise(extraction)
    product = normalised.record
    assert isinstance(product, Product)

    if judge(extraction, normalised, standing) != Accept():
        return

    assert extraction.ok
    assert product.name
    assert product.url
    assert product.currency
    assert product.price_minor is not None
    assert 1 <= product.price_minor <= MAX_MINOR_UNITS
    assert extraction.fields["rival_prices"] in (None, []) or is_blank(extraction, "rival_prices")
    assert product.availability is not Availability.UNKNOWN
    last = standing.history.last_accepted(key_of(extraction))
    if last is not None:
        low, high = sorted((last.minor, product.price_minor))
        assert last.currency == product.currency
        assert high <= low * standing.settings.max_price_factor


@settings(max_examples=300, deadline=None)
@given(
    sound_offers,
    st.sampled_from(
        [
            {"price_minor": None},
            {"price_minor": 0},
            {"price_minor": -1},
            {"price_minor": MAX_MINOR_UNITS + 1},
            {"price_minor": "19.99"},
            {"rival_prices": ["19.99", "24.99"]},
            {"availability": "UNKNOWN"},
            {"availability": None},
            {"name": ""},
            {"url": "nowhere"},
            {"currency": None},
        ]
    ),
)
def test_sound_offer_is_accepted_and_one_flaw_is_enough_against_it(
    sound: Extraction, flaw: dict[str, Any]
) -> None:
    flawed = replace(sound, fields={**sound.fields, **flaw})

    assert verdict_on(sound, Standing()) == Accept()
    assert isinstance(verdict_on(flawed, Standing()), Drop | Quarantine)


@settings(max_examples=300, deadline=None)
@given(offers, standings)
def test_same_record_gets_the_same_verdict(extraction: Extraction, standing: Standing) -> None:
    first = verdict_on(extraction, standing)

    assert verdict_on(extraction, standing) == first


@settings(max_examples=200, deadline=None)
@given(sound_offers)
def test_remembered_product_is_never_accepted_again(extraction: Extraction) -> None:
    history = RunHistory()
    assert verdict_on(extraction, Standing(history)) == Accept()

    history.remember(key_of(extraction))

    assert verdict_on(extraction, Standing(history)) != Accept()


@settings(max_examples=500, deadline=None)
@given(amounts, amounts, factors)
def test_jump_up_is_as_implausible_as_the_same_jump_down(one: int, other: int, most: float) -> None:
    up = describe_jump(Money(one, "USD"), Money(other, "USD"), most)
    down = describe_jump(Money(other, "USD"), Money(one, "USD"), most)

    assert (up is None) == (down is None) == (max(one, other) <= min(one, other) * most)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=255) | ids, st.text(max_size=100) | ids)
def test_identity_key_gives_back_the_first_fit_id(product_id: str | None, sku: str | None) -> None:
    product, page = Product(product_id=product_id, sku=sku), parse("https://shop.test/1")
    fit = [value for value in (product_id, sku) if value and value.strip() and ":" not in value]

    kind, value = parse_identity_key(identity_key(product, page))

    assert kind in ("PID", "SKU", "URL")
    assert [value] == fit[:1] or (kind == "URL" and not fit)
