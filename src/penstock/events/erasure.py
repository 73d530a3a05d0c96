"""Erasing what events say of somebody: some are deleted, others lose a part of what they tell."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from penstock.events.tables import deliveries, events
from penstock.store.store import Store
from penstock.store.unit import Unit

AT_ONCE = 500

Data = Mapping[str, Any]
#: For the key and data of an event: the data that may stay, or None for none of it.
Censor = Callable[[str, Data], Data | None]


async def censor_events(store: Store, topics: Sequence[str], censor: Censor) -> int:
    """Have somebody look at all events of some topics, delivered or not; how many were changed."""
    changed, after = 0, 0
    while True:
        number, seqs = await store.write(
            partial(_censor, topics=topics, censor=censor, after=after), "upkeep"
        )
        changed += number
        if len(seqs) < AT_ONCE:
            return changed
        after = seqs[-1]


def _censor(
    unit: Unit, *, topics: Sequence[str], censor: Censor, after: int
) -> tuple[int, list[int]]:
    """Judge some events behind a place; how many were changed, and which were looked at."""
    query = select(events.c.seq, events.c.key, events.c.data)
    query = query.where(events.c.topic.in_(topics), events.c.seq > after)
    rows = unit.run(query.order_by(events.c.seq).limit(AT_ONCE)).all()
    judged = [(row.seq, row.data, censor(row.key, row.data)) for row in rows]
    gone = [seq for seq, _, kept in judged if kept is None]
    cut = {seq: kept for seq, data, kept in judged if kept is not None and kept != data}
    _write(unit, gone, cut)
    return len(gone) + len(cut), [row.seq for row in rows]


def _write(unit: Unit, gone: Sequence[int], cut: Mapping[int, Data]) -> None:
    unit.run(delete(deliveries).where(deliveries.c.seq.in_(gone)))
    unit.run(delete(events).where(events.c.seq.in_(gone)))
    if cut:
        statement = update(events).where(events.c.seq == bindparam("a_seq"))
        statement = statement.values(data=bindparam("some_data", type_=events.c.data.type))
        unit.run(statement, [{"a_seq": seq, "some_data": data} for seq, data in cut.items()])
