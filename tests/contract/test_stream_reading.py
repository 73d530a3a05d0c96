"""Consumers of a real Kafka and Redis: nothing is missed, whoever comes, goes or hangs."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis.asyncio

from penstock.client import NotReached
from penstock.client.retrying import Retrying
from penstock.client.stream import Pages, StreamPage, read_stream
from penstock.client.stream_kafka import KafkaSource
from penstock.client.stream_redis import RedisPages
from penstock.client.stream_sources import PartitionLost
from penstock.events.kafka import open_publisher
from penstock.events.kafka.producers import Record
from penstock.kernel.model import Page
from penstock.workloads.stream.model import event_of, key_of
from tests.kafka_server import PrivateKafka, new_topic, unused_name
from tests.redis_server import PrivateRedis, find_program

NOW = datetime(2026, 3, 4, tzinfo=UTC)
#: Who falls silent for so long has left the group; short, so that a test sees it.
QUICK = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 200, "rebalance_timeout_ms": 6000}


@dataclass(frozen=True, slots=True)
class Stream:
    """A topic and a group of a test's own, and names that nobody else uses."""

    kafka: str
    redis: str
    topic: str
    group: str
    host: str

    def url(self, number: int) -> str:
        return f"http://{self.host}/{number}"

    def body(self, number: int, version: int = 0) -> bytes:
        return f"page {number} {version} of {self.host}".encode() + bytes(range(256))

    async def publish(self, numbers: Sequence[int], version: int = 0) -> None:
        """As the fetcher does it: the body, then the event."""
        records = []
        client: Any = redis.asyncio.Redis.from_url(self.redis)
        async with client, open_publisher(self.kafka) as publisher:
            for number in numbers:
                url, body = self.url(number), self.body(number, version)
                event = event_of(url, Page(url, 200, {}, body, 0.1), NOW)
                await client.set(event.cache_key, body, px=60_000)
                records.append(Record(key_of(url).encode(), event.model_dump_json().encode()))
            await publisher.publish_in_order(self.topic, records)

    @asynccontextmanager
    async def reading(self, **more: Any) -> AsyncIterator[Pages]:
        async with (
            asyncio.timeout(60),
            read_stream(
                kafka=self.kafka,
                redis=self.redis,
                group=self.group,
                topic=self.topic,
                queue=f"queue:{self.host}",
                kafka_options=QUICK,
                **more,
            ) as pages,
        ):
            yield pages


@pytest.fixture
async def stream(kafka: str, redis_url: str) -> Stream:
    topic = await new_topic(kafka)
    return Stream(kafka, redis_url, topic, unused_name(), f"{uuid4().hex}.example")


def number_of(page: StreamPage) -> int:
    return int(page.event.url.rpartition("/")[2])


async def take(pages: Pages, number: int) -> list[StreamPage]:
    return [await anext(pages) for _ in range(number)]


async def test_every_page_comes_once_with_its_body_in_order_per_url(stream: Stream) -> None:
    for version in range(3):
        await stream.publish(range(100), version)

    async with stream.reading() as pages:
        found = await take(pages, 300)
        bodies = [await page.body() for page in found[-100:]]
        await pages.commit()
    async with stream.reading() as pages:
        await stream.publish([100])
        last = await anext(pages)

    assert Counter(map(number_of, found)) == dict.fromkeys(range(100), 3)
    hashes = [[page.event.content_hash for page in found if number_of(page) == n] for n in (1, 99)]
    assert [len(set(each)) for each in hashes] == [3, 3]
    assert _is_in_order(found)
    assert bodies == [stream.body(number_of(page), 2) for page in found[-100:]]
    assert (number_of(last), await _none_is_left(stream)) == (100, True)


def _is_in_order(found: Sequence[StreamPage]) -> bool:
    """Whether the places of each partition go up one by one."""
    offsets: dict[int, list[int]] = {}
    for page in found:
        offsets.setdefault(page.place.partition, []).append(page.place.offset)
    return all(each == list(range(len(each))) for each in offsets.values())


async def _none_is_left(stream: Stream) -> bool:
    """Whether only the page that was not committed comes again."""
    async with stream.reading() as pages:
        return number_of(await anext(pages)) == 100


async def test_what_was_not_committed_comes_again_after_a_crash(stream: Stream) -> None:
    await stream.publish(range(60))

    async with stream.reading(at_once=7) as pages:
        done = await take(pages, 20)
        await pages.commit()
        lost = await take(pages, 15)
    async with stream.reading() as pages:
        rest = await take(pages, 40)
        await pages.commit(rest[-1])

    assert len(lost) == 15
    assert sorted(map(number_of, done + rest)) == list(range(60))


async def test_an_expired_body_is_said_so_and_its_url_goes_back_to_the_queue(
    stream: Stream,
) -> None:
    await stream.publish([1])
    client: Any = redis.asyncio.Redis.from_url(stream.redis)
    async with client, stream.reading(ahead=0) as pages:
        page = await anext(pages)
        await client.delete(page.event.cache_key)
        expired = await page.is_expired()
        await pages.requeue(page)
        queued = await client.lrange(f"queue:{stream.host}", 0, -1)
        await client.delete(f"queue:{stream.host}")

    assert (expired, queued) == (True, [stream.url(1).encode()])


async def test_messages_of_others_are_passed_over(stream: Stream) -> None:
    async with open_publisher(stream.kafka) as publisher:
        for value in (b"", b"\xff", b"{}", b'{"type": "other", "url": "x"}'):
            await publisher.publish(stream.topic, b"k", value)
    await stream.publish([1])

    async with stream.reading() as pages:
        page = await anext(pages)

    assert number_of(page) == 1


async def test_a_group_shares_the_pages_and_a_lost_partition_is_said(stream: Stream) -> None:
    await stream.publish(range(90))
    progress = Progress(90)

    async with stream.reading(at_once=10) as first:
        slow: dict[int, StreamPage] = {}
        while len(slow) < 3:
            page = await anext(first)
            slow[page.place.partition] = page
        # They are all its own, and nothing is committed when another comes.
        async with stream.reading(at_once=10) as second:
            taken = await anext(second)
            with pytest.raises(PartitionLost, match=str(taken.place.partition)):
                await first.commit(slow[taken.place.partition])
            await second.commit()
            progress.note(taken)
            async with asyncio.TaskGroup() as group:
                readers = [group.create_task(progress.drain(each)) for each in (first, second)]
                await progress.is_over.wait()
                for reader in readers:
                    reader.cancel()

    assert progress.done == set(range(90))


class Progress:
    """What of some pages is done: only what was committed."""

    def __init__(self, number: int) -> None:
        self.done: set[int] = set()
        self.is_over = asyncio.Event()
        self._number = number

    async def drain(self, pages: Pages) -> None:
        """Work on all that comes."""
        async for page in pages:
            try:
                await pages.commit(page)
            except PartitionLost:
                continue
            self.note(page)

    def note(self, page: StreamPage) -> None:
        self.done.add(number_of(page))
        if len(self.done) == self._number:
            self.is_over.set()


async def test_a_redis_that_hangs_loses_no_page(kafka: str, tmp_path: Path) -> None:
    server = PrivateRedis(find_program(), tmp_path)
    server.start()
    topic = await new_topic(kafka)
    stream = Stream(kafka, server.url, topic, unused_name(), "hangs.example")
    try:
        await stream.publish([1])
        bodies = RedisPages(
            server.url, "q", retrying=Retrying(retries=1, first_seconds=0), answer_seconds=0.2
        )
        source = KafkaSource(kafka, topic, stream.group, bodies, options=QUICK)
        async with asyncio.timeout(60), Pages(source, ahead=0) as pages:
            page = await anext(pages)
            server.freeze()
            with pytest.raises(NotReached):
                await page.body()
            server.thaw()
            assert await page.body() == stream.body(1)
            await pages.commit()
    finally:
        server.kill()


async def test_a_broker_that_is_killed_is_waited_for(
    own_kafka: PrivateKafka, redis_url: str
) -> None:
    topic = await new_topic(own_kafka.url)
    stream = Stream(own_kafka.url, redis_url, topic, unused_name(), f"{uuid4().hex}.example")
    await stream.publish(range(10))

    async with stream.reading() as pages:
        before = await take(pages, 10)
        await pages.commit()
        waiting = asyncio.create_task(anext(pages))
        own_kafka.kill()
        own_kafka.start()
        await stream.publish([10])
        after = await waiting
        await pages.commit()

    assert sorted(map(number_of, before)) == list(range(10))
    assert number_of(after) == 10


async def test_a_broker_that_is_away_is_said_at_once(redis_url: str) -> None:
    with pytest.raises(NotReached, match=r"Kafka \(127.0.0.1:9\)"):
        await read_stream(kafka="127.0.0.1:9", redis=redis_url, group="g").__aenter__()


async def test_a_redis_that_is_away_is_said_at_once() -> None:
    pages = RedisPages("redis://127.0.0.1:9", "q", retrying=Retrying(retries=0))

    with pytest.raises(NotReached, match="Redis does not answer"):
        await pages.check()
    await pages.close()
