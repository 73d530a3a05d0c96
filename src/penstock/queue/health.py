"""Health: what makes progress, not what is merely alive."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from penstock.core.clock import Clock
from penstock.core.supervise import Supervisor
from penstock.kernel.switches import Switches
from penstock.queue.ports import Depth, State
from penstock.queue.station import Station

#: Work that has been due for so many seconds while nothing succeeded is stuck.
STUCK_SECONDS = 120.0

Verdict = Literal["ok", "degraded", "failing"]


@dataclass(frozen=True, slots=True)
class Health:
    """How the platform is doing, and what is wrong with it in words."""

    status: Verdict
    problems: Sequence[str]
    lanes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    workers: int = 0

    def as_json(self) -> dict[str, Any]:
        """The health as plain data."""
        return {
            "status": self.status,
            "problems": list(self.problems),
            "lanes": {name: dict(lane) for name, lane in self.lanes.items()},
            "workers": self.workers,
        }


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
    depths: Sequence[Depth], workers: Sequence[Mapping[str, Any]], paused: Mapping[str, str]
) -> Health:
    """The health of everything that works from one store."""
    problems: list[str] = []
    lanes = {depth.lane: _lane(depth, workers) for depth in depths}
    for name, lane in lanes.items():
        if _is_stuck(lane) and not paused:
            problems.append(f"lane {name} makes no progress: {lane['oldest_due']:.0f} s overdue")
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
    return Health(status, problems, lanes, len(workers))


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


def _is_stuck(lane: Mapping[str, Any]) -> bool:
    due, age = lane["oldest_due"], lane["last_success_age"]
    return due is not None and due > STUCK_SECONDS and (age is None or age > STUCK_SECONDS)
