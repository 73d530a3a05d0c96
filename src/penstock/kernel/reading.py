"""What was made of a page in steps 10 and 11 of the path: its record and the verdict on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.core.money import to_decimal
from penstock.kernel.records import Availability, Extraction, Product, Record, Verdict

#: How a product's availability is spelled in output.
AVAILABILITY = {
    Availability.IN_STOCK: "InStock",
    Availability.OUT_OF_STOCK: "OutOfStock",
    Availability.BACKORDER: "BackOrder",
    Availability.UNKNOWN: None,
}
#: Fields of an extraction that have another name in output.
OUTPUT_NAMES = {"price_minor": "price", "list_price_minor": "list_price"}


@dataclass(frozen=True, slots=True)
class Judgment:
    """The record made of an extraction, the fields left out of it and why, and the verdict.

    There is no verdict where the adapter itself gave a reason not to trust the page.
    """

    record: Record
    invalid: Mapping[str, str]
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class Reading:
    """What was made of one page."""

    extraction: Extraction
    judgment: Judgment = field(repr=False)

    @property
    def record(self) -> Record:
        """The record, trusted or not."""
        return self.judgment.record

    @property
    def field_count(self) -> int:
        """How many fields the record has."""
        return len(self.record.model_dump(exclude_defaults=True))

    def as_json(self) -> dict[str, Any]:
        """The record as plain data with what became of it; fields that are missing are null."""
        extraction, verdict = self.extraction, self.judgment.verdict
        return {
            "kind": extraction.kind,
            "adapter": extraction.adapter,
            "ok": extraction.ok,
            "reason": extraction.reason,
            "detail": extraction.detail or None,
            "verdict": verdict.name if verdict else None,
            "verdict_reason": getattr(verdict, "reason", None),
            "verdict_detail": getattr(verdict, "detail", None) or None,
            "invalid": dict(self.judgment.invalid),
            **record_json(self.record),
        }


def record_json(record: Record) -> dict[str, Any]:
    """A record as plain data; a product's price is a decimal string of its currency."""
    data = record.model_dump(mode="json")
    if isinstance(record, Product):
        minor, list_minor = data.pop("price_minor"), data.pop("list_price_minor")
        data["price"] = _decimal(minor, record.currency)
        data["list_price"] = _decimal(list_minor, record.currency)
        data["availability"] = AVAILABILITY[record.availability]
    return data


def _decimal(minor: int | None, currency: str | None) -> str | None:
    if minor is None or currency is None:
        return None
    return str(to_decimal(minor, currency))
