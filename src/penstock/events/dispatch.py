"""The dispatcher: delivers events to a sink with many receivers, none of whom waits for another.

Events stand in lines, one for each receiver. A line has a few deliveries under way at a time, each
on its own: what fails is tried again after the sink's own pauses, holds up nothing, and is parked
in the end. A crash between a delivery and its commit means that it is delivered again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import func, select

from penstock.core.clock import Clock
from penstock.events.log import as_event
from penstock.events.ports import Event, Sink
from penstock.events.relay import Setback, in_words, put_off, took
from penstock.events.tables import deliveries, events
from penstock.store.store import Store
from penstock.store.unit import Unit

LOOK_EVERY = 1.0
#: A pause may take this much longer, so that receivers are not met by all of them at once.
JITTER = 0.1


@dataclass(frozen=True, slots=True)
class Dispatching:
    """How many deliveries are under way, in all and in one line; and when one is tried again."""

    pauses: tuple[float, ...]
    at_once: int = 256
    per_line: int = 4


#: By line, the numbers of the events that are being delivered.
_UnderWay = Mapping[str, frozenset[int]]


class _Owed(NamedTuple):
    """An event that is due, the line it stands in, and how often it was tried."""

    event: Event
    line: str
    attempts: int


class Dispatcher:
    """Brings the events of a store to the receivers of one sink."""

    def __init__(
        self, store: Store, sink: Sink, settings: Dispatching, chance: random.Random
    ) -> None:
        self._store = store
        self._sink = sink
        self._settings = settings
        self._chance = chance
        self._under_way: dict[str, set[int]] = {}

    async def run(self, may_we: Callable[[], Awaitable[bool]], clock: Clock) -> None:
        """Deliver what comes due, whenever that is ours to do."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                begun = await self._begin(tasks) if await may_we() else ()
                if not begun:
                    await clock.sleep(LOOK_EVERY)

    async def deliver_due(self) -> int:
        """Deliver what is due now, and see it to its end; how many events were taken."""
        async with asyncio.TaskGroup() as tasks:
            begun = await self._begin(tasks)
        return sum(task.result() for task in begun)

    async def _begin(self, tasks: asyncio.TaskGroup) -> Sequence[asyncio.Task[bool]]:
        # As of before we look: what ends while we do is still waiting in what we see.
        under_way = {line: frozenset(seqs) for line, seqs in self._under_way.items()}
        due = await self._store.read(lambda unit: self._due(unit, under_way))
        for owed in due:
            self._under_way.setdefault(owed.line, set()).add(owed.event.seq)
        return [tasks.create_task(self._deliver(owed)) for owed in due]

    def _due(self, unit: Unit, under_way: _UnderWay) -> list[_Owed]:
        """What may begin now: of every line with room as much as fits, the longest due first."""
        room = self._settings.at_once - sum(map(len, under_way.values()))
        full = [name for name, seqs in under_way.items() if self._room_in(seqs) <= 0]
        mine = (deliveries.c.sink == self._sink.name) & (deliveries.c.state == "waiting")
        query = (
            select(deliveries.c.key)
            .where(mine, deliveries.c.next_at <= unit.now, deliveries.c.key.not_in(full))
            .group_by(deliveries.c.key)
            .order_by(func.min(deliveries.c.next_at))
            .limit(max(0, room))
        )
        due: list[_Owed] = []
        for line in unit.run(query).scalars().all():
            busy = under_way.get(line, frozenset())
            due += self._due_in(unit, line, busy, room - len(due))
        return due

    def _due_in(self, unit: Unit, line: str, busy: frozenset[int], room: int) -> list[_Owed]:
        query = (
            select(events, deliveries.c.attempts)
            .join(deliveries, deliveries.c.seq == events.c.seq)
            .where(
                deliveries.c.sink == self._sink.name,
                deliveries.c.state == "waiting",
                deliveries.c.key == line,
                deliveries.c.next_at <= unit.now,
                deliveries.c.seq.not_in(busy),
            )
            .order_by(deliveries.c.next_at, deliveries.c.seq)
            .limit(max(0, min(room, self._room_in(busy))))
        )
        rows = unit.run(query).mappings()
        return [_Owed(as_event(row), line, row["attempts"]) for row in rows]

    def _room_in(self, busy: frozenset[int]) -> int:
        return self._settings.per_line - len(busy)

    async def _deliver(self, owed: _Owed) -> bool:
        """Deliver one event and write down how it went; whether it was taken."""
        event, line, attempts = owed
        try:
            try:
                await self._sink.deliver([event])
            except Exception as error:
                setback = Setback(attempts + 1, self._pause(attempts), in_words(error))
                await self._store.write(
                    lambda unit: put_off(unit, self._sink, event, setback), "relay"
                )
                return False
            await self._store.write(lambda unit: took(unit, self._sink, [event]), "relay")
            return True
        finally:
            self._under_way[line].discard(event.seq)
            if not self._under_way[line]:
                del self._under_way[line]

    def _pause(self, attempts: int) -> float | None:
        """How long to wait after one more failure; None if that was the last attempt."""
        pauses = self._settings.pauses
        if attempts >= len(pauses):
            return None
        return pauses[attempts] * self._chance.uniform(1.0, 1.0 + JITTER)
