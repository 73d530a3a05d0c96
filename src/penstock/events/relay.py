"""The relay: delivers events to a sink, at least once and in order per key.

What cannot be delivered is tried again, later each time, and holds up its own key only. After
many attempts it is parked: shown, kept, and delivered again when somebody says so.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import delete, func, select, text, update

from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.events.log import as_event
from penstock.events.ports import Event, Sink, Subscriber
from penstock.events.tables import deliveries, events
from penstock.store.store import Store
from penstock.store.unit import Unit

#: Conditions of partial indexes: an engine takes one only if it sees the value in the statement.
IS_WAITING = deliveries.c.state == text("'waiting'")
IS_PARKED = deliveries.c.state == text("'parked'")
STATES = {"parked": IS_PARKED, "waiting": IS_WAITING}
AT_ONCE = 500
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0


class Setback(NamedTuple):
    """A delivery that failed: which attempt it was, how long to wait now if at all, and why."""

    attempts: int
    pause: float | None
    trouble: str


class Relay:
    """Brings the events of a store to one sink."""

    def __init__(
        self,
        store: Store,
        sink: Sink,
        *,
        max_attempts: int,
        chance: random.Random,
    ) -> None:
        self._store = store
        self._sink = sink
        self._max_attempts = max_attempts
        self._chance = chance

    async def deliver_due(self) -> int:
        """Deliver what is due now; how many events were taken."""
        due = await self._store.read(self._due)
        due.sort(key=lambda pair: (pair[0].message.key, pair[0].seq))
        lines = [list(line) for _, line in groupby(due, key=lambda pair: pair[0].message.key)]
        taken = await asyncio.gather(*(self._deliver(line) for line in lines))
        return sum(taken)

    def _due(self, unit: Unit) -> list[tuple[Event, int]]:
        """What waits for this sink, without the keys of which something has to wait."""
        mine = (deliveries.c.sink == self._sink.name) & (deliveries.c.state == "waiting")
        held_up = select(deliveries.c.key).where(mine, deliveries.c.next_at > unit.now)
        query = (
            select(events, deliveries.c.attempts)
            .join(deliveries, deliveries.c.seq == events.c.seq)
            .where(mine, deliveries.c.key.not_in(held_up))
            .order_by(events.c.seq)
            .limit(AT_ONCE)
        )
        return [(as_event(row), row["attempts"]) for row in unit.run(query).mappings()]

    async def _deliver(self, line: Sequence[tuple[Event, int]]) -> int:
        """Deliver events of one key; at the first that fails, the others wait too."""
        found = [event for event, _ in line]
        try:
            await self._sink.deliver(found)
        except Exception as error:
            if len(line) > 1:
                return await self._deliver(line[:1])
            attempts = line[0][1] + 1
            setback = Setback(attempts, self._pause(attempts), in_words(error))
            await self._store.write(
                lambda unit: put_off(unit, self._sink, found[0], setback), "relay"
            )
            return 0
        await self._store.write(lambda unit: took(unit, self._sink, found), "relay")
        return len(found)

    def _pause(self, attempts: int) -> float | None:
        """How long to wait after so many failures; None if that was the last attempt."""
        if attempts >= self._max_attempts:
            return None
        pause = min(FIRST_PAUSE * 2.0 ** min(attempts - 1, 20), LONGEST_PAUSE)
        return pause * self._chance.uniform(0.5, 1.0)


def took(unit: Unit, sink: Subscriber, found: Sequence[Event]) -> None:
    """The sink has these events: they are owed no more."""
    unit.tally(_Taken).places[sink.name] += [event.seq for event in found]


class _Taken:
    """What sinks have taken in one transaction: nearly always one event at a time."""

    def __init__(self) -> None:
        self.places: defaultdict[str, list[int]] = defaultdict(list)

    def write(self, unit: Unit) -> None:
        for sink, places in sorted(self.places.items()):
            its = deliveries.c.sink == sink
            unit.run(delete(deliveries).where(its, unit.among(deliveries.c.seq, places)))


def put_off(unit: Unit, sink: Subscriber, event: Event, setback: Setback) -> None:
    """The sink did not take an event: again after a pause, or parked if there is none."""
    attempts, pause, trouble = setback
    log = get_logger()
    log.warning("event not delivered", sink=sink.name, seq=event.seq, error=trouble)
    if pause is None:
        log.error("event parked", sink=sink.name, seq=event.seq, attempts=attempts)
    statement = update(deliveries).where(
        deliveries.c.sink == sink.name, deliveries.c.seq == event.seq
    )
    values = {
        "state": "waiting" if pause is not None else "parked",
        "attempts": attempts,
        "next_at": unit.now + int((pause or 0.0) * 1000),
        "error": trouble[:1000],
    }
    unit.run(statement.values(values))


def in_words(error: Exception) -> str:
    """What went wrong; our own errors say it in a sentence."""
    return str(error) if isinstance(error, PenstockError) else repr(error)


class Deliveries:
    """What is still to be delivered, for people to look at."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def counts(self, most: int | None = None) -> list[dict[str, Any]]:
        """How many events wait or are parked, per sink; one more than `most` if there are more."""
        return await self._store.read(lambda unit: _count(unit, most))

    async def parked(self, limit: int = 100) -> list[dict[str, Any]]:
        """Events that were given up, with the last error."""
        query = select(deliveries).where(IS_PARKED)
        query = query.order_by(deliveries.c.sink, deliveries.c.seq).limit(limit)
        return await self._store.read(lambda unit: list(unit.rows(query)))

    async def retry_parked(self, sink: str | None = None) -> int:
        """Have parked events delivered again; how many."""
        statement = update(deliveries).where(IS_PARKED)
        if sink is not None:
            statement = statement.where(deliveries.c.sink == sink)
        return await self._store.write(
            lambda unit: (
                unit.run(statement.values(state="waiting", attempts=0, next_at=unit.now)).rowcount
            )
        )


def _count(unit: Unit, most: int | None) -> list[dict[str, Any]]:
    found = []
    for sink in _sinks(unit):
        for state, is_so in STATES.items():
            some = select(deliveries.c.seq).where(deliveries.c.sink == sink, is_so)
            some = some.limit(None if most is None else most + 1)
            number = unit.run(select(func.count()).select_from(some.subquery())).scalar_one()
            if number:
                found.append({"sink": sink, "state": state, "events": number})
    return found


def _sinks(unit: Unit) -> Iterator[str]:
    """Who is owed something: each found behind the last, since a scan would read all rows."""
    sink = unit.run(select(func.min(deliveries.c.sink))).scalar_one()
    while sink is not None:
        yield sink
        behind = select(func.min(deliveries.c.sink)).where(deliveries.c.sink > sink)
        sink = unit.run(behind).scalar_one()
