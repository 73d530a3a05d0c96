"""Work of which only one process may do a part at a time: it takes the seat, others stand by.

A seat belongs to a worker for as long as its heartbeat is heard: it falls free with the worker.
"""

from sqlalchemy import select

from penstock.queue.heartbeat import Heartbeat
from penstock.queue.tables import seats, workers
from penstock.store.store import Store
from penstock.store.unit import Unit


class Seat:
    """One seat, wanted by one worker."""

    def __init__(self, store: Store, heartbeat: Heartbeat, name: str) -> None:
        self._store = store
        self._heartbeat = heartbeat
        self._name = name

    async def is_ours(self) -> bool:
        """Whether we have the seat; takes it if it is free."""
        return await self._store.write(self._take, "seats")

    def _take(self, unit: Unit) -> bool:
        unit.take_turns("seats")
        holder = unit.run(
            select(seats.c.worker)
            .join(workers, workers.c.id == seats.c.worker)
            .where(seats.c.name == self._name)
        ).scalar_one_or_none()
        if holder is not None:
            return bool(holder == self._heartbeat.id)
        row = {"name": self._name, "worker": self._heartbeat.id, "since": unit.now}
        insert = unit.insert(seats)
        unit.run(insert.on_conflict_do_update(index_elements=["name"], set_=row), row)
        return True
