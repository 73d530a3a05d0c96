"""What every cache of robots answers promises."""

import asyncio

import pytest

from penstock.kernel.ports import RobotsAnswer, RobotsCache
from penstock.kernel.robots import ENTRY_BYTES, MANY_CLAIMS, MemoryRobotsCache
from tests.clocks import HandClock
from tests.contract.conftest import BackEnd

ORIGIN = "https://shop.test"
RULES = RobotsAnswer("rules", "User-agent: *\nDisallow: /größe\n", tries=2, detail="naïve")
#: The real server's clock runs on while a test moves the other one by hand.
A_MOMENT = 0.2


def about(seconds: float) -> object:
    return pytest.approx(seconds, abs=A_MOMENT)


@pytest.fixture
async def cache(back_end: BackEnd) -> RobotsCache:
    return await back_end.robots_cache()


async def test_unknown_origin_has_no_answer(cache: RobotsCache) -> None:
    assert await cache.get(ORIGIN) is None


async def test_answer_comes_back_as_it_was_put(cache: RobotsCache, clock: HandClock) -> None:
    await cache.put(ORIGIN, RULES, 100)
    clock.move(40)

    entry = await cache.get(ORIGIN)

    assert entry == (RULES, about(60))


async def test_answer_is_gone_when_its_time_is_over(cache: RobotsCache, clock: HandClock) -> None:
    await cache.put(ORIGIN, RULES, 100)
    clock.move(100)

    assert await cache.get(ORIGIN) is None


async def test_newer_answer_replaces_the_older(cache: RobotsCache, clock: HandClock) -> None:
    await cache.put(ORIGIN, RULES, 100)
    await cache.put(ORIGIN, RobotsAnswer("unreachable", tries=3), 20)

    entry = await cache.get(ORIGIN)

    assert entry == (RobotsAnswer("unreachable", tries=3), about(20))


async def test_origins_do_not_mix(cache: RobotsCache) -> None:
    await cache.put(ORIGIN, RULES, 100)
    await cache.claim(ORIGIN, 100)

    assert await cache.get("http://shop.test") is None
    assert await cache.claim("http://shop.test", 100)


async def test_one_of_two_hundred_asks_the_origin(back_end: BackEnd) -> None:
    processes = [await back_end.robots_cache(), await back_end.robots_cache()]

    claims = await asyncio.gather(*(processes[n % 2].claim(ORIGIN, 100) for n in range(200)))

    assert sum(claims) == 1


async def test_claim_is_free_when_given_up(cache: RobotsCache) -> None:
    await cache.claim(ORIGIN, 100)
    await cache.unclaim(ORIGIN)

    assert await cache.claim(ORIGIN, 100)


async def test_claim_of_one_that_died_is_free_when_its_time_is_over(
    cache: RobotsCache, clock: HandClock
) -> None:
    await cache.claim(ORIGIN, 100)
    clock.move(99)
    too_early = await cache.claim(ORIGIN, 100)
    clock.move(1)

    assert not too_early
    assert await cache.claim(ORIGIN, 100)


async def test_what_one_process_learnt_another_knows(back_end: BackEnd) -> None:
    one, other = await back_end.robots_cache(), await back_end.robots_cache()

    await one.put(ORIGIN, RULES, 100)

    entry = await other.get(ORIGIN)
    assert entry is not None
    assert entry[0] == RULES


async def test_origins_seen_once_do_not_pile_up_in_memory(clock: HandClock) -> None:
    room_for = 1000
    cache = MemoryRobotsCache(clock, max_bytes=room_for * ENTRY_BYTES)
    for n in range(50_000):
        await cache.put(f"https://once{n}.test", RobotsAnswer("allow"), 86400)

    assert len(cache) == room_for


async def test_claims_that_were_never_given_up_do_not_pile_up_in_memory(clock: HandClock) -> None:
    cache = MemoryRobotsCache(clock, max_bytes=ENTRY_BYTES)
    for n in range(50_000):
        await cache.claim(f"https://once{n}.test", 120)
        clock.move(0.1)

    assert len(cache._claims) <= MANY_CLAIMS
