"""The gazetteer: which country, or region of one, a name or a code stands for."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from babel import Locale
from babel.core import get_global

from penstock.quality.place_names import (
    ALIASES,
    CODED_REGIONS,
    NAMED_REGIONS,
    NO_PLACES,
    TELLING_CITIES,
)

#: How codes of countries and regions are written.
CODE = re.compile(r"[A-Z]{2,3}")

_ALPHA_3 = 3
# Each costs a megabyte once it is loaded.
_LANGUAGES = (
    *("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "pl", "cs", "hu", "ro"),
    *("ru", "uk", "tr", "el", "ja", "zh", "ko", "ar", "he"),
)
_NO_COUNTRIES = frozenset(["EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"])
_ACCENTS = dict.fromkeys(range(0x300, 0x370))


@dataclass(frozen=True, slots=True)
class Territory:
    """A country by its code, or a region of it by its name."""

    country: str
    region: str | None = None


def territories_named(text: str) -> tuple[Territory, ...]:
    """All that a text may stand for; names of regions stay as they are displayed."""
    code = text.replace(".", "")
    if CODE.fullmatch(code) and code in _codes():
        return _codes()[code]
    name = fold_name(text)
    regions = tuple(Territory(country, text) for country in _region_countries().get(name, ()))
    country = _countries().get(name)
    return regions + ((Territory(country),) if country else ())


def region_in(country: str, text: str) -> str | None:
    """The region of a country that a text names; its code may be another country's too."""
    if own := CODED_REGIONS.get(country, {}).get(text.replace(".", "")):
        return own
    named = (one.region for one in territories_named(text) if one.country == country)
    return next(filter(None, named), None)


def country_named(text: str) -> str | None:
    """The country that a text names, if it cannot be a region's code or name as well."""
    found = territories_named(text)
    return found[0].country if len(found) == 1 and found[0].region is None else None


def country_code(text: str) -> str | None:
    """The code of the country that a field for countries names, in any spelling."""
    coded = _codes().get(text.upper(), ())
    found = next((one.country for one in coded if one.region is None), None)
    return found or _countries().get(fold_name(text))


def country_name(code: str) -> str:
    """The English name of a country."""
    return _english()[code]


def countries_told_by(city: str) -> frozenset[str]:
    """The countries that a city speaks for, where a code or a name could be of several."""
    return _telling_cities().get(fold_name(city), frozenset())


def is_no_place(text: str) -> bool:
    """Whether a text names no place, or a part of the world that is no country."""
    return fold_name(text) in _no_places()


def fold_name(text: str) -> str:
    """Without case, accents, punctuation and article."""
    plain = unicodedata.normalize("NFKD", text.casefold()).translate(_ACCENTS)
    return re.sub(r"[.'\u2019]", "", re.sub(r"[-\s]+", " ", plain)).strip().removeprefix("the ")


@cache
def _codes() -> Mapping[str, tuple[Territory, ...]]:
    """What capital letters may stand for: regions first, then countries."""
    found: dict[str, tuple[Territory, ...]] = {}
    for country, codes in CODED_REGIONS.items():
        for code, name in codes.items():
            found[code] = (*found.get(code, ()), Territory(country, name))
    for code, country in _country_codes():
        found[code] = (*found.get(code, ()), Territory(country))
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
    for country, name in _regions():
        known = found.get(name, ())
        if country not in known:
            found[name] = (*known, country)
    return found


def _regions() -> Iterable[tuple[str, str]]:
    """The country and the folded name of every region."""
    for country, codes in CODED_REGIONS.items():
        yield from ((country, fold_name(name)) for name in codes.values())
    for country, names in NAMED_REGIONS.items():
        yield from ((country, fold_name(name)) for name in names.split(", "))


@cache
def _countries() -> Mapping[str, str]:
    """Codes by folded name; of two countries with one name, English decides, or nobody."""
    english = {fold_name(name): code for code, name in _english().items()}
    found: dict[str, set[str]] = {}
    for language in _LANGUAGES:
        for code, name in _country_names(language).items():
            found.setdefault(fold_name(name), set()).add(code)
    unique = {name: codes.pop() for name, codes in found.items() if len(codes) == 1}
    # There are two, and the short name is said of both.
    unique.pop("congo", None)
    return unique | english | dict(ALIASES)


@cache
def _english() -> Mapping[str, str]:
    return _country_names("en")


def _country_names(language: str) -> Mapping[str, str]:
    names = Locale.parse(language).territories
    return {code: name for code, name in names.items() if _is_country(code)}


def _is_country(code: str) -> bool:
    return CODE.fullmatch(code) is not None and code not in _NO_COUNTRIES


@cache
def _telling_cities() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for country, cities in TELLING_CITIES.items():
        for city in cities.split(", "):
            found.setdefault(fold_name(city), set()).add(country)
    return {city: frozenset(countries) for city, countries in found.items()}


@cache
def _no_places() -> frozenset[str]:
    """Words that stand where a place could, and parts of the world that are no country."""
    names = Locale.parse("en").territories
    return NO_PLACES | {fold_name(name) for code, name in names.items() if not _is_country(code)}
