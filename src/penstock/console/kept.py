"""Looks that cost something: kept for a while, the longer the more they cost."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from penstock.core.clock import Clock

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

    async def get(self) -> T:
        """What there is, not older than it may be."""
        async with self._lock:
            began = self._clock.monotonic()
            if not self._found or began >= self._look_again_at:
                self._found = [await self._look()]
                ended = self._clock.monotonic()
                self._look_again_at = ended + max(FRESH_SECONDS, SHARE * (ended - began))
            return self._found[0]
