"""The queue in the store: the table is the truth, on SQLite and PostgreSQL alike.

Per lane, priority and group there is a line with the time at which to look for its next item.
A claim takes the lines whose time has come, oldest first, and from each as much as is wanted of
its group: no scan, however many items wait, and no group in front of another. The time of a line
may be early, never late: who finds nothing there corrects it.
"""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    RowMapping,
    TextClause,
    bindparam,
    func,
    select,
    text,
    update,
)

from penstock.queue.lines import IS_WAITING, Changes, Line, batches, discount, look_again
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
from penstock.store.schema import storable
from penstock.store.store import Store
from penstock.store.unit import Unit

#: Parts of one claiming statement; SQLite allows 500.
LINES_AT_ONCE = 100
#: A delay of more seconds is as good as this one, and a time that both engines can keep.
LONGEST_DELAY = 100 * 365 * 86_400.0
IS_CLAIMED = items.c.state == text("'claimed'")
#: For each of some lines, numbered; statements of hundreds of parts are too slow to compose.
NEXT_OF_LINE = """
    SELECT id FROM (
        SELECT id FROM queue_items
        WHERE state = 'waiting' AND lane = :lane# AND priority = :priority#
            AND group_key = :group# AND not_before <= :now
        ORDER BY not_before, id LIMIT :most#
    ) AS line#
"""


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
        known = _Known(unit, wanted)
        room = _Room(unit, self._limits, wanted)
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
        for some in batches(new):
            unit.insert_all(items, [_row(unit, item) for item in some])
            for item in some:
                _count_in(unit, item)
        return receipts

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

    async def try_alone(self, claim: Claim) -> bool:
        return await self._store.write(lambda unit: _try_alone(unit, claim), "settle")

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


class _Known:
    """The items and keys that are there already."""

    def __init__(self, unit: Unit, wanted: Sequence[Item]) -> None:
        self._ids: set[str] = set()
        self._keys: set[tuple[str, str]] = set()
        keyed: dict[str, list[str]] = {}
        for item in wanted:
            if item.key is not None:
                keyed.setdefault(item.lane, []).append(item.key)
        for some in batches(wanted):
            query = select(items.c.id).where(items.c.id.in_([item.id for item in some]))
            self._ids.update(unit.run(query).scalars())
        for lane, keys in keyed.items():
            for few in batches(keys):
                query = select(items.c.key).where(items.c.lane == lane, items.c.key.in_(few))
                self._keys.update((lane, key) for key in unit.run(query).scalars())

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
        "lost": 0,
        "tried": 0,
    }


def _count_in(unit: Unit, item: Item) -> None:
    changes = unit.tally(Changes)
    line = Line(item.lane, _priority(item.priority), item.group)
    changes.wait(line, unit.now + _ms(item.delay))
    changes.pending[item.lane, storable(item.quota)] += 1


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
        room = limit - len(claims)
        if room <= 0:
            break
        due = _due_lines(unit, lanes, priority, room)
        taken = Counter(claim.group for claim in claims)
        claims += _claim_from(unit, who, _shares(due, room, share, taken))
    return claims


def _claimed_before(unit: Unit, who: _Claimant) -> list[Claim]:
    """What an earlier run of the same unit of work claimed whose commit we did not hear of."""
    query = select(items).where(IS_CLAIMED, items.c.owner == who.worker, items.c.token == who.token)
    return [_as_claim(row) for row in unit.run(query).mappings()]


def _due_lines(unit: Unit, lanes: Sequence[str], priority: int, limit: int) -> list[Line]:
    """Lines of all lanes whose time has come, the one that waits longest first."""
    found: list[tuple[int, Line]] = []
    for lane in lanes:
        query = (
            select(lines.c.next_at, lines.c.group_key)
            .where(lines.c.lane == lane, lines.c.priority == priority, lines.c.next_at <= unit.now)
            .order_by(lines.c.next_at)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        found += [(at, Line(lane, priority, group)) for at, group in unit.run(query)]
    return [line for _, line in sorted(found)[:limit]]


def _shares(
    due: Sequence[Line], limit: int, share: Share, taken: Counter[str]
) -> dict[Line, tuple[int, float]]:
    """How many items each line is to give, and for how many seconds it rests if it does."""
    wanted: dict[Line, tuple[int, float]] = {}
    asked: Counter[str] = Counter()
    for place, line in enumerate(due):
        group = line.group
        most, rest = share(group)
        most = max(0, most - taken[group] - asked[group])
        number = min(most, -(-limit // (len(due) - place)))
        # Whether a group gave enough is not known yet if it has another line here.
        wanted[line] = number, rest if number == most and not asked[group] else 0.0
        asked[group] += number
        limit -= number
    return wanted


def _claim_from(
    unit: Unit, who: _Claimant, wanted: Mapping[Line, tuple[int, float]]
) -> list[Claim]:
    """As many items of each line as are wanted; a line that gave enough rests for a while."""
    if not wanted:
        return []
    ids: list[str] = []
    asked = [(line, most) for line, (most, _) in wanted.items() if most]
    for some in batches(asked, LINES_AT_ONCE):
        ids += _next_ids(unit, some)
    claims = _take(unit, who, ids)
    got = Counter(Line(claim.lane, claim.priority, claim.group) for claim in claims)
    rows = [
        {
            "a_lane": line.lane,
            "a_priority": line.priority,
            "a_group": line.group,
            "at": unit.now + _ms(rest) if got[line] >= most else unit.now,
        }
        for line, (most, rest) in sorted(wanted.items())
    ]
    unit.run(look_again(), rows)
    return claims


def _next_ids(unit: Unit, wanted: Sequence[tuple[Line, int]]) -> Sequence[str]:
    """The items that are next in lines: of each as many as are wanted."""
    values: dict[str, Any] = {"now": unit.now}
    for number, (line, most) in enumerate(wanted):
        values |= {
            f"lane{number}": line.lane,
            f"priority{number}": line.priority,
            f"group{number}": line.group,
            f"most{number}": most,
        }
    return unit.run(_next_of_lines(len(wanted)), values).scalars().all()


@lru_cache(maxsize=LINES_AT_ONCE)
def _next_of_lines(count: int) -> TextClause:
    parts = (NEXT_OF_LINE.replace("#", str(number)) for number in range(count))
    return text(" UNION ALL ".join(parts))


def _claim_ids(unit: Unit, who: _Claimant, ids: Sequence[str]) -> list[Claim]:
    return _claimed_before(unit, who) + _take(unit, who, ids)


def _take(unit: Unit, who: _Claimant, ids: Sequence[str]) -> list[Claim]:
    """Those of some items that wait and whose time has come are the claimant's; oldest first."""
    rows: list[RowMapping] = []
    for some in batches(ids):
        statement = (
            update(items)
            .where(items.c.id.in_(_ready(unit, some)))
            .values(
                state=State.CLAIMED,
                owner=who.worker,
                token=who.token,
                claimed_at=unit.now,
                attempts=items.c.attempts + 1,
            )
            .returning(*items.c)
        )
        rows += unit.run(statement).mappings()
    rows.sort(key=lambda row: (row["not_before"], row["id"]))
    return [_as_claim(row) for row in rows]


def _ready(unit: Unit, ids: Sequence[str]) -> list[str]:
    """Those of some items that wait and whose time has come; nobody else can take them now.

    They are found by their ids alone: asked for the state too, an engine that knows little of
    its tables looks at all that wait.
    """
    query = select(items.c.id, items.c.state, items.c.not_before).where(items.c.id.in_(ids))
    rows = unit.run(query.order_by(items.c.id).with_for_update(skip_locked=True))
    return [row.id for row in rows if row.state == State.WAITING and row.not_before <= unit.now]


def _as_claim(row: RowMapping) -> Claim:
    return Claim(
        id=row["id"],
        lane=row["lane"],
        token=row["token"],
        payload=row["payload"],
        group=row["group_key"],
        priority=row["priority"],
        attempts=row["attempts"],
        lost=row["lost"],
        tried=row["tried"],
        traceparent=row["traceparent"],
    )


def _try_alone(unit: Unit, claim: Claim) -> bool:
    """Note that a suspect is tried; a unit of work that is run again notes it once."""
    statement = (
        update(items)
        .where(items.c.id == claim.id, items.c.token == claim.token, IS_CLAIMED)
        .values(tried=claim.tried + 1)
    )
    return unit.run(statement).rowcount == 1


# ── settle


def _settle(unit: Unit, endings: Sequence[tuple[Claim, Ending]], record: Record | None) -> set[str]:
    """End the claims that are still ours; those of another are left alone."""
    held: dict[tuple[str, int], State] = {}
    for some in batches(endings):
        held |= _held(unit, [claim.id for claim, _ in some])
    ours: dict[str, tuple[Claim, Ending]] = {}
    for claim, ending in endings:
        if held.get((claim.id, claim.token)) == State.CLAIMED:
            ours.setdefault(claim.id, (claim, ending))
    for kind, end in ((Done, _finish), (Bury, _bury), (Retry, _wait_again), (Release, _wait_again)):
        chosen = [pair for pair in ours.values() if isinstance(pair[1], kind)]
        if chosen:
            end(unit, chosen)
    if record and ours:
        record(unit, set(ours))
    return {claim.id for claim, _ in endings if (claim.id, claim.token) in held}


def _held(unit: Unit, ids: Sequence[str]) -> dict[tuple[str, int], State]:
    """Items by the token that they carry, and their state.

    One that carries ours but is not claimed any more was ended by an earlier run of the same
    unit of work.
    """
    query = select(items.c.id, items.c.token, items.c.state).where(items.c.id.in_(ids))
    rows = unit.run(query.order_by(items.c.id).with_for_update())
    return {(row.id, row.token): State(row.state) for row in rows}


def _finish(unit: Unit, endings: Sequence[tuple[Claim, Any]]) -> None:
    for some in batches(endings):
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
    for some in batches(endings):
        discount(unit, unit.run(query.where(items.c.id.in_([claim.id for claim, _ in some]))))


def _wait_again(unit: Unit, endings: Sequence[tuple[Claim, Any]]) -> None:
    """Let claimed items wait; a release takes its attempt back."""
    statement = update(items).where(items.c.id == bindparam("an_id"))
    statement = statement.values(
        state=State.WAITING,
        not_before=bindparam("at"),
        attempts=items.c.attempts - bindparam("fewer"),
        tried=0,
        failure=func.coalesce(bindparam("a_failure", type_=items.c.failure.type), items.c.failure),
    )
    rows, changes = [], unit.tally(Changes)
    for claim, ending in endings:
        at = unit.now + _ms(ending.delay)
        fewer, failure = (0, ending.failure) if isinstance(ending, Retry) else (1, None)
        rows.append({"an_id": claim.id, "at": at, "fewer": fewer, "a_failure": failure})
        changes.wait(Line(claim.lane, claim.priority, claim.group), at)
        if isinstance(ending, Release) and ending.park:
            changes.park(claim.lane, claim.group, at)
    unit.run(statement, rows)


# ── rescue


def _orphans(unit: Unit) -> list[str]:
    """Owners of claims that are no workers any more."""
    owned = select(items.c.owner).where(IS_CLAIMED).distinct()
    return list(unit.run(owned.where(items.c.owner.not_in(select(workers.c.id)))).scalars())


def _rescue(unit: Unit) -> int:
    """Let the claims of lost workers wait again."""
    freed = (
        update(items)
        .where(IS_CLAIMED, items.c.owner.in_(_orphans(unit)))
        .values(state=State.WAITING, not_before=unit.now, token=None, lost=items.c.lost + 1)
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
    # What is over has an end: named here, so that the index of such items is used.
    chosen: list[ColumnElement[bool]] = [
        items.c.finished_at.is_not(None),
        items.c.state.in_((State.DEAD, State.STALE)),
    ]
    if lane is not None:
        chosen.append(items.c.lane == lane)
    if ids is None:
        return _let_wait(unit, chosen)
    return sum(_let_wait(unit, [*chosen, items.c.id.in_(some)]) for some in batches(ids))


def _let_wait(unit: Unit, chosen: Sequence[ColumnElement[bool]]) -> int:
    statement = (
        update(items)
        .where(*chosen)
        .values(
            state=State.WAITING,
            attempts=0,
            lost=0,
            tried=0,
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
    query = query.where(IS_WAITING, items.c.not_before <= unit.now).group_by(items.c.lane)
    oldest = {lane: (unit.now - at) / 1000 for lane, at in unit.run(query)}
    return [Depth(lane, found, oldest.get(lane)) for lane, found in sorted(numbers.items())]


def _ms(seconds: float) -> int:
    return int(min(seconds, LONGEST_DELAY) * 1000)
