"""How fast things went lately, in all processes of the store, as their heartbeats tell.

Samples are kept in memory: they begin anew with the process that serves the console.
"""

from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from penstock.core.clock import Clock
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger

#: Seconds between two looks, and for how many seconds they are remembered.
LOOK_EVERY, SPAN = 5.0, 1800.0
#: Of so many looks one point of a line is made.
LOOKS_PER_POINT = 3
MINUTE = 60.0
#: Of fewer than this in a minute, parts are told.
FEW = 10.0

PAGES, FAILURE, LANE = "pages", "failure", "lane"
#: What is counted: pages; a failure by kind and reason; what is over in a lane.
Name = tuple[str, ...]
Worker = Mapping[str, Any]


class Sample(NamedTuple):
    """What was counted up to a moment."""

    at: float
    counts: Mapping[Name, int]


class Recent:
    """Samples of the last half hour."""

    def __init__(self, workers: Callable[[], Awaitable[Sequence[Worker]]], clock: Clock) -> None:
        self._workers = workers
        self._clock = clock
        self.began_at = int(clock.now().timestamp() * 1000)
        self._samples: deque[Sample] = deque(maxlen=round(SPAN / LOOK_EVERY) + 1)
        self._before: Mapping[str, Mapping[Name, int]] = {}
        self._counts: Counter[Name] = Counter()

    async def keep_looking(self) -> None:
        """Look again and again."""
        while True:
            try:
                await self.look()
            except PenstockError as error:
                get_logger().warning("the console's figures are old", error=str(error))
            await self._clock.sleep(LOOK_EVERY)

    async def look(self) -> None:
        """Take a sample: add what workers did since the last one."""
        told = {worker["id"]: _told(worker["status"]) for worker in await self._workers()}
        for worker, numbers in told.items():
            before = self._before.get(worker, {})
            for name, number in numbers.items():
                self._counts[name] += max(0, number - before.get(name, 0))
        self._before = told
        self._samples.append(Sample(self._clock.monotonic(), dict(self._counts)))

    # ── rates

    def per_minute(self, *name: str) -> float | None:
        """How many there were in the last minute; None as long as there is nothing to compare."""
        lately = self._since(MINUTE)
        if lately is None:
            return None
        first, last = lately
        return _rate(first, last, name)

    def line(self, *name: str) -> list[float]:
        """As many per minute, point by point."""
        chosen = list(self._samples)[::-LOOKS_PER_POINT][::-1]
        return [
            _rate(earlier, later, name)
            for earlier, later in pairwise(chosen)
            if later.at > earlier.at
        ]

    def failures(self) -> list[tuple[str, str, int, int]]:
        """Failures by kind and reason: in the last half hour, and in all.

        That is since the processes began that were at work at the first look.
        """
        if not self._samples:
            return []
        first, last = self._samples[0], self._samples[-1]
        found = [
            (name[1], name[2], number - first.counts.get(name, 0), number)
            for name, number in last.counts.items()
            if name[0] == FAILURE and number
        ]
        return sorted(found, key=lambda each: (-each[2], -each[3], each[:2]))

    def _since(self, seconds: float) -> tuple[Sample, Sample] | None:
        if not self._samples:
            return None
        last = self._samples[-1]
        # A little more, so that the sample of a minute ago is one of them.
        since = last.at - seconds - LOOK_EVERY / 2
        first = next(each for each in self._samples if each.at >= since)
        return (first, last) if last.at > first.at else None


def _told(status: Mapping[str, Any]) -> Mapping[Name, int]:
    """What a process says of itself, by what is counted."""
    counts: dict[Name, int] = {(PAGES,): status.get("pages", 0)}
    counts |= {(FAILURE, *names): number for *names, number in status.get("failures", ())}
    return counts | {(LANE, lane): number for lane, number in status.get("done", {}).items()}


def _rate(earlier: Sample, later: Sample, name: Name) -> float:
    number = _number(later, name) - _number(earlier, name)
    rate = number * MINUTE / (later.at - earlier.at)
    return round(rate, 1 if rate < FEW else 0)


def _number(sample: Sample, name: Name) -> int:
    """How many of something, or of everything that begins like it."""
    return sum(number for known, number in sample.counts.items() if known[: len(name)] == name)
