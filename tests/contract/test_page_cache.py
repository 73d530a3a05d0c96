"""The page cache gives back what was put, byte for byte, until its time is over."""

import random
from collections.abc import AsyncIterator, Callable
from uuid import uuid4

import pytest
import redis

from penstock.cache.ports import CachedPage, PageCache, StoredCache
from penstock.cache.redis import RedisCache
from penstock.cache.sql import SqlCache
from penstock.cache.tables import page_cache
from penstock.core.errors import StoreLost
from penstock.store.store import Store
from tests.clocks import HandClock
from tests.durable_redis import DurableRedis, find_program, stream_server
from tests.stores import Stores, rows_of

BODIES = {
    "nothing": b"",
    "binary": bytes(range(256)) * 3,
    "NUL": b"\x00\x00a\x00",
    "another charset": "Größe: 3 €".encode("cp1252"),
    "lines": b"\r\n$-1\r\n*3\r\n",
    "large": random.Random(8).randbytes(10_000_000),
}


@pytest.fixture
async def cache_in_sqlite(in_sqlite: Stores) -> PageCache:
    return SqlCache(await in_sqlite.open())


@pytest.fixture
async def cache_in_postgres(in_postgres: Stores) -> PageCache:
    return SqlCache(await in_postgres.open())


@pytest.fixture
async def cache_in_redis(redis_url: str) -> AsyncIterator[PageCache]:
    async with stream_server(redis_url) as server:
        yield RedisCache(server)


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def cache(request: pytest.FixtureRequest) -> PageCache:
    chosen: PageCache = request.getfixturevalue(f"cache_in_{request.param}")
    return chosen


@pytest.fixture
async def stored(stores: Stores) -> SqlCache:
    return SqlCache(await stores.open())


@pytest.fixture
def key() -> str:
    return f"webpage:{uuid4().hex}"


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_body_comes_back_byte_for_byte(cache: PageCache, key: str, body: bytes) -> None:
    await cache.put(key, body, 60)

    assert await cache.get(key) == body


async def test_what_is_kept_can_be_told_and_erased(cache: PageCache, key: str) -> None:
    keys = [f"{key}:{name}" for name in ("a", "b", "c")]
    for each in keys[:2]:
        await cache.put(each, b"page", 60)

    assert await cache.kept(keys) == set(keys[:2])
    assert await cache.kept([]) == set()
    assert (await cache.erase(keys[1:]), await cache.erase([])) == (1, 0)
    assert await cache.kept(keys) == {keys[0]}


async def test_unknown_key_has_no_body(cache: PageCache, key: str) -> None:
    assert await cache.get(key) is None


async def test_newer_body_replaces_an_older_one(cache: PageCache, key: str) -> None:
    await cache.put(key, b"older", 60)
    await cache.put(key, b"newer", 60)

    assert await cache.get(key) == b"newer"


async def test_bodies_of_other_keys_are_left_alone(cache: PageCache, key: str) -> None:
    await cache.put(key, b"one", 60)
    await cache.put(f"{key}:2", b"two", 60)

    assert (await cache.get(key), await cache.get(f"{key}:2")) == (b"one", b"two")


async def test_body_ends_with_its_time(cache: PageCache, key: str) -> None:
    await cache.put(key, b"short", 0.001)
    clock = getattr(getattr(cache, "_store", None), "_clock", None)
    if isinstance(clock, HandClock):
        clock.move(0.001)

    while await cache.get(key) is not None:
        pass  # the clock of a real server moves by itself

    assert await cache.get(key) is None


# ── in the store


async def test_body_lives_as_long_as_it_was_put_for(in_sqlite: Stores, key: str) -> None:
    cache = SqlCache(await in_sqlite.open())
    await cache.put(key, b"body", 3600)
    await in_sqlite.later(3599.9)
    before = await cache.get(key)
    await in_sqlite.later(0.2)

    assert (before, await cache.get(key)) == (b"body", None)


async def test_newer_body_has_a_lifetime_of_its_own(in_sqlite: Stores, key: str) -> None:
    cache = SqlCache(await in_sqlite.open())
    await cache.put(key, b"older", 10)
    await in_sqlite.later(8)
    await cache.put(key, b"newer", 10)
    await in_sqlite.later(8)

    assert await cache.get(key) == b"newer"


async def test_bodies_are_written_with_what_else_is_in_a_transaction(stores: Stores) -> None:
    store = await stores.open()
    cache: StoredCache = SqlCache(store)
    pages = [CachedPage("b", b"2"), CachedPage("a", b"1"), CachedPage("b", b"3")]

    await store.write(lambda unit: cache.put_in(unit, pages, 60))
    await store.write(lambda unit: cache.put_in(unit, [], 60))

    assert (await cache.get("a"), await cache.get("b")) == (b"1", b"3")


async def test_transaction_that_fails_leaves_no_body(stores: Stores) -> None:
    store = await stores.open()
    cache = SqlCache(store)

    def fail(unit: object) -> None:
        cache.put_in(unit, [CachedPage("a", b"1")], 60)  # type: ignore[arg-type]
        raise ValueError("the rest of it")

    with pytest.raises(ValueError, match="the rest"):
        await store.write(fail)

    assert await cache.get("a") is None


async def test_expired_bodies_are_forgotten_some_at_a_time(in_sqlite: Stores) -> None:
    store = await in_sqlite.open()
    cache = SqlCache(store)
    for number in range(5):
        await cache.put(f"old:{number}", b"", 10)
    await cache.put("young", b"", 60)
    await in_sqlite.later(11)

    forgotten = [await cache.forget_expired(3) for _ in range(3)]

    assert forgotten == [3, 2, 0]
    assert [row["key"] for row in await rows_of(store, page_cache)] == ["young"]


async def test_bodies_are_erased_by_their_keys(stored: SqlCache) -> None:
    for key in ("a", "b", "c"):
        await stored.put(key, b"", 60)

    number = await stored.erase(["a", "c", "unknown", "\ud800"])

    assert number == 2
    assert [await stored.get(key) for key in ("a", "b", "c")] == [None, b"", None]


# ── in Redis


async def test_redis_lets_the_key_end_exactly_as_given(redis_url: str, key: str) -> None:
    async with stream_server(redis_url) as server:
        await RedisCache(server).put(key, b"<html>", 3600)

    with redis.Redis.from_url(redis_url) as client:
        assert client.get(key) == b"<html>"
        assert 3_590_000 < client.pttl(key) <= 3_600_000


@pytest.mark.parametrize("back_end", ["sql", "redis"])
async def test_hits_and_misses_can_be_counted(
    in_sqlite: Stores, redis_url: str, key: str, back_end: str
) -> None:
    found: list[bool] = []
    async with stream_server(redis_url) as server:
        make: dict[str, Callable[[Store], PageCache]] = {
            "sql": lambda store: SqlCache(store, found.append),
            "redis": lambda _store: RedisCache(server, found.append),
        }
        cache = make[back_end](await in_sqlite.open())
        await cache.get(key)
        await cache.put(key, b"", 60)
        await cache.get(key)

    assert found == [False, True]


async def test_redis_that_is_away_is_a_lost_store_and_names_the_setting(key: str) -> None:
    private = DurableRedis(find_program())
    private.start()
    try:
        async with stream_server(private.url) as server:
            cache = RedisCache(server)
            await cache.put(key, b"kept", 60)
            private.kill()
            with pytest.raises(StoreLost, match="PENSTOCK_STREAM__REDIS_URL"):
                await cache.get(key)
            private.start()

            assert await cache.get(key) == b"kept"
    finally:
        private.stop()
