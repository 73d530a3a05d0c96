"""When a target is due: by a cron expression or a span such as 6h, else once a day."""

import random
from datetime import UTC, datetime
from functools import lru_cache

from penstock.core.errors import SettingsError
from penstock.queue.timing import Timing, read_span

DEFAULT_SCHEDULE = "24h"
SHORTEST_SECONDS = 60.0
#: A span is stretched by up to this share, so that not all shops are read at the same time.
JITTER = 0.1


@lru_cache(maxsize=4096)
def timing_of(schedule: str) -> Timing:
    """The timing that a schedule means; raise `SettingsError` for what is none."""
    timing = _read(schedule.strip())
    if timing.span(datetime.now(UTC)) < SHORTEST_SECONDS:
        raise SettingsError("a target is due once a minute at most")
    return timing


def _read(text: str) -> Timing:
    if " " in text:
        return Timing(cron=text)
    try:
        seconds = read_span(text)
    except SettingsError as error:
        raise SettingsError(
            f"'{text}' is no schedule: write a span such as 6h or 1d, or cron such as '0 6 * * *'"
        ) from error
    return Timing(every=max(seconds, 1.0), jitter=seconds * JITTER)


def next_due(
    schedule: str | None, now: int, chance: random.Random, default: str = DEFAULT_SCHEDULE
) -> int:
    """When a target that was read now is due again, in milliseconds of the store."""
    at = datetime.fromtimestamp(now / 1000, UTC)
    return int(timing_of(schedule or default).next_after(at, chance).timestamp() * 1000)
