"""Scheduling: targets that are due are put in runs, within the limits, and nothing twice.

A target that is put in a run is not due until it has left it. One for which nothing can be done
now (its source is not approved, its adapter is disabled) is set aside, so that nobody looks at
it again and again; it is due again when that changes. One that the queue has no room for stays
due: it is looked at again when the queue said.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Select, bindparam, select, update

from penstock.core.clock import Clock
from penstock.products.tables import sources
from penstock.queue.scheduler import AT_ONCE, TICK, Cycle, Scheduler
from penstock.queue.seats import Seat
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.adapters import wake
from penstock.workloads.monitor.model import TargetStatus, Trigger
from penstock.workloads.monitor.runs import Launcher, candidates
from penstock.workloads.monitor.tables import scrape_targets

#: The lane as a whole is full, as opposed to: one adapter has enough.
QUEUE_FULL = "queue_full"
QUOTA_FULL = "quota_full"
#: A change may be committed so much later than it says.
OVERTAKING_MS = 5_000


class TargetScheduler(Scheduler):
    """Puts due targets in runs, if it has the seat; pauses as the queue's own scheduler does."""

    def __init__(
        self,
        store: Store,
        launcher: Launcher,
        seat: Seat,
        clock: Clock,
        chance: random.Random,
        *,
        tick_seconds: float = TICK,
        rejected: Callable[[str, int], None] = lambda _reason, _number: None,
    ) -> None:
        super().__init__(store, launcher.put_in, seat, clock, chance)
        self._launcher = launcher
        self._tick_seconds = tick_seconds
        self._rejected = rejected
        self._woken_until = 0

    async def run(self) -> None:
        """Schedule for as long as we have the seat; else stand by."""
        while True:
            self.is_active = await self._seat.is_ours()
            if not (self.is_active and await self.tick()):
                await self._clock.sleep(self._tick_seconds)

    async def tick(self) -> bool:
        """One look; True if there may be more that is due."""
        await self._wake()
        return await super().tick()

    def _put_due(self, unit: Unit) -> Cycle:
        targets = scrape_targets.c
        query = candidates(targets.next_due_at <= unit.now, targets.next_due_at.is_not(None))
        rows = list(unit.rows(query.order_by(targets.next_due_at).limit(AT_ONCE)))
        if not rows:
            return Cycle()
        ready = [row for row in rows if self._launcher.problem_with(row) is None]
        ids = {row["id"] for row in ready}
        set_aside(unit, [row["id"] for row in rows if row["id"] not in ids])
        return self._launch(unit, ready, len(rows))

    def _launch(self, unit: Unit, rows: Sequence[Mapping[str, Any]], due: int) -> Cycle:
        refused: dict[str, str] = {}
        retry_after = 0.0
        # Those that are broken come last: the others tell more of an adapter.
        for trigger, some in groupby(sorted(rows, key=_trigger, reverse=True), key=_trigger):
            # Higher numbers go first, and those that have waited longest among equals.
            chosen = sorted(some, key=lambda row: (-row["priority"], row["next_due_at"]))
            launch = self._launcher.launch(unit, chosen, Trigger(trigger))
            refused |= launch.refused
            retry_after = max(retry_after, launch.retry_after or 0.0)
        full = [target for target, reason in refused.items() if reason == QUEUE_FULL]
        later = [target for target, reason in refused.items() if reason == QUOTA_FULL]
        set_aside(unit, [target for target in refused if target not in {*full, *later}])
        # Those of a shop that has enough must not stand before those of others.
        put_off(unit, later, unit.now + int(retry_after * 1000))
        for reason, targets in ((QUEUE_FULL, full), (QUOTA_FULL, later)):
            if targets:
                self._rejected(reason, len(targets))
        return Cycle(due, len(full), retry_after)

    async def _wake(self) -> None:
        """Targets that were set aside are due when something changed at their source."""
        since = self._woken_until
        changed = await self._store.read(lambda unit: unit.run(_approved(since)).all())
        if not changed:
            return
        ids = [source_id for source_id, _ in changed]
        await self._store.write(lambda unit: _wake_all(unit, ids), "put")
        self._woken_until = max(at for _, at in changed) + 1


def _approved(since: int) -> Select[tuple[str, int]]:
    """Sources that may be read and were changed since a time, or shortly before."""
    return select(sources.c.id, sources.c.updated_at).where(
        sources.c.updated_at >= since - OVERTAKING_MS,
        sources.c.tos_approved_by.is_not(None),
        sources.c.robots_compliant,
    )


def _wake_all(unit: Unit, ids: Sequence[str]) -> None:
    for source_id in sorted(ids):
        wake(unit, source_id, None, unit.now)


def set_aside(unit: Unit, ids: Sequence[str]) -> None:
    """Let targets not be due until something changes."""
    put_off(unit, ids, None)


def put_off(unit: Unit, ids: Sequence[str], until: int | None) -> None:
    """Let targets be due at another time."""
    if not ids:
        return
    statement = update(scrape_targets).where(scrape_targets.c.id == bindparam("an_id"))
    unit.run(
        statement.values(next_due_at=bindparam("at")),
        [{"an_id": each, "at": until} for each in ids],
    )


def _trigger(row: Mapping[str, Any]) -> str:
    is_broken = row["status"] == TargetStatus.BROKEN
    return (Trigger.RECHECK if is_broken else Trigger.SCHEDULED).value
