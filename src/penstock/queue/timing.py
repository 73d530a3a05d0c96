"""When something comes again: every so often, or by cron in a time zone; with some jitter."""

import random
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from penstock.core.errors import SettingsError

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")


@dataclass(frozen=True, slots=True)
class Timing:
    """Either `every` so many seconds or a `cron` expression in a `zone`; `jitter` in seconds."""

    every: float | None = None
    cron: str | None = None
    zone: str = "UTC"
    jitter: float = 0.0

    def __post_init__(self) -> None:
        if (self.every is None) == (self.cron is None):
            raise SettingsError("a schedule needs either an interval or a cron expression")
        if self.every is not None and self.every < 1:
            raise SettingsError("an interval must be at least one second")
        if self.jitter < 0:
            raise SettingsError("jitter must not be negative")
        self._next_cron(datetime.now(UTC))

    def next_after(self, now: datetime, chance: random.Random) -> datetime:
        """The next time after now, a little later by chance."""
        at = self._next_cron(now) + timedelta(seconds=self.every or 0)
        return at + timedelta(seconds=chance.uniform(0, self.jitter))

    def _next_cron(self, now: datetime) -> datetime:
        if self.cron is None:
            return now
        try:
            zone = ZoneInfo(self.zone)
        except (KeyError, ValueError, OSError) as error:
            raise SettingsError(f"'{self.zone}' is no time zone (try Europe/Berlin)") from error
        try:
            # It counts in local time, so that "at six" stays at six when the clocks change.
            found = next(CronSim(self.cron, now.astimezone(zone)))
        except (CronSimError, StopIteration) as error:
            raise SettingsError(f"'{self.cron}' is no cron expression: {error}") from error
        return found.astimezone(UTC)

    def span(self, now: datetime) -> float:
        """About how many seconds lie between two times."""
        if self.every is not None:
            return self.every
        first = self._next_cron(now)
        return (self._next_cron(first) - first).total_seconds()

    def as_json(self) -> dict[str, Any]:
        """The timing as plain data."""
        return {name: value for name, value in asdict(self).items() if value not in (None, 0.0)}


def read_span(text: str) -> float:
    """Seconds of a span such as 90s, 15m, 1.5h or 1d12h."""
    compact = text.strip().lower().replace(" ", "")
    parts = list(_SPAN.finditer(compact))
    if not parts or "".join(part[0] for part in parts) != compact:
        raise SettingsError(f"'{text}' is no span of time; write 90s, 15m, 1h, 1d or 1d12h")
    return sum(float(part[1]) * SECONDS[part[2]] for part in parts)
