"""Claiming: lines whose time has come give what is wanted of them; nothing is scanned."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Executable, TextClause, select, text, update

from penstock.queue.lines import IS_CLAIMED, Line, batches, look_again, milliseconds
from penstock.queue.ports import PRIORITIES, Claim, Share, State
from penstock.queue.tables import items, lines
from penstock.store.unit import Unit

#: Parts of one claiming statement; SQLite allows 500.
LINES_AT_ONCE = 100
#: When much is claimed, so many are taken of a line: a few of many lines are expensive.
ITEMS_OF_LINE, FEW_LINES = 5, 50
#: What has been due for so long without being looked at goes first in one second of so many.
NEGLECTED_MS, TURN_OF_NEGLECTED = 60_000, 8
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
    SELECT $ AS priority, # AS lane, (
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


@dataclass(slots=True)
class Claimant:
    """Who claims; a unit of work that is run again may find what it claimed the first time."""

    worker: str
    token: int
    has_tried: bool = False


def claim(unit: Unit, who: Claimant, lanes: Sequence[str], limit: int, share: Share) -> list[Claim]:
    """Lines whose time has come, by priority; from each as many items as are wanted of it."""
    claims = _claimed_before(unit, who)
    for priority, its_lanes in _due_priorities(unit, lanes):
        # Again for lines that had less than that to give; those that gave are last now.
        for _ in range(ITEMS_OF_LINE):
            room = limit - len(claims)
            most = max(-(-room // ITEMS_OF_LINE), min(room, FEW_LINES))
            due = _due_lines(unit, its_lanes, priority, most) if room > 0 else []
            taken = Counter(claim.group for claim in claims)
            claims += _claim_from(unit, who, _shares(due, room, share, taken))
            if len(due) < max(most, 1):
                break
    return claims


def _claimed_before(unit: Unit, who: Claimant) -> list[Claim]:
    """What an earlier run of the same unit of work claimed whose commit we did not hear of."""
    if not who.has_tried:
        who.has_tried = True
        return []
    query = select(*OF_CLAIM, items.c.token, items.c.attempts)
    query = query.where(IS_CLAIMED, items.c.owner == who.worker, items.c.token == who.token)
    return [Claim._make(row) for row in unit.run(query)]


def _due_priorities(unit: Unit, lanes: Sequence[str]) -> list[tuple[int, list[str]]]:
    """Priorities at which something is due, best first, each with the lanes that have it.

    What is passed over for long comes before all others for one second of every few.
    """
    values: dict[str, Any] = {f"lane{number}": lane for number, lane in enumerate(lanes)}
    waits: dict[int, int] = {}
    due: dict[int, list[str]] = {}
    for priority, number, at in unit.run(_first_of_priorities(len(lanes)), values):
        if at is not None and at <= unit.now:
            waits[priority] = min(at, waits.get(priority, at))
            due.setdefault(priority, []).append(lanes[number])
    order = sorted(waits)
    if unit.now // 1000 % TURN_OF_NEGLECTED == 0:
        order.sort(key=lambda priority: unit.now - waits[priority] < NEGLECTED_MS)
    return [(priority, due[priority]) for priority in order]


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


def _claim_from(unit: Unit, who: Claimant, wanted: Mapping[Line, tuple[int, float]]) -> list[Claim]:
    """As many items of each line as are wanted; a line that gave enough rests for a while."""
    if not wanted:
        return []
    claims: list[Claim] = []
    asked = [(line, most) for line, (most, _) in wanted.items() if most]
    for some in batches(asked, LINES_AT_ONCE):
        claims += _take(unit, who, unit.run(*_next_of(unit, some)).all())
    got = Counter(Line(claim.lane, claim.priority, claim.group) for claim in claims)
    look_again(
        unit,
        {
            line: unit.now + milliseconds(rest) if got[line] >= most else unit.now
            for line, (most, rest) in wanted.items()
        },
    )
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


def claim_ids(unit: Unit, who: Claimant, ids: Sequence[str]) -> list[Claim]:
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


def _take(unit: Unit, who: Claimant, rows: Iterable[Any]) -> list[Claim]:
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
