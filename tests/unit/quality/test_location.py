"""Locations: what is sure is named, what could be two places is not, and the text is kept."""

from typing import Any

import pytest

from penstock.kernel.records import Location
from penstock.quality.location import MAX_LENGTH, read_address, read_location

Place = tuple[str | None, str | None, str | None]


def place(location: Location) -> Place:
    return location.city, location.state_region, location.country


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "San Francisco, California, United States",
            ("San Francisco", "California", "United States"),
        ),
        ("Berlin, Germany", ("Berlin", None, "Germany")),
        ("Tokyo, Japan", ("Tokyo", None, "Japan")),
        ("London", ("London", None, None)),
        ("Austin, TX", ("Austin", "Texas", "United States")),
        ("Austin TX", ("Austin", "Texas", "United States")),
        ("Austin, TX 78701, USA", ("Austin", "Texas", "United States")),
        ("St. Louis, MO", ("St. Louis", "Missouri", "United States")),
        ("Washington, D.C.", ("Washington", "District of Columbia", "United States")),
        ("Paris, Île-de-France, France", ("Paris", "Île-de-France", "France")),
        ("Kraków, Małopolska, Poland", ("Kraków", "Małopolska", "Poland")),
        ("München, Bayern", ("München", "Bayern", "Germany")),
        ("Toronto, ON, Canada", ("Toronto", "Ontario", "Canada")),
        ("Sydney NSW 2000", ("Sydney", "New South Wales", "Australia")),
        ("London, England, United Kingdom", ("London", "England", "United Kingdom")),
        ("Tech Park, Bangalore, Karnataka, India", ("Bangalore", "Karnataka", "India")),
        ("Singapore", ("Singapore", None, "Singapore")),
        ("Singapore, Singapore", ("Singapore", None, "Singapore")),
        ("Germany, Berlin", ("Berlin", None, "Germany")),
        ("USA - California - San Francisco", ("San Francisco", "California", "United States")),
        ("California", (None, "California", "United States")),
        ("Greater Boston Area", (None, "Greater Boston Area", None)),
        ("Trinidad & Tobago", (None, None, "Trinidad & Tobago")),
    ],
)
def test_parts_of_a_place_are_told_apart(text: str, expected: Place) -> None:
    assert place(read_location(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "1 Infinite Loop, Cupertino, CA 95014, USA",
            ("Cupertino", "California", "United States"),
        ),
        ("221B Baker Street, London, UK", ("London", None, "United Kingdom")),
        ("Baker Street, London, UK", ("London", None, "United Kingdom")),
        ("Hauptstraße 5, 10115 Berlin, Deutschland", ("Berlin", None, "Germany")),
        ("75001 Paris, France", ("Paris", None, "France")),
        ("London SW1A 1AA, UK", ("London", None, "United Kingdom")),
        ("Toronto, ON M5V 2T6", ("Toronto", "Ontario", "Canada")),
        ("Dublin, County Dublin, Ireland", ("Dublin", None, "Ireland")),
        ("350 5th Ave, NY", (None, "New York", "United States")),
    ],
)
def test_streets_and_post_codes_are_no_cities(text: str, expected: Place) -> None:
    assert place(read_location(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Remote", (None, None, None)),
        ("Remote - US", (None, None, "United States")),
        ("Remote (Germany)", (None, None, "Germany")),
        ("US - Remote", (None, None, "United States")),
        ("New York, NY (Hybrid)", ("New York", "New York", "United States")),
        ("London (Remote)", ("London", None, None)),
        ("Hybrid in London", ("London", None, None)),
        ("Remote - Europe", (None, None, None)),
        ("Worldwide", (None, None, None)),
    ],
)
def test_where_the_desk_stands_is_no_place(text: str, expected: Place) -> None:
    assert place(read_location(text)) == expected


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("USA", "United States"),
        ("U.S.A.", "United States"),
        ("UK", "United Kingdom"),
        ("UAE", "United Arab Emirates"),
        ("DEU", "Germany"),
        ("FR", "France"),
        ("Deutschland", "Germany"),
        ("ESPAÑA", "Spain"),
        ("The Netherlands", "Netherlands"),
        ("Россия", "Russia"),
        ("日本", "Japan"),
        ("Czech Republic", "Czechia"),
    ],
)
def test_country_has_its_english_name(text: str, country: str) -> None:
    assert place(read_location(text)) == (None, None, country)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("San Francisco, CA", ("San Francisco", "California", "United States")),
        ("Ontario, CA", ("Ontario", "California", "United States")),
        ("Toronto, CA", ("Toronto", None, "Canada")),
        ("Toronto, ON, CA", ("Toronto", "Ontario", "Canada")),
        ("San Francisco, CA, US", ("San Francisco", "California", "United States")),
        ("Berlin, DE", ("Berlin", None, "Germany")),
        ("Wilmington, DE", ("Wilmington", "Delaware", "United States")),
        ("Smyrna, DE 19977", ("Smyrna", "Delaware", "United States")),
        ("Bangalore, IN", ("Bangalore", None, "India")),
        ("Chicago, IL", ("Chicago", "Illinois", "United States")),
        ("Tel Aviv, IL", ("Tel Aviv", None, "Israel")),
        ("Perth, WA", ("Perth", "Western Australia", "Australia")),
        ("Seattle, WA", ("Seattle", "Washington", "United States")),
        ("Atlanta, Georgia", ("Atlanta", "Georgia", "United States")),
        ("Tbilisi, Georgia", ("Tbilisi", None, "Georgia")),
        ("Georgia, USA", (None, "Georgia", "United States")),
        ("Lebanon, PA", ("Lebanon", "Pennsylvania", "United States")),
        ("Mexico, Missouri", ("Mexico", "Missouri", "United States")),
    ],
)
def test_code_of_two_places_is_decided_by_what_stands_before_it(text: str, expected: Place) -> None:
    assert place(read_location(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bad Homburg, DE", ("Bad Homburg", None, None)),
        ("CA", (None, None, None)),
        ("Georgia", (None, None, None)),
        ("Victoria", (None, None, None)),
        ("Congo", (None, None, None)),
        ("Washington", (None, None, "United States")),
        ("Foo, Bar", (None, None, None)),
        ("Foo, Bar, Baz, Germany", (None, None, "Germany")),
        ("New York, NY; Austin, TX", (None, None, None)),
        ("London or Berlin", (None, None, None)),
        ("Berlin / Munich", (None, None, None)),
        ("3 locations", (None, None, None)),
        ("", (None, None, None)),
        (", ,", (None, None, None)),
        ("12345", (None, None, None)),
    ],
)
def test_what_is_not_sure_is_not_guessed(text: str, expected: Place) -> None:
    assert place(read_location(text)) == expected


@pytest.mark.parametrize("text", ["  Berlin ,\tGermany\n", "Remote", "", "x" * (MAX_LENGTH + 1)])
def test_text_is_kept_as_it_was(text: str) -> None:
    assert read_location(text).raw == text


def test_long_text_is_no_place() -> None:
    text = "Berlin, Germany" + " " * MAX_LENGTH

    assert place(read_location(text)) == (None, None, None)


@pytest.mark.parametrize(
    ("address", "expected", "raw"),
    [
        (
            {"addressLocality": "Austin", "addressRegion": "TX", "addressCountry": "US"},
            ("Austin", "Texas", "United States"),
            "Austin, TX, US",
        ),
        (
            {
                "addressCountry": {"@type": "Country", "name": "Germany"},
                "addressLocality": "Berlin",
            },
            ("Berlin", None, "Germany"),
            "Berlin, Germany",
        ),
        (
            {"addressLocality": "Wilmington", "addressRegion": "DE", "addressCountry": "usa"},
            ("Wilmington", "Delaware", "United States"),
            "Wilmington, DE, usa",
        ),
        (
            {
                "streetAddress": "1 Rue X",
                "postalCode": "69001",
                "addressLocality": "Lyon",
                "addressRegion": "Rhône",
                "addressCountry": "FRA",
            },
            ("Lyon", "Rhône", "France"),
            "1 Rue X, Lyon, Rhône, 69001, FRA",
        ),
        (
            {"addressLocality": "Austin", "addressRegion": "TX"},
            ("Austin", "Texas", "United States"),
            "Austin, TX",
        ),
        (
            {"addressLocality": "San Francisco, CA"},
            ("San Francisco", "California", "United States"),
            "San Francisco, CA",
        ),
        (
            {"addressLocality": "Oslo", "addressCountry": "Neverland"},
            ("Oslo", None, None),
            "Oslo, Neverland",
        ),
        ({"addressCountry": "de"}, (None, None, "Germany"), "de"),
        (
            {"addressRegion": "CA", "addressCountry": "CA"},
            (None, None, "Canada"),
            "CA, CA",
        ),
        ({"addressLocality": 5, "addressCountry": [{"name": {}}]}, (None, None, None), None),
        ({"addressLocality": "x" * 5000}, (None, None, None), None),
        ({}, (None, None, None), None),
    ],
)
def test_address_of_structured_data_is_a_location(
    address: dict[str, Any], expected: Place, raw: str | None
) -> None:
    location = read_address(address)

    assert place(location) == expected
    assert location.raw == raw


def test_address_that_is_a_text_is_read_as_one() -> None:
    odd: Any = "Berlin, Germany"

    assert read_address(odd) == read_location("Berlin, Germany")


@pytest.mark.parametrize("odd", [None, 5, [], [{"addressLocality": "Berlin"}]])
def test_address_of_another_type_is_no_place(odd: Any) -> None:
    assert read_address(odd) == Location()
