"""Producers of aiokafka, one after the other, so that trouble with one does not last.

A batch that failed is counted as sent by the producer: from then on every later one of the same
partition is out of sequence, for good. So whoever failed once is not used again. What it has
under way may still be confirmed; then it is closed, and nothing waits for what it could not send.
One whose callers run out of patience is closed at once, or it would send what another sends again.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from aiokafka import AIOKafkaProducer
from aiokafka.errors import MessageSizeTooLargeError

from penstock.events.kafka.cluster import PAUSE_SECONDS, REFUSALS, TROUBLE
from penstock.events.kafka.partitions import partition_of

CLOSE_SECONDS = 10.0
#: Brokers take one megabyte unless they are told otherwise; more than this is not even sent.
LARGEST_BYTES = 16 * 1024 * 1024


class Record(NamedTuple):
    """A message for a topic; those with the same key keep their order."""

    key: bytes | None
    value: bytes
    headers: Sequence[tuple[str, bytes]] = ()

    @property
    def size(self) -> int:
        headers = sum(len(name) + len(value) for name, value in self.headers)
        return len(self.key or b"") + len(self.value) + headers


#: Why a record is not confirmed; None if it is.
Verdict = Exception | None


@dataclass(slots=True, eq=False)
class _Life:
    """A producer from its start to its end, and how many calls wait for it."""

    producer: Any
    calls: int = 0
    retired: bool = False


class Line:
    """Sends records through whichever producer works; none of them is there before it is needed."""

    def __init__(self, make: Callable[[], AIOKafkaProducer], patience: float) -> None:
        self._make = make
        self._patience = patience
        self._current: _Life | None = None
        self._starting = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()

    async def send(self, topic: str, records: Sequence[Record]) -> list[Verdict]:
        """What became of each record: confirmed, refused, or in vain when the patience is over."""
        verdicts: list[Verdict] = [TimeoutError()] * len(records)
        life: _Life | None = None
        try:
            async with asyncio.timeout(self._patience):
                while left := [place for place, why in enumerate(verdicts) if _may_pass(why)]:
                    try:
                        life = await self._ready()
                        found = await self._send_by(life, topic, [records[one] for one in left])
                    except TROUBLE as error:
                        found = [error] * len(left)
                    for place, why in zip(left, found, strict=True):
                        verdicts[place] = why
                    if any(map(_may_pass, found)):
                        await asyncio.sleep(PAUSE_SECONDS)
        except TimeoutError:
            if life is not None:
                self._abandon(life)
        return verdicts

    async def close(self) -> None:
        """Close what was started; calls that still wait are not waited for."""
        if self._current is not None:
            self._current.calls = 0
            self._retire(self._current)
        await asyncio.gather(*self._closing)

    async def _ready(self) -> _Life:
        if self._current is not None:
            return self._current
        async with self._starting:
            if self._current is None:
                self._current = _Life(await _started(self._make()))
            return self._current

    async def _send_by(self, life: _Life, topic: str, records: Sequence[Record]) -> list[Verdict]:
        life.calls += 1
        try:
            verdicts = await _delivered(life.producer, topic, records)
            if any(verdicts):
                self._retire(life)
            return verdicts
        except TROUBLE:
            self._retire(life)
            raise
        finally:
            life.calls -= 1
            self._close_if_over(life)

    def _retire(self, life: _Life) -> None:
        life.retired = True
        if self._current is life:
            self._current = None
        self._close_if_over(life)

    def _abandon(self, life: _Life) -> None:
        """End a producer though others wait for it: what is given up must not be sent after all.

        Another one asks the servers that we began with, not only those that it knows.
        """
        life.calls = 0
        self._retire(life)

    def _close_if_over(self, life: _Life) -> None:
        if not life.retired or life.calls > 0 or life.producer is None:
            return
        closing = asyncio.create_task(_close(life.producer))
        life.producer = None
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)


async def _started(producer: Any) -> Any:
    try:
        await producer.start()
    except BaseException:
        await _close(producer)
        raise
    return producer


def _may_pass(why: Verdict) -> bool:
    """Whether a record may yet be confirmed if it is sent again."""
    return why is not None and not isinstance(why, REFUSALS)


async def _delivered(producer: Any, topic: str, records: Sequence[Record]) -> list[Verdict]:
    """Send records, those of a partition in their order, and wait for what becomes of each.

    They are put in batches here: one by one, aiokafka takes three times as long for them.
    """
    verdicts: list[Verdict] = [None] * len(records)
    partitions = sorted(await producer.partitions_for(topic))
    by_partition: dict[int, list[int]] = {}
    for place, record in enumerate(records):
        if record.size > LARGEST_BYTES:
            verdicts[place] = MessageSizeTooLargeError(f"{record.size} bytes")
        else:
            by_partition.setdefault(partition_of(record.key, partitions), []).append(place)
    sent = [
        (places, await _send_batch(producer, topic, partition, batch))
        for partition, all_places in by_partition.items()
        for places, batch in _batches(producer, records, all_places)
    ]
    for places, confirmation in sent:
        try:
            await confirmation
        except TROUBLE as error:
            for place in places:
                verdicts[place] = error
    return verdicts


def _batches(
    producer: Any, records: Sequence[Record], places: Sequence[int]
) -> Iterator[tuple[list[int], Any]]:
    """Batches of no more than their size, or of one record; and the places of their records."""
    batch, filled = producer.create_batch(), list[int]()
    for place in places:
        key, value, headers = records[place]
        parts = {"timestamp": None, "key": key, "value": value, "headers": list(headers)}
        if batch.append(**parts) is None:
            yield filled, batch
            batch, filled = producer.create_batch(), []
            batch.append(**parts)
        filled.append(place)
    yield filled, batch


async def _send_batch(producer: Any, topic: str, partition: int, batch: Any) -> asyncio.Future[Any]:
    """Hand a batch in; it has been gathered, so it waits for no more."""
    batch.close()
    confirmation: asyncio.Future[Any] = await producer.send_batch(batch, topic, partition=partition)
    confirmation.add_done_callback(_look_at)
    return confirmation


def _look_at(confirmation: asyncio.Future[Any]) -> None:
    """One failure of many is raised; nobody has to complain that the others were not."""
    if not confirmation.cancelled():
        confirmation.exception()


async def _close(producer: Any) -> None:
    """End a producer at once: its own `stop` waits for brokers that may never come back."""
    with suppress(*TROUBLE):
        async with asyncio.timeout(CLOSE_SECONDS):
            await producer._sender.close()
            await producer.client.close()
    producer._closed = True
