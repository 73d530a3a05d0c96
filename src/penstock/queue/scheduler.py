"""The scheduler: puts what is due in the queue, and nothing twice.

Due schedules are found through an index. The item and the next time are written together, so a
scheduler that dies repeats nothing and forgets nothing. What was missed while nobody scheduled
comes once, spread over a while. When the queue rejects most of a cycle, the scheduler pauses:
for as long as the queue asks, then twice as long each time, up to an hour.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from penstock.core.clock import Clock
from penstock.core.ids import new_id
from penstock.core.log import get_logger
from penstock.core.trace import new_trace
from penstock.queue.ports import Item, Receipt
from penstock.queue.seats import Seat
from penstock.queue.tables import schedules
from penstock.queue.timing import Timing
from penstock.store.store import Store
from penstock.store.unit import Unit

AT_ONCE = 500
TICK = 1.0
#: Who is later than this was missed, and is not to come with all the others at once.
LATE = 60.0
LONGEST_SPREAD = 3600.0
#: What was scheduled and not done for so long is stale: a newer one is on its way.
MAX_AGE = 86400.0
LONGEST_PAUSE = 3600.0
ALERT_AFTER = 1800.0
#: Puts items as part of a unit of work.
PutIn = Callable[[Unit, Sequence[Item]], list[Receipt]]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Something that comes again and again."""

    id: str
    lane: str
    timing: Timing
    payload: dict[str, Any]
    group: str
    priority: int


@dataclass(frozen=True, slots=True)
class Cycle:
    """What came of one look: how many were due, how many were rejected, and for how long."""

    due: int = 0
    rejected: int = 0
    retry_after: float = 0.0

    @property
    def is_refused(self) -> bool:
        """Whether most of it was rejected."""
        return self.rejected * 2 > self.due


class Scheduler:
    """Puts due work in the queue, if it has the seat."""

    def __init__(
        self, store: Store, put_in: PutIn, seat: Seat, clock: Clock, chance: random.Random
    ) -> None:
        self._store = store
        self._put_in = put_in
        self._seat = seat
        self._clock = clock
        self._chance = chance
        self._pause = 0.0
        self._refused_since: float | None = None
        self.backoff_until = 0.0
        self.is_active = False

    async def run(self) -> None:
        """Schedule for as long as we have the seat; else stand by."""
        while True:
            self.is_active = await self._seat.is_ours()
            if not (self.is_active and await self.tick()):
                await self._clock.sleep(TICK)

    async def tick(self) -> bool:
        """One look; True if there may be more that is due."""
        now = self._clock.monotonic()
        if now < self.backoff_until:
            return False
        cycle = await self._store.write(self._put_due, "put")
        self._mind(cycle, now)
        return cycle.due == AT_ONCE and not cycle.is_refused

    def _put_due(self, unit: Unit) -> Cycle:
        query = select(schedules).where(schedules.c.next_at <= unit.now)
        query = query.order_by(schedules.c.next_at).limit(AT_ONCE).with_for_update(skip_locked=True)
        rows = unit.run(query).mappings().all()
        if not rows:
            return Cycle()
        receipts = self._put_in(unit, [self._item(unit, row) for row in rows])
        accepted = [
            self._next(unit, row, receipt)
            for row, receipt in zip(rows, receipts, strict=True)
            if receipt.status != "rejected"
        ]
        if accepted:
            unit.run(_moving(), accepted)
        rejected = [receipt for receipt in receipts if receipt.status == "rejected"]
        wait = max((receipt.retry_after or 0.0 for receipt in rejected), default=0.0)
        return Cycle(len(rows), len(rejected), wait)

    def _item(self, unit: Unit, row: Any) -> Item:
        late = (unit.now - row["next_at"]) / 1000
        delay = 0.0
        if late > LATE:
            span = Timing(**row["timing"]).span(_date(unit.now))
            delay = self._chance.uniform(0, min(span, late, LONGEST_SPREAD))
        return Item(
            id=new_id(),
            lane=row["lane"],
            payload=row["payload"],
            group=row["group_key"],
            priority=row["priority"],
            key=f"{row['id']}@{row['next_at']}",
            quota=row["id"],
            delay=delay,
            max_age=MAX_AGE,
            traceparent=new_trace(),
        )

    def _next(self, unit: Unit, row: Any, receipt: Receipt) -> dict[str, Any]:
        at = Timing(**row["timing"]).next_after(_date(unit.now), self._chance)
        return {
            "an_id": row["id"],
            "at": int(at.timestamp() * 1000),
            "last": unit.now,
            "receipt": receipt.as_json(),
        }

    def _mind(self, cycle: Cycle, now: float) -> None:
        """Pause after a refused cycle, longer after every further one."""
        if not cycle.due:
            return
        if not cycle.is_refused:
            self._pause, self._refused_since = 0.0, None
            return
        self._refused_since = now if self._refused_since is None else self._refused_since
        self._pause = min(self._pause * 2 or cycle.retry_after, LONGEST_PAUSE)
        self.backoff_until = now + self._pause
        log = get_logger()
        log.warning("schedules rejected", rejected=cycle.rejected, due=cycle.due, pause=self._pause)
        if self.backoff_until - self._refused_since > ALERT_AFTER:
            log.error("ALERT: the queue has been full for over 30 minutes", pause=self._pause)


class Schedules:
    """The schedules of a store."""

    def __init__(self, store: Store, chance: random.Random) -> None:
        self._store = store
        self._chance = chance

    async def add(self, schedule: Schedule) -> None:
        """Add a schedule, or change the one of the same id."""
        await self._store.write(lambda unit: self._add(unit, schedule))

    async def remove(self, schedule: str) -> bool:
        """Remove a schedule; False if there was none."""
        statement = delete(schedules).where(schedules.c.id == schedule)
        return await self._store.write(lambda unit: unit.run(statement).rowcount > 0)

    async def all(self, limit: int = 1000) -> list[dict[str, Any]]:
        """The schedules, the next one first."""
        query = select(schedules).order_by(schedules.c.next_at).limit(limit)
        return await self._store.read(lambda unit: list(unit.rows(query)))

    def _add(self, unit: Unit, schedule: Schedule) -> None:
        first = schedule.timing.next_after(_date(unit.now), self._chance)
        row = {
            "id": schedule.id,
            "lane": schedule.lane,
            "timing": schedule.timing.as_json(),
            "payload": schedule.payload,
            "group_key": schedule.group,
            "priority": schedule.priority,
            "next_at": int(first.timestamp() * 1000),
        }
        insert = unit.insert(schedules)
        unit.run(insert.on_conflict_do_update(index_elements=["id"], set_=row), row)


def _moving() -> Any:
    statement = update(schedules).where(schedules.c.id == bindparam("an_id"))
    return statement.values(
        next_at=bindparam("at"), last_at=bindparam("last"), last_receipt=bindparam("receipt")
    )


def _date(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
