"""Upkeep: targets whose item is over without a result leave their run; what is old is forgotten."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, exists, or_, select, tuple_, update

from penstock.core.ids import new_id
from penstock.queue.ports import State
from penstock.queue.tables import items
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.adapters import lock_statuses
from penstock.workloads.monitor.counting import LOST, STALE, Fate
from penstock.workloads.monitor.ending import Ends, by_pair, lock_runs
from penstock.workloads.monitor.leaving import Leaver, Timetable, leave
from penstock.workloads.monitor.model import DAY_MS, QuarantineStatus, RunStatus, pair_of
from penstock.workloads.monitor.tables import (
    quarantined_offers,
    scrape_adapter_status,
    scrape_results,
    scrape_runs,
    scrape_targets,
)

AT_ONCE = 500
#: A run that has no targets is left alone for so long: they may just be on their way.
SETTLED_MS = 60_000
NO_TARGETS = "targets_gone"
#: Where a row stands among those that are forgotten: its time and its id.
Place = tuple[int, str]
START: Place = (0, "")
#: Forgets some rows that are older than a time and behind a place; their places, in order.
Step = Callable[[Unit, int, Place], list[Place]]


class RunUpkeep:
    """Ends what nobody else ends."""

    def __init__(self, store: Store, ends: Ends, timetable: Timetable) -> None:
        self._store = store
        self._ends = ends
        self._timetable = timetable

    async def settle_lost(self) -> int:
        """Take targets out of runs whose items are stale, dead or gone; how many."""
        total = 0
        while number := await self._store.write(self._settle_lost, "settle"):
            total += number
        return total + await self._store.write(self._close_abandoned, "settle")

    def _settle_lost(self, unit: Unit) -> int:
        lost = {row["id"]: row for row in unit.rows(_lost())}
        if not lost:
            return 0
        statuses = _lock_pairs(unit, _pairs_of(unit, {row["run_id"] for row in lost.values()}))
        runs = lock_runs(unit, {row["run_id"] for row in lost.values()})
        query = select(scrape_targets).where(unit.among(scrape_targets.c.id, sorted(lost)))
        rows = unit.rows(query.order_by(scrape_targets.c.id).with_for_update())
        # Since they were found, some may have left their run in the usual way.
        still = [row for row in rows if row["run_id"] == lost[row["id"]]["run_id"]]
        found = [(row, _fate(lost[row["id"]])) for row in still if row["run_id"] in runs]
        orphans = [row["id"] for row in still if row["run_id"] not in runs]
        unit.insert_all(
            scrape_results, [_result(unit, row, fate, runs[row["run_id"]]) for row, fate in found]
        )
        began = {run_id: run["started_at"] for run_id, run in runs.items()}
        leavers = [Leaver(row, began[row["run_id"]], fate) for row, fate in found]
        leave(unit, leavers, self._timetable)
        _free(unit, orphans)
        counted = [(row["run_id"], fate.counts, False) for row, fate in found]
        self._ends.count(unit, runs, counted, by_pair(statuses))
        return len(found) + len(orphans)

    def _close_abandoned(self, unit: Unit) -> int:
        """End runs that have no targets any more, though not all of them were counted."""
        runs = scrape_runs.c
        has_targets = exists().where(scrape_targets.c.run_id == runs.id)
        query = select(runs.id, runs.adapter_id, runs.source_id).where(
            runs.status == RunStatus.RUNNING.value,
            runs.started_at < unit.now - SETTLED_MS,
            ~has_targets,
        )
        found = list(unit.rows(query.limit(AT_ONCE)))
        statuses = by_pair(_lock_pairs(unit, found))
        locked = lock_runs(unit, [row["id"] for row in found])
        self._ends.close(unit, locked, statuses, NO_TARGETS)
        return len(found)

    async def forget_results(self, older_than_days: float) -> int:
        """Delete results of long ago, but not the last good one of a target; how many."""
        return await self._in_steps(older_than_days, _forget_results)

    async def forget_pages(self, older_than_days: float) -> int:
        """Let go of pages of long ago, but not of the last good one of a target; how many."""
        return await self._in_steps(older_than_days, _forget_pages)

    async def forget_runs(self, older_than_days: float) -> int:
        """Delete runs of long ago of which nothing is left, with what was decided in them."""
        return await self._in_steps(older_than_days, _forget_runs)

    async def _in_steps(self, days: float, step: Step) -> int:
        """Forget in small steps, each from where the last one ended."""
        total, last = 0, START
        while some := await self._store.write(
            partial(_take_step, step=step, age=int(days * DAY_MS), last=last), "upkeep"
        ):
            total, last = total + len(some), some[-1]
        return total


def _take_step(unit: Unit, step: Step, age: int, last: Place) -> list[Place]:
    return step(unit, unit.now - age, last)


async def pages_in_use(store: Store, addresses: Sequence[str]) -> set[str]:
    """Which of some blobs a result still speaks of."""
    bodies = scrape_results.c.body
    return await store.read(
        lambda unit: set(unit.run(select(bodies).where(unit.among(bodies, addresses))).scalars())
    )


def _lost() -> Any:
    """Targets in a run whose item is not pending any more, with what became of it."""
    targets = scrape_targets.c
    is_its_item = items.c.id == targets.run_id.concat(":").concat(targets.id)
    is_over = or_(
        items.c.id.is_(None),
        items.c.state.not_in((State.WAITING.value, State.CLAIMED.value)),
    )
    return (
        select(
            targets.id,
            targets.run_id,
            items.c.state.label("item_state"),
        )
        .select_from(scrape_targets.outerjoin(items, is_its_item))
        .where(targets.run_id.is_not(None), is_over)
        .limit(AT_ONCE)
    )


def _fate(lost: Mapping[str, Any]) -> Fate:
    return STALE if lost["item_state"] == State.STALE else LOST


def _pairs_of(unit: Unit, run_ids: Collection[str]) -> list[dict[str, Any]]:
    """Adapter and source of runs: their targets may have others by now."""
    runs = scrape_runs.c
    query = select(runs.adapter_id, runs.source_id).where(unit.among(runs.id, sorted(run_ids)))
    return list(unit.rows(query.distinct()))


def _lock_pairs(unit: Unit, rows: Collection[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The statuses of the adapters and sources of some rows."""
    pairs = {pair_of(row) for row in rows}
    status = scrape_adapter_status.c
    chosen = [
        and_(status.adapter == adapter, status.source_id == source) for source, adapter in pairs
    ]
    if not chosen:
        return []
    ids = unit.run(select(status.adapter_id).where(or_(*chosen))).scalars().all()
    return lock_statuses(unit, ids)


def _result(
    unit: Unit, target: Mapping[str, Any], fate: Fate, run: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "id": new_id(),
        "target_id": target["id"],
        "run_id": target["run_id"],
        "at": unit.now,
        "fetch_status": fate.fetch_status.value,
        "verdict": None,
        "reason": fate.reason,
        "adapter_version": run["adapter_version"],
        "document": {"url": target["url"], "status": "failed"},
        "body": None,
        "price_id": None,
    }


def _free(unit: Unit, ids: Sequence[str]) -> None:
    """Take targets out of runs that do not exist; they are due now."""
    if ids:
        statement = update(scrape_targets).where(unit.among(scrape_targets.c.id, ids))
        unit.run(statement.values(run_id=None, next_due_at=unit.now))


# ── forgetting


def _is_needed() -> Any:
    """A result is needed as the last good one of its target, or while its offer waits."""
    result, target, offer = scrape_results.c, scrape_targets.c, quarantined_offers.c
    is_last_good = exists().where(
        target.id == result.target_id, target.last_good_result_id == result.id
    )
    waits = exists().where(
        offer.run_id == result.run_id,
        offer.target_id == result.target_id,
        offer.status == QuarantineStatus.OPEN.value,
    )
    return or_(is_last_good, waits)


def _forget_results(unit: Unit, before: int, last: Place) -> list[Place]:
    result = scrape_results.c
    old = _old_results(unit, before, last)
    unit.run(delete(scrape_results).where(unit.among(result.id, _ids(old))))
    return old


def _forget_pages(unit: Unit, before: int, last: Place) -> list[Place]:
    result = scrape_results.c
    old = _old_results(unit, before, last, result.body.is_not(None))
    unit.run(update(scrape_results).where(unit.among(result.id, _ids(old))).values(body=None))
    return old


def _old_results(unit: Unit, before: int, last: Place, *more: ColumnElement[bool]) -> list[Place]:
    result = scrape_results.c
    place = (result.at, result.id)
    query = select(*place).where(
        result.at < before, tuple_(*place) > tuple_(*last), ~_is_needed(), *more
    )
    return [(at, each) for at, each in unit.run(query.order_by(*place).limit(AT_ONCE))]


def _forget_runs(unit: Unit, before: int, last: Place) -> list[Place]:
    run, offer = scrape_runs.c, quarantined_offers.c
    place = (run.started_at, run.id)
    has_results = exists().where(scrape_results.c.run_id == run.id)
    waits = exists().where(offer.run_id == run.id, offer.status == QuarantineStatus.OPEN.value)
    query = select(*place).where(
        run.started_at < before,
        tuple_(*place) > tuple_(*last),
        run.status != RunStatus.RUNNING.value,
        ~or_(has_results, waits),
    )
    old = [(at, each) for at, each in unit.run(query.order_by(*place).limit(AT_ONCE))]
    unit.run(delete(quarantined_offers).where(unit.among(offer.run_id, _ids(old))))
    unit.run(delete(scrape_runs).where(unit.among(run.id, _ids(old))))
    return old


def _ids(places: Sequence[Place]) -> list[str]:
    return [each for _, each in places]
