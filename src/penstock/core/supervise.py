"""Every background task has an owner that awaits it, restarts it and reports it."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from penstock.core.clock import Clock
from penstock.core.log import get_logger

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0


class Supervisor:
    """Runs background tasks until it is left; one that fails is started again, later each time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()

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

    def start(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run some work in the background for as long as the supervisor lives."""
        self._tasks.add(asyncio.create_task(self._keep_running(name, work), name=name))

    async def _keep_running(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                return await work()
            except Exception as error:
                get_logger().error(
                    "background task failed", task=name, error=repr(error), restart_in=pause
                )
            await self._clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
