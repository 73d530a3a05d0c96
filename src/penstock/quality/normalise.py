"""The normaliser: raw fields of an extraction become a clean record; what is wrong is named.

Every field has one reader, chosen by its name. A reader gives the clean value, None for an
empty one, or says what is wrong with it; what a reader cannot know, the record's own
constraints say. Whatever the raw data are, there is a record: at worst an empty one.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any

from pydantic import ValidationError

from penstock.core.money import currencies
from penstock.kernel.records import (
    MAX_MINOR_UNITS,
    CompanyWebsite,
    Extraction,
    JobPosting,
    Kind,
    LinkedInProfile,
    Location,
    Product,
    Record,
)
from penstock.quality.links import clean_url
from penstock.quality.location import read_address, read_location
from penstock.quality.text import Unfit, clean_text

MAX_IMAGES = 50
MAX_RIVALS = 20
#: More entries of a list are not looked at.
MAX_ENTRIES = 500
#: What a database holds.
MAX_COUNT = 2**31 - 1
MAX_INTEGER = 2**63 - 1
MAX_EMAIL, MAX_PHONE, FEWEST_DIGITS = 254, 64, 3
#: Longer texts are cut.
LABEL, PHRASE, TITLE, PLACE, PROSE = 100, 255, 512, 1_000, 20_000

Reader = Callable[[Any], Any]
LinkReader = Callable[[Any, str], Any]

RECORDS: Mapping[Kind, type[Record]] = {
    record.kind: record for record in (Product, JobPosting, CompanyWebsite, LinkedInProfile)
}

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s.]+(?:\.[^@\s.]+)+")
_DIGITS = re.compile(r"\s*[0-9]{1,10}\s*")


@dataclass(frozen=True, slots=True)
class Normalised:
    """A record, and why which raw fields are not in it."""

    record: Record
    invalid: Mapping[str, str]


def normalise(extraction: Extraction) -> Normalised:
    """Make the record of an extraction's kind; never raises, whatever the raw fields hold.

    Links are resolved against the raw `url`, which may therefore be given for any kind.
    """
    model = RECORDS[extraction.kind]
    known, base = model.model_fields, extraction.fields.get("url")
    values: dict[str, Any] = {}
    invalid: dict[str, str] = {}
    for name, raw in extraction.fields.items():
        try:
            value = _read(name, raw, base, known)
        except Unfit as unfit:
            invalid[name], value = str(unfit), unfit.kept
        if value is not None:
            values[name] = value
    return Normalised(_validated(model, values, invalid), invalid)


def _read(name: str, raw: Any, base: Any, known: Container[str]) -> Any:
    if raw is None or (isinstance(raw, str) and (not raw or raw.isspace())):
        return None
    if name not in known:
        if name == "url":
            return None
        raise Unfit("unknown field")
    if read_link := _LINK_READERS.get(name):
        return read_link(raw, base if isinstance(base, str) else "")
    return _READERS[name](raw)


def _validated(model: type[Record], values: dict[str, Any], invalid: dict[str, str]) -> Record:
    """The record of the values that its constraints allow; the others become invalid."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            name = str(problem["loc"][0])
            values.pop(name, None)
            invalid[name] = f"must {problem['msg'].rpartition(' should ')[2]}"
        return model.model_validate(values)


def _link(raw: Any, base: str) -> str:
    url = clean_url(raw, base) if isinstance(raw, str) else None
    if url is None:
        raise Unfit("must be an http or https URL")
    return url


def _links(raw: Any, base: str) -> tuple[str, ...]:
    """Each address once, in order, as many as a record holds."""
    entries = _entries([raw] if isinstance(raw, str) else raw)
    found = [clean_url(entry, base) if isinstance(entry, str) else None for entry in entries]
    links = tuple(islice(dict.fromkeys(url for url in found if url), MAX_IMAGES))
    if None in found:
        raise Unfit(f"{found.count(None)} of {len(found)} are no http or https URLs", kept=links)
    return links


def _entries(raw: Any) -> Sequence[Any]:
    if not isinstance(raw, list | tuple):
        raise Unfit("must be a list")
    return raw[:MAX_ENTRIES]


def _words(raw: Any) -> str:
    """A text of any length; numbers are taken for it, as some sites write their ids so."""
    if isinstance(raw, str):
        return clean_text(raw)
    if isinstance(raw, int) and not isinstance(raw, bool) and abs(raw) <= MAX_INTEGER:
        return str(raw)
    raise Unfit("must be text")


def _identifier(raw: Any) -> str | None:
    # Never cut: a part of an id is the id of something else.
    return _words(raw) or None


def _text(limit: int) -> Reader:
    """Read a text, cut where it is too long."""
    return lambda raw: _words(raw)[:limit].rstrip() or None


def _currency(raw: Any) -> str:
    code = _words(raw).upper()
    if code not in currencies():
        raise Unfit("must be an ISO 4217 code")
    return code


def _gtin(raw: Any) -> str:
    digits = _words(raw).replace(" ", "").replace("-", "")
    # The record's pattern would take the digits of any script.
    if not (digits.isascii() and digits.isdigit()):
        raise Unfit("must be digits")
    return digits


def _email(raw: Any) -> str:
    address = _words(raw).removeprefix("mailto:")
    if len(address) > MAX_EMAIL or not _EMAIL.fullmatch(address):
        raise Unfit("must be an e-mail address")
    return address


def _phone(raw: Any) -> str:
    number = _words(raw)
    if len(number) > MAX_PHONE or sum(map(str.isdigit, number)) < FEWEST_DIGITS:
        raise Unfit("must be a phone number")
    return number


def _rivals(raw: Any) -> tuple[str, ...]:
    """Prices that contradict each other; unreadable ones still are a contradiction."""
    read, entries = _text(LABEL), _entries(raw)
    texts = [read(str(entry) if isinstance(entry, Decimal) else entry) for entry in entries]
    rivals = tuple(filter(None, texts))[:MAX_RIVALS]
    if texts and not rivals:
        raise Unfit("must be texts that are not empty")
    return rivals


def _minor_units(raw: Any) -> int:
    # Neither text nor float: both may well be meant in major units.
    if not isinstance(raw, int) or isinstance(raw, bool) or abs(raw) > MAX_INTEGER:
        raise Unfit("must be an integer, in minor units")
    return int(raw)


def _count(raw: Any) -> int:
    if isinstance(raw, float) and raw.is_integer():
        raw = int(raw)
    if isinstance(raw, str) and _DIGITS.fullmatch(raw):
        raw = int(raw)
    if not isinstance(raw, int) or isinstance(raw, bool) or abs(raw) > MAX_COUNT:
        raise Unfit(f"must be an integer of at most {MAX_COUNT}")
    return int(raw)


def _decimal(places: str) -> Reader:
    """Read a number, rounded to as many places."""
    step = Decimal(places)

    def read(raw: Any) -> Decimal:
        if isinstance(raw, bool) or not isinstance(raw, int | float | Decimal | str):
            raise Unfit("must be a number")
        try:
            # By its text: a float is meant as it is written.
            number = Decimal(str(raw)).quantize(step)
        except (InvalidOperation, ValueError) as error:
            raise Unfit("must be a number") from error
        if not number.is_finite() or abs(number) > MAX_MINOR_UNITS:
            raise Unfit(f"must be a number of at most {MAX_MINOR_UNITS}")
        return number

    return read


def _flag(raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise Unfit("must be true or false")
    return raw


def _as_given(raw: Any) -> Any:
    return raw


def _location(raw: Any) -> Location:
    match raw:
        case Location():
            parts = dict(raw)
        case Mapping() if raw.keys() <= Location.model_fields.keys():
            parts = dict(raw)
        case Mapping():
            parts = dict(read_address({name: _address_part(part) for name, part in raw.items()}))
        case str():
            parts = {**dict(read_location(clean_text(raw))), "raw": raw}
        case _:
            raise Unfit("must be a place")
    return _place(**parts)


def _address_part(raw: Any) -> str | None:
    """The text of a part, or the name of the thing that stands for it."""
    match raw:
        case str(text) | {"name": str(text)}:
            return clean_text(text)
    return None


def _place(
    city: Any = None, state_region: Any = None, country: Any = None, raw: Any = None
) -> Location:
    """A place whose parts are clean; the text it was read from is only made fit to be stored."""
    read = _text(PHRASE)
    parts = [None if part is None else read(part) for part in (city, state_region, country)]
    original = _UNSTORABLE.sub("", raw)[:PLACE] if isinstance(raw, str) else None
    if not any(parts) and not (original and clean_text(original)):
        raise Unfit("must be a place")
    return Location(city=parts[0], state_region=parts[1], country=parts[2], raw=original or None)


_LINK_READERS: Mapping[str, LinkReader] = {
    **dict.fromkeys(("url", "profile_url", "posting_url", "website_url"), _link),
    "image_urls": _links,
}
_READERS: Mapping[str, Reader] = {
    **dict.fromkeys(("name", "job_title", "headline"), _text(TITLE)),
    **dict.fromkeys(("company_name", "current_company"), _text(TITLE)),
    **dict.fromkeys(("brand", "category", "industry", "salary_range"), _text(PHRASE)),
    **dict.fromkeys(("description", "summary"), _text(PROSE)),
    **dict.fromkeys(("caliber", "case_material", "bullet_type", "load_type"), _text(LABEL)),
    **dict.fromkeys(("shell_length", "employee_count_range"), _text(LABEL)),
    **dict.fromkeys(("sku", "product_id", "mpn"), _identifier),
    **dict.fromkeys(("price_minor", "list_price_minor", "shipping_minor"), _minor_units),
    **dict.fromkeys(("review_count", "round_count"), _count),
    **dict.fromkeys(("rating", "grain_weight"), _decimal("0.01")),
    "cost_per_round_minor": _decimal("0.0001"),
    **dict.fromkeys(("location", "headquarters"), _location),
    "currency": _currency,
    "rival_prices": _rivals,
    "availability": _as_given,
    "tax_included": _flag,
    "gtin": _gtin,
    "contact_email": _email,
    "contact_phone": _phone,
}
