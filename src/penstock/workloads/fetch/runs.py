"""Runs: a list of URLs is loaded once, resumed after any end but its own, and then closed."""

from dataclasses import dataclass

from sqlalchemy import func, insert, select, update

from penstock.core.ids import new_id
from penstock.queue.tables import counts, items
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.fetch.lane import NAME
from penstock.workloads.fetch.tables import runs


@dataclass(frozen=True, slots=True)
class Run:
    """One list of URLs on its way."""

    id: str
    is_resumed: bool


class Runs:
    """The runs of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def open(self, name: str) -> Run:
        """The run of this name that is not over, else a new one."""
        return await self._store.write(lambda unit: _open(unit, name))

    async def loaded(self, run: Run) -> None:
        """All URLs of the list are in the queue."""
        await self._mark(run, "loaded_at")

    async def close(self, run: Run) -> None:
        """All URLs of the list are over; the next run of this name is a new one."""
        await self._mark(run, "closed_at")

    async def pending(self, run: Run) -> int:
        """How many URLs of a run are not over."""
        query = select(func.coalesce(func.sum(counts.c.pending), 0))
        query = query.where(counts.c.lane == NAME, counts.c.quota == run.id)
        return await self._store.read(lambda unit: int(unit.run(query).scalar_one()))

    async def next_at(self, run: Run) -> float | None:
        """In how many seconds the next URL of a run is due; None if none waits."""
        query = select(func.min(items.c.not_before))
        query = query.where(items.c.quota == run.id, items.c.state == "waiting")

        def look(unit: Unit) -> float | None:
            at = unit.run(query).scalar_one()
            return None if at is None else (at - unit.now) / 1000

        return await self._store.read(look)

    async def _mark(self, run: Run, column: str) -> None:
        statement = update(runs).where(runs.c.id == run.id)
        await self._store.write(
            lambda unit: unit.run(statement.values({column: unit.now})) and None
        )


def _open(unit: Unit, name: str) -> Run:
    query = select(runs.c.id).where(runs.c.name == name, runs.c.closed_at.is_(None))
    if found := unit.run(query).scalars().first():
        return Run(found, is_resumed=True)
    run = Run(new_id(), is_resumed=False)
    unit.run(insert(runs), {"id": run.id, "name": name, "opened_at": unit.now})
    return run
