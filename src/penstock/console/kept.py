"""Looks that cost something: kept for a while, the longer the more they cost."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from penstock.core.clock import Clock
from penstock.core.log import get_logger

T = TypeVar("T")
#: A look is repeated after so many seconds at the earliest,
FRESH_SECONDS = 1.0
#: and takes no more than this part of the time.
SHARE = 20


class Kept(Generic[T]):
    """What a look found, for everybody who asks while it is fresh."""

    def __init__(self, look: Callable[[], Awaitable[T]], clock: Clock) -> None:
        self._look = look
        self._clock = clock
        self._lock = asyncio.Lock()
        self._found: list[T] = []
        self._look_again_at = 0.0
        self._looking: asyncio.Task[T] | None = None
        self._has_looked = asyncio.Event()

    async def get(self) -> T:
        """What there is, not older than it may be."""
        async with self._lock:
            began = self._clock.monotonic()
            if not self._found or began >= self._look_again_at:
                self._found = [await self._look()]
                ended = self._clock.monotonic()
                self._look_again_at = ended + max(FRESH_SECONDS, SHARE * (ended - began))
            return self._found[0]

    async def soon(self, seconds: float) -> T | None:
        """As `get`, but nobody waits for longer: then what was found last will do, or None.

        Who asks while another looks does not wait at all.
        """
        if self._looking is None:
            self._has_looked.clear()
            self._looking = asyncio.create_task(self.get())
            self._looking.add_done_callback(self._note_end)
            await self._clock.wait_for(self._has_looked, seconds)
        return self._found[0] if self._found else None

    def _note_end(self, look: asyncio.Task[T]) -> None:
        self._looking = None
        self._has_looked.set()
        if not look.cancelled() and (error := look.exception()):
            get_logger().warning("a look failed", error=str(error))
