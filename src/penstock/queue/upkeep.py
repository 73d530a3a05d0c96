"""Looking after the queue: lists for people, what got too old, what nobody needs any more."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, func, select, tuple_, update

from penstock.queue.lines import discount
from penstock.queue.ports import State
from penstock.queue.tables import counts, items, lines, workers
from penstock.store.store import Store
from penstock.store.unit import Unit, do_nothing

AT_ONCE = 5000
#: Shown of an item; a payload may hold a caller's secrets.
SHOWN = (
    items.c.id,
    items.c.lane,
    items.c.state,
    items.c.priority,
    items.c.group_key,
    items.c.attempts,
    items.c.not_before,
    items.c.enqueued_at,
    items.c.finished_at,
    items.c.owner,
    items.c.failure,
    items.c.payload,
    items.c.traceparent,
)


class Upkeep:
    """What is done to the queue from outside."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def items(
        self, *, lane: str | None = None, state: State | None = None, limit: int = 50
    ) -> list[dict[str, Any]]:
        """Items, newest first, without the headers that a caller gave them."""
        query = select(*SHOWN).where(*_chosen(lane, state)).order_by(items.c.id.desc()).limit(limit)
        return await self._store.read(lambda unit: _shown(unit, query))

    async def workers(self) -> list[dict[str, Any]]:
        """Everybody who works from this store."""
        query = select(workers).order_by(workers.c.started_at)

        def look(unit: Unit) -> list[dict[str, Any]]:
            return [
                {**row, "silent_ms": unit.now - row["beat_at"]}
                for row in unit.run(query).mappings()
            ]

        return await self._store.read(look)

    async def make_stale(self) -> int:
        """Set aside what waited for longer than it may; how many items."""
        return await self._in_steps(_make_stale)

    async def purge(
        self, states: Sequence[State], *, lane: str | None = None, older_than: float = 0.0
    ) -> int:
        """Forget items that are over, or do not run, for so many seconds; how many."""
        return await self._in_steps(lambda unit: _purge(unit, states, lane, older_than))

    async def _in_steps(self, step: Callable[[Unit], int]) -> int:
        """Repeat a unit of work that takes a part at a time, so that it holds up nobody."""
        total = 0
        while number := await self._store.write(step, "upkeep"):
            total += number
        return total


def _chosen(lane: str | None, state: State | None) -> Sequence[ColumnElement[bool]]:
    chosen: list[ColumnElement[bool]] = []
    if lane is not None:
        chosen.append(items.c.lane == lane)
    if state is not None:
        chosen.append(items.c.state == state)
    return chosen


def _shown(unit: Unit, query: Select[*tuple[Any, ...]]) -> list[dict[str, Any]]:
    rows = list(unit.rows(query))
    for row in rows:
        row["payload"] = {
            name: sorted(value) if name == "headers" else value
            for name, value in row["payload"].items()
        }
    return rows


def _make_stale(unit: Unit) -> int:
    old = select(items.c.id).where(items.c.state == State.WAITING, items.c.expires_at <= unit.now)
    statement = (
        update(items)
        .where(items.c.id.in_(old.limit(AT_ONCE)), items.c.state == State.WAITING)
        .values(state=State.STALE, finished_at=unit.now)
        .returning(items.c.lane, items.c.quota)
    )
    gone = unit.run(statement).all()
    discount(unit, gone)
    return len(gone)


def _purge(unit: Unit, states: Sequence[State], lane: str | None, older_than: float) -> int:
    """Claimed items are somebody's: they are never purged."""
    before = unit.now - int(older_than * 1000)
    chosen = [items.c.state.in_(set(states) - {State.CLAIMED}), *_chosen(lane, None)]
    if older_than:
        chosen.append(items.c.finished_at <= before)
    some = select(items.c.id).where(and_(*chosen)).limit(AT_ONCE)
    statement = (
        delete(items)
        .where(items.c.id.in_(some), items.c.state != State.CLAIMED)
        .returning(items.c.lane, items.c.quota, items.c.state)
    )
    gone = unit.run(statement).all()
    discount(unit, [row[:2] for row in gone if row.state == State.WAITING])
    return len(gone)


def forget_empty_lines(unit: Unit) -> int:
    """Delete lines without work; they come back with the next item."""
    return unit.run(delete(lines).where(lines.c.next_at.is_(None))).rowcount


def forget_empty_counts(unit: Unit, *chosen: ColumnElement[bool]) -> int:
    """Delete the counts of those of whom nothing is pending; they come back with the next item.

    They are locked first: what somebody counts meanwhile is not lost. Their lane is still known.
    """
    whose = (counts.c.lane, counts.c.quota)
    empty = select(*whose).where(counts.c.quota != "", *chosen).group_by(*whose)
    empty = empty.having(func.sum(counts.c.pending) == 0).limit(AT_ONCE)
    query = select(counts).where(tuple_(*whose).in_(empty)).order_by(*whose, counts.c.shard)
    shards: dict[tuple[str, str], dict[int, int]] = {}
    for row in unit.run(query.with_for_update()).all():
        shards.setdefault((row.lane, row.quota), {})[row.shard] = row.pending
    unused = [whose for whose, pending in shards.items() if not sum(pending.values())]
    for lane, quota in unused:
        mine = (counts.c.lane == lane, counts.c.quota == quota)
        unit.run(delete(counts).where(*mine, counts.c.shard.in_(shards[lane, quota])))
    known = [
        {"lane": lane, "quota": "", "shard": 0, "pending": 0}
        for lane in sorted({lane for lane, _ in unused})
    ]
    unit.insert_all(counts, known, do_nothing)
    return len(unused)
