"""How much happened in the last minute or hour, in bounded memory."""

from collections import deque
from math import ceil, floor
from typing import Final

from penstock.core.clock import Clock

MINUTE, HOUR = 60.0, 3600.0
#: What happens within a tenth of a second happens at once.
TICKS_PER_SECOND: Final = 10
#: Latencies are those of the last looks, none of them older than this.
MOST_LATENCIES: Final = 1000
LATENCY_SECONDS: Final = 300.0
HIGH: Final = 0.95


class RecentCount:
    """Counts what happens, and forgets it when it is older than the window, to the tick."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._width = _ticks(seconds)
        #: Ticks at which something happened, and how often; the oldest first.
        self._ticks: deque[int] = deque()
        self._numbers: deque[int] = deque()
        self._total = 0

    def add(self, number: int = 1) -> None:
        """It happened now, so many times."""
        now = self._forget()
        if self._ticks and self._ticks[-1] == now:
            self._numbers[-1] += number
        else:
            self._ticks.append(now)
            self._numbers.append(number)
        self._total += number

    def total(self) -> int:
        """How often it happened within the window."""
        self._forget()
        return self._total

    def within(self, seconds: float) -> int:
        """How often it happened in the last so many seconds, at most those of the window."""
        oldest = self._forget() - _ticks(seconds)
        number = 0
        for tick, several in zip(reversed(self._ticks), reversed(self._numbers), strict=True):
            if tick <= oldest:
                break
            number += several
        return number

    def _forget(self) -> int:
        """Drop what is too old; the present tick."""
        now = _ticks(self._clock.monotonic())
        while self._ticks and self._ticks[0] <= now - self._width:
            self._ticks.popleft()
            self._total -= self._numbers.popleft()
        return now


class RecentLatencies:
    """How long the last looks took, in seconds."""

    def __init__(
        self, clock: Clock, seconds: float = LATENCY_SECONDS, most: int = MOST_LATENCIES
    ) -> None:
        self._clock = clock
        self._seconds = seconds
        self._samples: deque[tuple[float, float]] = deque(maxlen=most)

    def add(self, latency: float) -> None:
        """A look has just ended that took so long."""
        self._samples.append((self._clock.monotonic(), latency))

    def average(self) -> float:
        """The mean; 0 if there was no look."""
        recent = self._recent()
        return sum(recent) / len(recent) if recent else 0.0

    def high(self) -> float:
        """What 95 of 100 looks did not exceed; 0 if there was none."""
        recent = sorted(self._recent())
        return recent[ceil(HIGH * len(recent)) - 1] if recent else 0.0

    def _recent(self) -> list[float]:
        oldest = self._clock.monotonic() - self._seconds
        while self._samples and self._samples[0][0] <= oldest:
            self._samples.popleft()
        return [latency for _, latency in self._samples]


class RecentLooks:
    """What the scrapers of this process did lately."""

    def __init__(self, clock: Clock) -> None:
        self._errors = RecentCount(clock, HOUR)
        self._updates = RecentCount(clock, MINUTE)
        self._latencies = RecentLatencies(clock)

    def looked(self, latency: float) -> None:
        """A look went well, changed or not, and took so many seconds."""
        self._updates.add()
        self._latencies.add(latency)

    def failed(self) -> None:
        """A look went wrong."""
        self._errors.add()

    @property
    def errors_last_minute(self) -> int:
        """Errors of all feeds."""
        return self._errors.within(MINUTE)

    @property
    def errors_last_hour(self) -> int:
        """Errors of all feeds."""
        return self._errors.total()

    @property
    def updates_per_minute(self) -> int:
        """Good looks at all feeds in the last minute."""
        return self._updates.total()

    @property
    def average_latency_ms(self) -> float:
        """Of the last looks."""
        return round(self._latencies.average() * 1000, 1)

    @property
    def p95_latency_ms(self) -> float:
        """Of the last looks."""
        return round(self._latencies.high() * 1000, 1)


def _ticks(seconds: float) -> int:
    return floor(seconds * TICKS_PER_SECOND)
