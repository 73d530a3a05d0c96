"""Locations: city, region and country of a place that somebody wrote down.

What is not sure stays None, and `raw` keeps the text. A region's code is spelled out ("TX" is
Texas), countries have their English name, and everything else stays as it was displayed.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.kernel.records import Location
from penstock.quality.gazetteer import (
    CODE,
    Territory,
    countries_told_by,
    country_code,
    country_name,
    country_named,
    fold_name,
    is_no_place,
    region_in,
    territories_named,
)
from penstock.quality.place_names import CITY_STATES, CODED_REGIONS

MAX_LENGTH = 200
MAX_CITY_LENGTH = 60

_CITY_AND_REGION = 2
# A city before one of these codes may as well lie in the country with the same code.
_CONTESTED_STATES = frozenset(["DE", "IN"])
# Without a city, it may be the capital that is meant.
_ALSO_CAPITAL = "washington"
# Alone, they may be cities elsewhere.
_ALSO_ABROAD = frozenset(["victoria"])
# "OR" is a state.
_SEVERAL = re.compile(r"[;/]|\s(?:or|oder|ou)\s|\+ ?\d|\d (?:[Mm]ore|[Oo]ther|[Ll]ocations)\b")
_BETWEEN_PARTS = re.compile(r"[,()\[\]|·•、\uff0c]|\s[-\u2013\u2014]\s")
_WORKPLACE = re.compile(
    r"^(?:(?:fully|100%) )?(?:remote|hybrid|on-?site|in-?office|telecommute)\b"
    r"(?: (?:in|from|within)\b)?\W*"
    r"|\W*\b(?:remote|hybrid|on-?site|in-?office)$",
    re.IGNORECASE,
)
_COUNTY = re.compile(r"^(?:county|co\.) |\s(?:county|parish|kreis)$", re.IGNORECASE)
_AREA = re.compile(r"^greater \w|\w (?:area|region|metroplex|metropolitan)$", re.IGNORECASE)
_STREET = re.compile(
    r"\d|\b(?:street|st|road|rd|avenue|ave|boulevard|blvd|lane|ln|drive|highway|hwy)\.?$"
    r"|^(?:rue|via|calle|avenida|rua|piazza|p\.?o\.? box|building|suite|floor) "
    r"|(?:stra(?:ß|ss)e|str\.?|straat|gasse|allee|gatan|vägen|laan)$",
    re.IGNORECASE,
)
_CODE_AND_POSTCODE = (
    ("US", re.compile(r"(?:(.{1,60}) )?([A-Z]{2}) \d{5}(?:-\d{4})?")),
    ("AU", re.compile(r"(?:(.{1,60}) )?([A-Z]{2,3}) \d{4}")),
    ("CA", re.compile(r"(?:(.{1,60}) )?([A-Z]{2}) [A-Z]\d[A-Z] ?\d[A-Z]\d")),
)
_POSTCODE_BEFORE = re.compile(
    r"(?:[A-Z]{1,2}-)?(?:\d{4,6}|\d{4} ?[A-Z]{2}|\d{2,3}[ -]\d{2,4}) (?=[^\W\d])"
)
_POSTCODE_AFTER = re.compile(
    r"(?<=[^\W\d]) (?:\d{4,6}(?:-\d{3,4})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|\d{5}-\d{3})$"
)
_POSTCODE = re.compile(
    r"\d{3,6}(?:[ -]\d{2,4})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d"
)
_TRAILING_CODE = re.compile(r"(.{2,60}) ([A-Z]{2,3})")
_ADDRESS_PARTS = (
    "streetAddress",
    "addressLocality",
    "addressRegion",
    "postalCode",
    "addressCountry",
)


def read_location(text: str) -> Location:
    """The city, region and country that a text names; `raw` is the text itself."""
    if len(text) > MAX_LENGTH or _SEVERAL.search(text):
        return Location(raw=text)
    return _locate(_split(text), text)


def read_address(parts: Mapping[str, Any]) -> Location:
    """The location of a schema.org PostalAddress; `raw` is its parts, joined."""
    if not isinstance(parts, Mapping):
        return read_location(parts) if isinstance(parts, str) else Location()
    texts = {name: _text(parts.get(name)) for name in _ADDRESS_PARTS}
    raw = ", ".join(text for text in texts.values() if text)
    city, region = texts["addressLocality"], texts["addressRegion"]
    country = country_code(texts["addressCountry"])
    if country is None:
        return _guided(city, region, texts["addressCountry"], raw)
    is_country = country_code(region) == country
    displayed = None if is_country else region
    return _make(raw, city, region_in(country, region) or displayed, country)


def _guided(city: str, region: str, country: str, raw: str) -> Location:
    """Labelled parts without a known country: what they say as a text, else as they are."""
    found = read_location(", ".join(filter(None, [city, region, country])))
    is_city = _may_be_city(city) and "," not in city
    return Location(
        city=found.city or (city if is_city else None),
        state_region=found.state_region or region or None,
        country=found.country,
        raw=raw or None,
    )


def _text(value: object) -> str:
    """The text of a value, or the name of the thing that it is."""
    if isinstance(value, Mapping):
        value = value.get("name")
    if not isinstance(value, str) or len(value) > MAX_LENGTH:
        return ""
    return " ".join(value.split())


def _split(text: str) -> list[str]:
    """The parts of a place, without post codes and without words on where the desk stands."""
    parts = (" ".join(part.split()) for part in _BETWEEN_PARTS.split(text))
    places = (_WORKPLACE.sub("", part).strip(" .:-") for part in parts)
    pieces = [piece for place in places for piece in _split_code(place)]
    return _in_order([piece for piece in pieces if piece and not _POSTCODE.fullmatch(piece)])


def _split_code(part: str) -> Sequence[str]:
    """A part, or the city, region and country of "Austin TX 78701"."""
    for country, pattern in _CODE_AND_POSTCODE:
        match = pattern.fullmatch(part)
        if match and match[2] in CODED_REGIONS[country]:
            return match[1] or "", CODED_REGIONS[country][match[2]], country_name(country)
    match = _TRAILING_CODE.fullmatch(part)
    if match and any(match[2] in codes for codes in CODED_REGIONS.values()):
        return match[1], match[2]
    city = _POSTCODE_AFTER.sub("", _POSTCODE_BEFORE.sub("", part))
    return [part if _STREET.search(city) else city]


def _in_order(parts: list[str]) -> list[str]:
    """The country once, and last, also where it stands first ("Germany, Berlin")."""
    while len(parts) > 1 and country_named(parts[-1]) == country_named(parts[-2]) is not None:
        parts = parts[:-1]
    first = country_named(parts[0]) if len(parts) > 1 else None
    last = territories_named(parts[-1]) if first else ()
    if first and all(one.region and one.country == first for one in last):
        return parts[::-1]
    return parts


def _locate(parts: Sequence[str], raw: str) -> Location:
    """Read parts from the country down to the city."""
    if not parts:
        return Location(raw=raw)
    *before, last = parts
    territory = _decide(last, before)
    if territory is None:
        return _locate_unknown(before if territories_named(last) else parts, raw)
    if territory.region is None:
        return _locate_in(territory.country, before, raw)
    return _make(raw, _nearest_city(before), territory.region, territory.country)


def _decide(last: str, before: Sequence[str]) -> Territory | None:
    """Which territory the last part means, if the parts before it leave no doubt."""
    possible = territories_named(last)
    if not possible or (not before and fold_name(last) in _ALSO_ABROAD):
        return None
    if len(possible) == 1:
        return possible[0]
    if len(before) > 1:
        for one in possible:
            if one.region is None and region_in(one.country, before[-1]):
                return one
    told = [one for one in possible if before and one.country in countries_told_by(before[-1])]
    if len(told) == 1:
        return told[0]
    is_state = before and CODE.fullmatch(last) and last not in _CONTESTED_STATES
    return next((one for one in possible if is_state and one.region and one.country == "US"), None)


def _locate_in(country: str, parts: Sequence[str], raw: str) -> Location:
    """The city and region among the parts before a country."""
    places = [part for part in parts if not _is_aside(part)]
    if not places:
        return _make(raw, CITY_STATES.get(country), None, country)
    *before, last = places
    region = region_in(country, last)
    if region or _AREA.search(last):
        return _make(raw, _nearest_city(before), region or last, country)
    if not before:
        return _make(raw, last, None, country)
    if len(places) == len(parts) == _CITY_AND_REGION and _may_be_city(last):
        return _make(raw, before[0], last, country)
    return _make(raw, None, None, country)


def _locate_unknown(parts: Sequence[str], raw: str) -> Location:
    """A lone part is a city or an area; of more, nobody knows which is which."""
    places = [part for part in parts if not _is_aside(part)]
    if len(places) != 1:
        return Location(raw=raw)
    if _AREA.search(places[0]):
        return Location(state_region=places[0], raw=raw)
    return Location(city=places[0] if _may_be_city(places[0]) else None, raw=raw)


def _make(raw: str, city: str | None, region: str | None, country: str) -> Location:
    if region and not city and fold_name(region) == _ALSO_CAPITAL:
        region = None
    return Location(
        city=city if city and _may_be_city(city) else None,
        state_region=region or None,
        country=country_name(country),
        raw=raw,
    )


def _nearest_city(parts: Sequence[str]) -> str | None:
    """The part that stands before a region, unless it is a street."""
    named = [part for part in parts if not _COUNTY.search(part)]
    return named[-1] if named and _may_be_city(named[-1]) else None


def _is_aside(part: str) -> bool:
    return bool(_STREET.search(part) or _COUNTY.search(part))


def _may_be_city(part: str) -> bool:
    if len(part) > MAX_CITY_LENGTH or not part.isprintable() or not part[:1].isalpha():
        return False
    return not (_is_aside(part) or _AREA.search(part) or is_no_place(part))
