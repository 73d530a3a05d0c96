"""Settling: how claims end, and how what is over or orphaned waits again."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, bindparam, func, select, update

from penstock.queue.lines import IS_CLAIMED, Changes, Line, batches, discount, milliseconds
from penstock.queue.ports import Bury, Claim, Done, Ending, Record, Release, Retry, State
from penstock.queue.tables import items, workers
from penstock.store.unit import Unit


def note_trial(unit: Unit, claims: Sequence[Claim]) -> set[str]:
    """Note that suspects are tried; a unit of work that is run again notes it once."""
    held = _held(unit, [claim.id for claim in claims])
    ours = [claim for claim in claims if held.get((claim.id, claim.token)) == State.CLAIMED]
    for tried in {claim.tried for claim in ours}:
        ids = [claim.id for claim in ours if claim.tried == tried]
        unit.run(update(items).where(unit.among(items.c.id, ids)).values(tried=tried + 1))
    return {claim.id for claim in ours}


def settle(unit: Unit, endings: Sequence[tuple[Claim, Ending]], record: Record | None) -> set[str]:
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
        at = unit.now + milliseconds(ending.delay)
        fewer, failure = (0, ending.failure) if isinstance(ending, Retry) else (1, None)
        rows.append({"an_id": claim.id, "at": at, "fewer": fewer, "a_failure": failure})
        changes.wait(Line(claim.lane, claim.priority, claim.group), at)
        if ending.park:
            changes.park(claim.lane, claim.group, at)
    unit.run(statement, rows)


def orphans(unit: Unit) -> list[str]:
    """Owners of claims that are no workers any more."""
    owned = select(items.c.owner).where(IS_CLAIMED).distinct()
    return list(unit.run(owned.where(items.c.owner.not_in(select(workers.c.id)))).scalars())


def rescue(unit: Unit) -> int:
    """Let the claims of lost workers wait again."""
    freed = (
        update(items)
        .where(IS_CLAIMED, items.c.owner.in_(orphans(unit)))
        .values(state=State.WAITING, not_before=unit.now, token=None, lost=items.c.lost + 1)
        .returning(items.c.lane, items.c.priority, items.c.group_key)
    )
    changes, number = unit.tally(Changes), 0
    for row in unit.run(freed):
        changes.wait(Line(row.lane, row.priority, row.group_key), unit.now)
        number += 1
    return number


def revive(unit: Unit, ids: Sequence[str] | None, lane: str | None) -> int:
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
