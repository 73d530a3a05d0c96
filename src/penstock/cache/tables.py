"""The table of the page cache."""

from sqlalchemy import Column, Index, LargeBinary, Table

from penstock.store.schema import CleanText, Moment, metadata

page_cache = Table(
    "page_cache",
    metadata,
    Column("key", CleanText, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Index("ix_page_cache_expires_at", "expires_at"),
)
