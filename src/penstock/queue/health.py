"""Health: what makes progress, not what is merely alive."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import and_, case, func, select

from penstock.core.clock import Clock
from penstock.core.supervise import Supervisor
from penstock.kernel.switches import EVERYTHING, Switches
from penstock.queue.lines import IS_CLAIMED, IS_WAITING
from penstock.queue.ports import Depth, State
from penstock.queue.station import Station
from penstock.queue.tables import items, lines
from penstock.store.store import Store
from penstock.store.unit import Unit

#: Work that has been due for so many seconds while nothing succeeded is stuck.
STUCK_SECONDS = 120.0
#: So is work that was begun so many seconds ago: a slow page, tried three times, takes less.
HELD_SECONDS = 600.0

Verdict = Literal["ok", "degraded", "failing"]


@dataclass(frozen=True, slots=True)
class Health:
    """How the platform is doing, and what is wrong with it in words."""

    status: Verdict
    problems: Sequence[str]
    lanes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    processes: int = 0

    def as_json(self) -> dict[str, Any]:
        """The health as plain data."""
        return {
            "status": self.status,
            "problems": list(self.problems),
            "lanes": {name: dict(lane) for name, lane in self.lanes.items()},
            "processes": self.processes,
        }


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits in one group of a lane, how much of it now, and when (ms) it is looked at next."""

    lane: str
    group: str
    waiting: int
    due: int
    next_at: int | None


async def longest_held(store: Store, paused: Collection[str]) -> Mapping[str, float]:
    """For how many seconds the oldest claim of each lane is held; not of domains on pause."""
    query = select(items.c.lane, func.min(items.c.claimed_at)).group_by(items.c.lane)
    query = query.where(IS_CLAIMED, items.c.group_key.not_in(list(paused)))
    return await store.read(
        lambda unit: {lane: (unit.now - at) / 1000 for lane, at in unit.run(query)}
    )


async def largest_backlogs(store: Store, limit: int) -> list[Backlog]:
    """The groups in which most waits, the largest first."""
    return await store.read(lambda unit: _largest_backlogs(unit, limit))


def _largest_backlogs(unit: Unit, limit: int) -> list[Backlog]:
    is_ripe = case((items.c.not_before <= unit.now, 1), else_=0)
    # In the order of the index of what waits, and of that alone.
    of_line = (
        select(
            items.c.lane,
            items.c.priority,
            items.c.group_key,
            func.count().label("waiting"),
            func.sum(is_ripe).label("ripe"),
        )
        .where(IS_WAITING)
        .group_by(items.c.lane, items.c.priority, items.c.group_key)
        .subquery()
    )
    same = and_(
        lines.c.lane == of_line.c.lane,
        lines.c.priority == of_line.c.priority,
        lines.c.group_key == of_line.c.group_key,
    )
    waiting = func.sum(of_line.c.waiting)
    due = func.sum(case((lines.c.next_at <= unit.now, of_line.c.ripe), else_=0))
    query = (
        select(of_line.c.lane, of_line.c.group_key, waiting, due, func.min(lines.c.next_at))
        .select_from(of_line.outerjoin(lines, same))
        .group_by(of_line.c.lane, of_line.c.group_key)
        .order_by(waiting.desc(), of_line.c.lane, of_line.c.group_key)
        .limit(limit)
    )
    return [
        Backlog(lane, group, int(number), int(ready), at)
        for lane, group, number, ready, at in unit.run(query)
    ]


def report(
    station: Station, supervisors: Sequence[Supervisor], switches: Switches, clock: Clock
) -> dict[str, Any]:
    """What one process says of itself with every heartbeat."""
    now, progress = clock.monotonic(), station.progress
    ages = {lane: round(now - at, 1) for lane, at in progress.last_success.items()}
    duties = {name: duty.as_json() for each in supervisors for name, duty in each.duties.items()}
    return {
        "held": station.held,
        "done": dict(progress.done),
        "last_success_age": ages,
        "duties": duties,
        "paused": sorted(switches.paused),
    }


def judge(
    depths: Sequence[Depth],
    workers: Sequence[Mapping[str, Any]],
    paused: Mapping[str, str],
    held: Mapping[str, float] | None = None,
) -> Health:
    """The health of everything that works from one store; `held`: of each lane's oldest claim."""
    lanes = {depth.lane: _lane(depth, workers) for depth in depths}
    problems: list[str] = []
    if EVERYTHING not in paused:
        problems += _stuck_lanes(lanes, held or {})
    if not any(worker["kind"] == "worker" for worker in workers):
        problems.append("no worker is running: start `penstock up` or `penstock worker`")
    is_failing = bool(problems)
    for domain, reason in paused.items():
        problems.append(f"{domain or 'all contact'} is paused{f': {reason}' if reason else ''}")
    for worker in workers:
        for name, duty in worker["status"].get("duties", {}).items():
            if duty["state"] == "waiting":
                problems.append(f"{name} of {worker['id']} fails: {duty['last_error']}")
    status: Verdict = "failing" if is_failing else "degraded" if problems else "ok"
    return Health(status, problems, lanes, processes=len(workers))


def _lane(depth: Depth, workers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    ages = [
        age + worker["silent_ms"] / 1000
        for worker in workers
        if (age := worker["status"].get("last_success_age", {}).get(depth.lane)) is not None
    ]
    return {
        **{str(state): depth.counts.get(state, 0) for state in State},
        "oldest_due": depth.oldest_due,
        "last_success_age": min(ages, default=None),
    }


def _stuck_lanes(
    lanes: Mapping[str, Mapping[str, Any]], held: Mapping[str, float]
) -> Sequence[str]:
    """What is said of lanes in which nothing succeeded for long, though something could have."""
    said = []
    for name, lane in lanes.items():
        due, age = lane["oldest_due"] or 0.0, lane["last_success_age"]
        if age is not None and age <= STUCK_SECONDS:
            continue
        if due > STUCK_SECONDS:
            said.append(f"lane {name} makes no progress: {due:.0f} s overdue")
        elif held.get(name, 0.0) > HELD_SECONDS:
            said.append(f"lane {name} makes no progress: begun {held[name]:.0f} s ago, not over")
    return said
