"""What is made of a page: the raw extraction, the record, and the verdict on it.

An adapter gives an `Extraction`: raw fields, each with its evidence, or the reason why there is
nothing to trust. The normaliser makes a `Record` from it, and the judge says what becomes of that.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

#: The kinds of record, which are also the target types a caller may ask for.
Kind = Literal["product", "job_posting", "company_website", "linkedin_profile"]

MAX_MINOR_UNITS = 99_999_999


class Availability(StrEnum):
    """Whether something can be bought now; anything but UNKNOWN needs positive evidence."""

    IN_STOCK = "IN_STOCK"
    OUT_OF_STOCK = "OUT_OF_STOCK"
    BACKORDER = "BACKORDER"
    UNKNOWN = "UNKNOWN"


class ExtractReason(StrEnum):
    """Why an adapter gives no record."""

    SELECTOR_NOT_FOUND = "SELECTOR_NOT_FOUND"
    PRICE_NOT_FOUND = "PRICE_NOT_FOUND"
    TITLE_NOT_FOUND = "TITLE_NOT_FOUND"
    PAGE_STRUCTURE_CHANGED = "PAGE_STRUCTURE_CHANGED"
    BLOCKED_PAGE = "BLOCKED_PAGE"
    EMPTY_PAGE = "EMPTY_PAGE"
    OOS_NO_PRICE = "OOS_NO_PRICE"


class DropReason(StrEnum):
    """Why a record is not kept."""

    MISSING_REQUIRED_FIELD = "MISSING_REQUIRED_FIELD"
    INVALID_PRICE = "INVALID_PRICE"
    INVALID_URL = "INVALID_URL"
    DUPLICATE_WITHIN_RUN = "DUPLICATE_WITHIN_RUN"
    BLOCKED_BY_ROBOTS_TXT = "BLOCKED_BY_ROBOTS_TXT"
    OOS_NO_PRICE = "OOS_NO_PRICE"
    UNKNOWN_AVAILABILITY = "UNKNOWN_AVAILABILITY"


class QuarantineReason(StrEnum):
    """Why a person has to look at a record before it counts."""

    VALIDATION_FAILED = "VALIDATION_FAILED"
    DRIFT_DETECTED = "DRIFT_DETECTED"
    SELECTOR_FAILURE = "SELECTOR_FAILURE"
    NORMALIZATION_FAILED = "NORMALIZATION_FAILED"
    ZERO_PRICE_EXTRACTED = "ZERO_PRICE_EXTRACTED"
    AMBIGUOUS_PRICE = "AMBIGUOUS_PRICE"


class Evidence(NamedTuple):
    """Where a field came from, and what stood there."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an adapter found: raw values by field name, and the evidence for each.

    With a `reason` there is no record to trust; what was found is kept for people to look at.
    """

    kind: Kind
    fields: Mapping[str, Any] = field(default_factory=dict)
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    reason: ExtractReason | None = None
    detail: str = ""
    adapter: str = ""

    @property
    def ok(self) -> bool:
        """Whether the adapter stands by what it found."""
        return self.reason is None


class Record(BaseModel):
    """What a page says, cleaned and validated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[Kind]


class Location(BaseModel):
    """A place; `raw` is the text it was read from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    city: str | None = None
    state_region: str | None = None
    country: str | None = None
    raw: str | None = None


class Product(Record):
    """A product and its offer. Prices are in minor units of `currency`.

    `rival_prices` are amounts on the page that contradict each other: when there are any,
    `price_minor` is absent.
    """

    kind: ClassVar[Kind] = "product"

    url: str | None = None
    name: str | None = None
    price_minor: int | None = Field(None, ge=0)
    currency: str | None = Field(None, pattern=r"^[A-Z]{3}$")
    rival_prices: tuple[str, ...] = ()
    list_price_minor: int | None = Field(None, ge=1, le=MAX_MINOR_UNITS)
    availability: Availability = Availability.UNKNOWN
    sku: str | None = Field(None, max_length=100)
    product_id: str | None = Field(None, max_length=255)
    gtin: str | None = Field(None, pattern=r"^[0-9]{8}([0-9]{4,6})?$")
    mpn: str | None = Field(None, max_length=100)
    brand: str | None = Field(None, max_length=255)
    category: str | None = Field(None, max_length=255)
    description: str | None = None
    image_urls: tuple[str, ...] = ()
    rating: Decimal | None = Field(None, ge=0, le=5)
    review_count: int | None = Field(None, ge=0)
    shipping_minor: int | None = Field(None, ge=0, le=MAX_MINOR_UNITS)
    tax_included: bool | None = None
    caliber: str | None = None
    grain_weight: Decimal | None = Field(None, gt=0)
    round_count: int | None = Field(None, ge=1)
    case_material: str | None = None
    bullet_type: str | None = None
    load_type: str | None = None
    shell_length: str | None = None
    cost_per_round_minor: Decimal | None = Field(None, gt=0)


class JobPosting(Record):
    """A job that is offered."""

    kind: ClassVar[Kind] = "job_posting"

    job_title: str | None = None
    company_name: str | None = None
    location: Location | None = None
    salary_range: str | None = None
    description: str | None = None
    posting_url: str | None = None


class CompanyWebsite(Record):
    """A company, as its own site presents it."""

    kind: ClassVar[Kind] = "company_website"

    company_name: str | None = None
    description: str | None = None
    industry: str | None = None
    employee_count_range: str | None = None
    headquarters: Location | None = None
    contact_email: str | None = None
    contact_phone: str | None = None
    website_url: str | None = None


class LinkedInProfile(Record):
    """A person's public profile."""

    kind: ClassVar[Kind] = "linkedin_profile"

    name: str | None = None
    headline: str | None = None
    current_company: str | None = None
    location: Location | None = None
    summary: str | None = None
    profile_url: str | None = None


@dataclass(frozen=True, slots=True)
class Accept:
    """The record can be trusted."""

    name: ClassVar[str] = "accept"


@dataclass(frozen=True, slots=True)
class Drop:
    """The record is not kept."""

    reason: DropReason
    detail: str = ""

    name: ClassVar[str] = "drop"


@dataclass(frozen=True, slots=True)
class Quarantine:
    """The record waits for a person."""

    reason: QuarantineReason
    detail: str = ""

    name: ClassVar[str] = "quarantine"


Verdict = Accept | Drop | Quarantine
