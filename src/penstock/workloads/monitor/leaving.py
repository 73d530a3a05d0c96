"""Targets leave their run: how they fared, what they are now, and when they are due again."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import bindparam, update

from penstock.core.errors import SettingsError
from penstock.store.unit import Unit
from penstock.workloads.monitor.counting import Fate
from penstock.workloads.monitor.model import DAY_MS, TargetStatus
from penstock.workloads.monitor.schedules import DEFAULT_SCHEDULE, next_due
from penstock.workloads.monitor.tables import scrape_targets

#: A URL that fails so often in a row is broken, and looked at once a week or so from then on.
MOST_FAILURES = 5


@dataclass(frozen=True, slots=True)
class Timetable:
    """When targets are due that have no schedule of their own, and those that are broken.

    Targets of a shop that were read in one run are due together again: time is counted from the
    begin of their run, and chance is the same for all of an adapter and source on a day.
    """

    default_schedule: str = DEFAULT_SCHEDULE
    recheck_days: float = 7.0

    def next_due(self, target: Mapping[str, Any], status: str, begun: int, now: int) -> int | None:
        """When a target of a run is due after now (ms); None if nothing is to be done for it."""
        if not target["enabled"] or target["robots_path_blocked"]:
            return None
        if status == TargetStatus.BROKEN:
            return now + int(self.recheck_days * DAY_MS)
        if status != TargetStatus.ACTIVE:
            return None
        due = self._due_after(target, begun)
        # Who is due more often than a run takes has its pause all the same.
        return due if due > now else self._due_after(target, now)

    def _due_after(self, target: Mapping[str, Any], since: int) -> int:
        default = self.default_schedule
        try:
            return next_due(target["schedule"], since, _chance_of(target, since), default)
        except SettingsError:
            # It was checked when it was written; who changed it behind our back gets the default.
            return next_due(None, since, _chance_of(target, since), default)


def _chance_of(target: Mapping[str, Any], since: int) -> random.Random:
    """The same for all targets of an adapter and source on a day."""
    return random.Random(f"{target['source_id']} {target['adapter_id']} {since // DAY_MS}")


class Leaver(NamedTuple):
    """A target that leaves its run, which was begun then, and how it fared."""

    target: Mapping[str, Any]
    begun: int
    fate: Fate


def leave(unit: Unit, leavers: Sequence[Leaver], timetable: Timetable) -> None:
    """Write what became of targets that are locked; they are in no run any more."""
    rows = [_after(unit, leaver, timetable) for leaver in leavers]
    if rows:
        unit.run(_leaving(), rows)


def _after(unit: Unit, leaver: Leaver, timetable: Timetable) -> dict[str, Any]:
    target, begun, fate = leaver
    failures = target["consecutive_failures"]
    failures = {"reset": 0, "leave": failures, "count": failures + 1}[fate.blame]
    status = _status(target, fate, failures)
    if target["status"] == TargetStatus.BROKEN and status == TargetStatus.ACTIVE:
        failures = 0
    was_visited = fate.counts.urls_attempted > 0
    return {
        "an_id": target["id"],
        "a_status": status,
        "a_last_status": fate.last_status,
        "failures": failures,
        "scraped": unit.now if was_visited else target["last_scraped_at"],
        "due": timetable.next_due(target, status, begun, unit.now),
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
