"""Scheduling: targets that are due are put in runs, within the limits, and nothing twice.

A target that is put in a run is not due until it has left it. One for which nothing can be done
now (its source is not approved, its adapter is disabled) is set aside, so that nobody looks at
it again and again; it is due again when that changes, and looked at again after an hour in case
that went unnoticed. One that the queue has no room for stays due: it is looked at again when the
queue said. Targets that are due in a few minutes go along with those of their shop that are due.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select, update

from penstock.core.clock import Clock
from penstock.products.tables import sources
from penstock.queue.scheduler import ALERT_AFTER, AT_ONCE, TICK, Cycle, Scheduler
from penstock.queue.seats import Seat
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.adapters import wake
from penstock.workloads.monitor.alerts import long_pause, rejection
from penstock.workloads.monitor.ending import TellOps
from penstock.workloads.monitor.model import Pair, TargetStatus, Trigger, pair_of
from penstock.workloads.monitor.runs import Launcher, candidates
from penstock.workloads.monitor.tables import scrape_targets

#: The lane as a whole is full, as opposed to: one adapter has enough.
QUEUE_FULL = "queue_full"
QUOTA_FULL = "quota_full"
#: A change may be committed so much later than it says.
OVERTAKING_MS = 5_000
#: What was set aside is looked at again after so long: who wakes it may have come too early.
WAKE_ALL_AFTER = 3600.0
#: Targets go along with others of their shop so long before they are due, but not if they were
#: read a short while ago.
AHEAD_MS = 300_000
LATELY_MS = 3_600_000


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
        tell_ops: TellOps = lambda _unit, _alerts: None,
    ) -> None:
        super().__init__(store, launcher.put_in, seat, clock, chance)
        self._launcher = launcher
        self._tick_seconds = tick_seconds
        self._rejected = rejected
        self._tell_ops = tell_ops
        self._woken_until = 0
        self._woken: dict[str, int] = {}
        self._all_woken_at: float | None = None
        # Pairs that the queue has no room for, and until when.
        self._full: dict[Pair, int] = {}

    async def run(self) -> None:
        """Schedule for as long as we have the seat; else stand by."""
        while True:
            self.is_active = await self._seat.is_ours()
            if not (self.is_active and await self.tick()):
                await self._clock.sleep(self._tick_seconds)

    async def tick(self) -> bool:
        """One look; True if there may be more that is due."""
        await self._wake()
        before = self.backoff_until
        may_be_more = await super().tick()
        if self.backoff_until > before:
            await self._tell_of_pause()
        return may_be_more

    async def _tell_of_pause(self) -> None:
        since = self._refused_since
        if since is not None and self.backoff_until - since > ALERT_AFTER:
            alerts = [long_pause(ALERT_AFTER)]
            await self._store.write(lambda unit: self._tell_ops(unit, alerts), "put")

    def _put_due(self, unit: Unit) -> Cycle:
        targets = scrape_targets.c
        query = candidates(targets.next_due_at <= unit.now, targets.next_due_at.is_not(None))
        rows = list(unit.rows(query.order_by(targets.next_due_at).limit(AT_ONCE)))
        if not rows:
            return Cycle()
        ready = [row for row in rows if self._launcher.problem_with(row) is None]
        ids = {row["id"] for row in ready}
        set_aside(unit, [row["id"] for row in rows if row["id"] not in ids])
        return self._launch(unit, [*ready, *self._going_along(unit, ready)], len(rows))

    def _going_along(
        self, unit: Unit, rows: Sequence[Mapping[str, Any]]
    ) -> list[Mapping[str, Any]]:
        """Targets of the same shops that are nearly due, so that runs do not crumble."""
        self._full = {pair: until for pair, until in self._full.items() if until > unit.now}
        pairs = {pair_of(row) for row in rows} - set(self._full)
        if not pairs:
            return []
        shops = sorted({source for source, _ in pairs})
        query = candidates(*_nearly_due(unit, shops)).order_by(scrape_targets.c.next_due_at)
        found = [row for row in unit.rows(query.limit(AT_ONCE)) if pair_of(row) in pairs]
        return [row for row in found if self._launcher.problem_with(row) is None]

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
        until = unit.now + int(retry_after * 1000)
        put_off(unit, later, until)
        without_room = {*full, *later}
        self._full |= {pair_of(row): until for row in rows if row["id"] in without_room}
        self._tell_rejected(unit, {QUEUE_FULL: len(full), QUOTA_FULL: len(later)})
        return Cycle(due, min(len(full), due), retry_after)

    def _tell_rejected(self, unit: Unit, numbers: Mapping[str, int]) -> None:
        found = {reason: number for reason, number in numbers.items() if number}
        for reason, number in found.items():
            self._rejected(reason, number)
        if found:
            self._tell_ops(unit, [rejection(*each) for each in sorted(found.items())])

    async def _wake(self) -> None:
        """Targets that were set aside are due when something changed at their source."""
        now = self._clock.monotonic()
        if self._all_woken_at is None or now - self._all_woken_at >= WAKE_ALL_AFTER:
            self.forget_woken()
            self._all_woken_at = now
        since = self._woken_until
        found = await self._store.read(lambda unit: unit.run(_approved(since)).all())
        changed = {source: at for source, at in found if self._woken.get(source) != at}
        if not changed:
            return
        await self._store.write(lambda unit: _wake_all(unit, list(changed)), "put")
        self._woken_until = max(since, *changed.values())
        # Those that are found again the next time.
        again = self._woken_until - OVERTAKING_MS
        self._woken = {source: at for source, at in found if at >= again}

    def forget_woken(self) -> None:
        """Look anew at everything that was set aside."""
        self._woken_until, self._woken = 0, {}


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


def _nearly_due(unit: Unit, source_ids: Sequence[str]) -> list[ColumnElement[bool]]:
    """Targets of some sources that are due soon, by a span: cron is kept to the minute."""
    targets = scrape_targets.c
    return [
        targets.next_due_at > unit.now,
        targets.next_due_at <= unit.now + AHEAD_MS,
        # Not found by its index: of a shop there may be a hundred thousand, of these minutes few.
        unit.among(func.coalesce(targets.source_id, ""), source_ids),
        or_(targets.schedule.is_(None), ~targets.schedule.contains(" ")),
        or_(
            targets.last_scraped_at.is_(None),
            targets.last_scraped_at < unit.now - LATELY_MS,
        ),
    ]


def set_aside(unit: Unit, ids: Sequence[str]) -> None:
    """Let targets not be due until something changes."""
    put_off(unit, ids, None)


def put_off(unit: Unit, ids: Sequence[str], until: int | None) -> None:
    """Let targets be due at another time."""
    if not ids:
        return
    chosen = unit.among(scrape_targets.c.id, ids)
    unit.run(update(scrape_targets).where(chosen).values(next_due_at=until))


def _trigger(row: Mapping[str, Any]) -> str:
    is_broken = row["status"] == TargetStatus.BROKEN
    return (Trigger.RECHECK if is_broken else Trigger.SCHEDULED).value
