"""The end of a topic: what was written last, and what comes, for somebody in no group."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer, TopicPartition, errors

from penstock.core.errors import SettingsError
from penstock.events.kafka.cluster import TROUBLE, Cluster, reach

#: For the brokers to answer, and for the last messages to come.
PATIENCE_SECONDS = 30.0
POLL_MS = 500


class Written(NamedTuple):
    """A message, its place, and when (ms) it was written."""

    partition: int
    offset: int
    at: int
    value: bytes


class KafkaTail:
    """Reads all partitions of a topic; nothing is committed, and nobody else is disturbed."""

    def __init__(self, consumer: Any, cluster: Cluster) -> None:
        self._consumer = consumer
        self._cluster = cluster

    async def last(self, number: int) -> Sequence[Written]:
        """The last messages by the time they were written; `more` goes on behind them."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                found = await self._read_to_the_end(number)
        except TROUBLE as error:
            raise self._cluster.meaning_of(error) from error
        return sorted(found, key=_age)[-number:] if number else []

    async def more(self) -> Sequence[Written]:
        """What has come since; waits for a moment, and may come back with nothing."""
        try:
            return sorted(await self._poll(), key=_age)
        except TROUBLE as error:
            raise self._cluster.meaning_of(error) from error

    async def _read_to_the_end(self, number: int) -> list[Written]:
        places = list(self._consumer.assignment())
        first = await self._consumer.beginning_offsets(places)
        ends = await self._consumer.end_offsets(places)
        for place in places:
            self._consumer.seek(place, max(first[place], ends[place] - number))
        found: list[Written] = []
        while await self._is_behind(ends):
            found += await self._poll()
        return found

    async def _is_behind(self, ends: Mapping[TopicPartition, int]) -> bool:
        return any([await self._consumer.position(place) < end for place, end in ends.items()])

    async def _poll(self) -> list[Written]:
        found: Mapping[TopicPartition, Iterable[Any]] = await self._consumer.getmany(
            timeout_ms=POLL_MS
        )
        return [
            Written(each.partition, each.offset, each.timestamp, each.value or b"")
            for records in found.values()
            for each in records
        ]


@asynccontextmanager
async def open_tail(servers: str, topic: str, **options: Any) -> AsyncIterator[KafkaTail]:
    """The end of a topic that there is; for the options see `reach`."""
    cluster = reach(servers, options)
    try:
        consumer = AIOKafkaConsumer(
            topic, **cluster.connection, enable_auto_commit=False, auto_offset_reset="latest"
        )
    except (TypeError, ValueError, AssertionError) as error:
        raise SettingsError(f"Kafka cannot be reached with these settings: {error}") from error
    try:
        await _start(consumer, cluster, topic)
        yield KafkaTail(consumer, cluster)
    finally:
        await consumer.stop()


async def _start(consumer: Any, cluster: Cluster, topic: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await consumer.start()
    except errors.UnknownTopicOrPartitionError as error:
        raise SettingsError(
            f"Kafka ({cluster.servers}) has no topic {topic}: run `penstock stream init`"
        ) from error
    except TROUBLE as error:
        raise cluster.meaning_of(error) from error


def _age(written: Written) -> tuple[int, int, int]:
    return written.at, written.partition, written.offset
