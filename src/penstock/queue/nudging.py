"""A queue that tells workers at once of what was put in it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from penstock.queue.broker import Nudge, Nudger
from penstock.queue.ports import Claim, Depth, Ending, Item, Queue, Receipt, Record, Share

#: Of one group, named at once; the rest is named as these are over, so that no group is in the
#: way of another.
MOST_OF_A_GROUP = 10


class NudgingQueue:
    """Nudges for new items that are due; the resender sees to all others."""

    def __init__(self, queue: Queue, nudger: Nudger) -> None:
        self._queue = queue
        self._nudger = nudger

    async def put(self, items: Sequence[Item]) -> list[Receipt]:
        receipts = await self._queue.put(items)
        accepted = [
            item
            for item, receipt in zip(items, receipts, strict=True)
            if receipt.status == "accepted"
        ]
        if nudges := list(_first_of_groups(accepted)):
            await self._nudger.send(nudges)
        return receipts

    async def revive(self, ids: Sequence[str] | None = None, *, lane: str | None = None) -> int:
        return await self._queue.revive(ids, lane=lane)

    async def claim(
        self, worker: str, lanes: Sequence[str], limit: int, share: Share
    ) -> list[Claim]:
        return await self._queue.claim(worker, lanes, limit, share)

    async def claim_ids(self, worker: str, ids: Sequence[str]) -> list[Claim]:
        return await self._queue.claim_ids(worker, ids)

    async def note_trial(self, claims: Sequence[Claim]) -> set[str]:
        return await self._queue.note_trial(claims)

    async def settle(
        self, endings: Sequence[tuple[Claim, Ending]], record: Record | None = None
    ) -> set[str]:
        return await self._queue.settle(endings, record)

    async def rescue(self) -> int:
        return await self._queue.rescue()

    async def depth(self) -> list[Depth]:
        return await self._queue.depth()


def _first_of_groups(items: Sequence[Item]) -> Iterator[Nudge]:
    named: Counter[tuple[str, str]] = Counter()
    for item in items:
        group = (item.lane, item.group)
        if item.delay <= 0 and named[group] < MOST_OF_A_GROUP:
            named[group] += 1
            yield Nudge(item.lane, item.id, item.traceparent)
