"""What a service takes at a moment, and whether it grows: a straight line through all moments."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

from penstock.kernel.fetchers.browser.processes import family_of, memory_of
from tests.private_server import is_alive

MIB = 1024 * 1024
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
#: This share of the moments is not looked at: what is loaded with the first pages stays.
WARM_UP = 0.25
FEWEST = 3


def resident_mb(pid: int) -> float:
    """Memory of one process alone."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * PAGE_SIZE / MIB


def tree_mb(pid: int) -> float:
    """Memory of a process with all its children; what they share is counted once."""
    return memory_of(pid) / MIB


def open_files(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def process_count(pid: int) -> int:
    """How many processes run, this one included."""
    return sum(map(is_alive, family_of(pid)))


@dataclass(frozen=True, slots=True)
class Line:
    """A fitted line: what is gained with every x, and how uncertain that is."""

    slope: float
    error: float
    span: float

    @property
    def growth(self) -> float:
        """What the line gains from its first moment to its last."""
        return self.slope * self.span


def fit(xs: Sequence[float], ys: Sequence[float]) -> Line:
    """The line of least squares; its error is the standard error of the slope."""
    number = len(xs)
    if number < FEWEST:
        raise ValueError(f"a line needs {FEWEST} moments, not {number}")
    middle_x, middle_y = sum(xs) / number, sum(ys) / number
    spread = sum((x - middle_x) ** 2 for x in xs)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True)) / spread
    left = sum((y - middle_y - slope * (x - middle_x)) ** 2 for x, y in zip(xs, ys, strict=True))
    return Line(slope, sqrt(left / (number - 2) / spread), max(xs) - min(xs))
