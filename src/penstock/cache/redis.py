"""The page cache in Redis: keys exactly as given, raw bytes, and Redis lets them end."""

import asyncio
from collections.abc import Sequence

from penstock.cache.ports import LookedUp, nobody
from penstock.kernel.redis.server import Server


class RedisCache:
    """Bodies of a server that was opened for a store: a `StoreLost` says that it is away."""

    def __init__(self, server: Server, looked_up: LookedUp = nobody) -> None:
        self._server = server
        self._looked_up = looked_up

    async def put(self, key: str, body: bytes, seconds: float) -> None:
        milliseconds = max(1, round(seconds * 1000))
        await self._server.ask("SET", _name(key), body, "PX", milliseconds)

    async def get(self, key: str) -> bytes | None:
        body: bytes | None = await self._server.ask("GET", _name(key))
        self._looked_up(body is not None)
        return body

    async def kept(self, keys: Sequence[str]) -> set[str]:
        asked = [self._server.ask("EXISTS", _name(key)) for key in keys]
        answers = await asyncio.gather(*asked)
        return {key for key, answer in zip(keys, answers, strict=True) if answer}

    async def erase(self, keys: Sequence[str]) -> int:
        return int(await self._server.ask("DEL", *map(_name, keys))) if keys else 0


def _name(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")
