"""The tables of the event log and of what has to be delivered from it."""

from sqlalchemy import BigInteger, Column, Index, Integer, Table, Text

from penstock.store.schema import CleanText, Json, Moment, Whole, metadata, partial_index

events = Table(
    "events",
    metadata,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", Text, nullable=False),
    Column("topic", Text, nullable=False),
    Column("key", CleanText, nullable=False),
    Column("data", Json, nullable=False),
    Column("traceparent", CleanText, nullable=False),
    Column("at", Moment, nullable=False),
    Index("uq_events_id", "id", unique=True),
)

#: One row for every event that a sink has not taken yet.
deliveries = Table(
    "deliveries",
    metadata,
    Column("sink", Text, primary_key=True),
    Column("seq", Whole, primary_key=True, autoincrement=False),
    Column("key", CleanText, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_at", Moment, nullable=False),
    Column("error", CleanText),
    partial_index("ix_deliveries_waiting", "sink", "key", "seq", where="state = 'waiting'"),
    partial_index("ix_deliveries_parked", "sink", "seq", where="state = 'parked'"),
)
