"""Locations: city, region and country of a place that somebody wrote down.

What is not sure stays None, and `raw` keeps the text. A region's code is spelled out ("TX" is
Texas), countries have their English name, and everything else stays as it was displayed.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from babel import Locale
from babel.core import get_global

from penstock.kernel.records import Location

MAX_LENGTH = 200
MAX_CITY_LENGTH = 60

#: Regions that are written as codes, by country.
CODED_REGIONS: Mapping[str, Mapping[str, str]] = {
    "US": {
        "AL": "Alabama",
        "AK": "Alaska",
        "AZ": "Arizona",
        "AR": "Arkansas",
        "CA": "California",
        "CO": "Colorado",
        "CT": "Connecticut",
        "DE": "Delaware",
        "DC": "District of Columbia",
        "FL": "Florida",
        "GA": "Georgia",
        "HI": "Hawaii",
        "ID": "Idaho",
        "IL": "Illinois",
        "IN": "Indiana",
        "IA": "Iowa",
        "KS": "Kansas",
        "KY": "Kentucky",
        "LA": "Louisiana",
        "ME": "Maine",
        "MD": "Maryland",
        "MA": "Massachusetts",
        "MI": "Michigan",
        "MN": "Minnesota",
        "MS": "Mississippi",
        "MO": "Missouri",
        "MT": "Montana",
        "NE": "Nebraska",
        "NV": "Nevada",
        "NH": "New Hampshire",
        "NJ": "New Jersey",
        "NM": "New Mexico",
        "NY": "New York",
        "NC": "North Carolina",
        "ND": "North Dakota",
        "OH": "Ohio",
        "OK": "Oklahoma",
        "OR": "Oregon",
        "PA": "Pennsylvania",
        "RI": "Rhode Island",
        "SC": "South Carolina",
        "SD": "South Dakota",
        "TN": "Tennessee",
        "TX": "Texas",
        "UT": "Utah",
        "VT": "Vermont",
        "VA": "Virginia",
        "WA": "Washington",
        "WV": "West Virginia",
        "WI": "Wisconsin",
        "WY": "Wyoming",
    },
    "CA": {
        "AB": "Alberta",
        "BC": "British Columbia",
        "MB": "Manitoba",
        "NB": "New Brunswick",
        "NL": "Newfoundland and Labrador",
        "NS": "Nova Scotia",
        "NT": "Northwest Territories",
        "NU": "Nunavut",
        "ON": "Ontario",
        "PE": "Prince Edward Island",
        "QC": "Quebec",
        "SK": "Saskatchewan",
        "YT": "Yukon",
    },
    "AU": {
        "ACT": "Australian Capital Territory",
        "NSW": "New South Wales",
        "NT": "Northern Territory",
        "QLD": "Queensland",
        "SA": "South Australia",
        "TAS": "Tasmania",
        "VIC": "Victoria",
        "WA": "Western Australia",
    },
}

#: Regions by name, without those that are cities too (Berlin) or lie in two countries.
NAMED_REGIONS: Mapping[str, str] = {
    "DE": "Baden-Württemberg, Bayern, Bavaria, Brandenburg, Hessen, Hesse, "
    "Mecklenburg-Vorpommern, Niedersachsen, Lower Saxony, Nordrhein-Westfalen, North "
    "Rhine-Westphalia, Rheinland-Pfalz, Rhineland-Palatinate, Saarland, Sachsen, Saxony, "
    "Sachsen-Anhalt, Saxony-Anhalt, Schleswig-Holstein, Thüringen, Thuringia",
    "GB": "England, Scotland, Wales, Northern Ireland, Greater London, Greater Manchester, West "
    "Midlands, West Yorkshire, South Yorkshire, North Yorkshire, Merseyside, Tyne and Wear, "
    "Bedfordshire, Berkshire, Buckinghamshire, Cambridgeshire, Cheshire, Cornwall, Cumbria, "
    "Derbyshire, Devon, Dorset, East Sussex, West Sussex, Essex, Gloucestershire, "
    "Hampshire, Herefordshire, Hertfordshire, Kent, Lancashire, Leicestershire, "
    "Lincolnshire, Norfolk, Northamptonshire, Northumberland, Nottinghamshire, Oxfordshire, "
    "Shropshire, Somerset, Staffordshire, Suffolk, Surrey, Warwickshire, Wiltshire, "
    "Worcestershire",
    "FR": "Auvergne-Rhône-Alpes, Bourgogne-Franche-Comté, Bretagne, Brittany, Centre-Val de "
    "Loire, Corse, Grand Est, Hauts-de-France, Île-de-France, Normandie, Normandy, "
    "Nouvelle-Aquitaine, Occitanie, Pays de la Loire, Provence-Alpes-Côte d'Azur",
    "ES": "Andalucía, Andalusia, Aragón, Asturias, Cantabria, Castilla-La Mancha, Castilla y "
    "León, Cataluña, Catalunya, Catalonia, Comunidad de Madrid, Community of Madrid, "
    "Comunidad Valenciana, Comunitat Valenciana, Valencian Community, Extremadura, País "
    "Vasco, Basque Country, Euskadi, Islas Baleares",
    "IT": "Abruzzo, Basilicata, Calabria, Campania, Emilia-Romagna, Friuli-Venezia Giulia, Lazio, "
    "Liguria, Lombardia, Lombardy, Piemonte, Piedmont, Puglia, Apulia, Sardegna, Sardinia, "
    "Sicilia, Sicily, Toscana, Tuscany, Trentino-Alto Adige, Umbria, Valle d'Aosta, Veneto",
    "NL": "Drenthe, Flevoland, Friesland, Gelderland, North Brabant, Noord-Brabant, North "
    "Holland, Noord-Holland, Overijssel, South Holland, Zuid-Holland, Zeeland",
    "IN": "Andhra Pradesh, Arunachal Pradesh, Assam, Bihar, Chhattisgarh, Gujarat, Haryana, "
    "Himachal Pradesh, Jharkhand, Karnataka, Kerala, Madhya Pradesh, Maharashtra, Manipur, "
    "Meghalaya, Mizoram, Nagaland, Odisha, Rajasthan, Sikkim, Tamil Nadu, Telangana, "
    "Tripura, Uttar Pradesh, Uttarakhand, West Bengal",
    "CA": "Québec, Newfoundland & Labrador, Newfoundland",
}

#: Cities that tell which of two readings of a code or a name is meant.
TELLING_CITIES: Mapping[str, str] = {
    "AR": "Buenos Aires, Córdoba, Rosario, Mendoza, La Plata",
    "AU": "Perth, Fremantle, Bunbury, Mandurah, Joondalup, Adelaide, Mount Gambier, Darwin, Alice "
    "Springs, Melbourne, Geelong, Ballarat, Bendigo",
    "CA": "Toronto, Montreal, Vancouver, Calgary, Ottawa, Edmonton, Winnipeg, Mississauga, "
    "Saskatoon, Regina, St. John's, Charlottetown, Yellowknife, Whitehorse, Iqaluit, "
    "Brampton",
    "CO": "Bogotá, Medellín, Cali, Barranquilla, Cartagena",
    "DE": "Berlin, Hamburg, Munich, München, Köln, Cologne, Frankfurt, Frankfurt am Main, "
    "Stuttgart, Düsseldorf, Leipzig, Dortmund, Essen, Bremen, Dresden, Hannover, Nürnberg, "
    "Nuremberg, Bonn, Mannheim, Karlsruhe, Augsburg, Wiesbaden, Münster, Aachen, "
    "Heidelberg, Potsdam, Walldorf",
    "GE": "Tbilisi, Batumi, Kutaisi, Rustavi",
    "ID": "Jakarta, Surabaya, Bandung, Medan, Denpasar, Yogyakarta",
    "IL": "Tel Aviv, Tel Aviv-Yafo, Jerusalem, Haifa, Herzliya, Ramat Gan, Petah Tikva, Netanya",
    "IN": "Bangalore, Bengaluru, Mumbai, Delhi, New Delhi, Hyderabad, Chennai, Pune, Kolkata, "
    "Gurgaon, Gurugram, Noida, Ahmedabad, Jaipur, Kochi, Coimbatore, Chandigarh, Indore",
    "MA": "Casablanca, Rabat, Marrakech, Tangier, Fez",
    "NL": "Amsterdam, Rotterdam, Utrecht, Eindhoven, The Hague, Den Haag, Groningen, Tilburg, "
    "Delft, Breda, Nijmegen, Leiden, Haarlem",
    "PE": "Lima, Arequipa, Cusco, Trujillo",
    "SA": "Riyadh, Jeddah, Dammam, Mecca, Medina, Al Khobar",
    "SK": "Bratislava, Košice, Žilina, Nitra",
    "US": "Atlanta, Savannah, Augusta, Athens, Macon, Alpharetta, Marietta, Wilmington, Dover, "
    "Newark, Indianapolis, Fort Wayne, Evansville, South Bend, Carmel, Fishers, "
    "Bloomington, Seattle, Spokane, Tacoma, Bellevue, Redmond",
}

#: Written forms that the tables of territories do not have.
ALIASES: Mapping[str, str] = {
    "america": "US",
    "united states of america": "US",
    "usa": "US",
    "us": "US",
    "estados unidos de america": "US",
    "uk": "GB",
    "great britain": "GB",
    "britain": "GB",
    "uae": "AE",
    "emirates": "AE",
    "bolivia plurinational state of": "BO",
    "brunei darussalam": "BN",
    "burma": "MM",
    "cape verde": "CV",
    "czech republic": "CZ",
    "democratic republic of the congo": "CD",
    "drc": "CD",
    "east timor": "TL",
    "holland": "NL",
    "hong kong": "HK",
    "iran islamic republic of": "IR",
    "ivory coast": "CI",
    "korea republic of": "KR",
    "lao pdr": "LA",
    "macau": "MO",
    "macao": "MO",
    "macedonia": "MK",
    "moldova republic of": "MD",
    "myanmar": "MM",
    "palestine": "PS",
    "peoples republic of china": "CN",
    "republic of ireland": "IE",
    "republic of korea": "KR",
    "russian federation": "RU",
    "slovak republic": "SK",
    "swaziland": "SZ",
    "syrian arab republic": "SY",
    "taiwan province of china": "TW",
    "turkey": "TR",
    "vatican": "VA",
    "viet nam": "VN",
}

_ALPHA_3 = 3
_CITY_AND_REGION = 2
_CITY_STATES = {
    "GI": "Gibraltar",
    "HK": "Hong Kong",
    "MC": "Monaco",
    "MO": "Macao",
    "SG": "Singapore",
    "VA": "Vatican City",
}
# Each costs a megabyte once it is loaded.
_LANGUAGES = (
    *("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "pl", "cs", "hu", "ro"),
    *("ru", "uk", "tr", "el", "ja", "zh", "ko", "ar", "he"),
)
_NO_COUNTRIES = frozenset(["EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"])
# A city before one of these codes may as well lie in the country with the same code.
_CONTESTED_STATES = frozenset(["DE", "IN"])
# Without a city, it may be the capital that is meant.
_ALSO_CAPITAL = "washington"
# Alone, they may be cities elsewhere.
_ALSO_ABROAD = frozenset(["victoria"])
_NO_PLACES = frozenset(
    [
        *(
            "anywhere",
            "everywhere",
            "global",
            "globally",
            "international",
            "nationwide",
            "worldwide",
        ),
        *("headquarters", "hq", "office", "home office", "work from home", "wfh", "virtual"),
        *("emea", "apac", "latam", "dach", "amer", "eu", "n a", "na", "none", "unknown", "tbd"),
        *(
            "congo",
            "various",
            "various locations",
            "multiple",
            "multiple locations",
            "flexible",
            "other",
        ),
    ]
)

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
_CODE = re.compile(r"[A-Z]{2,3}")
_TRAILING_CODE = re.compile(r"(.{2,60}) ([A-Z]{2,3})")
_ADDRESS_PARTS = (
    *("streetAddress", "addressLocality", "addressRegion", "postalCode", "addressCountry"),
)
_ACCENTS = dict.fromkeys(range(0x300, 0x370))


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a part may be: a country, or a region of it."""

    country: str
    region: str | None = None


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
    country = _country_code(texts["addressCountry"])
    if country is None:
        return _guided(city, region, texts["addressCountry"], raw)
    found = _region_in(region, country)
    is_country = _country_code(region) == country
    return _make(raw, city, found.region if found else "" if is_country else region, country)


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
            return match[1] or "", CODED_REGIONS[country][match[2]], _country_name(country)
    match = _TRAILING_CODE.fullmatch(part)
    if match and any(match[2] in codes for codes in CODED_REGIONS.values()):
        return match[1], match[2]
    city = _POSTCODE_AFTER.sub("", _POSTCODE_BEFORE.sub("", part))
    return [part if _STREET.search(city) else city]


def _in_order(parts: list[str]) -> list[str]:
    """The country once, and last, also where it stands first ("Germany, Berlin")."""
    while len(parts) > 1 and _named_country(parts[-1]) == _named_country(parts[-2]) is not None:
        parts = parts[:-1]
    first = _named_country(parts[0]) if len(parts) > 1 else None
    if first and all(x.region and x.country == first for x in _readings(parts[-1])):
        return parts[::-1]
    return parts


def _locate(parts: Sequence[str], raw: str) -> Location:
    """Read parts from the country down to the city."""
    if not parts:
        return Location(raw=raw)
    *before, last = parts
    reading = _decide(last, before)
    if reading is None:
        return _locate_unknown(before if _readings(last) else parts, raw)
    if reading.region is None:
        return _locate_in(reading.country, before, raw)
    return _make(raw, _nearest_city(before), reading.region, reading.country)


def _decide(last: str, before: Sequence[str]) -> _Reading | None:
    """Which reading of the last part is meant, if the parts before it leave no doubt."""
    readings = _readings(last)
    if not readings or (not before and _fold(last) in _ALSO_ABROAD):
        return None
    if len(readings) == 1:
        return readings[0]
    if len(before) > 1:
        for reading in readings:
            if reading.region is None and _region_in(before[-1], reading.country):
                return reading
    told = [x for x in readings if before and x.country in _told_by(before[-1])]
    if len(told) == 1:
        return told[0]
    is_state = before and _CODE.fullmatch(last) and last not in _CONTESTED_STATES
    return next((x for x in readings if is_state and x.region and x.country == "US"), None)


def _locate_in(country: str, parts: Sequence[str], raw: str) -> Location:
    """The city and region among the parts before a country."""
    places = [part for part in parts if not _is_aside(part)]
    if not places:
        return _make(raw, _CITY_STATES.get(country), None, country)
    *before, last = places
    region = _region_in(last, country)
    if region or _AREA.search(last):
        return _make(raw, _nearest_city(before), region.region if region else last, country)
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
    if region and not city and _fold(region) == _ALSO_CAPITAL:
        region = None
    return Location(
        city=city if city and _may_be_city(city) else None,
        state_region=region or None,
        country=_country_name(country),
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
    return not (_is_aside(part) or _AREA.search(part) or _fold(part) in _no_places())


def _fold(text: str) -> str:
    """Without case, accents, punctuation and article."""
    plain = unicodedata.normalize("NFKD", text.casefold()).translate(_ACCENTS)
    return re.sub(r"[.'\u2019]", "", re.sub(r"[-\s]+", " ", plain)).strip().removeprefix("the ")


def _readings(part: str) -> tuple[_Reading, ...]:
    """All that a part may be; names of regions stay as they are displayed."""
    code = part.replace(".", "")
    if _CODE.fullmatch(code) and code in _codes():
        return _codes()[code]
    name = _fold(part)
    regions = tuple(_Reading(country, part) for country in _region_countries().get(name, ()))
    country = _countries().get(name)
    return regions + ((_Reading(country),) if country else ())


def _region_in(part: str, country: str) -> _Reading | None:
    """The region of a country that a part is; a code may be of another country too."""
    own = CODED_REGIONS.get(country, {}).get(part.replace(".", ""))
    if own:
        return _Reading(country, own)
    return next((x for x in _readings(part) if x.region and x.country == country), None)


def _named_country(part: str) -> str | None:
    """The country that a part is, if it says so in more than a code that could be a region's."""
    readings = _readings(part)
    return readings[0].country if len(readings) == 1 and readings[0].region is None else None


def _country_code(text: str) -> str | None:
    """The code of the country that a field for countries names, in any spelling."""
    readings = _codes().get(text.upper(), ())
    found = next((reading.country for reading in readings if reading.region is None), None)
    return found or _countries().get(_fold(text))


def _country_name(code: str) -> str:
    return _english()[code]


@cache
def _english() -> Mapping[str, str]:
    return _territories("en")


def _territories(language: str) -> Mapping[str, str]:
    names = Locale.parse(language).territories
    return {code: name for code, name in names.items() if _is_country(code)}


def _is_country(code: str) -> bool:
    return _CODE.fullmatch(code) is not None and code not in _NO_COUNTRIES


@cache
def _countries() -> Mapping[str, str]:
    """Codes by folded name; of two countries with one name, English decides, or nobody."""
    english = {_fold(name): code for code, name in _english().items()}
    found: dict[str, set[str]] = {}
    for language in _LANGUAGES:
        for code, name in _territories(language).items():
            found.setdefault(_fold(name), set()).add(code)
    unique = {name: codes.pop() for name, codes in found.items() if len(codes) == 1}
    # There are two, and the short name is said of both.
    unique.pop("congo", None)
    return unique | english | dict(ALIASES)


@cache
def _codes() -> Mapping[str, tuple[_Reading, ...]]:
    """What capital letters may stand for: regions first, then countries."""
    found: dict[str, tuple[_Reading, ...]] = {}
    for country, codes in CODED_REGIONS.items():
        for code, name in codes.items():
            found[code] = (*found.get(code, ()), _Reading(country, name))
    for code, country in _country_codes():
        found[code] = (*found.get(code, ()), _Reading(country))
    return found


def _country_codes() -> Iterable[tuple[str, str]]:
    """The codes of two and of three letters, and the common ones that are no standard."""
    yield from ((code, code) for code in _english())
    for code, territories in get_global("territory_aliases").items():
        if len(code) == _ALPHA_3 and code.isalpha() and len(territories) == 1:
            yield code, territories[0]
    yield from (("UK", "GB"), ("UAE", "AE"))


@cache
def _region_countries() -> Mapping[str, tuple[str, ...]]:
    """The countries that have a region of a folded name."""
    found: dict[str, tuple[str, ...]] = {}
    for country, codes in CODED_REGIONS.items():
        for name in codes.values():
            found[_fold(name)] = (*found.get(_fold(name), ()), country)
    for country, names in NAMED_REGIONS.items():
        for name in names.split(", "):
            if country not in found.get(_fold(name), ()):
                found[_fold(name)] = (*found.get(_fold(name), ()), country)
    return found


@cache
def _telling() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for country, cities in TELLING_CITIES.items():
        for city in cities.split(", "):
            found.setdefault(_fold(city), set()).add(country)
    return {city: frozenset(countries) for city, countries in found.items()}


def _told_by(city: str) -> frozenset[str]:
    return _telling().get(_fold(city), frozenset())


@cache
def _no_places() -> frozenset[str]:
    """Words that stand where a place could, and parts of the world that are no country."""
    names = Locale.parse("en").territories
    return _NO_PLACES | {_fold(name) for code, name in names.items() if not _is_country(code)}
