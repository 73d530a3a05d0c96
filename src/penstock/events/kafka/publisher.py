"""Publishing: a message is published when every replica that keeps up has it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaProducer

from penstock.core.errors import SettingsError
from penstock.events.kafka.cluster import TOO_LARGE, TROUBLE, Cluster, in_words, reach
from penstock.events.kafka.producers import Line, Record

PATIENCE_SECONDS = 10.0
#: Whoever publishes within so many milliseconds travels together.
LINGER_MS = 5
#: Of every partition at most two such batches are kept; whoever comes then waits.
BATCH_BYTES = 64 * 1024
#: Brokers take one megabyte unless they are told otherwise; more than this is not even sent.
LARGEST_BYTES = 16 * 1024 * 1024


class KafkaPublisher:
    """Publishes for any number of callers at once; brokers that are away come back unasked."""

    def __init__(self, cluster: Cluster, patience: float) -> None:
        self._cluster = cluster
        self._together = Line(lambda: _producer(cluster, BATCH_BYTES, LINGER_MS), patience)
        self._alone = Line(lambda: _producer(cluster, batch_bytes=1, linger_ms=0), patience)
        self._trouble: str | None = None

    @property
    def trouble(self) -> str | None:
        """What was in the way of the last message; None if it was confirmed."""
        return self._trouble

    async def publish(
        self, topic: str, key: bytes, value: bytes, headers: Sequence[tuple[str, bytes]] = ()
    ) -> None:
        """Return when the message is confirmed; else `EventsLost`, or `EventRefused` for good."""
        await self.publish_in_order(topic, [Record(key, value, headers)])

    async def publish_in_order(self, topic: str, records: Sequence[Record]) -> None:
        """Publish messages; those with the same key stand in this order."""
        try:
            try:
                await self._together.send(topic, records)
            except TOO_LARGE:
                # A batch is refused as a whole: perhaps it was another's message in it.
                await self._alone.send(topic, records)
        except TROUBLE as error:
            self._trouble = in_words(error)
            raise self._cluster.meaning_of(error) from error
        self._trouble = None

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(self._together.close(), self._alone.close())


@asynccontextmanager
async def open_publisher(
    servers: str, *, patience: float = PATIENCE_SECONDS, **options: Any
) -> AsyncIterator[KafkaPublisher]:
    """A publisher that connects when it is first needed; for the options see `reach`."""
    cluster = reach(servers, options)
    await _require_usable(cluster)
    publisher = KafkaPublisher(cluster, patience)
    try:
        yield publisher
    finally:
        await publisher.close()


async def _require_usable(cluster: Cluster) -> None:
    try:
        producer = _producer(cluster, BATCH_BYTES, LINGER_MS)
    except (TypeError, ValueError, AssertionError) as error:
        raise SettingsError(f"Kafka cannot be reached with these settings: {error}") from error
    await producer.stop()


def _producer(cluster: Cluster, batch_bytes: int, linger_ms: int) -> AIOKafkaProducer:
    return AIOKafkaProducer(
        **cluster.connection,
        enable_idempotence=True,
        acks="all",
        linger_ms=linger_ms,
        max_batch_size=batch_bytes,
        max_request_size=LARGEST_BYTES,
    )
