"""Tasks and pictures that nobody works on any more, though they are said to be under way."""

from sqlalchemy import exists, select, update

from penstock.products.images import forgotten_images
from penstock.queue.ports import State
from penstock.queue.tables import items
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.downloading import PutIn
from penstock.workloads.catalog.imaging import LineOf, items_for
from penstock.workloads.catalog.model import IMAGES, UNDER_WAY, Status
from penstock.workloads.catalog.tables import crawl_tasks

AT_ONCE = 500
#: What was written so lately may be on its way.
SETTLED_MS = 60_000
#: A picture that waits in the queue for longer is looked at again.
PICTURES_MS = 86_400_000


class LostTasks:
    """Lets those wait again whose item is dead, stale or gone."""

    def __init__(self, store: Store, put_in: PutIn, line_of: LineOf) -> None:
        self._store = store
        self._put_in = put_in
        self._line_of = line_of

    async def settle(self) -> int:
        """Find them; how many."""
        total = 0
        while number := await self._store.write(_give_back, "settle"):
            total += number
        return total + await self._store.write(self._get_pictures, "settle")

    def _get_pictures(self, unit: Unit) -> int:
        """Have pictures got that nobody got for a day, unless they still wait."""
        waiting = select(items.c.id).where(items.c.lane == IMAGES, items.c.state == State.WAITING)
        if unit.run(waiting.limit(1)).first():
            return 0
        found = forgotten_images(unit, unit.now - PICTURES_MS, AT_ONCE)
        self._put_in(unit, items_for(found, self._line_of))
        return len(found)


def _give_back(unit: Unit) -> int:
    tasks = crawl_tasks.c
    is_alive = exists().where(
        items.c.id == tasks.item_id, items.c.state.in_([State.WAITING, State.CLAIMED])
    )
    lost = (
        select(tasks.id)
        .where(
            tasks.status.in_([status.value for status in UNDER_WAY]),
            tasks.updated_at < unit.now - SETTLED_MS,
            ~is_alive,
        )
        .limit(AT_ONCE)
    )
    statement = update(crawl_tasks).where(tasks.id.in_(lost))
    values = {"status": Status.PENDING.value, "item_id": None, "updated_at": unit.now}
    return unit.run(statement.values(values)).rowcount
