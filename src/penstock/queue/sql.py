"""The queue in the store: the table is the truth, on SQLite and PostgreSQL alike.

Per lane, priority and group there is a line with the time at which to look for its next item.
A claim takes the lines whose time has come, oldest first, and from each as much as is wanted of
its group: no scan, however many items wait, and no group in front of another. The time of a line
may be early, never late: who finds nothing there corrects it.
"""

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    RowMapping,
    TextualSelect,
    bindparam,
    case,
    func,
    select,
    text,
    update,
)

from penstock.queue.lines import Changes, Line, discount
from penstock.queue.ports import (
    ACCEPTED,
    DUPLICATE,
    PRIORITIES,
    Bury,
    Claim,
    Depth,
    Done,
    Ending,
    Item,
    LaneLimit,
    Receipt,
    Record,
    Release,
    Retry,
    Share,
    State,
)
from penstock.queue.tables import counts, items, lines, workers
from penstock.store import Store, Unit

#: Rows named in one statement; both engines allow about 32,000 values.
MOST_AT_ONCE = 1000
#: Parts of one claiming statement; SQLite allows 500.
LINES_AT_ONCE = 100
#: Claims lost with their workers before an item is taken for the cause.
MOST_LOST = 5
#: For each of some lines, numbered; statements of hundreds of parts are too slow to compose.
NEXT_OF_LINE = """
    SELECT id FROM (
        SELECT id FROM queue_items
        WHERE state = 'waiting' AND lane = :lane# AND priority = :priority#
            AND group_key = :group# AND not_before <= :now
        ORDER BY not_before, id LIMIT :most#
    ) AS line#
"""
CLAIM_ITEMS = """
    UPDATE queue_items
    SET state = 'claimed', owner = :owner, token = :token, claimed_at = :now,
        attempts = attempts + 1
    WHERE state = 'waiting' AND id IN (#)
    RETURNING *
"""
WORKER_LOST = {
    "kind": "broken",
    "reason": "worker_lost",
    "detail": f"{MOST_LOST} workers were lost while they had it",
}


class SqlQueue:
    """A queue in a store; several may use the same one."""

    def __init__(self, store: Store, limits: Mapping[str, LaneLimit]) -> None:
        self._store = store
        self._limits = limits

    async def put(self, items: Sequence[Item]) -> list[Receipt]:
        return await self._store.write(lambda unit: self.put_in(unit, items), "put")

    def put_in(self, unit: Unit, wanted: Sequence[Item]) -> list[Receipt]:
        """Put items as part of a larger unit of work."""
        unit.take_turns("put")
        receipts = {item.id: receipt for item, receipt in self._admit(unit, wanted)}
        new = [item for item in wanted if receipts[item.id] is ACCEPTED]
        for some in _batches(new):
            unit.run(
                unit.insert(items).on_conflict_do_nothing(), [_row(unit, item) for item in some]
            )
            since = _enqueued(unit, some)
            for item in some:
                if item.id not in since:
                    receipts[item.id] = DUPLICATE
                elif since[item.id] == unit.now:
                    _count_in(unit, item)
        return [receipts[item.id] for item in wanted]

    def _admit(self, unit: Unit, wanted: Sequence[Item]) -> Iterator[tuple[Item, Receipt]]:
        """Whether there is room for each item, in order."""
        room = _Room(unit, self._limits, wanted)
        for item in wanted:
            yield item, room.take(item)

    async def claim(
        self, worker: str, lanes: Sequence[str], limit: int, share: Share
    ) -> list[Claim]:
        token = secrets.randbits(63)
        return await self._store.write(
            lambda unit: _claim(unit, _Claimant(worker, token), lanes, limit, share), "claim"
        )

    async def claim_ids(self, worker: str, ids: Sequence[str]) -> list[Claim]:
        token = secrets.randbits(63)
        return await self._store.write(
            lambda unit: _claim_ids(unit, _Claimant(worker, token), ids), "claim"
        )

    async def settle(
        self, endings: Sequence[tuple[Claim, Ending]], record: Record | None = None
    ) -> set[str]:
        return await self._store.write(lambda unit: _settle(unit, endings, record), "settle")

    async def rescue(self) -> int:
        orphans = await self._store.read(_orphans)
        if not orphans:
            return 0
        return await self._store.write(_rescue, "settle")

    async def revive(self, ids: Sequence[str] | None = None, *, lane: str | None = None) -> int:
        return await self._store.write(lambda unit: _revive(unit, ids, lane), "settle")

    async def depth(self) -> list[Depth]:
        return await self._store.read(_depth)


# ── put


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

    def take(self, item: Item) -> Receipt:
        limit = self._limits.get(item.lane)
        whose = (item.lane, item.quota)
        if limit:
            if self._totals[item.lane] >= limit.pending:
                return Receipt("rejected", limit.retry_after, "queue_full")
            if limit.per_quota is not None and self._pending[whose] >= limit.per_quota:
                return Receipt("rejected", limit.retry_after, "quota_full")
        self._totals[item.lane] += 1
        self._pending[whose] += 1
        return ACCEPTED


def _row(unit: Unit, item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "lane": item.lane,
        "priority": _priority(item.priority),
        "group_key": item.group,
        "key": item.key,
        "quota": item.quota,
        "payload": item.payload,
        "traceparent": item.traceparent,
        "state": State.WAITING,
        "not_before": unit.now + _ms(item.delay),
        "enqueued_at": unit.now,
        "expires_at": None if item.max_age is None else unit.now + _ms(item.max_age),
        "attempts": 0,
    }


def _enqueued(unit: Unit, some: Sequence[Item]) -> dict[str, int]:
    """When each item came into the table; one whose key was there already did not.

    A time before this transaction means that an earlier run of the same unit of work was
    committed without our hearing of it.
    """
    query = select(items.c.id, items.c.enqueued_at)
    rows = unit.run(query.where(items.c.id.in_([item.id for item in some])))
    return {row.id: row.enqueued_at for row in rows}


def _count_in(unit: Unit, item: Item) -> None:
    changes = unit.tally(Changes)
    line = Line(item.lane, _priority(item.priority), item.group)
    changes.wait(line, unit.now + _ms(item.delay))
    changes.pending[item.lane, item.quota] += 1


def _priority(number: int) -> int:
    return min(max(number, PRIORITIES.start), PRIORITIES.stop - 1)


# ── claim


class _Claimant(NamedTuple):
    worker: str
    token: int


def _claim(
    unit: Unit, who: _Claimant, lanes: Sequence[str], limit: int, share: Share
) -> list[Claim]:
    """Lines whose time has come, by priority; from each as many items as are wanted of it."""
    claims = _claimed_before(unit, who)
    for priority in PRIORITIES:
        for lane in lanes:
            if claims and len(claims) >= limit:
                return claims
            due = _due_lines(unit, lane, priority, limit - len(claims))
            claims += _claim_from(unit, who, due, limit - len(claims), share)
    return claims


def _claimed_before(unit: Unit, who: _Claimant) -> list[Claim]:
    """What an earlier run of the same unit of work claimed whose commit we did not hear of."""
    query = select(items).where(items.c.owner == who.worker, items.c.state == State.CLAIMED)
    return [_as_claim(row) for row in unit.run(query.where(items.c.token == who.token)).mappings()]


def _due_lines(unit: Unit, lane: str, priority: int, limit: int) -> list[Line]:
    query = (
        select(lines.c.group_key)
        .where(lines.c.lane == lane, lines.c.priority == priority, lines.c.next_at <= unit.now)
        .order_by(lines.c.next_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return [Line(lane, priority, group) for group in unit.run(query).scalars()]


def _claim_from(
    unit: Unit, who: _Claimant, due: Sequence[Line], limit: int, share: Share
) -> list[Claim]:
    """As many items of each line as are wanted; a line that gave enough rests for a while."""
    if not due:
        return []
    even = -(-limit // len(due))
    wanted: dict[Line, int] = {}
    rests: dict[Line, float] = {}
    for line in due:
        most, rest = share(line.group)
        wanted[line], rests[line] = min(most, even), rest if most <= even else 0.0
    claims: list[Claim] = []
    for some in _batches([line for line in due if wanted[line]], LINES_AT_ONCE):
        claims += _take_items(unit, who, [(line, wanted[line]) for line in some])
    got = Counter(Line(claim.lane, claim.priority, claim.group) for claim in claims)
    rows = [
        {
            "a_lane": line.lane,
            "a_priority": line.priority,
            "a_group": line.group,
            "at": unit.now + _ms(rests[line]) if got[line] >= wanted[line] else unit.now,
        }
        for line in sorted(due)
    ]
    unit.run(_look_again(), rows)
    return claims


def _take_items(unit: Unit, who: _Claimant, wanted: Sequence[tuple[Line, int]]) -> list[Claim]:
    values: dict[str, Any] = {"owner": who.worker, "token": who.token, "now": unit.now}
    for number, (line, most) in enumerate(wanted):
        values |= {
            f"lane{number}": line.lane,
            f"priority{number}": line.priority,
            f"group{number}": line.group,
            f"most{number}": most,
        }
    rows = unit.run(_taking(len(wanted)), values).mappings().all()
    return [_as_claim(row) for row in sorted(rows, key=lambda row: (row["not_before"], row["id"]))]


@lru_cache(maxsize=LINES_AT_ONCE)
def _taking(count: int) -> TextualSelect:
    """The statement that claims the next items of so many lines."""
    parts = " UNION ALL ".join(NEXT_OF_LINE.replace("#", str(number)) for number in range(count))
    return text(CLAIM_ITEMS.replace("#", parts)).columns(*items.c)


@lru_cache(maxsize=1)
def _look_again() -> Any:
    """Set when to look at a line: when its next item is due, but not before a certain time."""
    first = (
        select(func.min(items.c.not_before))
        .where(
            items.c.state == text("'waiting'"),
            items.c.lane == bindparam("a_lane"),
            items.c.priority == bindparam("a_priority"),
            items.c.group_key == bindparam("a_group"),
        )
        .scalar_subquery()
    )
    later = case((first < bindparam("at"), bindparam("at")), else_=first)
    return (
        update(lines)
        .where(
            lines.c.lane == bindparam("a_lane"),
            lines.c.priority == bindparam("a_priority"),
            lines.c.group_key == bindparam("a_group"),
        )
        .values(next_at=later)
    )


def _claim_ids(unit: Unit, who: _Claimant, ids: Sequence[str]) -> list[Claim]:
    claims = _claimed_before(unit, who)
    for some in _batches(ids):
        statement = (
            update(items)
            .where(items.c.id.in_(some), items.c.state == State.WAITING)
            .where(items.c.not_before <= unit.now)
            .values(
                state=State.CLAIMED,
                owner=who.worker,
                token=who.token,
                claimed_at=unit.now,
                attempts=items.c.attempts + 1,
            )
            .returning(*items.c)
        )
        claims += [_as_claim(row) for row in unit.run(statement).mappings()]
    return claims


def _as_claim(row: RowMapping) -> Claim:
    return Claim(
        id=row["id"],
        lane=row["lane"],
        token=row["token"],
        payload=row["payload"],
        group=row["group_key"],
        priority=row["priority"],
        attempts=row["attempts"],
        traceparent=row["traceparent"],
    )


# ── settle


def _settle(unit: Unit, endings: Sequence[tuple[Claim, Ending]], record: Record | None) -> set[str]:
    """End the claims that are still ours; those of another are left alone."""
    held: dict[str, State] = {}
    for some in _batches(endings):
        held |= _held(unit, [claim for claim, _ in some])
    ours = [(claim, ending) for claim, ending in endings if held.get(claim.id) == State.CLAIMED]
    for kind, end in ((Done, _finish), (Bury, _bury), (Retry, _wait_again), (Release, _wait_again)):
        chosen = [(claim, ending) for claim, ending in ours if isinstance(ending, kind)]
        if chosen:
            end(unit, chosen)
    if record and ours:
        record(unit, {claim.id for claim, _ in ours})
    return set(held)


def _held(unit: Unit, claims: Sequence[Claim]) -> dict[str, State]:
    """The items that still carry our token, and their state.

    One that is not claimed any more was ended by an earlier run of the same unit of work.
    """
    tokens = {claim.id: claim.token for claim in claims}
    query = select(items.c.id, items.c.token, items.c.state).where(items.c.id.in_(tokens))
    rows = unit.run(query.order_by(items.c.id).with_for_update())
    return {row.id: State(row.state) for row in rows if row.token == tokens[row.id]}


def _finish(unit: Unit, endings: Sequence[tuple[Claim, Any]]) -> None:
    for some in _batches(endings):
        statement = (
            update(items)
            .where(items.c.id.in_([claim.id for claim, _ in some]))
            .values(state=State.DONE, finished_at=unit.now, failure=None)
            .returning(items.c.lane, items.c.quota)
        )
        discount(unit, unit.run(statement))


def _bury(unit: Unit, endings: Sequence[tuple[Claim, Any]]) -> None:
    statement = update(items).where(items.c.id == bindparam("an_id"))
    statement = statement.values(
        state=State.DEAD,
        finished_at=unit.now,
        failure=bindparam("a_failure", type_=items.c.failure.type),
    )
    rows = [{"an_id": claim.id, "a_failure": ending.failure} for claim, ending in endings]
    unit.run(statement, rows)
    query = select(items.c.lane, items.c.quota)
    for some in _batches(endings):
        discount(unit, unit.run(query.where(items.c.id.in_([claim.id for claim, _ in some]))))


def _wait_again(unit: Unit, endings: Sequence[tuple[Claim, Any]]) -> None:
    """Let claimed items wait; a release takes its attempt back."""
    statement = update(items).where(items.c.id == bindparam("an_id"))
    statement = statement.values(
        state=State.WAITING,
        not_before=bindparam("at"),
        attempts=items.c.attempts - bindparam("fewer"),
        failure=func.coalesce(bindparam("a_failure", type_=items.c.failure.type), items.c.failure),
    )
    rows, changes = [], unit.tally(Changes)
    for claim, ending in endings:
        at = unit.now + _ms(ending.delay)
        fewer, failure = (0, ending.failure) if isinstance(ending, Retry) else (1, None)
        rows.append({"an_id": claim.id, "at": at, "fewer": fewer, "a_failure": failure})
        changes.wait(Line(claim.lane, claim.priority, claim.group), at)
    unit.run(statement, rows)
    parked = {
        (claim.lane, claim.group): unit.now + _ms(ending.delay)
        for claim, ending in endings
        if isinstance(ending, Release) and ending.park
    }
    if parked:
        _park(unit, parked)


def _park(unit: Unit, until: Mapping[tuple[str, str], int]) -> None:
    """Look at a group's lines only after a time."""
    statement = update(lines).where(
        lines.c.lane == bindparam("a_lane"),
        lines.c.group_key == bindparam("a_group"),
        lines.c.next_at < bindparam("at"),
    )
    rows = [
        {"a_lane": lane, "a_group": group, "at": at} for (lane, group), at in sorted(until.items())
    ]
    unit.run(statement.values(next_at=bindparam("at")), rows)


# ── rescue


def _orphans(unit: Unit) -> list[str]:
    """Owners of claims that are no workers any more."""
    owned = select(items.c.owner).where(items.c.state == text("'claimed'")).distinct()
    return list(unit.run(owned.where(items.c.owner.not_in(select(workers.c.id)))).scalars())


def _rescue(unit: Unit) -> int:
    """Let the claims of lost workers wait again; who lost too many is taken for the cause."""
    orphans = _orphans(unit)
    mine = (items.c.state == State.CLAIMED) & items.c.owner.in_(orphans)
    buried = (
        update(items)
        .where(mine, items.c.attempts >= MOST_LOST)
        .values(state=State.DEAD, finished_at=unit.now, token=None, failure=WORKER_LOST)
        .returning(items.c.lane, items.c.quota)
    )
    discount(unit, unit.run(buried))
    freed = (
        update(items)
        .where(mine)
        .values(state=State.WAITING, not_before=unit.now, token=None)
        .returning(items.c.lane, items.c.priority, items.c.group_key)
    )
    changes, number = unit.tally(Changes), 0
    for row in unit.run(freed):
        changes.wait(Line(row.lane, row.priority, row.group_key), unit.now)
        number += 1
    return number


# ── the rest


def _revive(unit: Unit, ids: Sequence[str] | None, lane: str | None) -> int:
    """Dead and stale items wait again, as if they were new."""
    chosen: list[ColumnElement[bool]] = [items.c.state.in_((State.DEAD, State.STALE))]
    if ids is not None:
        chosen.append(items.c.id.in_(ids))
    if lane is not None:
        chosen.append(items.c.lane == lane)
    statement = (
        update(items)
        .where(*chosen)
        .values(
            state=State.WAITING,
            attempts=0,
            token=None,
            not_before=unit.now,
            finished_at=None,
            expires_at=None,
        )
        .returning(items.c.lane, items.c.priority, items.c.group_key, items.c.quota)
    )
    changes, number = unit.tally(Changes), 0
    for row in unit.run(statement):
        changes.wait(Line(row.lane, row.priority, row.group_key), unit.now)
        changes.pending[row.lane, row.quota] += 1
        number += 1
    return number


def _depth(unit: Unit) -> list[Depth]:
    query = select(items.c.lane, items.c.state, func.count()).group_by(items.c.lane, items.c.state)
    numbers: dict[str, dict[State, int]] = {}
    for lane, state, number in unit.run(query):
        numbers.setdefault(lane, {})[State(state)] = number
    query = select(items.c.lane, func.min(items.c.not_before))
    query = query.where(items.c.state == State.WAITING).group_by(items.c.lane)
    oldest = {lane: max(0, unit.now - at) / 1000 for lane, at in unit.run(query)}
    return [Depth(lane, found, oldest.get(lane)) for lane, found in sorted(numbers.items())]


def _batches(rows: Sequence[Any], size: int = MOST_AT_ONCE) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
