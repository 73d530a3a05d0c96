"""The gazetteer: a name or a code stands for all that it can be, and no more."""

import pytest

from penstock.quality.gazetteer import (
    Territory,
    countries_told_by,
    country_code,
    country_name,
    country_named,
    is_no_place,
    region_in,
    territories_named,
)


@pytest.mark.parametrize(
    ("text", "territories"),
    [
        ("TX", [Territory("US", "Texas")]),
        ("CA", [Territory("US", "California"), Territory("CA")]),
        ("D.C.", [Territory("US", "District of Columbia")]),
        ("ca", []),
        ("georgia", [Territory("US", "georgia"), Territory("GE")]),
        ("Bayern", [Territory("DE", "Bayern")]),
        ("Neverland", []),
    ],
)
def test_text_stands_for_regions_first_and_then_countries(
    text: str, territories: list[Territory]
) -> None:
    assert territories_named(text) == tuple(territories)


@pytest.mark.parametrize(
    ("country", "text", "region"),
    [
        ("US", "WA", "Washington"),
        ("AU", "WA", "Western Australia"),
        ("DE", "bayern", "bayern"),
        ("FR", "Bayern", None),
        ("DE", "DE", None),
    ],
)
def test_region_is_one_of_its_own_country(country: str, text: str, region: str | None) -> None:
    assert region_in(country, text) == region


@pytest.mark.parametrize(
    ("text", "named", "coded"),
    [("Germany", "DE", "DE"), ("DE", None, "DE"), ("de", None, "DE"), ("Georgia", None, "GE")],
)
def test_only_a_field_for_countries_takes_a_code_that_is_a_region_too(
    text: str, named: str | None, coded: str
) -> None:
    assert country_named(text) == named
    assert country_code(text) == coded


def test_country_in_another_language_has_its_english_name() -> None:
    assert country_name(country_code("Österreich") or "") == "Austria"


def test_city_speaks_for_the_countries_it_is_known_in() -> None:
    assert countries_told_by("munchen") == {"DE"}
    assert countries_told_by("Springfield") == set()


@pytest.mark.parametrize(
    ("text", "expected"), [("Worldwide", True), ("Europe", True), ("Congo", True), ("Oslo", False)]
)
def test_part_of_the_world_is_no_place(text: str, expected: bool) -> None:
    assert is_no_place(text) is expected
