"""Publishing: a message is published when every replica that keeps up has it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaProducer, errors

from penstock.core.errors import SettingsError
from penstock.events.kafka.cluster import TOO_LARGE, Cluster, in_words, reach
from penstock.events.kafka.producers import LARGEST_BYTES, Line, Record, Verdict

PATIENCE_SECONDS = 10.0
#: Whoever publishes within so many seconds travels together.
GATHERING = 0.01
#: Of every partition at most two such batches are kept; whoever comes then waits.
BATCH_BYTES = 64 * 1024


class KafkaPublisher:
    """Publishes for any number of callers at once; brokers that are away come back unasked."""

    def __init__(self, cluster: Cluster, patience: float) -> None:
        self._cluster = cluster
        self._together = Line(lambda: _producer(cluster, BATCH_BYTES), patience)
        self._alone = Line(lambda: _producer(cluster, batch_bytes=1), patience)
        self._gathered: dict[str, list[tuple[Record, asyncio.Future[None]]]] = {}
        self._under_way: set[asyncio.Task[None]] = set()
        self._trouble: str | None = None

    @property
    def trouble(self) -> str | None:
        """What was in the way of the last message; None if it was confirmed."""
        return self._trouble

    async def publish(
        self, topic: str, key: bytes, value: bytes, headers: Sequence[tuple[str, bytes]] = ()
    ) -> None:
        """Return when the message is confirmed; else `EventsLost`, or `EventRefused` for good."""
        gathered = self._gathered.get(topic)
        if gathered is None:
            gathered = self._gathered[topic] = []
            task = asyncio.create_task(self._carry(topic, gathered))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
        answer = asyncio.get_running_loop().create_future()
        gathered.append((Record(key, value, headers), answer))
        await answer

    async def publish_in_order(self, topic: str, records: Sequence[Record]) -> None:
        """Publish messages; those with the same key stand in this order."""
        for why in await self._send(topic, records):
            if why is not None:
                raise self._cluster.meaning_of(why) from why

    async def close(self) -> None:
        """Close all connections; calls that still wait are not waited for."""
        self._gathered.clear()
        under_way = list(self._under_way)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await asyncio.gather(self._together.close(), self._alone.close())

    async def _carry(
        self, topic: str, gathered: Sequence[tuple[Record, asyncio.Future[None]]]
    ) -> None:
        """Publish what comes within a moment, and tell each caller what became of it."""
        verdicts: Sequence[Verdict] = ()
        try:
            await asyncio.sleep(GATHERING)
            del self._gathered[topic]
            verdicts = await self._send(topic, [record for record, _ in gathered])
        finally:
            # Without verdicts we were closed: nobody may wait for them for ever.
            ends = verdicts or [errors.ProducerClosed()] * len(gathered)
            for (_, answer), why in zip(gathered, ends, strict=True):
                if not answer.done():
                    self._tell(answer, why)

    def _tell(self, answer: asyncio.Future[None], why: Verdict) -> None:
        if why is None:
            answer.set_result(None)
        else:
            answer.set_exception(self._cluster.meaning_of(why))

    async def _send(self, topic: str, records: Sequence[Record]) -> list[Verdict]:
        verdicts = await self._together.send(topic, records)
        # A batch is refused as a whole: perhaps it was another's message in it.
        large = [place for place, why in enumerate(verdicts) if isinstance(why, TOO_LARGE)]
        if large:
            again = await self._alone.send(topic, [records[place] for place in large])
            for place, why in zip(large, again, strict=True):
                verdicts[place] = why
        self._trouble = next((in_words(why) for why in verdicts if why), None)
        return verdicts


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
        producer = _producer(cluster, BATCH_BYTES)
    except (TypeError, ValueError, AssertionError) as error:
        raise SettingsError(f"Kafka cannot be reached with these settings: {error}") from error
    await producer.stop()


def _producer(cluster: Cluster, batch_bytes: int) -> AIOKafkaProducer:
    return AIOKafkaProducer(
        **cluster.connection,
        enable_idempotence=True,
        acks="all",
        max_batch_size=batch_bytes,
        max_request_size=LARGEST_BYTES,
    )
