"""What migrations are made of, beside what Alembic has."""

from typing import Any

import sqlalchemy as sa
from alembic import op


def fixed(precision: int, scale: int) -> sa.types.TypeEngine[Any]:
    """A decimal number; SQLite keeps it as a whole number of the last digit."""
    return sa.Numeric(precision, scale).with_variant(sa.BigInteger(), "sqlite")


def create_partial(
    name: str, table: str, columns: list[str], where: str, *, unique: bool = False
) -> None:
    """An index of some of the rows."""
    chosen = sa.text(where)
    op.create_index(
        name, table, columns, unique=unique, sqlite_where=chosen, postgresql_where=chosen
    )
