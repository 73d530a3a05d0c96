"""The tables of the console: who is signed in, and who changed what."""

from sqlalchemy import Column, Index, Table, Text

from penstock.store.schema import CleanText, Json, Moment, metadata

#: Of the cookie and of the key only hashes are kept.
console_sessions = Table(
    "console_sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("key_hash", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("seen_at", Moment, nullable=False),
    Index("ix_console_sessions_seen_at", "seen_at"),
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("id", Text, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("who", CleanText, nullable=False),
    Column("action", CleanText, nullable=False),
    Column("subject", CleanText, nullable=False),
    Column("detail", Json, nullable=False),
    Index("ix_audit_log_at_id", "at", "id"),
)
