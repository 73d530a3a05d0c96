"""What is told of alerts, replays and shadows, as callers of the API see it."""

from typing import Any

from pydantic import BaseModel, Field

from penstock.quality.compare import Change
from penstock.quality.shadow import ShadowReport
from penstock.web.views import A_TIME, AN_ID, moment
from penstock.workloads.monitor.replaying import Part
from penstock.workloads.monitor.told import Severity


class AlertView(BaseModel):
    """What ops were told of; it lasts until it is resolved."""

    id: str = Field(examples=[AN_ID])
    kind: str = Field(examples=["adapter_disabled"])
    subject: str = Field(examples=["sgammo"])
    severity: Severity
    message: str
    count: int
    first_at: str = Field(examples=[A_TIME])
    last_at: str
    resolved_at: str | None


class DifferenceView(BaseModel):
    """A field that was read otherwise."""

    field: str = Field(examples=["price"])
    before: Any = Field(examples=[None])
    after: Any = Field(examples=["19.99"])


class ReplayedView(BaseModel):
    """A page that is read otherwise now."""

    result_id: str = Field(examples=[AN_ID])
    target_id: str
    run_id: str
    at: str = Field(examples=[A_TIME])
    url: str
    change: Change
    differences: list[DifferenceView]


class CountsView(BaseModel):
    """How many pages were read alike, otherwise, better and worse; and which fields differ."""

    pages: int
    same: int
    changed: int
    newly_good: int
    newly_failing: int
    fields: dict[str, int] = Field(examples=[{"price": 3}])


class ReplayView(CountsView):
    """What an adapter made of pages that were kept; nothing was changed.

    `is_complete` is false where a bound was reached: `meta.next_cursor` asks for the rest.
    """

    adapter: str = Field(examples=["sgammo@1.1.0"])
    lost: int = Field(description="Pages that are not kept any more.")
    is_safe: bool = Field(description="Whether no page got worse.")
    is_complete: bool
    differing: list[ReplayedView]


class ExampleView(BaseModel):
    """A live page that a candidate read otherwise."""

    result_id: str = Field(examples=[AN_ID])
    target_id: str
    at: str = Field(examples=[A_TIME])
    url: str
    change: Change
    differences: list[DifferenceView]


class ShadowView(CountsView):
    """How a candidate agreed with the adapter in use, and the newest pages where it did not."""

    candidate: str = Field(examples=["sgammo@1.1.0"])
    agreement: float | None = Field(description="The share of pages that were read alike.")
    examples: list[ExampleView]


def view_replay(part: Part) -> dict[str, Any]:
    """A part of a replay."""
    differing = []
    for each in part.differing:
        row = {**each.as_json(), "result_id": each.key, "at": moment(each.about["at"])}
        differing.append({name: row[name] for name in ReplayedView.model_fields})
    return {
        "adapter": part.adapter,
        **part.summary.as_json(),
        "is_safe": part.summary.is_safe,
        "is_complete": part.next_after is None,
        "differing": differing,
    }


def view_shadow(report: ShadowReport) -> dict[str, Any]:
    """How a candidate did."""
    examples = []
    for each in report.examples:
        row = {**each, "result_id": each["id"], "at": moment(each["at"])}
        examples.append({name: row[name] for name in ExampleView.model_fields})
    row = {**report.as_json(), "examples": examples}
    return {name: row[name] for name in ShadowView.model_fields}
