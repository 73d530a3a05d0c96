"""Targets leave their run: how they fared, what they are now, and when they are due again."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, update

from penstock.core.errors import SettingsError
from penstock.store.unit import Unit
from penstock.workloads.monitor.counting import Fate
from penstock.workloads.monitor.model import TargetStatus
from penstock.workloads.monitor.schedules import DEFAULT_SCHEDULE, next_due
from penstock.workloads.monitor.tables import scrape_targets

#: A URL that fails so often in a row is broken, and looked at once a week or so from then on.
MOST_FAILURES = 5
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Timetable:
    """When targets are due that have no schedule of their own, and those that are broken."""

    chance: random.Random
    default_schedule: str = DEFAULT_SCHEDULE
    recheck_days: float = 7.0

    def next_due(self, target: Mapping[str, Any], status: str, now: int) -> int | None:
        """When a target is due after now (ms); None if nothing is to be done for it."""
        if not target["enabled"] or target["robots_path_blocked"]:
            return None
        if status == TargetStatus.BROKEN:
            return now + int(self.recheck_days * DAY_MS)
        if status != TargetStatus.ACTIVE:
            return None
        try:
            return next_due(target["schedule"], now, self.chance, self.default_schedule)
        except SettingsError:
            # It was checked when it was written; who changed it behind our back gets the default.
            return next_due(None, now, self.chance, self.default_schedule)


def leave(unit: Unit, ends: Sequence[tuple[Mapping[str, Any], Fate]], timetable: Timetable) -> None:
    """Write what became of targets that are locked; they are in no run any more."""
    rows = [_after(unit, target, fate, timetable) for target, fate in ends]
    if rows:
        unit.run(_leaving(), rows)


def _after(
    unit: Unit, target: Mapping[str, Any], fate: Fate, timetable: Timetable
) -> dict[str, Any]:
    failures = target["consecutive_failures"]
    failures = {"reset": 0, "leave": failures, "count": failures + 1}[fate.blame]
    status = _status(target, fate, failures)
    was_visited = fate.counts.urls_attempted > 0
    return {
        "an_id": target["id"],
        "a_status": status,
        "a_last_status": fate.last_status,
        "failures": failures,
        "scraped": unit.now if was_visited else target["last_scraped_at"],
        "due": timetable.next_due(target, status, unit.now),
        "now": unit.now,
    }


def _status(target: Mapping[str, Any], fate: Fate, failures: int) -> str:
    status: str = target["status"]
    if fate.last_status == TargetStatus.STALE and status == TargetStatus.ACTIVE:
        return TargetStatus.STALE.value
    if status not in (TargetStatus.ACTIVE, TargetStatus.BROKEN, TargetStatus.STALE):
        return status
    if fate.counts.urls_succeeded:
        return TargetStatus.ACTIVE.value
    if fate.blame == "count" and failures >= MOST_FAILURES:
        return TargetStatus.BROKEN.value
    return status


def _leaving() -> Any:
    return (
        update(scrape_targets)
        .where(scrape_targets.c.id == bindparam("an_id"))
        .values(
            run_id=None,
            status=bindparam("a_status"),
            last_status=bindparam("a_last_status"),
            consecutive_failures=bindparam("failures"),
            last_scraped_at=bindparam("scraped"),
            next_due_at=bindparam("due"),
            updated_at=bindparam("now"),
        )
    )
