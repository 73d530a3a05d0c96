"""Where a station gets its claims: it asks the queue, or it is told which items to take."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from penstock.core.clock import Clock
from penstock.queue.ports import Claim, Claims, Queue, Share

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0


class Source(Protocol):
    """Gives claims when there are some, and hears when one is over."""

    async def claims(self, worker: str, limit: int, share: Share) -> list[Claim]:
        """The next claims, at most so many; waits a little if there are none."""
        ...

    def nudge(self) -> None:
        """Wait no longer: there may be something, or nothing more is wanted."""
        ...

    def over(self, item: str) -> None:
        """An item is ours no more; what became of it is committed."""
        ...


class Polling:
    """Asks the queue, less often while it has nothing."""

    def __init__(
        self, queue: Claims, lanes: Sequence[str], clock: Clock, longest: float = LONGEST_PAUSE
    ) -> None:
        self._queue = queue
        self._lanes = lanes
        self._clock = clock
        self._nudged = asyncio.Event()
        self._longest = longest
        self._pause = min(FIRST_PAUSE, longest)

    async def claims(self, worker: str, limit: int, share: Share) -> list[Claim]:
        self._nudged.clear()
        found = await self._queue.claim(worker, self._lanes, limit, share) if limit > 0 else []
        if found:
            self._pause = FIRST_PAUSE
        else:
            await self._clock.wait_for(self._nudged, self._pause)
            self._pause = min(self._pause * 2, self._longest)
        return found

    def nudge(self) -> None:
        self._nudged.set()

    def over(self, item: str) -> None:
        del item
        self._nudged.set()


class Told:
    """Takes the items that messages name; a message is answered when its item is over."""

    def __init__(self, queue: Queue, clock: Clock) -> None:
        self._queue = queue
        self._clock = clock
        self._nudged = asyncio.Event()
        self._inbox: asyncio.Queue[str] = asyncio.Queue()
        self._waiting: dict[str, asyncio.Future[None]] = {}

    async def take(self, item: str) -> None:
        """Have an item carried, if it waits and its time has come; returns when that is over."""
        known = self._waiting.get(item)
        if known is None:
            known = self._waiting[item] = asyncio.get_running_loop().create_future()
            self._inbox.put_nowait(item)
        await asyncio.shield(known)

    async def claims(self, worker: str, limit: int, share: Share) -> list[Claim]:
        del share
        if limit <= 0:
            self._nudged.clear()
            await self._clock.wait_for(self._nudged, LONGEST_PAUSE)
            return []
        named = [await self._inbox.get()]
        while len(named) < limit and not self._inbox.empty():
            named.append(self._inbox.get_nowait())
        named = [item for item in named if item]
        try:
            found = await self._queue.claim_ids(worker, named) if named else []
        except BaseException:
            for item in named:
                self.over(item)
            raise
        for item in set(named) - {claim.id for claim in found}:
            self.over(item)
        return found

    def nudge(self) -> None:
        self._nudged.set()
        if self._inbox.empty():
            self._inbox.put_nowait("")

    def over(self, item: str) -> None:
        self._nudged.set()
        waiter = self._waiting.pop(item, None)
        if waiter and not waiter.done():
            waiter.set_result(None)
