"""The normaliser: what is made of each kind of field, and what is said about the rest."""

from decimal import Decimal
from typing import Any, get_args

import pytest

from penstock.kernel.records import (
    Availability,
    CompanyWebsite,
    Extraction,
    JobPosting,
    Kind,
    Location,
    Product,
    Record,
)
from penstock.quality.links import clean_url
from penstock.quality.normalise import RECORDS, Normalised, normalise

HUGE = pytest.param(10**5000, id="huge")


def normalised(kind: Kind, **fields: Any) -> Normalised:
    return normalise(Extraction(kind, fields=fields))


def product(**fields: Any) -> Product:
    """The product of fields that all are fit."""
    found = normalised("product", **fields)
    assert found.invalid == {}
    assert isinstance(found.record, Product)
    return found.record


def complaint(field: str, raw: Any, kind: Kind = "product") -> str:
    """What is said about a field that is left out."""
    found = normalised(kind, **{field: raw})
    assert found.record == RECORDS[kind]()
    return found.invalid[field]


def test_long_texts_are_cut_and_long_ids_left_out() -> None:
    found = normalised("product", name="n" * 600, description="d " * 20_000, sku="s" * 101)

    assert found.record == Product(name="n" * 512, description=("d " * 10_000).strip())
    assert found.invalid == {"sku": "must have at most 100 characters"}


@pytest.mark.parametrize("raw", [b"bytes", True, 1.5, ["list"], {"a": 1}, HUGE, object()])
def test_what_is_no_text_is_left_out(raw: Any) -> None:
    assert complaint("name", raw) == "must be text"


def test_an_id_written_as_a_number_is_a_text() -> None:
    assert product(sku=4711).sku == "4711"


def test_missing_empty_and_unset_fields_are_none() -> None:
    record = product(name=None, brand="", category=" \n", sku="<b></b>", rating="", url=" ")

    assert record == Product()


def test_relative_url_with_a_useless_base_is_left_out() -> None:
    assert clean_url("/p", base="no base") is None
    assert normalised("product", url=7, image_urls=["/p"]).record == Product()


def test_page_address_serves_as_base_for_kinds_without_that_field() -> None:
    found = normalised("job_posting", url="https://jobs.test/", posting_url="/42")

    assert found.record == JobPosting(posting_url="https://jobs.test/42")
    assert found.invalid == {}


def test_wrong_url_is_named() -> None:
    assert complaint("url", "ftp://shop.test/") == "must be an http or https URL"
    assert complaint("website_url", 5, "company_website") == "must be an http or https URL"


def test_images_are_resolved_against_the_page() -> None:
    images = product(url="http://shop.test/p/1", image_urls="/lamp.jpg").image_urls
    assert images == ("https://shop.test/lamp.jpg",)


def test_text_wrapped_many_times_over_is_named() -> None:
    assert "many times" in complaint("name", "&" + "amp;" * 20 + "lt;b")


def test_images_are_unique_in_order_and_no_more_than_fifty() -> None:
    images = [f"https://cdn.test/{number}.jpg" for number in range(60)]

    record = product(image_urls=[images[1], "http://cdn.test/1.jpg?gclid=1", *images])

    assert record.image_urls == (images[1], images[0], *images[2:50])


def test_good_images_are_kept_and_bad_ones_counted() -> None:
    found = normalised("product", image_urls=["data:,", "https://cdn.test/1.jpg", None])

    assert found.record == Product(image_urls=("https://cdn.test/1.jpg",))
    assert found.invalid == {"image_urls": "2 of 3 are no http or https URLs"}


@pytest.mark.parametrize("raw", ["1999", 19.99, 1999.0, True, Decimal(1999), 2**63])
def test_money_is_an_integer_or_nothing(raw: Any) -> None:
    assert complaint("price_minor", raw) == "must be an integer, in minor units"


def test_money_out_of_the_record_s_range_is_left_out() -> None:
    assert complaint("price_minor", -1) == "must be greater than or equal to 0"
    assert complaint("list_price_minor", 0) == "must be greater than or equal to 1"
    assert product(price_minor=0).price_minor == 0


@pytest.mark.parametrize(
    ("raw", "rating"),
    [("4.5", "4.50"), (4, "4"), (4.567, "4.57"), (Decimal(5), "5"), (0, "0"), (0.1 + 0.2, "0.30")],
)
def test_rating_is_a_number_of_two_decimals(raw: Any, rating: str) -> None:
    assert product(rating=raw).rating == Decimal(rating)


@pytest.mark.parametrize(
    "raw", ["NaN", float("nan"), float("inf"), "1e999999999", "four", True, [], 5.01, -1, HUGE]
)
def test_rating_that_is_none_is_left_out(raw: Any) -> None:
    assert complaint("rating", raw).startswith("must be ")


@pytest.mark.parametrize(("raw", "count"), [(12, 12), ("12", 12), (12.0, 12), (0, 0)])
def test_count_is_an_integer(raw: Any, count: int) -> None:
    assert product(review_count=raw).review_count == count


@pytest.mark.parametrize("raw", [1.5, "1.5", "1,200", "٣", True, 2**31, "9" * 5000, float("inf")])
def test_count_that_is_none_is_left_out(raw: Any) -> None:
    assert complaint("review_count", raw).startswith("must be an integer")


def test_availability_is_taken_in_our_own_spelling_only() -> None:
    assert product(availability="IN_STOCK").availability is Availability.IN_STOCK
    assert product(availability=Availability.BACKORDER).availability is Availability.BACKORDER
    assert "must be 'IN_STOCK'" in complaint("availability", "InStock")


def test_codes_are_brought_into_their_form() -> None:
    record = product(currency=" usd", gtin="0 029465-064709", tax_included=False)

    assert record == Product(currency="USD", gtin="0029465064709", tax_included=False)


@pytest.mark.parametrize(
    ("field", "raw"),
    [
        ("currency", "US$"),
        ("currency", "ABC"),
        ("gtin", "123"),
        ("gtin", "٣" * 8),
        ("tax_included", "yes"),
    ],
)
def test_codes_of_another_form_are_left_out(field: str, raw: str) -> None:
    assert complaint(field, raw).startswith("must ")


def test_rival_prices_are_kept_as_they_were_written() -> None:
    record = product(rival_prices=["$ 19.99", Decimal("24.99"), " "])

    assert record.rival_prices == ("$ 19.99", "24.99")


@pytest.mark.parametrize("raw", ["19.99", {"a": 1}, ["<b></b>"], [19.99]])
def test_unreadable_rival_prices_are_not_forgotten(raw: Any) -> None:
    assert complaint("rival_prices", raw).startswith("must be ")


def test_contact_details_are_checked() -> None:
    found = normalised("company_website", contact_email="mailto:a@b.test", contact_phone="+1 23")

    assert found.record == CompanyWebsite(contact_email="a@b.test", contact_phone="+1 23")
    assert complaint("contact_email", "a@b", "company_website") == "must be an e-mail address"
    assert complaint("contact_phone", "call us", "company_website") == "must be a phone number"


def test_location_text_is_read_and_kept() -> None:
    found = normalised("job_posting", location=" <b>Berlin</b>,\x00 Germany")

    assert isinstance(found.record, JobPosting)
    assert found.record.location is not None
    assert found.record.location.city == "Berlin"
    assert found.record.location.raw == " <b>Berlin</b>, Germany"


def test_location_in_parts_is_taken_as_it_is() -> None:
    place = Location(city="Berlin", country="DE", raw="Berlin, DE")

    for raw in (place, {"city": " <i>Berlin</i>", "country": "DE", "raw": "Berlin, DE"}):
        assert normalised("job_posting", location=raw).record == JobPosting(location=place)


@pytest.mark.parametrize(
    "address",
    [
        {"addressLocality": "Berlin", "addressCountry": "DE", "x": [1]},
        {"addressLocality": " <b>Ber\ud800lin</b>", "addressCountry": {"name": "Germany"}},
    ],
)
def test_postal_address_is_read(address: dict[str, Any]) -> None:
    found = normalised("company_website", headquarters=address)

    assert isinstance(found.record, CompanyWebsite)
    assert found.record.headquarters is not None
    assert found.record.headquarters.city == "Berlin"
    assert found.record.headquarters.country == "Germany"


@pytest.mark.parametrize("raw", [7, [], {}, {"city": ""}, "<br>", {"x": "y"}, Location()])
def test_what_is_no_place_is_left_out(raw: Any) -> None:
    assert complaint("location", raw, "job_posting") == "must be a place"


def test_valid_fields_survive_invalid_and_unknown_ones() -> None:
    found = normalised("product", name="Shoe", price_minor="free", currency="?", colour="red")

    assert found.record == Product(name="Shoe")
    assert found.invalid == {
        "price_minor": "must be an integer, in minor units",
        "currency": "must be an ISO 4217 code",
        "colour": "unknown field",
    }


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_field_of_every_kind_has_a_rule(kind: Kind) -> None:
    model: type[Record] = RECORDS[kind]
    assert model.kind == kind

    found = normalised(kind, **dict.fromkeys(model.model_fields, object()))

    assert found.record == model()
    assert found.invalid.keys() == model.model_fields.keys()
