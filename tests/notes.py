"""A table of the tests' own, for tests of the store itself."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Column, Integer, MetaData, Table, insert, select

from penstock.store.schema import CleanText, Json, Moment, Whole
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.stores import Stores

notes = Table(
    "notes",
    MetaData(),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("words", CleanText),
    Column("data", Json),
    Column("number", Whole),
    Column("at", Moment),
)


def put(row: int, **values: Any) -> Callable[[Unit], int]:
    """A unit of work that writes one row."""

    def work(unit: Unit) -> int:
        unit.run(insert(notes), {"id": row, **values})
        return row

    return work


def numbers(unit: Unit) -> list[int]:
    return list(unit.run(select(notes.c.id).order_by(notes.c.id)).scalars())


async def open_with_notes(stores: Stores, **changes: Any) -> Store:
    """A store in which there is the table."""
    store = await stores.open(**changes)
    await store.write(lambda unit: notes.create(unit.connection))
    return store
