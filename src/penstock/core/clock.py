"""The only source of time: durations are monotonic, dates are UTC."""

import asyncio
import contextlib
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits; tests hand in one that they move by hand."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...

    def now(self) -> datetime:
        """The date and time of day in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; zero or less gives other tasks a turn."""
        ...

    async def wait_for(self, event: asyncio.Event, seconds: float) -> None:
        """Wait until the event is set, but not longer than so many seconds."""
        ...


class SystemClock:
    """The clock of the machine."""

    #: Asked a dozen times per page: without a frame of our own around it.
    monotonic = staticmethod(time.monotonic)

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))

    async def wait_for(self, event: asyncio.Event, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, seconds)):
                await event.wait()
