"""The stream's queue on a real Redis, for tests: workers that live and die, and what is where."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from itertools import count
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import redis

from penstock.core.errors import StoreLost
from penstock.kernel.redis.server import Argument, Script, Server
from penstock.queue.heartbeat import Pulse
from penstock.queue.ports import Bury, Claim, Share
from penstock.queue.redis import RedisHeartbeat, RedisQueue
from tests.clocks import HandClock
from tests.durable_redis import stream_server
from tests.stores import all_of

PULSE = Pulse(every=5.0, silence=20.0)
FAILURE = {"kind": "url_specific", "reason": "not_found", "detail": "404", "status": 404}


def group_of(url: str) -> str:
    """The host stands for the domain; what is none of ours has none."""
    return urlsplit(url).hostname or "" if url.startswith("http") else ""


def urls_of(claims: Sequence[Claim]) -> list[str]:
    return [claim.payload["url"] for claim in claims]


def pages(number: int, host: str = "shop.test", first: int = 0) -> list[str]:
    return [f"http://{host}/{place}" for place in range(first, first + number)]


class StreamQueues:
    """One queue; what is opened twice stands for two processes. The server's clock moves along."""

    def __init__(self, url: str, clock: HandClock, stack: AsyncExitStack) -> None:
        self.url = url
        self.clock = clock
        self.name = f"crawler_queue:{uuid4().hex}"
        self.dead = f"page_fetcher_dlq:{uuid4().hex}"
        self.client = stack.enter_context(redis.Redis.from_url(url))
        self._zero = clock.monotonic()
        self._stack = stack
        self._ids = count(1)

    def new_id(self) -> str:
        return f"{next(self._ids):06}"

    async def connect(self) -> Server:
        shift = stream_server(self.url, lambda: self.clock.monotonic() - self._zero)
        return await self._stack.enter_async_context(shift)

    async def queue(self, server: Server | None = None) -> RedisQueue:
        server = server or await self.connect()
        return RedisQueue(server, self.name, self.dead, group_of, self.new_id)

    async def heart(self, queue: RedisQueue, server: Server | None = None) -> RedisHeartbeat:
        server = server or await self.connect()
        return RedisHeartbeat(server, queue, self.clock, PULSE, self.new_id)

    async def worker(self, queue: RedisQueue) -> str:
        heart = await self.heart(queue)
        await heart.register()
        return heart.id

    @property
    def workers(self) -> str:
        return f"{self.name}:workers"

    def push(self, *urls: str | bytes) -> None:
        """As any producer does."""
        self.client.rpush(self.name, *urls)

    def waiting(self) -> list[str]:
        return [url.decode() for url in self.client.lrange(self.name, 0, -1)]

    def line(self, group: str) -> list[str]:
        return [url.decode() for url in self.client.lrange(f"{self.name}:parked:{group}", 0, -1)]

    def dead_letters(self) -> list[str]:
        return [url.decode() for url in self.client.lrange(self.dead, 0, -1)]

    def everywhere(self) -> Counter[bytes]:
        """Every URL that is kept, as often as it is."""
        found: Counter[bytes] = Counter(self.client.lrange(self.name, 0, -1))
        found.update(self.client.lrange(self.dead, 0, -1))
        for key in self.client.scan_iter(f"{self.name}:parked:*"):
            found.update(self.client.lrange(key, 0, -1))
        return found

    def clear(self) -> None:
        for key in [
            *self.client.scan_iter(f"{self.name}*"),
            *self.client.scan_iter(f"{self.dead}*"),
        ]:
            self.client.delete(key)


class DeafEar:
    """Lets scripts be run whose answer nobody hears, as if the connection broke then."""

    def __init__(self, server: Server) -> None:
        self._run = server.run
        self._is_unheard: Callable[[Script], bool] = lambda _script: False
        server.run = self.run  # type: ignore[method-assign]

    def do_not_hear(self, only: Script | None = None) -> None:
        """Of the next script, or of the next time that a certain one is run."""
        self._is_unheard = lambda script: only in (None, script)

    def hear(self) -> None:
        """Hear everything again."""
        self._is_unheard = lambda _script: False

    async def run(self, script: Script, keys: Sequence[str], *arguments: Argument) -> Any:
        answer = await self._run(script, keys, *arguments)
        if self._is_unheard(script):
            self.hear()
            raise StoreLost("the connection broke after the answer was sent")
        return answer


async def claim(
    queue: RedisQueue, worker: str, limit: int = 1000, share: Share = all_of
) -> list[Claim]:
    return await queue.claim(worker, ["stream"], limit, share)


async def bury(queue: RedisQueue, worker: str, urls: list[str], reason: str) -> None:
    await queue.put(urls)
    claims = await claim(queue, worker, len(urls))
    await queue.settle([(found, Bury({**FAILURE, "reason": reason})) for found in claims])
