"""The queue in the store: the table is the truth, on SQLite and PostgreSQL alike.

Per lane, priority and group there is a line with the time at which to look for its next item.
A claim takes the lines whose time has come, oldest first, and from each as much as is wanted of
its group: no scan, however many items wait, and no group in front of another. The time of a line
may be early, never late: who finds nothing there corrects it.
"""

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count, islice
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Executable,
    TextClause,
    bindparam,
    func,
    select,
    text,
    update,
)

from penstock.core.errors import StoreError, StoreLost
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
#: When much is claimed, so many are taken of a line: a few of many lines are expensive.
ITEMS_OF_LINE, FEW_LINES = 5, 50
#: A delay of more seconds is as good as this one, and a time that both engines can keep.
LONGEST_DELAY = 100 * 365 * 86_400.0
#: What has been due for so long without being looked at goes first in one second of so many.
NEGLECTED_MS, TURN_OF_NEGLECTED = 60_000, 8
IS_CLAIMED = items.c.state == text("'claimed'")
#: What a claim is made of, in its order; its token and the number of attempts follow.
OF_CLAIM = (
    items.c.id,
    items.c.lane,
    items.c.payload,
    items.c.group_key,
    items.c.priority,
    items.c.quota,
    items.c.traceparent,
    items.c.lost,
    items.c.tried,
)
#: For a lane and a priority, numbered: when the first of its lines is due.
FIRST_OF_PRIORITY = """
    SELECT $ AS priority, (
        SELECT min(next_at) FROM queue_lines
        WHERE lane = :lane# AND priority = $ AND next_at IS NOT NULL
    ) AS at
"""
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
        self._puts = partial(_Puts, self)

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
        unit.take_turns("put")
        known = _Known(unit, wanted, are_new=are_new)
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
        _count_in(unit, new)
        return receipts

    async def claim(
        self, worker: str, lanes: Sequence[str], limit: int, share: Share
    ) -> list[Claim]:
        who = _Claimant(worker, secrets.randbits(63))
        return await self._store.write(lambda unit: _claim(unit, who, lanes, limit, share), "claim")

    async def claim_ids(self, worker: str, ids: Sequence[str]) -> list[Claim]:
        who = _Claimant(worker, secrets.randbits(63))
        return await self._store.write(lambda unit: _claim_ids(unit, who, ids), "claim")

    async def note_trial(self, claims: Sequence[Claim]) -> set[str]:
        if not claims:
            return set()
        return await self._store.write(lambda unit: _note_trial(unit, claims), "settle")

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


class _Puts:
    """What is put in one transaction: many small puts cost as much as one."""

    def __init__(self, queue: SqlQueue) -> None:
        self._queue = queue
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
        answers = iter(self._queue.put_in(unit, wanted, are_new=self._are_new))
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


def _count_in(unit: Unit, new: Sequence[Item]) -> None:
    """Note what waits and counts from now on; of many items most are in the same few lines."""
    changes = unit.tally(Changes)
    for lane, priority, group, delay in {
        (item.lane, item.priority, item.group, item.delay) for item in new
    }:
        changes.wait(Line(lane, _priority(priority), group), unit.now + _ms(delay))
    for (lane, quota), number in Counter((item.lane, item.quota) for item in new).items():
        changes.pending[lane, storable(quota)] += number


def _priority(number: int) -> int:
    return min(max(number, PRIORITIES.start), PRIORITIES.stop - 1)


# ── claim


@dataclass(slots=True)
class _Claimant:
    """Who claims; a unit of work that is run again may find what it claimed the first time."""

    worker: str
    token: int
    has_tried: bool = False


def _claim(
    unit: Unit, who: _Claimant, lanes: Sequence[str], limit: int, share: Share
) -> list[Claim]:
    """Lines whose time has come, by priority; from each as many items as are wanted of it."""
    claims = _claimed_before(unit, who)
    for priority in _due_priorities(unit, lanes):
        # Again for lines that had less than that to give; those that gave are last now.
        for _ in range(ITEMS_OF_LINE):
            room = limit - len(claims)
            most = max(-(-room // ITEMS_OF_LINE), min(room, FEW_LINES))
            due = _due_lines(unit, lanes, priority, most) if room > 0 else []
            taken = Counter(claim.group for claim in claims)
            claims += _claim_from(unit, who, _shares(due, room, share, taken))
            if len(due) < max(most, 1):
                break
    return claims


def _claimed_before(unit: Unit, who: _Claimant) -> list[Claim]:
    """What an earlier run of the same unit of work claimed whose commit we did not hear of."""
    if not who.has_tried:
        who.has_tried = True
        return []
    query = select(*OF_CLAIM, items.c.token, items.c.attempts)
    query = query.where(IS_CLAIMED, items.c.owner == who.worker, items.c.token == who.token)
    return [Claim._make(row) for row in unit.run(query)]


def _due_priorities(unit: Unit, lanes: Sequence[str]) -> list[int]:
    """Priorities at which something is due, best first.

    What is passed over for long comes before all others for one second of every few.
    """
    values: dict[str, Any] = {f"lane{number}": lane for number, lane in enumerate(lanes)}
    waits: dict[int, int] = {}
    for priority, at in unit.run(_first_of_priorities(len(lanes)), values):
        if at is not None and at <= unit.now:
            waits[priority] = min(at, waits.get(priority, at))
    order = sorted(waits)
    if unit.now // 1000 % TURN_OF_NEGLECTED == 0:
        order.sort(key=lambda priority: unit.now - waits[priority] < NEGLECTED_MS)
    return order


@lru_cache(maxsize=16)
def _first_of_priorities(lanes: int) -> TextClause:
    parts = (
        FIRST_OF_PRIORITY.replace("#", str(lane)).replace("$", str(priority))
        for lane in range(lanes)
        for priority in PRIORITIES
    )
    return text(" UNION ALL ".join(parts))


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
    claims: list[Claim] = []
    asked = [(line, most) for line, (most, _) in wanted.items() if most]
    for some in batches(asked, LINES_AT_ONCE):
        claims += _take(unit, who, unit.run(*_next_of(unit, some)).all())
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


def _next_of(
    unit: Unit, wanted: Sequence[tuple[Line, int]]
) -> tuple[Executable, Mapping[str, Any]]:
    """A query for the items that are next in lines, of each as many as are wanted."""
    values: dict[str, Any] = {"now": unit.now}
    for number, (line, most) in enumerate(wanted):
        values[f"lane{number}"] = line.lane
        values[f"priority{number}"] = line.priority
        values[f"group{number}"] = line.group
        values[f"most{number}"] = most
    return _next_of_lines(len(wanted)), values


@lru_cache(maxsize=LINES_AT_ONCE)
def _next_of_lines(count: int) -> Executable:
    parts = (NEXT_OF_LINE.replace("#", str(number)) for number in range(count))
    ids = text(" UNION ALL ".join(parts)).columns(items.c.id).subquery()
    return _to_take(items.c.id.in_(select(ids.c.id)))


def _claim_ids(unit: Unit, who: _Claimant, ids: Sequence[str]) -> list[Claim]:
    claims = _claimed_before(unit, who)
    for some in batches(ids):
        claims += _take(unit, who, unit.run(_to_take(unit.among(items.c.id, some))).all())
    return claims


def _to_take(chosen: ColumnElement[bool]) -> Executable:
    """Some items, which nobody else can take now.

    They are found by their ids alone: asked for the state too, an engine that knows little of
    its tables looks at all that wait.
    """
    query = select(*OF_CLAIM, items.c.attempts, items.c.state, items.c.not_before)
    return query.where(chosen).with_for_update(skip_locked=True)


def _take(unit: Unit, who: _Claimant, rows: Iterable[Any]) -> list[Claim]:
    """Those of some items that wait and whose time has come are the claimant's; oldest first."""
    now = unit.now
    # By place: by name it would cost more than all the rest of a claim.
    ready = [
        (not_before, *of_claim, who.token, attempts + 1)
        for *of_claim, attempts, state, not_before in rows
        if state == "waiting" and not_before <= now
    ]
    if not ready:
        return []
    statement = update(items).where(unit.among(items.c.id, [row[1] for row in ready]))
    statement = statement.values(
        state=State.CLAIMED,
        owner=who.worker,
        token=who.token,
        claimed_at=unit.now,
        attempts=items.c.attempts + 1,
    )
    unit.run(statement)
    ready.sort(key=itemgetter(0, 1))
    return [Claim._make(row[1:]) for row in ready]


def _note_trial(unit: Unit, claims: Sequence[Claim]) -> set[str]:
    """Note that suspects are tried; a unit of work that is run again notes it once."""
    held = _held(unit, [claim.id for claim in claims])
    ours = [claim for claim in claims if held.get((claim.id, claim.token)) == State.CLAIMED]
    for tried in {claim.tried for claim in ours}:
        ids = [claim.id for claim in ours if claim.tried == tried]
        unit.run(update(items).where(unit.among(items.c.id, ids)).values(tried=tried + 1))
    return {claim.id for claim in ours}


# ── settle


def _settle(unit: Unit, endings: Sequence[tuple[Claim, Ending]], record: Record | None) -> set[str]:
    """End the claims that are still ours; those of another are left alone."""
    held: dict[tuple[str, int], str] = {}
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


def _held(unit: Unit, ids: Sequence[str]) -> dict[tuple[str, int], str]:
    """Items by the token that they carry, and their state.

    One that carries ours but is not claimed any more was ended by an earlier run of the same
    unit of work.
    """
    query = select(items.c.id, items.c.token, items.c.state).where(unit.among(items.c.id, ids))
    rows = unit.run(query.order_by(items.c.id).with_for_update()).all()
    return {(item, token): state for item, token, state in rows}


def _finish(unit: Unit, endings: Sequence[tuple[Claim, Any]]) -> None:
    for some in batches(endings):
        statement = update(items).where(unit.among(items.c.id, [claim.id for claim, _ in some]))
        unit.run(statement.values(state=State.DONE, finished_at=unit.now, failure=None))
    discount(unit, ((claim.lane, claim.quota) for claim, _ in endings))


def _bury(unit: Unit, endings: Sequence[tuple[Claim, Any]]) -> None:
    statement = update(items).where(items.c.id == bindparam("an_id"))
    statement = statement.values(
        state=State.DEAD,
        finished_at=unit.now,
        failure=bindparam("a_failure", type_=items.c.failure.type),
    )
    rows = [{"an_id": claim.id, "a_failure": ending.failure} for claim, ending in endings]
    unit.run(statement, rows)
    discount(unit, ((claim.lane, claim.quota) for claim, _ in endings))


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
        if ending.park:
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
    return sum(_let_wait(unit, [*chosen, unit.among(items.c.id, some)]) for some in batches(ids))


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
