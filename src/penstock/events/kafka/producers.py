"""Producers of aiokafka, one after the other, so that trouble with one does not last.

A batch that failed is counted as sent by the producer: from then on every later one of the same
partition is out of sequence, for good. So whoever failed once is not used again. What it has
under way may still be confirmed; then it is closed, and nothing waits for what it could not send.
One whose callers run out of patience is closed at once, or it would send what another sends again.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from aiokafka import AIOKafkaProducer

from penstock.events.kafka.cluster import PAUSE_SECONDS, REFUSALS, TROUBLE

CLOSE_SECONDS = 10.0


class Record(NamedTuple):
    """A message for a topic; those with the same key keep their order."""

    key: bytes | None
    value: bytes
    headers: Sequence[tuple[str, bytes]] = ()


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

    async def send(self, topic: str, records: Sequence[Record]) -> None:
        """Return when all are confirmed; raise what is in the way when the patience is over."""
        trouble: Exception | None = None
        life: _Life | None = None
        try:
            async with asyncio.timeout(self._patience):
                while True:
                    try:
                        life = await self._ready()
                        return await self._send_by(life, topic, records)
                    except REFUSALS:
                        raise
                    except TROUBLE as error:
                        trouble = error
                    await asyncio.sleep(PAUSE_SECONDS)
        except TimeoutError as error:
            if life is not None:
                self._abandon(life)
            raise trouble or error from error

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

    async def _send_by(self, life: _Life, topic: str, records: Sequence[Record]) -> None:
        life.calls += 1
        try:
            await _confirmed(life.producer, topic, records)
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


async def _confirmed(producer: Any, topic: str, records: Sequence[Record]) -> None:
    """Send records in order, without waiting for one before the next; return at the last's end."""
    waiting = []
    for key, value, headers in records:
        confirmation = await producer.send(topic, value, key, headers=list(headers))
        confirmation.add_done_callback(_look_at)
        waiting.append(confirmation)
    await asyncio.gather(*waiting)


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
