"""What a process tree takes at a moment, by kind, and whether that grows."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.kernel.fetchers.browser.processes import costs_of
from tests.chaos.browsers.vitals import Line, fit

PROC = Path("/proc")
MIB = 1024 * 1024
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
HOUR = 3600.0
KINDS = ("python", "node", "chromium", "renderers")


@dataclass(frozen=True, slots=True)
class Sample:
    """A moment; times are seconds since the first one, memory is in MB.

    `ages` are those of the data of all feeds, None where there was none; `feeds_mb` is what each
    of them takes by its own account.
    """

    seconds: float
    pss: float
    pss_by_kind: dict[str, float]
    rss: float
    files: int
    processes: int
    ages: list[int | None]
    feeds_mb: list[float]
    load: float


@dataclass(frozen=True, slots=True)
class Tree:
    """What a process and all below it take."""

    pss_by_kind: dict[str, float]
    rss: float
    files: int
    processes: int

    @property
    def pss(self) -> float:
        return sum(self.pss_by_kind.values())


def look_at(pid: int) -> Tree:
    """A process and all below it, now."""
    costs = costs_of(pid)
    by_kind = dict.fromkeys(KINDS, 0.0)
    for member, cost in costs.items():
        by_kind[_kind(member)] += cost.memory / MIB
    return Tree(by_kind, sum(map(_resident, costs)), sum(map(_open_files, costs)), len(costs))


def _kind(pid: int) -> str:
    command = ""
    with suppress(OSError):
        command = (PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace")
    if "--type=renderer" in command:
        return "renderers"
    if "--penstock-browser=" in command or "--type=" in command:
        return "chromium"
    return "node" if "run-driver" in command else "python"


def _resident(pid: int) -> float:
    with suppress(OSError):
        return int((PROC / str(pid) / "statm").read_text().split()[1]) * PAGE_SIZE / MIB
    return 0.0


def _open_files(pid: int) -> int:
    with suppress(OSError):
        return sum(1 for _ in (PROC / str(pid) / "fd").iterdir())
    return 0


@dataclass(frozen=True, slots=True)
class Trend:
    """A figure after the warm-up: its mean, its most, and its line over the hours.

    `allowed` is by how much the line may rise from its first moment to its last.
    """

    name: str
    mean: float
    most: float
    line: Line
    allowed: float

    @property
    def is_flat(self) -> bool:
        return self.line.growth <= self.allowed


def trends_of(samples: Sequence[Sample], warm_up: float) -> list[Trend]:
    """How all that is taken moves once the warm-up is over."""
    warm = [sample for sample in samples if sample.seconds >= warm_up]
    hours = [sample.seconds / HOUR for sample in warm]

    def trend(name: str, values: Sequence[float], least: float, share: float = 0.0) -> Trend:
        mean = sum(values) / len(values)
        return Trend(name, mean, max(values), fit(hours, values), max(least, share * mean))

    return [
        trend("memory of all (PSS, MB)", [one.pss for one in warm], 30, 0.03),
        *(
            trend(f"— {kind} (PSS, MB)", [one.pss_by_kind[kind] for one in warm], 15, 0.05)
            for kind in KINDS
        ),
        trend("memory of all (RSS, MB)", [one.rss for one in warm], 60, 0.03),
        trend("open files", [float(one.files) for one in warm], 8, 0.01),
        trend("processes", [float(one.processes) for one in warm], 1),
    ]


def share_fresh(samples: Sequence[Sample], seconds: int) -> float:
    """The share of looks at data that found it younger than so many seconds."""
    ages = [age for sample in samples for age in sample.ages]
    return sum(age is not None and age < seconds for age in ages) / len(ages)


def as_json(sample: Sample) -> dict[str, Any]:
    """For other tools."""
    return {name: getattr(sample, name) for name in Sample.__slots__}
