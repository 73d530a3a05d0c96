"""The judge: each rule alone, which of two goes first, and what counts as drift."""

from hashlib import sha256
from typing import Any

import pytest
from pydantic import ValidationError

from penstock.kernel.records import (
    MAX_MINOR_UNITS,
    Accept,
    Drop,
    DropReason,
    Extraction,
    ExtractReason,
    Kind,
    Product,
    Quarantine,
    QuarantineReason,
    Verdict,
)
from penstock.quality.judge import RunHistory, Standing, counts_as_drift, judge
from penstock.quality.normalise import Normalised, normalise
from penstock.quality.plausibility import Money
from penstock.quality.settings import QualitySettings

SOUND: dict[str, Any] = {
    "url": "https://shop.test/p/1",
    "name": "Shoe",
    "price_minor": 1999,
    "currency": "USD",
    "availability": "IN_STOCK",
    "sku": "A-1",
}


def offer(**changes: Any) -> Extraction:
    """A sound offer, but for the changes; None takes a field away."""
    return Extraction("product", fields={**SOUND, **changes})


def verdict_on(extraction: Extraction, standing: Standing | None = None) -> Verdict:
    return judge(extraction, normalise(extraction), standing or Standing())


def after(minor: int, currency: str = "USD", max_price_factor: float = 3) -> Standing:
    """The sound offer's product was last accepted at this price."""
    history = RunHistory({"SKU:A-1": Money(minor, currency)})
    return Standing(history, QualitySettings(max_price_factor=max_price_factor))


def already_seen() -> Standing:
    history = RunHistory()
    history.remember("SKU:A-1")
    return Standing(history)


@pytest.mark.parametrize("availability", ["IN_STOCK", "OUT_OF_STOCK", "BACKORDER"])
@pytest.mark.parametrize("price", [1, 1999, MAX_MINOR_UNITS])
def test_sound_offer_is_accepted(availability: str, price: int) -> None:
    assert verdict_on(offer(availability=availability, price_minor=price)) == Accept()


def test_flaw_of_a_field_that_decides_nothing_is_forgiven() -> None:
    flawed = offer(rating="many", image_urls=["data:,"], colour="red", gtin="1", mpn="x" * 999)

    assert verdict_on(flawed) == Accept()


@pytest.mark.parametrize("field", ["name", "url", "price_minor", "currency"])
def test_missing_field_is_dropped_by_name(field: str) -> None:
    expected = Drop(DropReason.MISSING_REQUIRED_FIELD, field)

    assert verdict_on(offer(**{field: None})) == expected


def test_all_missing_fields_are_named() -> None:
    found = verdict_on(Extraction("product"))

    assert found == Drop(DropReason.MISSING_REQUIRED_FIELD, "name, url, price_minor, currency")


def test_invalid_url_is_dropped() -> None:
    found = verdict_on(offer(url="ftp://shop.test/"))

    assert found == Drop(DropReason.INVALID_URL, "url: must be an http or https URL")


def test_invalid_url_of_a_record_made_elsewhere_is_dropped() -> None:
    record = Product.model_validate({**SOUND, "url": "nowhere"})

    found = judge(offer(), Normalised(record, {}), Standing())

    assert found == Drop(DropReason.INVALID_URL, "url: this is not an absolute URL")


@pytest.mark.parametrize(
    ("price", "side"),
    [
        (-1, "below 1"),
        (-(2**70), "below 1"),
        (MAX_MINOR_UNITS + 1, "above 99999999"),
        pytest.param(10**5000, "above 99999999", id="huge"),
    ],
)
def test_price_out_of_range_is_dropped(price: int, side: str) -> None:
    found = verdict_on(offer(price_minor=price))

    assert found == Drop(DropReason.INVALID_PRICE, f"price_minor: {side}")


@pytest.mark.parametrize(
    ("field", "raw", "problem"),
    [
        ("name", ["Shoe"], "must be text"),
        ("price_minor", "19.99", "must be an integer, in minor units"),
        ("currency", "$", "must be an ISO 4217 code"),
        ("rival_prices", "19.99", "must be a list"),
    ],
)
def test_unreadable_field_is_quarantined_with_its_flaw(field: str, raw: Any, problem: str) -> None:
    found = verdict_on(offer(**{field: raw}))

    assert found == Quarantine(QuarantineReason.NORMALIZATION_FAILED, f"{field}: {problem}")


def test_unreadable_availability_is_quarantined_rather_than_unknown() -> None:
    found = verdict_on(offer(availability="maybe"))

    assert isinstance(found, Quarantine)
    assert found.reason is QuarantineReason.NORMALIZATION_FAILED


@pytest.mark.parametrize("price", [None, 1999])
def test_rival_prices_are_quarantined_and_shown(price: int | None) -> None:
    found = verdict_on(offer(price_minor=price, rival_prices=["$19.99", "$24.99"]))

    assert found == Quarantine(QuarantineReason.AMBIGUOUS_PRICE, "$19.99 or $24.99")


def test_zero_price_is_quarantined() -> None:
    assert verdict_on(offer(price_minor=0)) == Quarantine(QuarantineReason.ZERO_PRICE_EXTRACTED)


@pytest.mark.parametrize("currency", [None, "USD"])
def test_sold_out_without_a_price_is_an_expected_drop(currency: str | None) -> None:
    found = verdict_on(offer(price_minor=None, currency=currency, availability="OUT_OF_STOCK"))

    assert found == Drop(DropReason.OOS_NO_PRICE)


def test_adapter_s_word_that_the_price_is_hidden_is_an_expected_drop() -> None:
    extraction = Extraction("product", reason=ExtractReason.OOS_NO_PRICE, detail="sold out")

    assert verdict_on(extraction) == Drop(DropReason.OOS_NO_PRICE, "sold out")


@pytest.mark.parametrize(
    "reason", [reason for reason in ExtractReason if reason is not ExtractReason.OOS_NO_PRICE]
)
def test_failed_extraction_is_not_judged(reason: ExtractReason) -> None:
    with pytest.raises(ValueError, match=reason):
        verdict_on(Extraction("product", fields=SOUND, reason=reason))


@pytest.mark.parametrize("availability", ["UNKNOWN", None])
def test_unknown_availability_is_dropped(availability: str | None) -> None:
    expected = Drop(DropReason.UNKNOWN_AVAILABILITY)

    assert verdict_on(offer(availability=availability)) == expected


def test_second_record_of_a_product_in_a_run_is_dropped() -> None:
    history = RunHistory()
    assert verdict_on(offer(), Standing(history)) == Accept()

    history.remember("SKU:A-1", Money(1999, "USD"))

    duplicate = Drop(DropReason.DUPLICATE_WITHIN_RUN, "SKU:A-1")
    assert verdict_on(offer(url="https://shop.test/p/1?v=2"), Standing(history)) == duplicate
    assert verdict_on(offer(sku="A-2"), Standing(history)) == Accept()


def test_same_page_without_ids_is_a_duplicate_in_any_spelling() -> None:
    history = RunHistory()
    history.remember(f"URL:{sha256(b'https://shop.test/p/1').hexdigest()[:16]}")

    found = verdict_on(offer(sku=None, url="http://shop.test/p/1/?utm_id=1"), Standing(history))

    assert isinstance(found, Drop)
    assert found.reason is DropReason.DUPLICATE_WITHIN_RUN


@pytest.mark.parametrize("price", [667, 1999, 5997])
def test_price_near_the_last_one_is_accepted(price: int) -> None:
    assert verdict_on(offer(price_minor=price), after(1999)) == Accept()


@pytest.mark.parametrize(
    ("price", "detail"),
    [
        (666, "6.66 USD after 19.99 USD: 3.00 times down"),
        (19990, "199.90 USD after 19.99 USD: 10.00 times up"),
    ],
)
def test_price_jump_is_quarantined_with_both_values(price: int, detail: str) -> None:
    found = verdict_on(offer(price_minor=price), after(1999))

    assert isinstance(found, Quarantine)
    assert found.reason is QuarantineReason.VALIDATION_FAILED
    assert found.detail.startswith(detail)


def test_change_of_currency_is_quarantined() -> None:
    found = verdict_on(offer(), after(1999, "EUR"))

    assert isinstance(found, Quarantine)
    assert found.reason is QuarantineReason.VALIDATION_FAILED


def test_factor_is_a_setting_and_can_be_infinite() -> None:
    assert verdict_on(offer(), after(999, max_price_factor=2)) != Accept()
    assert verdict_on(offer(), after(1, max_price_factor=float("inf"))) == Accept()


def test_last_price_of_another_product_does_not_matter() -> None:
    assert verdict_on(offer(sku="A-2"), after(1)) == Accept()


@pytest.mark.parametrize("factor", [0, 0.99, -1, float("nan")])
def test_factor_below_one_is_no_setting(factor: float) -> None:
    with pytest.raises(ValidationError):
        QualitySettings(max_price_factor=factor)


#: Each flaw with its reason, in the order in which the judge looks at them.
FLAWS: list[tuple[str, dict[str, Any]]] = [
    ("INVALID_URL", {"url": "nowhere"}),
    ("MISSING_REQUIRED_FIELD", {"name": None}),
    ("INVALID_PRICE", {"price_minor": -5}),
    ("NORMALIZATION_FAILED", {"currency": "$"}),
    ("AMBIGUOUS_PRICE", {"rival_prices": ["1", "2"]}),
    ("ZERO_PRICE_EXTRACTED", {"price_minor": 0}),
    ("UNKNOWN_AVAILABILITY", {"availability": "UNKNOWN"}),
]
PAIRS = [
    pytest.param(first, {**flaw, **earlier}, id=f"{first}-{second}")
    for number, (first, earlier) in enumerate(FLAWS)
    for second, flaw in FLAWS[number + 1 :]
]


@pytest.mark.parametrize(("reason", "changes"), PAIRS)
def test_of_two_flaws_the_graver_decides(reason: str, changes: dict[str, Any]) -> None:
    found = verdict_on(offer(**changes), already_seen())

    assert not isinstance(found, Accept)
    assert found.reason == reason


def test_duplicate_goes_before_a_jump() -> None:
    standing = after(1)
    assert isinstance(standing.history, RunHistory)
    standing.history.remember("SKU:A-1")

    found = verdict_on(offer(), standing)

    assert found == Drop(DropReason.DUPLICATE_WITHIN_RUN, "SKU:A-1")


def test_unreadable_price_of_a_sold_out_product_is_no_hidden_price() -> None:
    found = verdict_on(offer(price_minor="19,99", availability="OUT_OF_STOCK"))

    assert isinstance(found, Quarantine)


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("job_posting", "job_title"),
        ("company_website", "company_name"),
        ("linkedin_profile", "name"),
    ],
)
def test_other_kinds_need_nothing_but_their_name(kind: Kind, field: str) -> None:
    assert verdict_on(Extraction(kind, fields={field: "Acme"})) == Accept()

    assert verdict_on(Extraction(kind, fields={field: " "})) == Drop(
        DropReason.MISSING_REQUIRED_FIELD, field
    )
    assert verdict_on(Extraction(kind, fields={field: ["Acme"]})) == Quarantine(
        QuarantineReason.NORMALIZATION_FAILED, f"{field}: must be text"
    )


EXPECTED = {"OOS_NO_PRICE", "DUPLICATE_WITHIN_RUN", "BLOCKED_BY_ROBOTS_TXT"}


@pytest.mark.parametrize("reason", DropReason)
def test_expected_drops_are_no_drift_and_others_are(reason: DropReason) -> None:
    assert counts_as_drift(Drop(reason)) is (reason not in EXPECTED)


@pytest.mark.parametrize("reason", QuarantineReason)
def test_every_quarantine_is_drift(reason: QuarantineReason) -> None:
    assert counts_as_drift(Quarantine(reason)) is True


def test_accepted_record_is_no_drift() -> None:
    assert counts_as_drift(Accept()) is False
