"""What a process tree takes at a moment, by kind, and whether that grows."""

import os
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from penstock.kernel.fetchers.browser.processes import costs_of
from penstock.workloads.live.ways import RENEW_SECONDS
from tests.chaos.browsers.vitals import Line, fit

PROC = Path("/proc")
MIB = 1024 * 1024
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
HOUR = 3600.0
KINDS = ("python", "node", "chromium", "renderers")
#: So many samples must have one of the same moment between two renewals to be compared with.
FEWEST_PAIRS = 18


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
    """A figure after the warm-up: its mean, its most, and how it moves over the hours.

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
    seconds = [sample.seconds for sample in warm]

    def trend(name: str, values: Sequence[float], least: float, share: float = 0.0) -> Trend:
        usual = mean(values)
        return Trend(name, usual, max(values), line_of(seconds, values), max(least, share * usual))

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


def line_of(seconds: Sequence[float], values: Sequence[float]) -> Line:
    """How a figure moves in an hour.

    Feeds that began together have their pages opened anew together, and what they take is a saw:
    each moment is compared with the one a renewal before. Of less than that, the line of least
    squares.
    """
    gains = [
        value - values[bisect_left(seconds, moment - RENEW_SECONDS)]
        for moment, value in zip(seconds, values, strict=True)
        if moment - RENEW_SECONDS >= seconds[0]
    ]
    if len(gains) < FEWEST_PAIRS:
        return fit([moment / HOUR for moment in seconds], values)
    in_an_hour, span = HOUR / RENEW_SECONDS, (seconds[-1] - seconds[0]) / HOUR
    return Line(mean(gains) * in_an_hour, stdev(gains) / len(gains) ** 0.5 * in_an_hour, span)


def share_fresh(samples: Sequence[Sample], seconds: int) -> float:
    """The share of looks at data that found it younger than so many seconds."""
    ages = [age for sample in samples for age in sample.ages]
    return sum(age is not None and age < seconds for age in ages) / len(ages)


def as_json(sample: Sample) -> dict[str, Any]:
    """For other tools."""
    return {name: getattr(sample, name) for name in Sample.__slots__}
