"""Finding what a source sells: there is one source product of a source and an identity key."""

from collections.abc import Iterable

from sqlalchemy import select

from penstock.products.tables import source_products
from penstock.store.schema import storable
from penstock.store.unit import Unit

#: A source, and what it knows a product by.
Key = tuple[str, str]


def key_of(source_id: str, identity_key: str) -> Key:
    """What a source product is known by, as the store has it."""
    return source_id, storable(identity_key)


def find_ids(unit: Unit, keys: Iterable[Key]) -> dict[Key, str]:
    """The ids of those source products that there are."""
    wanted = sorted(set(keys))
    if not wanted:
        return {}
    column = source_products.c
    query = select(column.source_id, column.identity_key, column.id)
    known_by = column.source_id, column.identity_key
    rows = unit.run(query.where(unit.among_pairs(known_by, wanted)))
    return {(source_id, key): each for source_id, key, each in rows}
