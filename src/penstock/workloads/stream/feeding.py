"""URLs into the queue, however long it is full or out of reach; nothing is dropped."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from penstock.core.clock import Clock
from penstock.core.errors import SharedStateLost, StoreLost
from penstock.core.log import get_logger
from penstock.workloads.stream.desk import QUEUE_FULL, Desk

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0

Answer = TypeVar("Answer")


class Pusher(Protocol):
    """The way into the queue."""

    async def push(self, urls: Sequence[str]) -> int:
        """Put URLs in the queue, in order; how many it took, fewer than given if it is full."""
        ...


class DeskPusher:
    """Hands URLs in at the page fetcher's desk, as long as no more than `most` of them wait.

    A URL that the desk will never take is dealt with, too.
    """

    def __init__(self, desk: Desk, most: int) -> None:
        self._desk = desk
        self._most = most

    async def push(self, urls: Sequence[str]) -> int:
        standing = await self._desk.depth()
        room = max(0, self._most - standing.waiting - standing.parked)
        some = urls[:room]
        if not some:
            return 0
        pushed = await self._desk.push(some)
        no_room = (refusal.place for refusal in pushed.rejected if refusal.reason == QUEUE_FULL)
        return min(no_room, default=len(some))


async def feed(urls: Sequence[str], pusher: Pusher, clock: Clock) -> AsyncIterator[int]:
    """Push all of them, in order, and wait while the queue is full; gives the number of each go."""
    at, pause = 0, FIRST_PAUSE
    while at < len(urls):
        rest = urls[at:]
        taken = await insist(partial(pusher.push, rest), clock)
        if taken:
            yield taken
            at, pause = at + taken, FIRST_PAUSE
        else:
            get_logger().info("the queue is full", action="seeds.wait", waiting=len(rest))
            await clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)


async def insist(call: Callable[[], Awaitable[Answer]], clock: Clock) -> Answer:
    """Call until there is an answer: a back end that is away comes back."""
    pause = FIRST_PAUSE
    while True:
        try:
            return await call()
        except (StoreLost, SharedStateLost) as error:
            get_logger().warning("out of reach", action="seeds.wait", error=str(error))
        await clock.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
