"""How long to pause between two looks: as changes and errors suggest."""

from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from penstock.core.clock import Clock
from penstock.workloads.live.settings import LiveSettings

#: From so many errors on, seconds between looks; the most errors first.
SLOWER: Final = ((20, 20.0), (10, 10.0), (5, 5.0))
#: So many seconds without an error, and all of them are forgotten.
QUIET_SECONDS = 300.0
RECENT_LOOKS = 10
#: Between looks at a page that does not change, and at one that does all the time.
IDLE_SECONDS, BUSY_SECONDS = 30.0, 2.0
#: A streak longer than this says no more than this.
LONGEST_STREAK = 1000


class Polling:
    """The interval of one feed; `floor` is the shortest that its domain allows."""

    def __init__(
        self,
        settings: LiveSettings,
        clock: Clock,
        interval: float | None = None,
        floor: float = 0.0,
    ) -> None:
        self.floor = floor
        self._settings = settings
        self._clock = clock
        self._baseline = interval or settings.polling_interval_seconds
        self._errors = 0
        self._last_error = 0.0
        self._failures_in_a_row = 0
        self._unchanged_in_a_row = 0
        self._recent: deque[bool] = deque(maxlen=RECENT_LOOKS)

    def looked(self, *, changed: bool) -> None:
        """A look went well."""
        self._failures_in_a_row = 0
        self._unchanged_in_a_row = 0 if changed else _more(self._unchanged_in_a_row)
        self._recent.append(changed)

    def failed(self) -> None:
        """A look went wrong."""
        self._failures_in_a_row = _more(self._failures_in_a_row)
        self._errors = max(self.errors, self._failures_in_a_row)
        self._last_error = self._clock.monotonic()

    @property
    def errors(self) -> int:
        """The longest row of errors since it was last quiet for long."""
        is_quiet = self._clock.monotonic() - self._last_error >= QUIET_SECONDS
        return 0 if is_quiet else self._errors

    @property
    def interval(self) -> float:
        """Seconds between two looks that go well."""
        return max(self._wanted(), self.floor)

    def next_delay(self) -> float:
        """Seconds until the next look: soon after a failure, as long as that may help."""
        failures, settings = self._failures_in_a_row, self._settings
        if not 0 < failures <= settings.retry_max_attempts:
            return self.interval
        delay = settings.retry_base_delay_seconds * 2.0 ** min(failures - 1, 64)
        return max(min(delay, settings.retry_max_delay_seconds), self.floor)

    def memory(self) -> dict[str, Any]:
        """What the next scraper of the feed is to know, as plain JSON."""
        ago = self._clock.monotonic() - self._last_error
        return {
            "errors": self.errors,
            "last_error_at": self._clock.now().timestamp() - ago if self.errors else None,
            "failures": self._failures_in_a_row,
            "unchanged": self._unchanged_in_a_row,
            "recent": list(self._recent),
        }

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on from what a former scraper knew; what makes no sense is as if it were not there."""
        self._failures_in_a_row = _number(memory.get("failures"))
        self._unchanged_in_a_row = _number(memory.get("unchanged"))
        recent = memory.get("recent")
        known = recent if isinstance(recent, list) else []
        self._recent = deque((each is True for each in known), maxlen=RECENT_LOOKS)
        ago = self._seconds_since(memory.get("last_error_at"))
        self._errors = 0 if ago is None else _number(memory.get("errors"))
        self._last_error = self._clock.monotonic() - (ago or 0.0)

    def _wanted(self) -> float:
        baseline = self._baseline
        if not self._settings.enable_adaptive_polling:
            return baseline
        for errors, seconds in SLOWER:
            if self.errors >= errors:
                return max(seconds, baseline)
        if self._unchanged_in_a_row >= RECENT_LOOKS:
            return max(IDLE_SECONDS, baseline)
        if self._recent.count(True) > RECENT_LOOKS / 2:
            return min(BUSY_SECONDS, baseline)
        return baseline

    def _seconds_since(self, timestamp: Any) -> float | None:
        """How long ago it was; a clock that was set back makes it now."""
        try:
            at = datetime.fromtimestamp(timestamp, UTC)
        except (TypeError, ValueError, OverflowError, OSError):
            return None
        return max(0.0, (self._clock.now() - at).total_seconds())


def _more(count: int) -> int:
    return min(count + 1, LONGEST_STREAK)


def _number(value: Any) -> int:
    return min(value, LONGEST_STREAK) if isinstance(value, int) and value > 0 else 0
