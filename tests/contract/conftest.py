"""Every back end, as the suites take them: by port, as often as they like."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any, Protocol
from uuid import uuid4

import pytest
import redis

from penstock.kernel.breaker import MemoryBreaker
from penstock.kernel.pacing import MemoryPacing
from penstock.kernel.ports import Breaker, Pacing, RobotsCache
from penstock.kernel.redis import RedisBreaker, RedisPacing, RedisRobotsCache, Server, connect
from penstock.kernel.robots import MemoryRobotsCache
from penstock.kernel.settings import BreakerSettings, SharedSettings
from penstock.products.search.ports import SearchIndex
from penstock.products.search.sql import SqlSearch
from penstock.queue.sql import SqlQueue
from penstock.store.store import Store
from tests.clocks import HandClock
from tests.kafka_server import kafka, own_kafka
from tests.platforms import site, whole_site
from tests.redis_server import PrivateRedis, find_program
from tests.search_server import open_index, search_url
from tests.stores import (
    Stores,
    in_pgbouncer,
    in_postgres,
    in_postgres_itself,
    in_sqlite,
    pgbouncer,
    postgres,
    stores,
)

__all__ = [
    "in_pgbouncer",
    "in_postgres",
    "in_postgres_itself",
    "in_sqlite",
    "kafka",
    "own_kafka",
    "pgbouncer",
    "postgres",
    "search_url",
    "site",
    "stores",
    "whole_site",
]


class BackEnd(Protocol):
    """Makes ports over one state; what is made twice stands for two processes."""

    async def pacing(self, lease_seconds: float = 120.0) -> Pacing: ...

    async def breaker(self, **rule: Any) -> Breaker: ...

    async def robots_cache(self) -> RobotsCache: ...


class InMemory:
    """One process is all there is: whoever asks again gets the same."""

    def __init__(self, clock: HandClock) -> None:
        self._clock = clock
        self._pacing: MemoryPacing | None = None
        self._breaker: MemoryBreaker | None = None
        self._robots_cache = MemoryRobotsCache(clock, max_bytes=64 * 1024 * 1024)

    async def pacing(self, lease_seconds: float = 120.0) -> Pacing:
        if self._pacing is None:
            self._pacing = MemoryPacing(self._clock, lease_seconds)
        return self._pacing

    async def breaker(self, **rule: Any) -> Breaker:
        if self._breaker is None:
            self._breaker = MemoryBreaker(BreakerSettings(**rule), self._clock)
        return self._breaker

    async def robots_cache(self) -> RobotsCache:
        return self._robots_cache


class InRedis:
    """Every port has a connection of its own; the server's clock moves with the test's."""

    def __init__(self, clock: HandClock, settings: SharedSettings, stack: AsyncExitStack) -> None:
        self.settings = settings
        self._clock = clock
        self._zero = clock.monotonic()
        self._stack = stack

    async def pacing(self, lease_seconds: float = 120.0) -> Pacing:
        return RedisPacing(await self.connect(), self._clock, lease_seconds)

    async def breaker(self, **rule: Any) -> Breaker:
        return RedisBreaker(await self.connect(), BreakerSettings(**rule), self._clock)

    async def robots_cache(self) -> RobotsCache:
        return RedisRobotsCache(await self.connect())

    async def connect(self) -> Server:
        return await self._stack.enter_async_context(
            connect(self.settings, clock_shift=lambda: self._clock.monotonic() - self._zero)
        )

    def ttls(self) -> dict[str, int]:
        """The seconds that each key still has; -1 for one that would stay for ever."""
        with redis.Redis.from_url(
            self.settings.url.get_secret_value(), decode_responses=True
        ) as client:
            keys = client.keys(f"{self.settings.prefix}*")
            return {key.removeprefix(self.settings.prefix): client.ttl(key) for key in keys}

    def clear(self) -> None:
        with redis.Redis.from_url(self.settings.url.get_secret_value()) as client:
            if keys := client.keys(f"{self.settings.prefix}*"):
                client.delete(*keys)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if url := os.environ.get("PENSTOCK_TEST_REDIS_URL"):
        yield url
        return
    server = PrivateRedis(find_program(), tmp_path_factory.mktemp("redis"))
    server.start()
    yield server.url
    server.kill()


@pytest.fixture
async def store(stores: Stores) -> Store:
    return await stores.open()


@pytest.fixture
async def queue(stores: Stores) -> SqlQueue:
    return await stores.queue()


@pytest.fixture
async def eye(stores: Stores) -> Store:
    """Another process that looks at what is committed."""
    return await stores.open()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def in_redis(clock: HandClock, redis_url: str) -> AsyncIterator[InRedis]:
    """Redis with a name space of the test's own, in which nothing may stay for ever."""
    async with AsyncExitStack() as stack:
        back_end = InRedis(clock, SharedSettings(url=redis_url, prefix=f"{uuid4().hex}:"), stack)
        yield back_end
        eternal = [key for key, seconds in back_end.ttls().items() if seconds < 0]
        back_end.clear()
        assert eternal == []


@pytest.fixture(params=["memory", "redis"])
def back_end(request: pytest.FixtureRequest, clock: HandClock) -> BackEnd:
    if request.param == "memory":
        return InMemory(clock)
    in_redis: InRedis = request.getfixturevalue("in_redis")
    return in_redis


@pytest.fixture
async def search_on_server(search_url: str) -> AsyncIterator[SearchIndex]:
    async with open_index(search_url) as index:
        yield index


@pytest.fixture
async def search_on_sqlite(in_sqlite: Stores) -> SearchIndex:
    return SqlSearch(await in_sqlite.open())


@pytest.fixture
async def search_on_postgres(in_postgres: Stores) -> SearchIndex:
    return SqlSearch(await in_postgres.open())


@pytest.fixture(params=["sqlite", "postgres", "server"])
def index(request: pytest.FixtureRequest) -> SearchIndex:
    chosen: SearchIndex = request.getfixturevalue(f"search_on_{request.param}")
    return chosen
