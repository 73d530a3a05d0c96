"""What was made of a page, as plain data: the record, the verdict, and every missing field."""

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from penstock.core.urls import Url
from penstock.kernel.model import Page
from penstock.kernel.reader import Reader
from penstock.kernel.reading import Judgment, Reading, record_json
from penstock.kernel.records import (
    Accept,
    Availability,
    CompanyWebsite,
    Drop,
    DropReason,
    Extraction,
    ExtractReason,
    JobPosting,
    LinkedInProfile,
    Location,
    Product,
    Quarantine,
    QuarantineReason,
    Record,
    Verdict,
)

LAMP = Product(
    url="https://shop.example/lamps/1",
    name="Lamp",
    price_minor=1250,
    currency="EUR",
    availability=Availability.IN_STOCK,
    image_urls=("https://shop.example/1.png",),
    rating=Decimal("4.5"),
    review_count=7,
)
#: What the issue promises of every product.
PROMISED = (
    *("name", "price", "currency", "availability", "sku", "gtin", "brand", "image_urls"),
    *("rating", "review_count", "category"),
)


def reading(
    record: Record = LAMP,
    verdict: Verdict | None = None,
    reason: ExtractReason | None = None,
    detail: str = "",
    invalid: dict[str, str] | None = None,
) -> Reading:
    extraction = Extraction(record.kind, {}, {}, reason, detail, "shop@1.0.0")
    return Reading(extraction, Judgment(record, invalid or {}, verdict))


def frame(output: dict[str, Any]) -> dict[str, Any]:
    """What stands around the record."""
    names = ("kind", "adapter", "ok", "reason", "detail", "verdict", "verdict_reason")
    return {name: output[name] for name in (*names, "verdict_detail", "invalid")}


def test_accepted_record_says_so() -> None:
    output = reading(verdict=Accept()).as_json()
    assert frame(output) == {
        "kind": "product",
        "adapter": "shop@1.0.0",
        "ok": True,
        "reason": None,
        "detail": None,
        "verdict": "accept",
        "verdict_reason": None,
        "verdict_detail": None,
        "invalid": {},
    }
    assert output["name"] == "Lamp"
    assert output["price"] == "12.50"
    assert output["image_urls"] == ["https://shop.example/1.png"]
    assert output["rating"] == "4.5"
    assert output["review_count"] == 7


def test_failed_extraction_has_a_reason_and_no_verdict() -> None:
    output = reading(
        Product(name="Lamp"), reason=ExtractReason.PRICE_NOT_FOUND, detail="no price"
    ).as_json()
    assert frame(output) == {
        "kind": "product",
        "adapter": "shop@1.0.0",
        "ok": False,
        "reason": "PRICE_NOT_FOUND",
        "detail": "no price",
        "verdict": None,
        "verdict_reason": None,
        "verdict_detail": None,
        "invalid": {},
    }
    assert output["name"] == "Lamp"
    assert output["price"] is None


@pytest.mark.parametrize(
    ("verdict", "name", "reason", "detail"),
    [
        (
            Quarantine(QuarantineReason.AMBIGUOUS_PRICE, "5.00 or 6.00"),
            "quarantine",
            "AMBIGUOUS_PRICE",
            "5.00 or 6.00",
        ),
        (Quarantine(QuarantineReason.DRIFT_DETECTED), "quarantine", "DRIFT_DETECTED", None),
        (Drop(DropReason.INVALID_URL, "no host"), "drop", "INVALID_URL", "no host"),
        (Drop(DropReason.OOS_NO_PRICE), "drop", "OOS_NO_PRICE", None),
    ],
)
def test_record_that_is_not_trusted_says_why(
    verdict: Verdict, name: str, reason: str, detail: str | None
) -> None:
    output = reading(verdict=verdict, invalid={"gtin": "wrong check digit"}).as_json()
    assert output["ok"] is True
    assert output["verdict"] == name
    assert output["verdict_reason"] == reason
    assert output["verdict_detail"] == detail
    assert output["invalid"] == {"gtin": "wrong check digit"}


@pytest.mark.parametrize(
    "one",
    [
        reading(verdict=Accept()),
        reading(verdict=Quarantine(QuarantineReason.DRIFT_DETECTED, "1 or 2")),
        reading(reason=ExtractReason.BLOCKED_PAGE),
        reading(JobPosting(location=Location(city="Bern", raw="Bern")), Accept()),
    ],
)
def test_output_goes_through_json_unchanged(one: Reading) -> None:
    assert json.loads(json.dumps(one.as_json())) == one.as_json()


@pytest.mark.parametrize(
    ("minor", "currency", "price"),
    [
        (1250, "EUR", "12.50"),
        (5, "USD", "0.05"),
        (0, "USD", "0.00"),
        (100_000, "USD", "1000.00"),
        (1250, "JPY", "1250"),
        (1250, "KWD", "1.250"),
        (99_999_999, "EUR", "999999.99"),
        (1250, None, None),
        (None, "EUR", None),
    ],
)
def test_price_is_a_decimal_string_of_its_currency(
    minor: int | None, currency: str | None, price: str | None
) -> None:
    output = record_json(Product(price_minor=minor, currency=currency))
    assert output["price"] == price
    assert "price_minor" not in output


def test_list_price_is_a_decimal_string_too() -> None:
    output = record_json(Product(price_minor=500, list_price_minor=1000, currency="EUR"))
    assert (output["price"], output["list_price"]) == ("5.00", "10.00")
    assert "list_price_minor" not in output


@pytest.mark.parametrize(
    ("availability", "spelling"),
    [
        (Availability.IN_STOCK, "InStock"),
        (Availability.OUT_OF_STOCK, "OutOfStock"),
        (Availability.BACKORDER, "BackOrder"),
        (Availability.UNKNOWN, None),
    ],
)
def test_availability_has_the_spelling_of_the_output(
    availability: Availability, spelling: str | None
) -> None:
    assert record_json(Product(availability=availability))["availability"] == spelling


def test_every_availability_has_a_spelling() -> None:
    spellings = [record_json(Product(availability=one))["availability"] for one in Availability]
    assert len(set(spellings)) == len(Availability)


def test_missing_fields_of_a_product_are_null() -> None:
    output = reading(Product()).as_json()
    assert {name: output[name] for name in PROMISED} == {
        **dict.fromkeys(PROMISED),
        "image_urls": [],
    }


@pytest.mark.parametrize("kind", [JobPosting, CompanyWebsite, LinkedInProfile])
def test_missing_fields_of_other_records_are_null(kind: type[Record]) -> None:
    assert record_json(kind()) == dict.fromkeys(kind.model_fields)
    assert reading(kind()).as_json()["kind"] == kind.kind


def test_location_is_an_object() -> None:
    output = record_json(JobPosting(location=Location(city="Bern", raw="Bern (BE)")))
    assert output["location"] == {
        "city": "Bern",
        "state_region": None,
        "country": None,
        "raw": "Bern (BE)",
    }


@pytest.mark.parametrize(
    ("record", "count"),
    [(Product(), 0), (Product(name="Lamp"), 1), (LAMP, 8), (JobPosting(job_title="Cook"), 1)],
)
def test_fields_that_were_found_are_counted(record: Record, count: int) -> None:
    assert reading(record).field_count == count


@pytest.mark.parametrize(
    "fields",
    [
        {"price_minor": -1},
        {"currency": "eur"},
        {"currency": "EURO"},
        {"gtin": "123"},
        {"gtin": "123456789"},
        {"rating": Decimal("5.1")},
        {"review_count": -1},
        {"list_price_minor": 0},
        {"sku": "x" * 101},
        {"colour": "red"},
    ],
)
def test_record_cannot_hold_what_is_not_valid(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Product(**fields)


def test_record_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        LAMP.__setattr__("name", "Tent")


@pytest.mark.parametrize("reason", list(ExtractReason))
def test_extraction_with_a_reason_is_not_ok(reason: ExtractReason) -> None:
    assert not Extraction("product", reason=reason).ok
    assert Extraction("product").ok


class FakeExtractor:
    def extract(self, page: Page, wanted: str) -> Extraction:
        return Extraction("product", {"name": page.text, "wanted": wanted})

    def further(self, page: Page, extraction: Extraction) -> Sequence[str]:
        return [f"/more?{extraction.detail}"]

    def fill(self, extraction: Extraction, page: Page) -> Extraction:
        return replace(extraction, detail=f"{extraction.detail} and {page.url}")

    def needs_browser(self, url: Url, wanted: str) -> bool:
        return False


class FakeJudge:
    def judge(self, extraction: Extraction) -> Judgment:
        return Judgment(Product(name=extraction.fields["name"]), {}, Accept())


def test_reader_extracts_and_judges_what_was_extracted() -> None:
    page = Page("https://shop.example/", 200, {}, b"Lamp", 0.0)
    one = Reader(FakeExtractor(), FakeJudge()).read(page, "shop")
    assert one.extraction.fields == {"name": "Lamp", "wanted": "shop"}
    assert one.record == Product(name="Lamp")
    assert one.as_json()["verdict"] == "accept"
    assert Reader(FakeExtractor(), FakeJudge()).read(page).extraction.fields["wanted"] == ""


def test_reader_looks_further_and_judges_what_was_added() -> None:
    reader = Reader(FakeExtractor(), FakeJudge())
    page = Page("https://shop.example/more", 200, {}, b"Lamp", 0.0)
    first = reader.read(page)
    assert reader.further(page, first) == ["/more?"]
    assert reader.fill(first, page).extraction.detail == " and https://shop.example/more"
