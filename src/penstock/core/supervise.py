"""Every background task has an owner that awaits it, restarts it and reports it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from penstock.core.clock import Clock
from penstock.core.log import get_logger

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
#: Who ran for this long before it failed begins with a short pause again.
STEADY = 300.0


@dataclass(slots=True)
class Duty:
    """How a background task is doing."""

    state: str = "running"
    restarts: int = 0
    last_error: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The duty as plain data."""
        return {"state": self.state, "restarts": self.restarts, "last_error": self.last_error}


class Supervisor:
    """Runs background tasks until it is left; one that fails is started again, later each time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()
        self._duties: dict[str, Duty] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def duties(self) -> Mapping[str, Duty]:
        """How every task is doing, by name."""
        return self._duties

    def start(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run some work in the background for as long as the supervisor lives."""
        self._duties[name] = Duty()
        self._tasks.add(asyncio.create_task(self._keep_running(name, work), name=name))

    async def _keep_running(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        duty, pause = self._duties[name], FIRST_PAUSE
        while True:
            began = self._clock.monotonic()
            try:
                await work()
                duty.state = "ended"
                return
            except Exception as error:
                if self._clock.monotonic() - began > STEADY:
                    pause = FIRST_PAUSE
                duty.state, duty.last_error = "waiting", repr(error)
                duty.restarts += 1
                get_logger().error(
                    "background task failed", task=name, error=repr(error), restart_in=pause
                )
            await self._clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
            duty.state = "running"
