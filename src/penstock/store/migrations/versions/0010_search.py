"""The store's own search for products."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"

FULL_TEXT = "fts_product_search"
#: Tokens come as they are to be found: SQLite takes them apart at spaces and nowhere else.
CREATE_FULL_TEXT = f"""
    CREATE VIRTUAL TABLE {FULL_TEXT} USING fts5(
        words, content = 'product_search', content_rowid = 'place',
        tokenize = "ascii tokenchars '_'", detail = 'none', columnsize = 0
    )
"""
ADD = f"INSERT INTO {FULL_TEXT}(rowid, words) VALUES (new.place, new.words);"  # noqa: S608
TAKE = (
    f"INSERT INTO {FULL_TEXT}({FULL_TEXT}, rowid, words) "  # noqa: S608
    "VALUES ('delete', old.place, old.words);"
)
TRIGGERS = {
    "insert": ("AFTER INSERT", "", ADD),
    "delete": ("AFTER DELETE", "", TAKE),
    "update": (
        "AFTER UPDATE",
        "WHEN old.place <> new.place OR old.words <> new.words",
        f"{TAKE} {ADD}",
    ),
}
SORTED_BY = ("created_at", "updated_at", "price", "rating", "sort_name")


def upgrade() -> None:
    words = sa.Text().with_variant(postgresql.TSVECTOR(), "postgresql")
    op.create_table(
        "product_search",
        sa.Column("place", big(), nullable=False, autoincrement=False),
        sa.Column("product_id", by_code(), nullable=False),
        sa.Column("words", words, nullable=False),
        sa.Column("product_name", sa.Text, nullable=False),
        sa.Column("brand", sa.Text),
        sa.Column("category", sa.Text),
        sa.Column("description", sa.Text),
        sa.Column("sort_name", by_code(), nullable=False),
        sa.Column("price", fixed(10, 2)),
        sa.Column("rating", fixed(3, 2)),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("put_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("place", name="pk_product_search"),
        sa.UniqueConstraint("product_id", name="uq_product_search_product_id"),
    )
    for column in SORTED_BY:
        op.create_index(f"ix_product_search_{column}_place", "product_search", [column, "place"])
    if op.get_bind().dialect.name == "sqlite":
        _create_full_text()
    else:
        op.create_index(FULL_TEXT, "product_search", ["words"], postgresql_using="gin")


def _create_full_text() -> None:
    op.execute(CREATE_FULL_TEXT)
    for name, (when, condition, statements) in TRIGGERS.items():
        op.execute(
            f"CREATE TRIGGER product_search_{name} {when} ON product_search {condition} "
            f"BEGIN {statements} END"
        )


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"DROP TABLE {FULL_TEXT}")
    op.drop_table("product_search")


def big() -> sa.types.TypeEngine[Any]:
    """A number of 64 bits, which on SQLite is the number of the row."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def by_code() -> sa.types.TypeEngine[Any]:
    """Text that is compared by code points."""
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def fixed(precision: int, scale: int) -> sa.types.TypeEngine[Any]:
    """A decimal number; SQLite keeps it as a whole number of the last digit."""
    return sa.Numeric(precision, scale).with_variant(sa.BigInteger(), "sqlite")
