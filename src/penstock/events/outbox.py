"""The outbox of one subscriber, for people: what was sent, what waits, what was parked."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import and_, func, select, update

from penstock.events.log import as_event
from penstock.events.ports import Event, Subscriber
from penstock.events.tables import deliveries, events
from penstock.store.store import Store
from penstock.store.unit import Unit

AT_ONCE = 200
SENT = "sent"


class Outbox:
    """Events of some topics that are for one subscriber."""

    def __init__(self, store: Store, subscriber: Subscriber, topics: Sequence[str]) -> None:
        self._store = store
        self._subscriber = subscriber
        self._topics = topics

    async def entries(
        self, state: str | None = None, limit: int = 50, reach: int | None = None
    ) -> list[dict[str, Any]]:
        """The newest events with where they stand: waiting, parked, or sent.

        With a `reach`, so many places of the log are looked through.
        """

        def look(unit: Unit) -> list[dict[str, Any]]:
            found = []
            floor = 0 if reach is None else _last(unit) - reach
            for entry in self._newest_first(unit, floor):
                if state is None or entry["state"] == state:
                    found.append(entry)
                if len(found) >= limit:
                    break
            return found

        return await self._store.read(look)

    async def owed(
        self, state: str, before: int | None = None, limit: int = 50
    ) -> list[dict[str, Any]]:
        """What is waiting or parked, newest first, before a place; each with its place."""
        columns = (deliveries.c.state, deliveries.c.attempts, deliveries.c.next_at)
        query = (
            select(events, *columns, deliveries.c.error, deliveries.c.key.label("line"))
            .join(deliveries, deliveries.c.seq == events.c.seq)
            .where(deliveries.c.sink == self._subscriber.name, deliveries.c.state == state)
            .order_by(deliveries.c.seq.desc())
            .limit(limit)
        )
        if before is not None:
            query = query.where(deliveries.c.seq < before)
        return await self._store.read(
            lambda unit: [
                {**_entry(as_event(row), row["line"], row), "seq": row["seq"]}
                for row in unit.run(query).mappings()
            ]
        )

    async def resend(self, ids: Sequence[str]) -> int:
        """Owe these events again, whatever became of them; how many of them there are."""
        return await self._store.write(lambda unit: self._owe_again(unit, ids))

    async def resend_parked(self) -> int:
        """Owe everything again that was given up; how many events."""
        parked = update(deliveries).where(
            deliveries.c.sink == self._subscriber.name, deliveries.c.state == "parked"
        )
        return await self._store.write(
            lambda unit: unit.run(parked.values(_as_new(unit))).rowcount, "relay"
        )

    def _newest_first(self, unit: Unit, floor: int) -> Iterator[dict[str, Any]]:
        mine = and_(deliveries.c.seq == events.c.seq, deliveries.c.sink == self._subscriber.name)
        columns = (deliveries.c.state, deliveries.c.attempts, deliveries.c.next_at)
        query = (
            select(events, *columns, deliveries.c.error)
            .outerjoin(deliveries, mine)
            .where(events.c.topic.in_(self._topics), events.c.seq > floor)
            .order_by(events.c.seq.desc())
            .limit(AT_ONCE)
        )
        before: int | None = None
        while True:
            page = query if before is None else query.where(events.c.seq < before)
            rows = unit.run(page).mappings().all()
            for row in rows:
                event = as_event(row)
                if (line := self._subscriber.line_of(event.message)) is not None:
                    yield _entry(event, line, row)
            if len(rows) < AT_ONCE:
                return
            before = rows[-1]["seq"]

    def _owe_again(self, unit: Unit, ids: Sequence[str]) -> int:
        query = select(events).where(events.c.id.in_(ids), events.c.topic.in_(self._topics))
        found = [as_event(row) for row in unit.run(query).mappings()]
        rows = [
            {"sink": self._subscriber.name, "seq": event.seq, "key": line, **_as_new(unit)}
            for event in found
            if (line := self._subscriber.line_of(event.message)) is not None
        ]
        if rows:
            insert = unit.insert(deliveries)
            again = {name: insert.excluded[name] for name in _as_new(unit)}
            keys = [deliveries.c.sink, deliveries.c.seq]
            unit.run(insert.on_conflict_do_update(index_elements=keys, set_=again), rows)
        return len(rows)


def _last(unit: Unit) -> int:
    return int(unit.run(select(func.coalesce(func.max(events.c.seq), 0))).scalar_one())


def _as_new(unit: Unit) -> dict[str, Any]:
    return {"state": "waiting", "attempts": 0, "next_at": unit.now}


def _entry(event: Event, line: str, row: Any) -> dict[str, Any]:
    return {
        "id": event.message.id,
        "topic": event.message.topic,
        "key": event.message.key,
        "receiver": line,
        "state": row["state"] or SENT,
        # What was sent is owed no more, and nobody knows after how many attempts.
        "attempts": row["attempts"],
        "at": event.at,
        "next_at": row["next_at"] if row["state"] == "waiting" else None,
        "error": row["error"],
    }
