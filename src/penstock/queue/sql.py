"""The queue in the store: the table is the truth, on SQLite and PostgreSQL alike.

Per lane, priority and group there is a line with the time at which to look for its next item.
A claim takes the lines whose time has come, oldest first, and from each as much as is wanted of
its group: no scan, however many items wait, and no group in front of another. The time of a line
may be early, never late: who finds nothing there corrects it.
"""

import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count

from sqlalchemy import func, select

from penstock.core.errors import StoreError, StoreLost
from penstock.queue import claiming, settling
from penstock.queue.claiming import Claimant
from penstock.queue.glance import oldest_due
from penstock.queue.ports import (
    Claim,
    Depth,
    Ending,
    Item,
    LaneLimit,
    Receipt,
    Record,
    Share,
    State,
)
from penstock.queue.putting import Puts, put_items
from penstock.queue.tables import items
from penstock.store.store import Store
from penstock.store.unit import Unit


class SqlQueue:
    """A queue in a store; several may use the same one."""

    def __init__(self, store: Store, limits: Mapping[str, LaneLimit]) -> None:
        self._store = store
        self._limits = limits
        self._puts = partial(Puts, limits)

    async def put(self, items: Sequence[Item]) -> list[Receipt]:
        """Put items, in one go with whatever else is being put at the same time."""
        tries = count()

        def work(unit: Unit) -> list[Receipt]:
            return unit.tally(self._puts).add(items, is_new=next(tries) == 0)

        try:
            return await self._store.write(work, "put")
        except StoreLost:
            raise
        except StoreError:
            # Most likely some of them were there already: look first this time.
            return await self._store.write(work, "put")

    def put_in(self, unit: Unit, wanted: Sequence[Item], *, are_new: bool = False) -> list[Receipt]:
        """Put items as part of a larger unit of work; their ids are looked for unless new."""
        return put_items(unit, wanted, self._limits, are_new=are_new)

    async def claim(
        self, worker: str, lanes: Sequence[str], limit: int, share: Share
    ) -> list[Claim]:
        who = Claimant(worker, secrets.randbits(63))
        return await self._store.write(
            lambda unit: claiming.claim(unit, who, lanes, limit, share), "claim"
        )

    async def claim_ids(self, worker: str, ids: Sequence[str]) -> list[Claim]:
        who = Claimant(worker, secrets.randbits(63))
        return await self._store.write(lambda unit: claiming.claim_ids(unit, who, ids), "claim")

    async def note_trial(self, claims: Sequence[Claim]) -> set[str]:
        if not claims:
            return set()
        return await self._store.write(lambda unit: settling.note_trial(unit, claims), "settle")

    async def settle(
        self, endings: Sequence[tuple[Claim, Ending]], record: Record | None = None
    ) -> set[str]:
        return await self._store.write(
            lambda unit: settling.settle(unit, endings, record), "settle"
        )

    async def rescue(self) -> int:
        orphans = await self._store.read(settling.orphans)
        if not orphans:
            return 0
        return await self._store.write(settling.rescue, "settle")

    async def revive(self, ids: Sequence[str] | None = None, *, lane: str | None = None) -> int:
        return await self._store.write(lambda unit: settling.revive(unit, ids, lane), "settle")

    async def depth(self) -> list[Depth]:
        return await self._store.read(_depth)


def _depth(unit: Unit) -> list[Depth]:
    query = select(items.c.lane, items.c.state, func.count()).group_by(items.c.lane, items.c.state)
    numbers: dict[str, dict[State, int]] = {}
    for lane, state, number in unit.run(query):
        numbers.setdefault(lane, {})[State(state)] = number
    return [Depth(lane, found, oldest_due(unit, lane)) for lane, found in sorted(numbers.items())]
