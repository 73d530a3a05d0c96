"""What seeds and links remember, in the store and by its clock; a chore deletes what is over."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Table, delete, or_, select, tuple_

from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.stream.memory import SeedState
from penstock.workloads.stream.tables import stream_holders, stream_marks, stream_seeds

#: So many are written or forgotten in one transaction.
AT_ONCE = 1000
#: A seed that is in no file any more is forgotten after this.
STATE_SECONDS = 400 * 86400
SEEDS = "seeds"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MILLISECOND = timedelta(milliseconds=1)


class Kind(StrEnum):
    """What a mark's number says."""

    PUSHED = "pushed"  # when the round began that pushed a page, in microseconds
    DEPTH = "depth"  # how many links away from where it began a page is
    FOLLOWED = "followed"  # how many links of a site were followed


class SeedsInStore:
    """What seeds remember."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def now(self) -> datetime:
        return _EPOCH + _MILLISECOND * await self._store.read(lambda unit: unit.now)

    async def state(self, seed: str) -> SeedState | None:
        return await self._store.read(lambda unit: _state(unit, seed))

    async def keep(self, seed: str, state: SeedState) -> None:
        await self._store.write(lambda unit: _keep(unit, seed, state))

    async def pushed(self, keys: Sequence[str], after: datetime) -> set[str]:
        marks = await self._store.read(lambda unit: _marks(unit, Kind.PUSHED, keys))
        return {key for key, begun in marks.items() if begun > _number(after)}

    async def remember(self, keys: Sequence[str], begun: datetime, until: datetime) -> None:
        number, expires_at = _number(begun), (until - _EPOCH) // _MILLISECOND
        for some in _parts(keys):

            def remember(unit: Unit, some: Sequence[str] = some) -> None:
                _put(unit, Kind.PUSHED, some, number, expires_at)

            await self._store.write(remember)

    async def hold(self, who: str, seconds: float) -> bool:
        return await self._store.write(lambda unit: _hold(unit, who, seconds))


class LinksInStore:
    """What links remember."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def depths(self, keys: Sequence[str]) -> Mapping[str, int]:
        return await self._store.read(lambda unit: _marks(unit, Kind.DEPTH, keys))

    async def learn(self, keys: Sequence[str], depth: int, seconds: float) -> None:
        for some in _parts(keys):

            def learn(unit: Unit, some: Sequence[str] = some) -> None:
                _learn(unit, some, depth, unit.now + round(seconds * 1000))

            await self._store.write(learn)

    async def take(self, site: str, wanted: int, most: int, seconds: float) -> int:
        return await self._store.write(lambda unit: _take(unit, site, wanted, most, seconds))


async def forget_expired(store: Store, at_once: int = AT_ONCE) -> int:
    """Delete what is over, some in each transaction; how many."""
    total = 0
    while number := await store.write(lambda unit: _forget_expired(unit, at_once), "upkeep"):
        total += number
    return total


# ── seeds


def _state(unit: Unit, seed: str) -> SeedState | None:
    query = select(stream_seeds).where(
        stream_seeds.c.id == seed, stream_seeds.c.expires_at > unit.now
    )
    row = unit.run(query).one_or_none()
    if row is None:
        return None
    whole_at = None if row.whole_at is None else _moment(row.whole_at)
    return SeedState(whole_at, _moment(row.next_at), row.failures)


def _keep(unit: Unit, seed: str, state: SeedState) -> None:
    row = {
        "id": seed,
        "whole_at": None if state.whole_at is None else _number(state.whole_at),
        "next_at": _number(state.next_at),
        "failures": state.failures,
        "expires_at": unit.now + STATE_SECONDS * 1000,
    }
    _write_over(unit, stream_seeds, row, "id")


def _hold(unit: Unit, who: str, seconds: float) -> bool:
    unit.take_turns("stream holders")
    ours = stream_holders.c.name == SEEDS
    query = select(stream_holders.c.who).where(ours, stream_holders.c.expires_at > unit.now)
    if unit.run(query).scalar() not in (None, who):
        return False
    until = unit.now + round(seconds * 1000)
    if until <= unit.now:
        unit.run(delete(stream_holders).where(ours))
        return False
    _write_over(unit, stream_holders, {"name": SEEDS, "who": who, "expires_at": until}, "name")
    return True


def _write_over(unit: Unit, table: Table, row: Mapping[str, Any], key: str) -> None:
    insert = unit.insert(table).values(row)
    unit.run(insert.on_conflict_do_update(index_elements=[key], set_=dict(row)))


# ── marks


def _marks(unit: Unit, kind: Kind, keys: Sequence[str]) -> dict[str, int]:
    """The numbers of those of the keys that have one whose time is not over."""
    if not keys:
        return {}
    query = select(stream_marks.c.key, stream_marks.c.number).where(
        stream_marks.c.kind == kind.value,
        unit.among(stream_marks.c.key, keys),
        stream_marks.c.expires_at > unit.now,
    )
    return {row.key: row.number for row in unit.run(query)}


def _put(unit: Unit, kind: Kind, keys: Sequence[str], number: int, expires_at: int) -> None:
    """Mark pages, whatever was marked before."""
    unit.insert_all(stream_marks, _rows(kind, keys, number, expires_at), _instead)


def _learn(unit: Unit, keys: Sequence[str], depth: int, expires_at: int) -> None:
    """Mark pages with a depth, unless a smaller one is known."""
    rows = _rows(Kind.DEPTH, keys, depth, expires_at)
    insert = unit.insert(stream_marks)
    farther = or_(
        stream_marks.c.number >= insert.excluded.number, stream_marks.c.expires_at <= unit.now
    )
    newer = {name: insert.excluded[name] for name in ("number", "expires_at")}
    unit.run(
        insert.on_conflict_do_update(index_elements=["kind", "key"], set_=newer, where=farther),
        rows,
    )


def _instead(insert: Any) -> Any:
    newer = {name: insert.excluded[name] for name in ("number", "expires_at")}
    return insert.on_conflict_do_update(index_elements=["kind", "key"], set_=newer)


def _rows(kind: Kind, keys: Sequence[str], number: int, expires_at: int) -> list[dict[str, Any]]:
    # Always in the same order: then no two transactions wait for each other.
    return [
        {"kind": kind.value, "key": key, "number": number, "expires_at": expires_at}
        for key in sorted(set(keys))
    ]


def _take(unit: Unit, site: str, wanted: int, most: int, seconds: float) -> int:
    unit.take_turns("stream links")
    ours = (stream_marks.c.kind == Kind.FOLLOWED.value, stream_marks.c.key == site)
    query = select(stream_marks.c.number, stream_marks.c.expires_at)
    row = unit.run(query.where(*ours, stream_marks.c.expires_at > unit.now)).one_or_none()
    count, until = row or (0, unit.now + round(seconds * 1000))
    granted = max(0, min(wanted, most - count))
    if granted:
        _put(unit, Kind.FOLLOWED, [site], count + granted, until)
    return granted


# ── upkeep


def _forget_expired(unit: Unit, limit: int) -> int:
    mark = tuple_(stream_marks.c.kind, stream_marks.c.key)
    over = stream_marks.c.expires_at <= unit.now
    chosen = select(stream_marks.c.kind, stream_marks.c.key).where(over)
    chosen = chosen.order_by(stream_marks.c.expires_at).limit(limit)
    # Said twice: a page that is marked again meanwhile stays.
    number = unit.run(delete(stream_marks).where(mark.in_(chosen), over)).rowcount
    seeds = delete(stream_seeds).where(stream_seeds.c.expires_at <= unit.now)
    return number + unit.run(seeds).rowcount


def _parts(keys: Sequence[str]) -> list[Sequence[str]]:
    return [keys[at : at + AT_ONCE] for at in range(0, len(keys), AT_ONCE)]


def _number(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def _moment(number: int) -> datetime:
    return _EPOCH + number * _MICROSECOND
