"""A clock that tests move by hand; sleeping on it moves it and takes no time."""

import asyncio
from datetime import UTC, datetime, timedelta


class HandClock:
    """Starts at a fixed moment; `move` changes durations and dates, `set_date` dates alone."""

    def __init__(self, now: datetime = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)) -> None:
        self._monotonic = 1000.0
        self._now = now
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self._monotonic

    def now(self) -> datetime:
        return self._now

    def move(self, seconds: float) -> None:
        self._monotonic += seconds
        self._now += timedelta(seconds=seconds)

    def set_date(self, now: datetime) -> None:
        self._now = now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.move(max(0.0, seconds))
        await asyncio.sleep(0)

    async def wait_for(self, event: asyncio.Event, seconds: float) -> None:
        await asyncio.sleep(0)
        if not event.is_set():
            self.move(max(0.0, seconds))
