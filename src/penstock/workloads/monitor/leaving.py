"""Targets leave their run: how they fared, what they are now, and when they are due again."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
        whose = f"{target['source_id']} {target['adapter_id']}"
        return _due_after(target["schedule"], self.default_schedule, whose, since)


@lru_cache(maxsize=1024)
def _due_after(schedule: str | None, default: str, whose: str, since: int) -> int:
    """The same for all targets of a run; and chance for all of an adapter and source on a day."""
    chance = random.Random(f"{whose} {since // DAY_MS}")
    try:
        return next_due(schedule, since, chance, default)
    except SettingsError:
        # It was checked when it was written; who changed it behind our back gets the default.
        return next_due(None, since, chance, default)


class Leaver(NamedTuple):
    """A target that leaves its run, which was begun then, and how it fared.

    `learnt` is what else is to be known of it from now on, by column.
    """

    target: Mapping[str, Any]
    begun: int
    fate: Fate
    learnt: Mapping[str, Any] = {}


def leave(unit: Unit, leavers: Sequence[Leaver], timetable: Timetable) -> None:
    """Write what became of targets that are locked; they are in no run any more."""
    rows = [_after(unit, leaver, timetable) for leaver in leavers]
    for names in sorted({tuple(row) for row in rows}):
        unit.run(_leaving(names), [_bound(row) for row in rows if tuple(row) == names])


def _after(unit: Unit, leaver: Leaver, timetable: Timetable) -> dict[str, Any]:
    target, begun, fate, learnt = leaver
    failures = target["consecutive_failures"]
    failures = {"reset": 0, "leave": failures, "count": failures + 1}[fate.blame]
    status = _status(target, fate, failures)
    if target["status"] == TargetStatus.BROKEN and status == TargetStatus.ACTIVE:
        failures = 0
    was_visited = fate.counts.urls_attempted > 0
    row = {
        "id": target["id"],
        "run_id": None,
        "last_status": fate.last_status,
        "consecutive_failures": failures,
        "last_scraped_at": unit.now if was_visited else target["last_scraped_at"],
        "next_due_at": timetable.next_due(target, status, begun, unit.now),
        "updated_at": unit.now,
        **learnt,
    }
    # SQLite writes the index of a column that is set, also to what it was.
    return row if status == target["status"] else row | {"status": status}


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


def _leaving(names: Sequence[str]) -> Any:
    columns = scrape_targets.c
    values = {name: bindparam(f"new_{name}", type_=columns[name].type) for name in names[1:]}
    return update(scrape_targets).where(columns.id == bindparam("new_id")).values(values)


def _bound(row: Mapping[str, Any]) -> dict[str, Any]:
    return {f"new_{name}": value for name, value in row.items()}
