"""What callers of the monitor's API send."""

import re
from decimal import Decimal
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from penstock.core.money import currencies
from penstock.products.sources import ScrapeConfig, Visibility
from penstock.web.bodies import JSON_NUMBER, AdapterName, Address, Body, Domain, Id, Moment, named
from penstock.workloads.monitor.drafting import LONGEST_NOTE, MOST_PRIORITY, Wanted
from penstock.workloads.monitor.importing import Existing, Format, Plan
from penstock.workloads.monitor.model import DisabledReason
from penstock.workloads.monitor.rules import RuleKind

#: What strips to nothing is no word.
_SPACES = r"\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f\u3000\ufeff"
AMOUNT = r"^(0\.(0[1-9]|[1-9][0-9]?)|[1-9][0-9]{0,7}(\.[0-9]{1,2})?)$"
_AMOUNT = re.compile(AMOUNT)
#: A time and the id of what happened then: where a list goes on.
PLACE = r"^[0-9]{1,15}\.[0-9a-f]{32}$"
MOST_REPLAYED = 500


def _as_amount(value: Any) -> Any:
    """Amounts are text: numbers of JSON are not exact."""
    if not isinstance(value, str | Decimal) or not _AMOUNT.fullmatch(str(value)):
        raise ValueError("must be text such as 19.99")
    return Decimal(value)


#: Words that no database, log or terminal stumbles over.
Word = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=200, pattern=rf"^[^{_SPACES}]([^\x00-\x1f\x7f-\x9f]*)$"
    ),
]
SourceName = Annotated[str, named("source")]
Schedule = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="A span (`6h`, `1d`) or a cron expression (`0 6 * * *`, UTC).",
        json_schema_extra={"format": "schedule", "examples": ["6h"]},
    ),
]
Priority = Annotated[int, Field(ge=-MOST_PRIORITY, le=MOST_PRIORITY), JSON_NUMBER]
Notes = Annotated[str, Field(max_length=LONGEST_NOTE)]
Why = Annotated[
    str,
    StringConstraints(max_length=LONGEST_NOTE, pattern=rf"^[^{_SPACES}]"),
    Field(description="Kept with the decision, and who made it."),
]
Amount = Annotated[
    Decimal,
    BeforeValidator(_as_amount),
    WithJsonSchema({"type": "string", "pattern": AMOUNT, "examples": ["19.99"]}),
]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$"), Field(examples=["USD"])]


def _name_headers(schema: dict[str, Any]) -> None:
    """Say what names and values of headers are."""
    headers = schema["properties"]["customHeaders"]
    headers["propertyNames"] = {"format": "header-name"}
    headers["additionalProperties"] = {"type": "string", "format": "header-value"}


class Config(ScrapeConfig):
    """How a source is fetched."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_name_headers)


class NewRetailer(Body):
    """A retailer to add."""

    name: Word
    website_url: Address | None = None


class NewSource(Body):
    """A source to add: not visible, not trusted, not approved."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "SGAmmo",
                    "domain": "sgammo.com",
                    "retailer": "SGAmmo",
                    "adapter_id": "sgammo",
                    "scrape_config": {"rateLimit": {"requestsPerSecond": 0.5}},
                }
            ]
        }
    )

    name: Word
    domain: Domain
    retailer: Word = Field(
        description="The name or id of a retailer; one that is not known yet is added."
    )
    adapter_id: AdapterName | None = None
    scrape_config: Config | None = None


class SourceChanges(Body):
    """What to change of a source; what is absent stays as it is."""

    name: Word | None = None
    domain: Domain | None = None
    adapter_id: AdapterName | None = None
    scrape_config: Config | None = None
    robots_compliant: StrictBool | None = None
    visibility_status: Visibility | None = None
    upc_trusted: StrictBool | None = None


class NewTarget(Body):
    """A target to add; without a source, the only one of the URL's domain is taken."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"url": "https://www.sgammo.com/product/1", "source": "SGAmmo", "schedule": "6h"}
            ]
        }
    )

    url: Address
    source: SourceName | None = Field(None, description="The name or id of a source.")
    adapter: AdapterName | None = None
    schedule: Schedule | None = None
    priority: Priority = 0
    notes: Notes | None = None

    def as_wanted(self) -> Wanted:
        """What is wanted."""
        return Wanted(**dict(self))


class TargetChanges(Body):
    """What to change of a target; what is absent stays as it is, null takes it away."""

    schedule: Schedule | None = None
    priority: Priority = 0
    notes: Notes | None = None
    adapter: AdapterName | None = None

    def given(self) -> dict[str, Any]:
        """What was said."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Import(Body):
    """Targets as text: all of it is taken in, or nothing."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "format": "csv",
                    "text": "url,schedule\nhttps://www.sgammo.com/product/1,6h\n",
                    "dry_run": True,
                }
            ]
        }
    )

    text: Annotated[str, Field(min_length=1)]
    format: Format = Format.CSV
    url_column: Word | None = Field(None, description="For feeds: the column with the URLs.")
    delimiter: Annotated[str, Field(pattern=r"^[,;|\t]$")] | None = None
    source: Word | None = None
    adapter: Word | None = None
    schedule: Schedule | None = None
    priority: Priority = 0
    existing: Existing = Field(Existing.REFUSE, description="What to do about known URLs.")
    dry_run: StrictBool = False

    def as_plan(self) -> Plan:
        """How to go about it."""
        return Plan(
            format=self.format,
            defaults=Wanted("", self.source, self.adapter, self.schedule, self.priority),
            url_column=self.url_column,
            delimiter=self.delimiter,
            existing=self.existing,
            dry_run=self.dry_run,
        )


class Requeue(Body):
    """Which stale targets are to be due again: all, or those of a source."""

    source: Word | None = None


class NewRun(Body):
    """Which targets to read now: those named, or those of a source, an adapter, or both."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["source"], "properties": {"source": {"type": "string"}}},
                {"required": ["adapter"], "properties": {"adapter": {"type": "string"}}},
                {"required": ["target_ids"], "properties": {"target_ids": {"minItems": 1}}},
            ]
        }
    )

    source: SourceName | None = Field(None, description="The name or id of a source.")
    adapter: AdapterName | None = None
    target_ids: Annotated[list[Id], Field(max_length=1000)] = Field(default_factory=list)


class NewReplay(Body):
    """Which kept pages to read again, and with which adapter."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"adapter": "sgammo", "since": "2026-03-01T00:00:00Z", "source": "SGAmmo"}]
        }
    )

    adapter: AdapterName = Field(
        description="NAME, or NAME@VERSION of PENSTOCK_EXTRACT__CANDIDATES."
    )
    since: Moment | None = Field(
        None, description="Pages of results from then on; of the last 7 days if absent."
    )
    source: SourceName | None = Field(None, description="The name or id of a source.")
    target_ids: Annotated[list[Id], Field(max_length=1000)] = Field(default_factory=list)
    limit: Annotated[int, Field(ge=1, le=MOST_REPLAYED), JSON_NUMBER] = Field(
        200, description="So many pages at most."
    )
    cursor: Annotated[str, StringConstraints(pattern=PLACE)] | None = Field(
        None, description="`meta.next_cursor` of the part before."
    )


class Disabling(Body):
    """Why an adapter is not to read any more."""

    reason: DisabledReason = DisabledReason.MANUAL


class Decision(Body):
    """Why a quarantined offer is released or discarded."""

    why: Why


class Release(Body):
    """Why an offer is released; an amount stands in for what the page could not say."""

    why: Why
    price: Amount | None = None
    currency: Currency | None = None


class NewCorrection(Body):
    """A price to hide, or to show as another amount."""

    why: Why
    price: Amount | None = Field(None, description="Absent: the price is hidden.")


_NOT_NULL: dict[str, Any] = {"type": "string"}
_NULL: dict[str, Any] = {"type": "null"}


def _subject(named: str, absent: str) -> dict[str, Any]:
    return {"required": [named], "properties": {named: _NOT_NULL, absent: _NULL}}


def _kind(kind: RuleKind, *needed: str, **properties: Any) -> dict[str, Any]:
    return {
        "required": ["kind", *needed],
        "properties": {"kind": {"const": kind.value}, **properties},
    }


PERCENT = r"^(0\.(0[1-9]|[1-9][0-9]?)|[1-9][0-9]?(\.[0-9]{1,2})?|100)$"


class NewRule(Body):
    """What somebody wants to be told of, about one target or one product."""

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [
                {
                    "oneOf": [
                        _subject("target_id", "product_id"),
                        _subject("product_id", "target_id"),
                    ]
                },
                {
                    "oneOf": [
                        _kind(RuleKind.BACK_IN_STOCK, threshold=_NULL, currency=_NULL),
                        _kind(
                            RuleKind.DROP_PERCENT,
                            "threshold",
                            threshold={"type": "string", "pattern": PERCENT},
                            currency=_NULL,
                        ),
                        _kind(
                            RuleKind.BELOW_PRICE,
                            "threshold",
                            "currency",
                            threshold=_NOT_NULL,
                            currency={"type": "string", "enum": sorted(currencies())},
                        ),
                    ]
                },
            ],
            "examples": [
                {
                    "kind": "below_price",
                    "product_id": "019570c251f07c3a9c1e2f6f0a3b4c5d",
                    "threshold": "15.00",
                    "currency": "USD",
                }
            ],
        }
    )

    kind: RuleKind
    target_id: Id | None = None
    product_id: Id | None = None
    threshold: Amount | None = Field(None, description="An amount, or per cent.")
    currency: Currency | None = None
    notify_url: Address | None = Field(None, description="A webhook; signed like all of ours.")

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "NewRule":
        if self.kind is not RuleKind.BELOW_PRICE and self.currency is not None:
            raise ValueError("only a rule on an amount has a currency")
        return self

    def traits(self) -> dict[str, Any]:
        """All but the kind."""
        return self.model_dump(exclude={"kind"})
