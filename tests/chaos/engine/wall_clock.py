"""A wall clock that tests set, for the processes of a nursery; durations stay what they are.

`PENSTOCK_CHAOS_CLOCK=file` is read only by the tests' own processes; the file holds by how many
seconds the clock is wrong. (libfaketime 0.9 cannot do this: without its hand on the monotonic
clock, it stalls Python's threads.)
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from penstock.core.clock import SystemClock

VARIABLE = "PENSTOCK_CHAOS_CLOCK"


def plant(wanted: str) -> None:
    """Let this process believe in the clock of a file; nothing for an empty text."""
    if not wanted:
        return
    file = Path(wanted)
    seconds, nanoseconds = time.time, time.time_ns

    def now(_clock: SystemClock) -> datetime:
        return datetime.fromtimestamp(seconds(), UTC) + timedelta(seconds=_offset(file))

    _replace("time", lambda: seconds() + _offset(file))
    _replace("time_ns", lambda: nanoseconds() + _offset(file) * 10**9)
    setattr(SystemClock, "now", now)  # noqa: B010 - a method is not assigned to


def set_to(file: Path, offset: int) -> None:
    """Set the clock of a file, at once."""
    new = file.with_suffix(".new")
    new.write_text(str(offset))
    new.replace(file)


def _offset(file: Path) -> int:
    return int(file.read_text())


def _replace(name: str, function: Callable[[], float]) -> None:
    setattr(time, name, function)
