"""When a scraper that ended may be followed by the next: later each time, and not too often."""

from collections import deque
from typing import Final

from penstock.core.clock import Clock
from penstock.workloads.live.settings import LiveSettings

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
#: Who ran for this long before it ended begins with a short pause again.
STEADY_SECONDS = 300.0
HOUR = 3600.0
#: Reasons that are no sign of trouble.
BY_HAND = "by hand"
ORDERLY: Final = frozenset({"age", "memory", BY_HAND})


class Restarts:
    """The restarts of one feed."""

    def __init__(self, settings: LiveSettings, clock: Clock) -> None:
        self._most = settings.max_restarts_per_hour
        self._clock = clock
        self._pause = FIRST_PAUSE
        self._began = clock.monotonic()
        self._times: deque[float] = deque(maxlen=self._most)

    def pause_after(self, reason: str) -> float | None:
        """Seconds until the next scraper may begin; None if there were too many in an hour."""
        if reason in ORDERLY:
            return 0.0
        now = self._clock.monotonic()
        if len(self._times) == self._most and now - self._times[0] < HOUR:
            return None
        if now - self._began >= STEADY_SECONDS:
            self._pause = FIRST_PAUSE
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE)
        self._times.append(now)
        self._began = now + pause
        return pause
