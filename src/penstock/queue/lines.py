"""Lines and counts of the queue: small rows that many want to change, written once and in order."""

import os
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import case, or_

from penstock.queue.tables import counts, lines
from penstock.store import Unit

SHARDS = 64


class Line(NamedTuple):
    """The items of one group in one lane at one priority."""

    lane: str
    priority: int
    group: str


class Changes:
    """What a transaction does to lines and counts; written once, in a fixed order."""

    def __init__(self) -> None:
        self.wake: dict[Line, int] = {}
        self.pending: Counter[tuple[str, str]] = Counter()

    def wait(self, line: Line, at: int) -> None:
        """Something in a line waits until a time."""
        self.wake[line] = min(at, self.wake.get(line, at))

    def write(self, unit: Unit) -> None:
        if self.wake:
            rows = [
                {
                    "lane": line.lane,
                    "priority": line.priority,
                    "group_key": line.group,
                    "next_at": at,
                }
                for line, at in sorted(self.wake.items())
            ]
            unit.run(_upsert_lines(unit), rows)
        shard = os.getpid() % SHARDS
        changed = [
            {"lane": lane, "quota": quota, "shard": shard, "pending": number}
            for (lane, quota), number in sorted(self.pending.items())
            if number
        ]
        if changed:
            unit.run(_upsert_counts(unit), changed)


def discount(unit: Unit, rows: Iterable[Any]) -> None:
    """Items of these lanes and quotas are pending no more."""
    pending = unit.tally(Changes).pending
    for lane, quota in rows:
        pending[lane, quota] -= 1


def _upsert_lines(unit: Unit) -> Any:
    insert = unit.insert(lines)
    new, old = insert.excluded.next_at, lines.c.next_at
    sooner = case((or_(old.is_(None), old > new), new), else_=old)
    keys = [lines.c.lane, lines.c.priority, lines.c.group_key]
    return insert.on_conflict_do_update(index_elements=keys, set_={"next_at": sooner})


def _upsert_counts(unit: Unit) -> Any:
    insert = unit.insert(counts)
    keys = [counts.c.lane, counts.c.quota, counts.c.shard]
    total = counts.c.pending + insert.excluded.pending
    return insert.on_conflict_do_update(index_elements=keys, set_={"pending": total})
