"""Bodies out of the page cache in Redis, and URLs back into its queue."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

from penstock.client.errors import ClientError, NotReached
from penstock.client.retrying import Retrying

#: A server that has not answered after so many seconds is asked again on another connection.
ANSWER_SECONDS = 10.0
MOST_CONNECTIONS = 16

T = TypeVar("T")


class RedisPages:
    """A server that may hang or be away for a while: calls are repeated, then `NotReached`."""

    def __init__(
        self,
        url: str,
        queue: str,
        *,
        retrying: Retrying,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._queue = queue
        self._retrying = retrying
        self._sleep = sleep
        try:
            pool = BlockingConnectionPool.from_url(
                url,
                max_connections=MOST_CONNECTIONS,
                timeout=None,
                socket_timeout=answer_seconds,
                socket_connect_timeout=answer_seconds,
            )
        except (ValueError, TypeError) as error:
            raise ClientError("this is not the URL of a Redis: redis://host:6379/0") from error
        self._redis: Any = Redis.from_pool(pool)

    async def check(self) -> None:
        """Whether it answers."""
        await self._ask(self._redis.ping)

    async def body(self, key: str) -> bytes | None:
        """What is under a key, if it is kept."""
        found: bytes | None = await self._ask(lambda: self._redis.get(_raw(key)))
        return found

    async def push(self, url: str) -> None:
        """Put a URL at the end of the queue; twice, if the first answer is lost."""
        await self._ask(lambda: self._redis.rpush(_raw(self._queue), _raw(url)))

    async def close(self) -> None:
        """Give up all connections."""
        await self._redis.aclose()

    async def _ask(self, call: Callable[[], Awaitable[T]]) -> T:
        attempt = 0
        while True:
            try:
                return await call()
            except (RedisError, OSError) as error:
                pause = self._retrying.pause(attempt)
                if pause is None:
                    said = f"{type(error).__name__}: {error}"
                    raise NotReached(f"Redis does not answer: {said}") from error
            attempt += 1
            await self._sleep(pause)


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
