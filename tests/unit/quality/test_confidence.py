"""Confidence: what an attribute is worth by where it stood."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.records import Availability, Evidence, Extraction
from penstock.quality.confidence import (
    AND,
    BEGINNINGS,
    CONFIDENCE,
    MOST,
    SourceKind,
    confidence_in,
    confidence_of,
    kinds_of,
)

FIELDS = {"name": "Lamp", "price_minor": 1999, "sku": "L-1", "availability": Availability.IN_STOCK}


def extraction(**changes: str) -> Extraction:
    sources = {
        "name": "json-ld Product.name",
        "price_minor": "json-ld Product.offers, and page, beside the title",
        "sku": "URL and ids on the page",
        "availability": "page, beside the title",
        **changes,
    }
    evidence = {name: Evidence(source, "") for name, source in sources.items()}
    return Extraction("product", FIELDS, evidence)


def test_every_attribute_has_the_confidence_of_its_source() -> None:
    found = confidence_of(extraction(), {})

    assert found == {
        "name": CONFIDENCE[SourceKind.JSON_LD],
        "price": MOST,
        "sku": CONFIDENCE[SourceKind.URL],
        "availability": CONFIDENCE[SourceKind.PAGE],
    }


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("the page's URL", SourceKind.GIVEN),
        ("json-ld BreadcrumbList", SourceKind.JSON_LD),
        ("microdata Product.brand", SourceKind.MICRODATA),
        ("rdfa Product.brand", SourceKind.MICRODATA),
        ("meta og:price:amount", SourceKind.META),
        ("script data, salePrice", SourceKind.SCRIPT),
        ("page, labelled", SourceKind.PAGE),
        ("page .sku,[itemprop=sku],[data-product-sku]", SourceKind.PAGE),
        ("the page's title", SourceKind.PAGE),
        ("URL", SourceKind.URL),
        ("#productTitle", SourceKind.SELECTOR),
        ("meta[itemprop=price]@content", SourceKind.SELECTOR),
        ("microdata Product.name of /about", SourceKind.MICRODATA),
    ],
)
def test_sources_are_known_by_how_they_begin(source: str, kind: SourceKind) -> None:
    assert kinds_of(source) == {kind}


def test_two_sources_that_agree_are_worth_more_than_either() -> None:
    both = confidence_in(f"meta og:price:amount{AND}script data")

    assert both == 0.93
    assert both > max(CONFIDENCE[SourceKind.META], CONFIDENCE[SourceKind.SCRIPT])


def test_one_source_twice_is_not_two() -> None:
    assert confidence_in(f"meta a{AND}meta b") == CONFIDENCE[SourceKind.META]


def test_invalid_attribute_is_worth_nothing() -> None:
    found = confidence_of(extraction(), {"price_minor": "must be positive"})

    assert (found["price"], found["name"]) == (0.0, CONFIDENCE[SourceKind.JSON_LD])


def test_attribute_without_evidence_is_worth_nothing() -> None:
    found = confidence_of(Extraction("product", {"name": "Lamp"}), {})

    assert found == {"name": 0.0}


def test_what_is_not_known_has_no_confidence() -> None:
    fields = {"availability": Availability.UNKNOWN, "rival_prices": ("1", "2")}
    evidence = {name: Evidence("page, somewhere", "") for name in fields}

    assert confidence_of(Extraction("product", fields, evidence), {}) == {}


@given(st.lists(st.sampled_from([*BEGINNINGS, ".price"]), min_size=1, max_size=4))
def test_confidence_is_a_share_of_two_digits(beginnings: list[str]) -> None:
    found = confidence_in(AND.join(beginnings))

    assert 0 <= found <= 1
    assert found == round(found, 2)
