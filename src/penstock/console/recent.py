"""What happened lately, as far as this process saw it: rates, failures and outages.

Nothing of it is in the store: it begins anew with the process.
"""

from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from penstock.core.clock import Clock
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.core.metrics import Metrics
from penstock.kernel.circuits import Circuits, RuleSet

#: Seconds between two looks, and for how many seconds they are remembered.
LOOK_EVERY, SPAN = 5.0, 1800.0
#: Of so many looks one point of a line is made.
LOOKS_PER_POINT = 3
MINUTE = 60.0
#: Of fewer than this in a minute, parts are told.
FEW = 10.0
MOST_OUTAGES = 200

PAGES, FAILURE, LANE = "pages", "failure", "lane"
#: What is counted: pages; a failure by kind and reason; what is over in a lane.
Name = tuple[str, ...]
Worker = Mapping[str, Any]


class Sample(NamedTuple):
    """What was counted up to a moment."""

    at: float
    counts: Mapping[Name, int]


@dataclass(slots=True)
class Outage:
    """A domain that was taken for down, from when (ms) and until when; by which rules."""

    rules: str
    domain: str
    began_at: int
    state: str
    failures: int
    backoff: float
    ended_at: int | None = None


class Recent:
    """Samples of the last half hour, and the outages of domains."""

    def __init__(
        self,
        metrics: Metrics,
        circuits: Circuits,
        workers: Callable[[], Awaitable[Sequence[Worker]]],
        clock: Clock,
    ) -> None:
        self._metrics = metrics
        self._circuits = circuits
        self._workers = workers
        self._clock = clock
        self._samples: deque[Sample] = deque(maxlen=round(SPAN / LOOK_EVERY) + 1)
        self._done: dict[str, Mapping[str, int]] | None = None
        self._lanes: Counter[str] = Counter()
        self._open: dict[tuple[str, str], Outage] = {}
        self._over: deque[Outage] = deque(maxlen=MOST_OUTAGES)

    async def keep_looking(self) -> None:
        """Look again and again."""
        while True:
            try:
                await self.look()
            except PenstockError as error:
                get_logger().warning("the console's figures are old", error=str(error))
            await self._clock.sleep(LOOK_EVERY)

    async def look(self) -> None:
        """Take a sample, and see which domains are down."""
        self._count_lanes(await self._workers())
        counts: dict[Name, int] = {(PAGES,): self._metrics.pages_fetched}
        counts |= {(FAILURE, *names): number for names, number in self._metrics.failures.items()}
        counts |= {(LANE, lane): number for lane, number in self._lanes.items()}
        self._samples.append(Sample(self._clock.monotonic(), counts))
        await self.look_at_circuits()

    def _count_lanes(self, workers: Sequence[Worker]) -> None:
        """Add what workers did since the last look; what they did before the first is not news."""
        done = {worker["id"]: worker["status"].get("done", {}) for worker in workers}
        if self._done is not None:
            for worker, numbers in done.items():
                before = self._done.get(worker, {})
                for lane, number in numbers.items():
                    self._lanes[lane] += max(0, number - before.get(lane, 0))
        self._done = done

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
        """Failures by kind and reason: in the last half hour, and since the process began."""
        if not self._samples:
            return []
        first, last = self._samples[0], self._samples[-1]
        found = [
            (name[1], name[2], number - first.counts.get(name, 0), number)
            for name, number in last.counts.items()
            if name[0] == FAILURE
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

    # ── outages

    async def look_at_circuits(self) -> None:
        """See which domains are down, and which are up again."""
        now = int(self._clock.now().timestamp() * 1000)
        seen: set[tuple[str, str]] = set()
        for rules in self._rule_sets():
            for circuit in await rules.breaker.troubled():
                key = (rules.name, circuit.domain)
                seen.add(key)
                outage = self._open.setdefault(key, Outage(*key, now, "", 0, 0.0))
                outage.state, outage.failures = circuit.state, circuit.failures
                outage.backoff = circuit.backoff
        for key in self._open.keys() - seen:
            outage = self._open.pop(key)
            outage.state, outage.ended_at = "closed", now
            self._over.appendleft(outage)

    def open(self, rules: str | None = None) -> list[Outage]:
        """The outages that last, the longest first."""
        return [each for each in self._open.values() if rules in (None, each.rules)]

    def over(self, rules: str | None = None) -> list[Outage]:
        """The outages that are over, the latest first."""
        return [each for each in self._over if rules in (None, each.rules)]

    def _rule_sets(self) -> list[RuleSet]:
        found = (self._circuits.common, *self._circuits.of_workloads.values())
        return list({each.name: each for each in found}.values())


def _rate(earlier: Sample, later: Sample, name: Name) -> float:
    number = _number(later, name) - _number(earlier, name)
    rate = number * MINUTE / (later.at - earlier.at)
    return round(rate, 1 if rate < FEW else 0)


def _number(sample: Sample, name: Name) -> int:
    """How many of something, or of everything that begins like it."""
    return sum(number for known, number in sample.counts.items() if known[: len(name)] == name)
