"""Lines and counts of the queue: small rows that many want to change, written once and in order."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, bindparam, case, func, or_, select, text, update

from penstock.queue.ports import PRIORITIES
from penstock.queue.tables import counts, items, lines
from penstock.store.unit import Unit

SHARDS = 64
#: Rows named in one statement; both engines allow about 32,000 values.
MOST_AT_ONCE = 1000
#: Conditions of partial indexes: an engine takes one only if it sees the value in the statement.
IS_WAITING = items.c.state == text("'waiting'")
IS_CLAIMED = items.c.state == text("'claimed'")
#: A delay of more seconds is as good as this one, and a time that both engines can keep.
LONGEST_DELAY = 100 * 365 * 86_400.0


class Line(NamedTuple):
    """The items of one group in one lane at one priority."""

    lane: str
    priority: int
    group: str


class Changes:
    """What a transaction does to lines and counts; written once, in a fixed order."""

    def __init__(self) -> None:
        self.wake: dict[Line, int] = {}
        self.parked: dict[str, dict[str, int]] = {}
        self.pending: Counter[tuple[str, str]] = Counter()

    def wait(self, line: Line, at: int) -> None:
        """Something in a line waits until a time."""
        self.wake[line] = min(at, self.wake.get(line, at))

    def park(self, lane: str, group: str, until: int) -> None:
        """A group of a lane waits as a whole, at every priority."""
        groups = self.parked.setdefault(lane, {})
        groups[group] = max(until, groups.get(group, until))

    def write(self, unit: Unit) -> None:
        self._write_lines(unit)
        shard = os.getpid() % SHARDS
        changed = [
            {"lane": lane, "quota": quota, "shard": shard, "pending": number}
            for (lane, quota), number in sorted(self.pending.items())
            if number
        ]
        if changed:
            unit.insert_all(counts, changed, _added)

    def _write_lines(self, unit: Unit) -> None:
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
            unit.insert_all(lines, rows, _sooner)
        for lane, groups in sorted(self.parked.items()):
            _park(unit, lane, groups)


def discount(unit: Unit, rows: Iterable[Any]) -> None:
    """Items of these lanes and quotas are pending no more."""
    pending = unit.tally(Changes).pending
    for lane, quota in rows:
        pending[lane, quota] -= 1


def _sooner(insert: Any) -> Any:
    """A line that is there already is looked at when the first of its items is due."""
    new, old = insert.excluded.next_at, lines.c.next_at
    sooner = case((or_(old.is_(None), old > new), new), else_=old)
    keys = [lines.c.lane, lines.c.priority, lines.c.group_key]
    return insert.on_conflict_do_update(index_elements=keys, set_={"next_at": sooner})


def _park(unit: Unit, lane: str, until: Mapping[str, int]) -> None:
    """Look at lines of groups only after a time.

    A line that another transaction is at is left out: to wait for it could be to wait in a
    circle. Whoever claims from it meets the same gate and parks it again.
    """
    for groups in batches(sorted(until)):
        query = (
            select(lines.c.priority, lines.c.group_key, lines.c.next_at)
            .where(
                lines.c.lane == lane,
                # All of them, named: without the priority the key of the table is of no use.
                lines.c.priority.in_(PRIORITIES),
                lines.c.group_key.in_(groups),
                lines.c.next_at.is_not(None),
            )
            .with_for_update(skip_locked=True)
        )
        rows = [
            {"a_lane": lane, "a_priority": row.priority, "a_group": row.group_key, "at": at}
            for row in unit.run(query).all()
            if row.next_at < (at := until[row.group_key])
        ]
        if rows:
            unit.run(_set_time(), rows)


def _set_time() -> Any:
    return (
        update(lines)
        .where(
            lines.c.lane == bindparam("a_lane"),
            lines.c.priority == bindparam("a_priority"),
            lines.c.group_key == bindparam("a_group"),
        )
        .values(next_at=bindparam("at"))
    )


def _added(insert: Any) -> Any:
    """What is pending already and what is new are counted together."""
    keys = [counts.c.lane, counts.c.quota, counts.c.shard]
    total = counts.c.pending + insert.excluded.pending
    return insert.on_conflict_do_update(index_elements=keys, set_={"pending": total})


def look_again(unit: Unit, times: Mapping[Line, int]) -> None:
    """Look at lines when their next items are due, but not before a time; they are locked."""
    alike: dict[tuple[str, int, int], list[str]] = {}
    for line, at in times.items():
        alike.setdefault((line.lane, line.priority, at), []).append(line.group)
    for (lane, priority, at), groups in alike.items():
        its = lines.c.lane == lane, lines.c.priority == priority
        for some in batches(groups):
            statement = update(lines).where(*its, unit.among(lines.c.group_key, some))
            unit.run(statement.values(next_at=_next_time(at)))


def _next_time(at: int) -> ColumnElement[int | None]:
    first = (
        select(func.min(items.c.not_before))
        .where(
            IS_WAITING,
            items.c.lane == lines.c.lane,
            items.c.priority == lines.c.priority,
            items.c.group_key == lines.c.group_key,
        )
        .correlate(lines)
        .scalar_subquery()
    )
    return case((first < at, at), else_=first)


def batches(rows: Sequence[Any], size: int = MOST_AT_ONCE) -> Iterator[Sequence[Any]]:
    """So many rows at a time."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def milliseconds(seconds: float) -> int:
    """A delay as the tables keep it."""
    return int(min(seconds, LONGEST_DELAY) * 1000)
