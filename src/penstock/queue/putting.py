"""Putting: what is new is taken in as far as the limits leave room, and counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import func, select

from penstock.queue.lines import Changes, Line, batches, milliseconds
from penstock.queue.ports import (
    ACCEPTED,
    DUPLICATE,
    PRIORITIES,
    Item,
    LaneLimit,
    Receipt,
    State,
)
from penstock.queue.tables import counts, items
from penstock.store.schema import are_plain, storable
from penstock.store.unit import Unit

#: What an item is at first.
AS_NEW: dict[str, Any] = {"state": str(State.WAITING), "attempts": 0, "lost": 0, "tried": 0}


def put_items(
    unit: Unit, wanted: Sequence[Item], limits: Mapping[str, LaneLimit], *, are_new: bool
) -> list[Receipt]:
    """Put items; their ids are looked for unless they are new."""
    if not wanted:
        return []
    unit.take_turns("put")
    known = _Known(unit, wanted, are_new=are_new)
    room = _Room(unit, limits, wanted)
    new: Sequence[Item]
    if known.has_none_of(wanted) and room.is_for_all(wanted):
        new, receipts = wanted, [ACCEPTED] * len(wanted)
    else:
        new, receipts = _choose(wanted, known, room)
    for some in batches(new):
        unit.insert_columns(items, _columns(unit, some), enqueued_at=unit.now, **AS_NEW)
    _count_in(unit, new)
    return receipts


def _choose(
    wanted: Sequence[Item], known: "_Known", room: "_Room"
) -> tuple[list[Item], list[Receipt]]:
    """What is taken in, one by one, and what is said of each."""
    receipts: list[Receipt] = []
    new: list[Item] = []
    for item in wanted:
        receipt = known.answer(item)
        if receipt is None:
            receipt = room.take(item)
            if receipt is ACCEPTED:
                known.add(item)
                new.append(item)
        receipts.append(receipt)
    return new, receipts


class Puts:
    """What is put in one transaction: many small puts cost as much as one."""

    def __init__(self, limits: Mapping[str, LaneLimit]) -> None:
        self._limits = limits
        self._waiting: list[tuple[Sequence[Item], list[Receipt]]] = []
        self._are_new = True

    def add(self, items: Sequence[Item], *, is_new: bool) -> list[Receipt]:
        """Have items put at the edge of the transaction; the receipts are there when it is over."""
        self._are_new &= is_new
        receipts: list[Receipt] = []
        self._waiting.append((items, receipts))
        return receipts

    def write(self, unit: Unit) -> None:
        wanted = [item for some, _ in self._waiting for item in some]
        answers = iter(put_items(unit, wanted, self._limits, are_new=self._are_new))
        for some, receipts in self._waiting:
            receipts.extend(islice(answers, len(some)))


class _Known:
    """The items and keys that are there already."""

    def __init__(self, unit: Unit, wanted: Sequence[Item], *, are_new: bool) -> None:
        self._ids: set[str] = set()
        self._keys: set[tuple[str, str]] = set()
        keyed: dict[str, list[str]] = {}
        for item in wanted:
            if item.key is not None:
                keyed.setdefault(item.lane, []).append(item.key)
        for some in batches(() if are_new else wanted):
            query = select(items.c.id).where(unit.among(items.c.id, [item.id for item in some]))
            self._ids.update(unit.run(query).scalars())
        for lane, keys in keyed.items():
            for few in batches(keys):
                query = select(items.c.key, items.c.id).where(
                    items.c.lane == lane, unit.among(items.c.key, few)
                )
                for key, item_id in unit.run(query):
                    self._keys.add((lane, key))
                    # Looked for or not: an item is no duplicate of itself.
                    self._ids.add(item_id)

    def has_none_of(self, wanted: Sequence[Item]) -> bool:
        """Whether all of some items are news, at one look; if not, each may still be."""
        if self._ids or self._keys:
            return False
        ids = [item.id for item in wanted]
        keys = [(item.lane, item.key) for item in wanted if item.key is not None]
        are_different = len(set(ids)) == len(ids) and len(set(keys)) == len(keys)
        # As they are stored, two of them may be one.
        return are_different and are_plain(ids) and are_plain([key for _, key in keys])

    def answer(self, item: Item) -> Receipt | None:
        """What is to be said of an item that is no news.

        One with the same id was put by an earlier run of the same unit of work, whose commit
        we did not hear of.
        """
        if storable(item.id) in self._ids:
            return ACCEPTED
        if item.key is not None and (item.lane, storable(item.key)) in self._keys:
            return DUPLICATE
        return None

    def add(self, item: Item) -> None:
        self._ids.add(storable(item.id))
        if item.key is not None:
            self._keys.add((item.lane, storable(item.key)))


class _Room:
    """How much room the limits leave, as items are taken in."""

    def __init__(self, unit: Unit, limits: Mapping[str, LaneLimit], wanted: Sequence[Item]) -> None:
        lanes = {item.lane for item in wanted if item.lane in limits}
        self._limits = limits
        self._pending = Counter(unit.tally(Changes).pending)
        query = select(counts.c.lane, counts.c.quota, func.sum(counts.c.pending))
        query = query.where(counts.c.lane.in_(lanes)).group_by(counts.c.lane, counts.c.quota)
        for lane, quota, number in unit.run(query) if lanes else ():
            self._pending[lane, quota] += int(number)
        self._totals: Counter[str] = Counter()
        for (lane, _), number in self._pending.items():
            self._totals[lane] += number

    def is_for_all(self, wanted: Sequence[Item]) -> bool:
        """Whether there is room for all of some items."""
        more = Counter((item.lane, storable(item.quota)) for item in wanted)
        totals = Counter(item.lane for item in wanted)
        return all(
            self._totals[lane] + totals[lane] <= limit.pending
            and (limit.per_quota is None or self._pending[lane, quota] + number <= limit.per_quota)
            for (lane, quota), number in more.items()
            if (limit := self._limits.get(lane))
        )

    def take(self, item: Item) -> Receipt:
        limit = self._limits.get(item.lane)
        whose = (item.lane, storable(item.quota))
        if limit:
            if self._totals[item.lane] >= limit.pending:
                return Receipt("rejected", limit.retry_after, "queue_full")
            if limit.per_quota is not None and self._pending[whose] >= limit.per_quota:
                return Receipt("rejected", limit.retry_after, "quota_full")
        self._totals[item.lane] += 1
        self._pending[whose] += 1
        return ACCEPTED


def _columns(unit: Unit, new: Sequence[Item]) -> dict[str, Sequence[Any]]:
    """What is written of items: many at a time cost less by column than by row."""
    ids, lanes, payloads, groups, priorities, keys, quotas, delays, ages, traces = zip(
        *new, strict=True
    )
    now = unit.now
    return {
        "id": ids,
        "lane": lanes,
        "priority": [_priority(priority) for priority in priorities],
        "group_key": groups,
        "key": keys,
        "quota": quotas,
        "payload": payloads,
        "traceparent": traces,
        "not_before": [now + milliseconds(delay) if delay else now for delay in delays],
        "expires_at": [None if age is None else now + milliseconds(age) for age in ages],
    }


def _count_in(unit: Unit, new: Sequence[Item]) -> None:
    """Note what waits and counts from now on; of many items most are in the same few lines."""
    changes = unit.tally(Changes)
    for lane, priority, group, delay in {
        (item.lane, item.priority, item.group, item.delay) for item in new
    }:
        changes.wait(Line(lane, _priority(priority), group), unit.now + milliseconds(delay))
    for (lane, quota), number in Counter((item.lane, item.quota) for item in new).items():
        changes.pending[lane, storable(quota)] += number


def _priority(number: int) -> int:
    return min(max(number, PRIORITIES.start), PRIORITIES.stop - 1)
