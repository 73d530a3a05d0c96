"""The table of the store's own search; beside it SQLite has a full-text table, made by triggers."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, Column, Dialect, Index, Integer, Table, Text, TypeDecorator
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.types import TypeEngine

from penstock.store.schema import CleanText, Fixed, Moment, metadata

#: SQLite's full-text table; PostgreSQL's index has the same name.
FULL_TEXT = "fts_product_search"


class _Lexemes(TSVECTOR):
    """Says in every statement what a value is: it is given as text."""

    render_bind_cast = True


class Tokens(TypeDecorator[Sequence[str]]):
    """Tokens, which are letters, digits and underscores: on PostgreSQL lexemes, taken as given."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(_Lexemes() if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Sequence[str] | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        if dialect.name == "postgresql":
            return " ".join(f"'{token}'" for token in value)
        # A space on both sides of each, so that one is found as a part of the whole.
        return f" {' '.join(value)} "


product_search = Table(
    "product_search",
    metadata,
    # Orders what is equally relevant; SQLite walks through its full-text table in this order.
    Column(
        "place",
        BigInteger().with_variant(Integer(), "sqlite"),
        primary_key=True,
        autoincrement=False,
    ),
    # On every engine this and `sort_name` are compared by code points.
    Column("product_id", CleanText, nullable=False, unique=True),
    Column("words", Tokens, nullable=False),
    Column("product_name", CleanText, nullable=False),
    Column("brand", CleanText),
    Column("category", CleanText),
    Column("description", CleanText),
    Column("sort_name", CleanText, nullable=False),
    Column("price", Fixed(10, 2)),
    Column("rating", Fixed(3, 2)),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    # When it was put: what a rebuild has not put again is not there any more.
    Column("put_at", Moment, nullable=False),
    Index("ix_product_search_created_at_place", "created_at", "place"),
    Index("ix_product_search_updated_at_place", "updated_at", "place"),
    Index("ix_product_search_price_place", "price", "place"),
    Index("ix_product_search_rating_place", "rating", "place"),
    Index("ix_product_search_sort_name_place", "sort_name", "place"),
)
