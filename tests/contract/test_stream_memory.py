"""What seeds and links remember: the same in the process, in the store and in Redis."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from penstock.store.store import Store
from penstock.workloads.stream.memory import (
    LinkMemory,
    LinksInMemory,
    SeedMemory,
    SeedsInMemory,
    SeedState,
)
from penstock.workloads.stream.redis_memory import LinksInRedis, SeedsInRedis
from penstock.workloads.stream.stored_memory import LinksInStore, SeedsInStore, forget_expired
from penstock.workloads.stream.tables import stream_marks, stream_seeds
from tests.clocks import HandClock
from tests.contract.conftest import InRedis
from tests.stores import Stores, rows_of

KEYS = [f"{number:064x}" for number in range(1200)]
HOUR = timedelta(hours=1)


class Memories(NamedTuple):
    seeds: SeedMemory
    links: LinkMemory


@pytest.fixture
def in_memory() -> Memories:
    clock = HandClock()
    return Memories(SeedsInMemory(clock), LinksInMemory(clock))


@pytest.fixture
async def in_sqlite_store(in_sqlite: Stores) -> Memories:
    return in_store(await in_sqlite.open())


@pytest.fixture
async def in_postgres_store(in_postgres: Stores) -> Memories:
    return in_store(await in_postgres.open())


@pytest.fixture
async def in_redis_server(in_redis: InRedis) -> Memories:
    return await in_redis_of(in_redis)


@pytest.fixture(params=["memory", "sqlite_store", "postgres_store", "redis_server"])
def memories(request: pytest.FixtureRequest) -> Memories:
    chosen: Memories = request.getfixturevalue(f"in_{request.param}")
    return chosen


def in_store(store: Store) -> Memories:
    return Memories(SeedsInStore(store), LinksInStore(store))


async def in_redis_of(in_redis: InRedis) -> Memories:
    server, queue = await in_redis.connect(), f"{in_redis.settings.prefix}queue"
    return Memories(SeedsInRedis(server, queue), LinksInRedis(server, queue))


@pytest.mark.parametrize("whole_at", [None, datetime(2026, 3, 4, 5, 6, 7, 891011, tzinfo=UTC)])
async def test_state_of_a_seed_is_kept_as_it_was(
    memories: Memories, whole_at: datetime | None
) -> None:
    state = SeedState(whole_at, datetime(2026, 3, 5, 1, 2, 3, 4, tzinfo=UTC), failures=2)
    assert await memories.seeds.state("s") is None

    await memories.seeds.keep("s", state)

    assert await memories.seeds.state("s") == state
    assert await memories.seeds.state("t") is None


async def test_pushed_urls_are_known_until_the_next_round(memories: Memories) -> None:
    now = await memories.seeds.now()
    await memories.seeds.remember(KEYS[:1100], now, now + HOUR)
    await memories.seeds.remember(KEYS[1100:], now - HOUR, now)

    assert await memories.seeds.pushed(KEYS, now - HOUR) == set(KEYS[:1100])


async def test_pushed_urls_are_known_to_rounds_that_they_are_recent_for(
    memories: Memories,
) -> None:
    now = await memories.seeds.now()
    await memories.seeds.remember(KEYS[:2], now, now + HOUR)

    assert await memories.seeds.pushed(KEYS[:2], now) == set()
    assert await memories.seeds.pushed(KEYS[:2], now - timedelta(microseconds=1)) == set(KEYS[:2])
    assert await memories.seeds.pushed([], now) == set()


async def test_pushed_again_is_known_by_its_newer_round(memories: Memories) -> None:
    now = await memories.seeds.now()
    await memories.seeds.remember(KEYS[:2], now - HOUR, now + HOUR)
    await memories.seeds.remember(KEYS[1:3], now, now + 2 * HOUR)

    assert await memories.seeds.pushed(KEYS[:3], now - HOUR / 2) == set(KEYS[1:3])


async def test_state_of_a_seed_is_the_last_that_was_kept(memories: Memories) -> None:
    now = await memories.seeds.now()
    await memories.seeds.keep("s", SeedState(None, now, failures=1))
    await memories.seeds.keep("s", SeedState(now, now + HOUR))

    assert await memories.seeds.state("s") == SeedState(now, now + HOUR)


async def test_one_holds_at_a_time_until_it_gives_up(memories: Memories) -> None:
    assert await memories.seeds.hold("a", 30)
    assert not await memories.seeds.hold("b", 30)
    assert await memories.seeds.hold("a", 30)
    assert not await memories.seeds.hold("b", 0)
    assert not await memories.seeds.hold("b", 30)

    await memories.seeds.hold("a", 0)

    assert await memories.seeds.hold("b", 30)


async def test_depth_only_shrinks(memories: Memories) -> None:
    await memories.links.learn(KEYS[:1100], 2, 60)
    await memories.links.learn(KEYS[:1], 3, 60)
    await memories.links.learn(KEYS[1:2], 0, 60)

    depths = await memories.links.depths(KEYS)

    assert len(depths) == 1100
    assert [depths[key] for key in KEYS[:3]] == [2, 0, 2]


async def test_no_more_are_granted_than_there_may_be(memories: Memories) -> None:
    takes = [await memories.links.take("shop.test", wanted, 10, 60) for wanted in (4, 4, 4, 4)]

    assert takes == [4, 4, 2, 0]
    assert await memories.links.take("other.test", 20, 10, 60) == 10


async def test_everything_in_redis_runs_out(in_redis: InRedis) -> None:
    seeds, links = await in_redis_of(in_redis)
    now = await seeds.now()
    await seeds.keep("s", SeedState(None, now))
    await seeds.remember(KEYS[:1], now, now + HOUR)
    await seeds.hold("a", 30)
    await links.learn(KEYS[:1], 1, 600)
    await links.take("shop.test", 1, 10, 60)

    ttls = in_redis.ttls()

    # What is left of its time, in tens of seconds, since some of it has passed.
    assert {key: -(-seconds // 10) * 10 for key, seconds in ttls.items()} == {
        "queue:seeds:state:s": 400 * 86400,
        f"queue:seeds:pushed:{KEYS[0]}": 3600,
        "queue:seeds:holder": 30,
        f"queue:links:depth:{KEYS[0]}": 600,
        "queue:links:count:shop.test": 60,
    }


async def test_hold_in_the_store_ends_with_its_time(in_sqlite: Stores) -> None:
    seeds, _ = in_store(await in_sqlite.open())
    await seeds.hold("a", 30)
    await in_sqlite.later(29.9)
    before = await seeds.hold("b", 30)
    await in_sqlite.later(0.1)

    assert (before, await seeds.hold("b", 30), await seeds.hold("a", 30)) == (False, True, False)


async def test_marks_in_the_store_end_with_their_time(in_sqlite: Stores) -> None:
    seeds, links = in_store(await in_sqlite.open())
    now = await seeds.now()
    await seeds.remember(KEYS[:1], now, now + timedelta(seconds=60))
    await links.learn(KEYS[:1], 1, 60)
    await links.take("shop.test", 7, 10, 60)
    await in_sqlite.later(60)
    await links.learn(KEYS[:1], 3, 60)

    assert await seeds.pushed(KEYS[:1], now - HOUR) == set()
    assert await links.depths(KEYS[:1]) == {KEYS[0]: 3}
    assert await links.take("shop.test", 20, 10, 60) == 10


async def test_links_of_a_site_are_counted_from_the_first(in_sqlite: Stores) -> None:
    _, links = in_store(await in_sqlite.open())
    await links.take("shop.test", 7, 10, 60)
    await in_sqlite.later(59)
    second = await links.take("shop.test", 7, 10, 60)
    await in_sqlite.later(1)

    assert (second, await links.take("shop.test", 7, 10, 60)) == (3, 7)


async def test_what_is_over_in_the_store_is_forgotten(in_sqlite: Stores) -> None:
    store = await in_sqlite.open()
    seeds, links = in_store(store)
    now = await seeds.now()
    await seeds.keep("s", SeedState(None, now))
    await links.learn(KEYS[:5], 1, 60)
    await links.learn(KEYS[5:6], 1, 500 * 86400)
    await in_sqlite.later(400 * 86400)

    forgotten = await forget_expired(store, 3)

    assert forgotten == 6
    assert [row["key"] for row in await rows_of(store, stream_marks)] == [KEYS[5]]
    assert await rows_of(store, stream_seeds) == []


async def test_links_are_granted_once_to_processes_at_the_same_time(stores: Stores) -> None:
    ours, others = [in_store(await stores.open()).links for _ in range(2)]

    granted = await asyncio.gather(
        *(links.take("shop.test", 3, 10, 60) for links in [ours, others] * 5)
    )

    assert sum(granted) == 10


async def test_one_of_two_processes_holds(stores: Stores) -> None:
    ours, others = [in_store(await stores.open()).seeds for _ in range(2)]

    held = await asyncio.gather(*(seeds.hold(str(seeds), 30) for seeds in [ours, others] * 3))

    assert sorted(held) == [False] * 3 + [True] * 3
