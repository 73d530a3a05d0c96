"""Servers that go away under load: the one that keeps everything, that paces, that tells."""

import asyncio

from redis.asyncio import Redis

from tests import rabbitmq_server
from tests.chaos.engine.arena import Arena
from tests.chaos.engine.scenarios import Played, Size
from tests.chaos.engine.submitter import HOSTS, host_of
from tests.rabbitmq_server import PrivateRabbitMQ

WORKERS = 2
#: Redis is away for at most so long; workers go on at the safe pace meanwhile.
LONGEST_ABSENCE = 1.5
SAFE_PACE = {
    "PENSTOCK_SHARED__SAFE_REQUESTS_PER_SECOND": "50",
    "PENSTOCK_SHARED__RETRY_SECONDS": "0.5",
}


async def kill_postgres(arena: Arena, size: Size) -> Played:
    """`kill -9` of the server and all its children at any moment; it comes back after a while."""
    server = arena.postgres
    assert server, "this scenario needs a server of its own"
    for _ in range(WORKERS):
        await arena.start_worker()
    async with arena.load(size.items) as load:
        for _ in range(size.faults):
            await load.flows()
            await asyncio.sleep(arena.chance.uniform(0.0, 0.5))
            await asyncio.to_thread(server.kill)
            await asyncio.sleep(arena.chance.uniform(0.0, 1.0))
            await asyncio.to_thread(server.start)
    return Played(size.faults, await arena.drained())


async def lose_redis(arena: Arena, size: Size) -> Played:
    """Redis is flushed and killed in turn: the pace is forgotten, the work is not."""
    policies = arena.folder / "policies.yaml"
    policies.write_text(_policies())
    for _ in range(WORKERS):
        await arena.start_worker(PENSTOCK_POLICIES__FILES=str(policies), **SAFE_PACE)
    async with arena.load(size.items) as load:
        for number in range(size.faults):
            await load.flows()
            await asyncio.sleep(arena.chance.uniform(0.0, 0.5))
            await (_restart(arena) if number % 2 else _flush(arena))
    return Played(size.faults, await arena.drained())


async def kill_rabbitmq(arena: Arena, size: Size) -> Played:
    """`kill -9` of the server that tells workers what waits; what it forgets is named again."""
    server = PrivateRabbitMQ(rabbitmq_server.find_program())
    arena.undo.callback(server.stop)
    await asyncio.to_thread(server.start)
    told = {"PENSTOCK_BROKER__URL": server.url, "PENSTOCK_BROKER__RESEND_SECONDS": "3"}
    for _ in range(WORKERS):
        await arena.start_worker(**told)
    async with arena.load(size.items) as load:
        for _ in range(size.faults):
            await load.flows()
            await asyncio.sleep(arena.chance.uniform(0.0, 1.0))
            await asyncio.to_thread(server.kill)
            await asyncio.sleep(arena.chance.uniform(0.0, 1.0))
            await asyncio.to_thread(server.start)
    return Played(size.faults, await arena.drained())


def _policies() -> str:
    """A window of one second: a Redis that has forgotten it is waited for for that long."""
    entry = "{tokens_per_interval: 500, interval_seconds: 1}"
    return "domains:\n" + "".join(f"  {host_of(number)}: {entry}\n" for number in range(HOSTS))


async def _flush(arena: Arena) -> None:
    async with Redis.from_url(arena.redis.url) as client:
        await client.flushall()


async def _restart(arena: Arena) -> None:
    arena.redis.kill()
    await asyncio.sleep(arena.chance.uniform(0.1, LONGEST_ABSENCE))
    await asyncio.to_thread(arena.redis.start)
