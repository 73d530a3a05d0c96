"""Health: what makes progress, not what is merely alive."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import and_, case, func, select

from penstock.core.clock import Clock
from penstock.core.errors import UrlError
from penstock.core.metrics import Metrics
from penstock.core.supervise import Supervisor
from penstock.core.urls import parse
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

#: If so many tries came to nothing and none succeeded in the last seconds, it is said.
MANY_IN_VAIN, LATELY_SECONDS = 10, 300.0

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
    return await store.read(lambda unit: _longest_held(unit, paused))


def _longest_held(unit: Unit, paused: Collection[str]) -> Mapping[str, float]:
    # By their URLs: a group may be one of several domains, or one host of one.
    query = select(items.c.lane, items.c.claimed_at, items.c.payload).where(IS_CLAIMED)
    oldest: dict[str, int] = {}
    for lane, at, payload in unit.run(query):
        if not paused or _domain_of(payload.get("url")) not in paused:
            oldest[lane] = min(at, oldest.get(lane, at))
    return {lane: (unit.now - at) / 1000 for lane, at in oldest.items()}


def _domain_of(url: Any) -> str | None:
    try:
        return parse(url).domain if isinstance(url, str) else None
    except UrlError:
        return None


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
    station: Station,
    supervisors: Sequence[Supervisor],
    switches: Switches,
    metrics: Metrics,
    clock: Clock,
) -> dict[str, Any]:
    """What one process says of itself with every heartbeat."""
    progress = station.progress
    duties = {name: duty.as_json() for each in supervisors for name, duty in each.duties.items()}
    return {
        "held": station.held,
        "done": dict(progress.done),
        "pages": metrics.pages_fetched,
        "failures": [[*names, number] for names, number in metrics.failures.items()],
        "last_success_age": _ages(progress.last_success, clock),
        "in_vain": dict(progress.in_vain),
        "last_try_age": _ages(progress.last_try, clock),
        "duties": duties,
        "paused": sorted(switches.paused),
    }


def _ages(moments: Mapping[str, float], clock: Clock) -> dict[str, float]:
    now = clock.monotonic()
    return {lane: round(now - at, 1) for lane, at in moments.items()}


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
    if EVERYTHING not in paused:
        problems += _fruitless_lanes(lanes)
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
        age
        for worker in workers
        if (age := _age(worker, "last_success_age", depth.lane)) is not None
    ]
    return {
        **{str(state): depth.counts.get(state, 0) for state in State},
        "oldest_due": depth.oldest_due,
        "last_success_age": min(ages, default=None),
        "in_vain": sum(_in_vain(worker, depth.lane) for worker in workers),
    }


def _age(worker: Mapping[str, Any], name: str, lane: str) -> float | None:
    """For how many seconds something is over, of which a worker told with its last beat."""
    age: float | None = worker["status"].get(name, {}).get(lane)
    return None if age is None else age + worker["silent_ms"] / 1000


def _in_vain(worker: Mapping[str, Any], lane: str) -> int:
    """What came to nothing since the last success; nothing, if nothing was tried lately."""
    age = _age(worker, "last_try_age", lane)
    if age is None or age > LATELY_SECONDS:
        return 0
    return int(worker["status"]["in_vain"].get(lane, 0))


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


def _fruitless_lanes(lanes: Mapping[str, Mapping[str, Any]]) -> Sequence[str]:
    """What is said of lanes in which much is tried and nothing succeeds; idle ones try nothing."""
    return [
        f"lane {name}: {lane['in_vain']} tries came to nothing, and none succeeded lately"
        for name, lane in lanes.items()
        if lane["in_vain"] >= MANY_IN_VAIN
        and (lane["last_success_age"] is None or lane["last_success_age"] > LATELY_SECONDS)
    ]
