"""Erasing items of the queue for good, also those that somebody has just claimed."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, select

from penstock.core.errors import UrlError
from penstock.core.urls import canonical, parse
from penstock.queue.lines import discount
from penstock.queue.ports import State
from penstock.queue.tables import items
from penstock.store.store import Store
from penstock.store.unit import Unit

AT_ONCE = 1000
IsWanted = Callable[[str | None], bool]
PENDING = frozenset({State.WAITING, State.CLAIMED})


class SamePage:
    """Whether a URL is another spelling of one that was given."""

    def __init__(self, url: str) -> None:
        self._canonical = canonical(parse(url))

    def __call__(self, url: str | None) -> bool:
        try:
            return url is not None and canonical(parse(url)) == self._canonical
        except UrlError:
            return False


def erase_items(unit: Unit, ids: Sequence[str]) -> int:
    """Delete items in any state; whoever has one of them finds that it is theirs no more."""
    statement = delete(items).where(unit.among(items.c.id, ids))
    gone = unit.run(statement.returning(items.c.lane, items.c.quota, items.c.state)).all()
    discount(unit, [(row.lane, row.quota) for row in gone if row.state in PENDING])
    return len(gone)


async def items_of_page(store: Store, lane: str, is_wanted: IsWanted) -> list[str]:
    """The items of a lane that are for a page; looks at all of them."""
    query = select(items.c.id, items.c.payload).where(items.c.lane == lane)
    return [
        row.id
        async for row in every_row(store, query, items.c.id)
        if is_wanted(row.payload.get("url"))
    ]


async def every_row(
    store: Store, query: Select[*tuple[Any, ...]], key: ColumnElement[str]
) -> AsyncIterator[Any]:
    """All rows that a query finds, some at a time; its first column is the key."""
    after = ""
    while True:
        rows = await _read(store, query.where(key > after).order_by(key).limit(AT_ONCE))
        for row in rows:
            yield row
        if len(rows) < AT_ONCE:
            return
        after = rows[-1][0]


async def _read(store: Store, query: Select[*tuple[Any, ...]]) -> Sequence[Any]:
    return await store.read(lambda unit: unit.run(query).all())
