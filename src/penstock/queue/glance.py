"""A look at the queue that costs about the same however much it holds: for pages, not for accounts.

What waits is known from the counts that are kept. What is over, and what waits in one line, is
counted up to a number and no further.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, exists, func, select, tuple_

from penstock.queue.lines import IS_CLAIMED, IS_WAITING, Line
from penstock.queue.ports import PRIORITIES, Depth, State
from penstock.queue.tables import counts, items, lines
from penstock.store.store import Store
from penstock.store.unit import Unit

#: More than this of what is over is not counted.
MOST_OVER = 10_000
#: Of each lane so many lines are looked at, and in all of them together so many items.
LINES_OF_A_LANE, ITEMS_AT_ONCE = 200, 50_000

IS_OF_LINE = and_(
    items.c.lane == lines.c.lane,
    items.c.priority == lines.c.priority,
    items.c.group_key == lines.c.group_key,
)
_LINE = (lines.c.lane, lines.c.priority, lines.c.group_key)


class Glance(NamedTuple):
    """What each lane holds that ever had work, but for what is done.

    There is more in the states that are `uncounted` than was counted.
    """

    depths: Sequence[Depth]
    uncounted: Collection[State]


@dataclass(frozen=True, slots=True)
class Crowd:
    """What waits in one group of a lane, or `more`; how much is due, and when to look next (ms)."""

    lane: str
    group: str
    waiting: int
    due: int
    next_at: int | None
    more: bool


class Crowds(NamedTuple):
    """The largest groups of those that were looked at; whether those were all of them."""

    largest: Sequence[Crowd]
    are_all: bool


async def glance(store: Store) -> Glance:
    """How much every lane holds."""
    return await store.read(_glance)


def _glance(unit: Unit) -> Glance:
    pending = waiting_and_claimed(unit)
    over = {state: _over(unit, state) for state in (State.DEAD, State.STALE)}
    named = {*pending, *(lane for numbers in over.values() for lane in numbers)}
    depths = []
    for lane in sorted(named):
        waiting, claimed = pending.get(lane, (0, 0))
        ended = {state: numbers.get(lane, 0) for state, numbers in over.items()}
        found = {State.WAITING: waiting, State.CLAIMED: claimed, **ended}
        depths.append(Depth(lane, found, oldest_due(unit, lane)))
    many = [state for state, numbers in over.items() if sum(numbers.values()) > MOST_OVER]
    return Glance(depths, many)


def waiting_and_claimed(unit: Unit) -> Mapping[str, tuple[int, int]]:
    """How many items of each lane wait, and how many somebody has."""
    claimed = select(items.c.lane, func.count()).where(IS_CLAIMED).group_by(items.c.lane)
    held = {lane: int(number) for lane, number in unit.run(claimed)}
    pending = select(counts.c.lane, func.sum(counts.c.pending)).group_by(counts.c.lane)
    return {
        lane: (max(0, int(number) - held.get(lane, 0)), held.get(lane, 0))
        for lane, number in unit.run(pending)
    }


def _over(unit: Unit, state: State) -> Mapping[str, int]:
    """By lane, of the latest."""
    ended = items.c.finished_at
    # What is over has an end: named here, so that the index of such items is used.
    latest = select(items.c.lane).where(items.c.state == state.value, ended.is_not(None))
    some = latest.order_by(ended.desc()).limit(MOST_OVER + 1).subquery()
    query = select(some.c.lane, func.count().label("number")).group_by(some.c.lane)
    return {row.lane: row.number for row in unit.run(query)}


def oldest_due(unit: Unit, lane: str) -> float | None:
    """For how many seconds a line with work has not been looked at."""
    firsts = [_first_with_work(lane, priority, unit.now) for priority in PRIORITIES]
    found = [at for at in unit.run(select(*firsts)).one() if at is not None]
    return (unit.now - min(found)) / 1000 if found else None


def _first_with_work(lane: str, priority: int, now: int) -> ColumnElement[int | None]:
    """When the first line of a priority was to be looked at that has something to give.

    The first, not the least of all: so both indexes are used, and of most lines nothing is read.
    """
    has_work = exists().where(IS_WAITING, IS_OF_LINE, items.c.not_before <= now)
    query = select(lines.c.next_at).where(
        lines.c.lane == lane, lines.c.priority == priority, lines.c.next_at <= now, has_work
    )
    first = query.order_by(lines.c.next_at).limit(1)
    return first.scalar_subquery().label(f"at_{priority}")


# ── what waits, by group


async def largest_crowds(store: Store, limit: int, lanes: Sequence[str] | None = None) -> Crowds:
    """The groups in which most waits, the largest first, among the lines that are looked at next.

    The more lines there are, the earlier counting stops; those where it did are counted further
    as long as that tells some of them from others.
    """
    return await store.read(lambda unit: _largest(unit, limit, lanes))


def _largest(unit: Unit, limit: int, wanted: Sequence[str] | None) -> Crowds:
    lanes = sorted(waiting_and_claimed(unit)) if wanted is None else wanted
    chosen, are_all = list[Line](), True
    for lane in lanes:
        some = _next_lines(unit, lane)
        are_all = are_all and len(some) <= LINES_OF_A_LANE
        chosen += some[:LINES_OF_A_LANE]
    found: dict[Line, Crowd] = {}
    while chosen:
        found |= _count(unit, chosen, 1 + ITEMS_AT_ONCE // len(chosen))
        uncounted = [line for line in chosen if found[line].more]
        chosen = uncounted if len(uncounted) < len(chosen) else []
    return Crowds(_by_group(found.values())[:limit], are_all)


def _next_lines(unit: Unit, lane: str) -> Sequence[Line]:
    query = select(*_LINE).where(lines.c.lane == lane, lines.c.next_at.is_not(None))
    query = query.order_by(lines.c.priority, lines.c.next_at).limit(LINES_OF_A_LANE + 1)
    return [Line(*row) for row in unit.run(query)]


def _count(unit: Unit, chosen: Sequence[Line], most: int) -> Mapping[Line, Crowd]:
    """What waits in lines, up to a number each."""
    waiting = _number(most + 1)
    ripe = _number(most + 1, items.c.not_before <= unit.now, lines.c.next_at <= unit.now)
    query = select(*_LINE, waiting, ripe, lines.c.next_at).where(tuple_(*_LINE).in_(chosen))
    return {
        Line(lane, priority, group): Crowd(
            lane, group, min(number, most), min(due, most), at, more=number > most
        )
        for lane, priority, group, number, due, at in unit.run(query)
    }


def _number(most: int, *more: ColumnElement[bool]) -> ColumnElement[int]:
    some = select(items.c.id).where(IS_WAITING, IS_OF_LINE, *more).limit(most).correlate(lines)
    return select(func.count()).select_from(some.subquery()).scalar_subquery()


def _by_group(found: Iterable[Crowd]) -> list[Crowd]:
    """The lines of a group together, whatever their priority; the largest first."""
    ordered = sorted((each for each in found if each.waiting), key=_name)
    groups = [_together(list(some)) for _, some in groupby(ordered, _name)]
    return sorted(groups, key=lambda each: (-each.waiting, *_name(each)))


def _together(some: Sequence[Crowd]) -> Crowd:
    first = some[0]
    return Crowd(
        first.lane,
        first.group,
        sum(each.waiting for each in some),
        sum(each.due for each in some),
        min((each.next_at for each in some if each.next_at is not None), default=None),
        any(each.more for each in some),
    )


def _name(crowd: Crowd) -> tuple[str, str]:
    return crowd.lane, crowd.group
