"""The table of those who read the page fetcher's events from the store."""

from sqlalchemy import Column, Table

from penstock.store.schema import CleanText, Moment, Whole, metadata

#: How far each has come: the place of the last event that it is done with.
stream_consumers = Table(
    "stream_consumers",
    metadata,
    Column("name", CleanText, primary_key=True),
    Column("seq", Whole, nullable=False),
    Column("updated_at", Moment, nullable=False),
)
