"""The event log in the store: appended with the outcome, read by place."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, func, select

from penstock.events.ports import Event, Message, Subscriber
from penstock.events.tables import deliveries, events
from penstock.store.store import Store
from penstock.store.unit import Unit, do_nothing

MOST_AT_ONCE = 1000
#: Who looks for events of some topics has so many places looked through, then gets what was found.
MOST_LOOKED_THROUGH = 50_000


class EventLog:
    """Events in the order in which they were committed."""

    def __init__(self, store: Store, sinks: Sequence[Subscriber] = ()) -> None:
        self._store = store
        self._sinks = sinks

    def append(self, unit: Unit, messages: Sequence[Message]) -> None:
        """Write messages as part of a unit of work; one that is there already stays as it is."""
        if not messages:
            return
        # Places are given out in the order of commits, so that a reader misses none.
        unit.take_turns("events")
        unit.insert_all(events, [_row(message) for message in messages], do_nothing, at=unit.now)
        owed = [
            (sink.name, message.id, line)
            for message in messages
            for sink in self._sinks
            if sink.wants(message.topic) and (line := sink.line_of(message)) is not None
        ]
        for start in range(0, len(owed), MOST_AT_ONCE):
            _owe(unit, owed[start : start + MOST_AT_ONCE])

    def announce(
        self, unit: Unit, message_id: str, topic: str, key: str, data: Mapping[str, Any]
    ) -> None:
        """As `append`, for who has one thing to say and knows nothing of messages."""
        self.append(unit, [Message(message_id, topic, key, data)])

    async def read(
        self, after: int = 0, limit: int = MOST_AT_ONCE, topics: Sequence[str] = ()
    ) -> list[Event]:
        """The events behind a place, oldest first."""
        query = select(events).where(events.c.seq > after).order_by(events.c.seq).limit(limit)
        if topics:
            query = query.where(events.c.topic.in_(topics))
        return await self._store.read(
            lambda unit: [as_event(row) for row in unit.run(query).mappings()]
        )

    async def latest(self, number: int, topics: Sequence[str] = ()) -> list[Event]:
        """The last events, oldest first."""
        query = select(events).order_by(events.c.seq.desc()).limit(number)
        if topics:
            query = query.where(events.c.topic.in_(topics))
        found = await self._store.read(
            lambda unit: [as_event(row) for row in unit.run(query).mappings()]
        )
        return found[::-1]

    async def before(
        self, place: int | None, limit: int, topics: Sequence[str] = ()
    ) -> tuple[list[Event], int | None]:
        """Events before a place, or the last ones, newest first; before which one to go on.

        A part may be small though more follows.
        """
        top = await self.last() + 1 if place is None else place
        floor = max(0, top - MOST_LOOKED_THROUGH)
        query = select(events).where(events.c.seq < top, events.c.seq >= floor)
        if topics:
            query = query.where(events.c.topic.in_(topics))
        query = query.order_by(events.c.seq.desc()).limit(limit)
        found = await self._store.read(
            lambda unit: [as_event(row) for row in unit.run(query).mappings()]
        )
        if len(found) == limit:
            return found, found[-1].seq
        return found, floor or None

    async def find(self, seq: int) -> Event | None:
        """The event at a place."""
        query = select(events).where(events.c.seq == seq)
        return await self._store.read(
            lambda unit: next((as_event(row) for row in unit.run(query).mappings()), None)
        )

    async def forget(self, older_than: float) -> int:
        """Delete events that are older than so many seconds and delivered; how many."""

        def step(unit: Unit) -> int:
            owed = select(deliveries.c.seq)
            old = select(events.c.seq).where(events.c.at < unit.now - int(older_than * 1000))
            some = old.where(events.c.seq.not_in(owed)).limit(MOST_AT_ONCE)
            return unit.run(delete(events).where(events.c.seq.in_(some))).rowcount

        total = 0
        while number := await self._store.write(step, "upkeep"):
            total += number
        return total

    async def last(self) -> int:
        """The place of the newest event; 0 if there is none."""
        query = select(func.coalesce(func.max(events.c.seq), 0))
        return await self._store.read(lambda unit: int(unit.run(query).scalar_one()))


def _owe(unit: Unit, owed: Sequence[tuple[str, str, str]]) -> None:
    """Note that sinks are to get messages, each in a line of the sink's."""
    query = select(events.c.id, events.c.seq)
    found = unit.run(query.where(unit.among(events.c.id, [message for _, message, _ in owed])))
    places = {row.id: row.seq for row in found}
    rows = [
        {
            "sink": sink,
            "seq": places[message],
            "key": line,
            "state": "waiting",
            "attempts": 0,
            "next_at": unit.now,
        }
        for sink, message, line in owed
    ]
    unit.insert_all(deliveries, rows, do_nothing)


def as_event(row: Any) -> Event:
    """A row of the log."""
    message = Message(row["id"], row["topic"], row["key"], row["data"], row["traceparent"])
    return Event(row["seq"], row["at"], message)


def _row(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "topic": message.topic,
        "key": message.key,
        "data": message.data,
        "traceparent": message.traceparent,
    }
