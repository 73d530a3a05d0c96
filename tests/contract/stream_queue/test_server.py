"""What Redis is asked, whether it keeps the queue, and what happens while it is away."""

import asyncio
import socket
from contextlib import AsyncExitStack

import pytest

from penstock.core.errors import StoreLost
from penstock.kernel.redis.server import open_server
from penstock.queue.ports import Done
from penstock.queue.redis import RedisQueue, check
from tests.clocks import HandClock
from tests.durable_redis import STREAM, DurableRedis, stream_server
from tests.redis_queues import DeafEar, StreamQueues, bury, claim, pages, urls_of

SHOP, OTHER = "http://shop.test/", "http://other.test/"


async def test_depth_says_what_is_where(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await bury(queue, worker, [OTHER], "gone")
    await queue.put(pages(6))
    await claim(queue, worker, 6, lambda _: (2, 30.0))
    await queue.put(pages(3, "new.test"))

    depth = await queue.depth()

    assert (depth.waiting, depth.dead, depth.pending) == (3, 1, 9)
    assert depth.claimed == {worker: 2}
    assert depth.parked["shop.test"].waiting == 4
    assert depth.parked["shop.test"].due == pytest.approx(30, abs=2)


async def test_check_says_what_may_lose_the_queue(queues: StreamQueues, redis_url: str) -> None:
    async with stream_server(redis_url) as server:
        assert any("appendonly yes" in said for said in await check(server))


async def test_check_of_a_durable_server_has_nothing_to_say(private: DurableRedis) -> None:
    async with stream_server(private.url) as server:
        assert await check(server) == []
        await server.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        await server.ask("CONFIG", "SET", "appendfsync", "everysec")
        evicting = await check(server)
        await server.ask("ACL", "SETUSER", "default", "-config")
        unseen = await check(server)
        await server.ask("ACL", "SETUSER", "default", "-info")
        blind = await check(server)

    assert any("allkeys-lru" in said for said in evicting)
    assert any("everysec" in said for said in evicting)
    assert any("CONFIG is refused" in said for said in unseen)
    assert ["cannot be seen" in said for said in blind] == [True]


async def test_check_counts_what_was_evicted(private: DurableRedis) -> None:
    async with stream_server(private.url) as server:
        await server.ask("CONFIG", "SET", "maxmemory-policy", "volatile-ttl")
        await server.ask("CONFIG", "SET", "maxmemory", "3mb")
        for number in range(20):
            await server.ask("SET", f"webpage:{number}", b"x" * 200_000, "PX", 60_000)

        said = await check(server)

    assert ["evicted" in each for each in said] == [True]


# ── trouble with the server


async def test_redis_that_is_away_is_a_lost_store_and_all_goes_on_when_it_is_back(
    private: DurableRedis, clock: HandClock
) -> None:
    async with AsyncExitStack() as stack:
        queues = StreamQueues(private.url, clock, stack)
        queue = await queues.queue()
        heart = await queues.heart(queue)
        await heart.register()
        await queue.put(pages(10))
        claims = await claim(queue, heart.id, 4)
        private.kill()
        for call in (
            queue.put([SHOP]),
            claim(queue, heart.id),
            queue.settle([(claims[0], Done())]),
            queue.note_trial(claims),
            queue.depth(),
            heart.beat({}),
        ):
            with pytest.raises(StoreLost, match="PENSTOCK_STREAM__REDIS_URL"):
                await call
        private.start()

        settled = await queue.settle([(found, Done()) for found in claims])

        assert settled == {found.id for found in claims}
        assert await heart.beat({})
        assert urls_of(await claim(queue, heart.id)) == pages(6, first=4)


@pytest.mark.parametrize("broken", ["take", "sort", "unpark"])
async def test_claim_whose_answer_was_not_heard_is_found_by_the_next(
    queues: StreamQueues, worker: str, broken: str
) -> None:
    server = await queues.connect()
    queue, ear = await queues.queue(server), DeafEar(server)
    in_lines = [*pages(5), *pages(5, "line.test")]
    await queue.put(in_lines)
    await claim(queue, worker, 1, lambda _: (0, 0.0))
    await queue.put(pages(5, "head.test"))
    for script in (getattr(queue._claiming, broken), queue._claiming.sort):
        ear.do_not_hear(script)
        with pytest.raises(StoreLost, match="broke after"):
            await claim(queue, worker, 20)

    found = []
    while claims := await claim(queue, worker, 20):
        found += urls_of(claims)
        await queue.settle([(each, Done()) for each in claims])

    assert sorted(found) == sorted([*in_lines, *pages(5, "head.test")])
    assert queues.everywhere() == {}
    assert (await queue.depth()).claimed == {worker: 0}


class SteppedClock(HandClock):
    """Lets whoever sleeps sleep until the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.asleep, self._awake = asyncio.Event(), asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.asleep.set()
        await self._awake.wait()
        self._awake.clear()

    async def step(self) -> None:
        """Let the sleeper wake up, and fall asleep again."""
        self.asleep.clear()
        self._awake.set()
        await self.asleep.wait()


async def test_beats_go_on_when_redis_is_back(private: DurableRedis) -> None:
    async with AsyncExitStack() as stack:
        clock = SteppedClock()
        queues = StreamQueues(private.url, clock, stack)
        heart = await queues.heart(await queues.queue())
        await heart.register()
        before = queues.client.zscore(queues.workers, heart.id)
        private.kill()
        beating = asyncio.create_task(heart.keep_beating(dict, heart.register))
        await clock.asleep.wait()
        private.start()
        await clock.step()
        beating.cancel()

        assert queues.client.zscore(queues.workers, heart.id) > before


async def test_server_that_is_not_there_at_the_start_names_its_setting() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = f"redis://127.0.0.1:{taken.getsockname()[1]}"

        with pytest.raises(StoreLost, match=STREAM.setting):
            async with open_server(nobody, STREAM):
                pass
