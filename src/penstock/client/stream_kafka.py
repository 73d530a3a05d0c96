"""Pages whose events are in Kafka and whose bodies are in Redis.

Partitions are shared out among the consumers of a group, and anew whenever one comes or goes. Then
every consumer begins behind what was committed: what it has not handed out is dropped, not kept.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import (
    CommitFailedError,
    ConsumerStoppedError,
    IllegalOperation,
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
)
from pydantic import ValidationError

from penstock.client.errors import ClientError, NotReached
from penstock.client.stream_models import WebpageEvent
from penstock.client.stream_redis import RedisPages
from penstock.client.stream_sources import Arrival, PartitionLost, Place
from penstock.core.log import get_logger

#: Seconds after which a broker that does not answer is given up for this call.
PATIENCE = 30.0
CLOSE_SECONDS = 10.0
POLL_MS = 1000
TROUBLE = (KafkaError, IllegalOperation, ConsumerStoppedError, OSError)


class Assignments(ConsumerRebalanceListener):  # type: ignore[misc]
    """Which partitions are ours: every change is a new assignment, with a number."""

    def __init__(self) -> None:
        self.number = 0
        self._before: set[TopicPartition] = set()
        self._left_in: dict[TopicPartition, int] = {}

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self._before = set(revoked)
        self.number += 1

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        for lost in self._before - set(assigned):
            self._left_in[lost] = self.number

    def has_left(self, arrival: Arrival) -> bool:
        """Whether the partition of an event was taken from us since it came."""
        left = self._left_in.get(_partition(arrival), 0)
        return left > arrival.assignment


class KafkaSource:
    """A consumer of a group; nothing is committed but what it is told to."""

    def __init__(
        self,
        servers: str,
        topic: str,
        group: str,
        pages: RedisPages,
        *,
        start: str = "earliest",
        options: Mapping[str, Any],
    ) -> None:
        # It speaks of every vain attempt; what matters is raised.
        logging.getLogger("aiokafka").setLevel(logging.CRITICAL + 1)
        self._servers = servers
        self._topic = topic
        self._pages = pages
        self._assignments = Assignments()
        self._options = {
            **options,
            "bootstrap_servers": servers,
            "group_id": group,
            "auto_offset_reset": start,
            "enable_auto_commit": False,
        }
        self._consumer: Any = None

    async def open(self) -> None:
        await self._pages.check()
        try:
            self._consumer = AIOKafkaConsumer(**self._options)
        except (TypeError, ValueError, AssertionError) as error:
            raise ClientError(f"Kafka cannot be reached with these options: {error}") from error
        self._consumer.subscribe([self._topic], listener=self._assignments)
        async with self._meaning():
            await self._consumer.start()

    async def close(self) -> None:
        if self._consumer is not None:
            with suppress(*TROUBLE):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._consumer.stop()
        await self._pages.close()

    async def more(self, most: int) -> Sequence[Arrival]:
        try:
            found = await self._consumer.getmany(timeout_ms=POLL_MS, max_records=most)
        except TROUBLE as error:
            raise self._meaning_of(error) from error
        # Nothing is awaited in between: it is the assignment under which they were handed over.
        number = self._assignments.number
        arrivals = (_read(record, number) for records in found.values() for record in records)
        return [arrival for arrival in arrivals if arrival is not None]

    def is_current(self, arrival: Arrival) -> bool:
        return arrival.assignment == self._assignments.number

    async def commit(self, arrivals: Sequence[Arrival]) -> None:
        lost = [arrival for arrival in arrivals if self._assignments.has_left(arrival)]
        ours = {
            _partition(arrival): arrival.place.offset + 1
            for arrival in arrivals
            if arrival not in lost
        }
        if ours:
            await self._commit(ours)
        if lost:
            names = ", ".join(str(arrival.place.partition) for arrival in lost)
            raise PartitionLost(f"not committed, another consumer has it now: partition {names}")

    async def body(self, event: WebpageEvent) -> bytes | None:
        return await self._pages.body(event.cache_key)

    async def push(self, url: str) -> None:
        await self._pages.push(url)

    async def _commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        try:
            async with self._meaning():
                await self._consumer.commit(offsets)
        except (CommitFailedError, IllegalStateError) as error:
            raise PartitionLost(
                "not committed, partitions are being shared out anew: the pages come again"
            ) from error

    @asynccontextmanager
    async def _meaning(self) -> AsyncIterator[None]:
        """Wait no longer than is reasonable, and say what is wrong in our words."""
        try:
            async with asyncio.timeout(PATIENCE):
                yield
        except (CommitFailedError, IllegalStateError):
            raise
        except TROUBLE as error:
            raise self._meaning_of(error) from error

    def _meaning_of(self, error: BaseException) -> ClientError:
        said = f"Kafka ({self._servers}): {type(error).__name__} {error}".rstrip()
        passes = isinstance(error, OSError | KafkaConnectionError)
        return (
            NotReached(said) if passes or getattr(error, "retriable", False) else ClientError(said)
        )


def _read(record: Any, assignment: int) -> Arrival | None:
    """A message as it came; what is no page of the fetcher's is passed over."""
    place = Place(record.topic, record.partition, record.offset)
    try:
        event = WebpageEvent.model_validate_json(record.value or b"")
    except ValidationError:
        get_logger().warning("no event of a page", action="stream.skip", place=place._asdict())
        return None
    return Arrival(place, event, assignment)


def _partition(arrival: Arrival) -> TopicPartition:
    return TopicPartition(arrival.place.topic, arrival.place.partition)
