"""The page fetcher's events for those who read them from the store, each at its own pace."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import select

from penstock.cache.ports import PageCache
from penstock.core.clock import Clock
from penstock.events.log import EventLog
from penstock.events.ports import Event
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.stream.tables import stream_consumers

#: Seconds between two looks for somebody who waits.
LOOK_EVERY = 0.25


class Part(NamedTuple):
    """Some events, oldest first, and behind which place the next ones are."""

    events: Sequence[Event]
    next_after: int


class Consumer(NamedTuple):
    """Who reads, the place of the last event it is done with, and when (ms) it said so."""

    name: str
    seq: int
    updated_at: int | None


@dataclass(frozen=True, slots=True)
class Reading:
    """Events, bodies, and how far each consumer has come."""

    store: Store
    log: EventLog
    cache: PageCache
    clock: Clock
    topic: str
    is_stopping: Callable[[], bool]

    async def events(self, after: int, limit: int, wait: float) -> Part:
        """What is behind a place; if there is nothing yet, it is waited for so many seconds."""
        give_up_at = self.clock.monotonic() + wait
        while True:
            # In this order: what is at that place or before it is seen by the look that follows.
            last = await self.log.last()
            found = await self.log.read(after, limit, [self.topic]) if last > after else []
            if len(found) < limit:
                after = max(after, last, *(event.seq for event in found))
            else:
                after = found[-1].seq
            left = give_up_at - self.clock.monotonic()
            if found or left <= 0 or self.is_stopping():
                return Part(found, after)
            await self.clock.sleep(min(left, LOOK_EVERY))

    async def consumer(self, name: str) -> Consumer:
        """How far somebody has come; who never said it begins at the beginning."""
        return await self.store.read(lambda unit: _find(unit, name))

    async def commit(self, name: str, seq: int) -> Consumer:
        """Note how far somebody has come."""
        return await self.store.write(lambda unit: _keep(unit, name, seq))


def _find(unit: Unit, name: str) -> Consumer:
    query = select(stream_consumers).where(stream_consumers.c.name == name)
    row = unit.run(query).one_or_none()
    return Consumer(row.name, row.seq, row.updated_at) if row else Consumer(name, 0, None)


def _keep(unit: Unit, name: str, seq: int) -> Consumer:
    insert = unit.insert(stream_consumers).values(name=name, seq=seq, updated_at=unit.now)
    newer = {column: insert.excluded[column] for column in ("seq", "updated_at")}
    unit.run(insert.on_conflict_do_update(index_elements=["name"], set_=newer))
    return Consumer(name, seq, unit.now)
