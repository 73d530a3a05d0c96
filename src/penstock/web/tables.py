"""The table of API keys."""

from sqlalchemy import Column, Index, Integer, Table, Text

from penstock.store.schema import CleanText, Json, Moment, metadata

#: A key itself is never kept: only its SHA-256.
api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", CleanText, nullable=False),
    Column("hash", Text, nullable=False),
    Column("scopes", Json, nullable=False),
    Column("workspace_id", CleanText),
    Column("rate_limit", Integer),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("revoked_at", Moment),
    Index("uq_api_keys_hash", "hash", unique=True),
)
