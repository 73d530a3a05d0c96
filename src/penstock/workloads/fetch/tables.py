"""The tables of durable fetching."""

from sqlalchemy import Column, Index, Table, Text

from penstock.store.schema import CleanText, Json, Moment, metadata

outcomes = Table(
    "outcomes",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column("lane", Text, nullable=False),
    Column("url", CleanText, nullable=False),
    Column("domain", CleanText, nullable=False),
    Column("status", Text, nullable=False),
    Column("reason", CleanText),
    Column("body", Text),
    Column("document", Json, nullable=False),
    Column("at", Moment, nullable=False),
)

#: A list of URLs that somebody wants; open until all of them are over.
runs = Table(
    "fetch_runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", CleanText, nullable=False),
    Column("opened_at", Moment, nullable=False),
    Column("loaded_at", Moment),
    Column("closed_at", Moment),
    Index("ix_fetch_runs_name_closed_at", "name", "closed_at"),
)
