"""The stream's queue on a real Redis, and servers that can be killed."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import pytest

from penstock.queue.redis import RedisQueue
from tests.clocks import HandClock
from tests.durable_redis import DurableRedis, find_program
from tests.redis_queues import StreamQueues


@pytest.fixture
async def queues(redis_url: str, clock: HandClock) -> AsyncIterator[StreamQueues]:
    async with AsyncExitStack() as stack:
        queues = StreamQueues(redis_url, clock, stack)
        yield queues
        queues.clear()


@pytest.fixture
async def queue(queues: StreamQueues) -> RedisQueue:
    return await queues.queue()


@pytest.fixture
async def worker(queues: StreamQueues, queue: RedisQueue) -> str:
    return await queues.worker(queue)


@pytest.fixture
def private() -> Iterator[DurableRedis]:
    server = DurableRedis(find_program())
    server.start()
    yield server
    server.stop()
