"""What seeds and links remember: the same in the process and in Redis."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from penstock.workloads.stream.memory import (
    LinkMemory,
    LinksInMemory,
    SeedMemory,
    SeedsInMemory,
    SeedState,
)
from penstock.workloads.stream.redis_memory import LinksInRedis, SeedsInRedis
from tests.clocks import HandClock
from tests.contract.conftest import InRedis

KEYS = [f"{number:064x}" for number in range(1200)]
HOUR = timedelta(hours=1)


class Memories(NamedTuple):
    seeds: SeedMemory
    links: LinkMemory


@pytest.fixture(params=["memory", "redis"])
def redis_or_none(request: pytest.FixtureRequest) -> InRedis | None:
    found: InRedis | None = None
    if request.param == "redis":
        found = request.getfixturevalue("in_redis")
    return found


@pytest.fixture
async def memories(redis_or_none: InRedis | None) -> Memories:
    if redis_or_none is None:
        clock = HandClock()
        return Memories(SeedsInMemory(clock), LinksInMemory(clock))
    return await in_redis_of(redis_or_none)


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
