"""What keeps a target from being read: one list for who schedules, begins, shows and explains."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, or_

from penstock.core.errors import UrlError
from penstock.core.urls import parse
from penstock.products.tables import sources
from penstock.workloads.monitor.model import TargetStatus
from penstock.workloads.monitor.tables import scrape_adapter_status, scrape_targets


class Cause(StrEnum):
    """Whose business an obstacle is; the reason of an item that is not begun because of it."""

    TARGET = "target_withdrawn"
    SOURCE = "source_not_approved"
    ADAPTER = "adapter_disabled"


class Obstacle(NamedTuple):
    """Something that somebody has to do before a target is read."""

    cause: Cause
    words: str


def obstacles(row: Mapping[str, Any], source_name: str = "") -> Iterator[Obstacle]:
    """All that stands in the way of a target, given with what is known of source and adapter."""
    if not row["enabled"]:
        yield Obstacle(Cause.TARGET, "it is disabled: enable it")
    if row["robots_path_blocked"]:
        yield Obstacle(Cause.TARGET, "its URL is blocked")
    if row["status"] == TargetStatus.PAUSED:
        yield Obstacle(Cause.TARGET, "it is paused: resume it")
    if problem := _problem_with_url(row["url"], row["source_domain"]):
        yield Obstacle(Cause.TARGET, problem)
    if row["tos_approved_by"] is None:
        words = f"nobody has approved the terms of service of source '{source_name}'"
        yield Obstacle(Cause.SOURCE, words)
    if not row["robots_compliant"]:
        words = f"source '{source_name}' is marked as not compliant with robots"
        yield Obstacle(Cause.SOURCE, words)
    if row["adapter_enabled"] is False:
        yield Obstacle(Cause.ADAPTER, "its adapter is disabled")


def _problem_with_url(text: str, domain: str) -> str | None:
    """A source may have moved: what was approved for one domain does not hold for another."""
    try:
        url = parse(text)
    except UrlError as error:
        return str(error)
    return None if url.domain == domain else f"its URL is not at {domain}, where its source is"


def nothing_in_the_way(adapters: Sequence[str]) -> ColumnElement[bool]:
    """About the same as a condition, for targets with their sources and how adapters fare."""
    targets, status = scrape_targets.c, scrape_adapter_status.c
    return and_(
        targets.enabled,
        ~targets.robots_path_blocked,
        targets.status != TargetStatus.PAUSED.value,
        targets.adapter_id.in_(adapters),
        targets.canonical_url.contains(sources.c.domain),
        sources.c.tos_approved_by.is_not(None),
        sources.c.robots_compliant,
        or_(status.enabled.is_(None), status.enabled),
    )
