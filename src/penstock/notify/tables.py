"""What ops were told of."""

from sqlalchemy import Column, Integer, Table, Text

from penstock.store.schema import CleanText, Moment, metadata, partial_index

#: What ops are told of, once as long as it lasts.
ops_alerts = Table(
    "ops_alerts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("subject", CleanText, nullable=False),
    Column("severity", Text, nullable=False),
    Column("message", CleanText, nullable=False),
    Column("count", Integer, nullable=False, server_default="1"),
    Column("first_at", Moment, nullable=False),
    Column("last_at", Moment, nullable=False),
    Column("resolved_at", Moment),
    partial_index(
        "uq_ops_alerts_kind_subject", "kind", "subject", where="resolved_at IS NULL", unique=True
    ),
)
