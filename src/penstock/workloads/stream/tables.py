"""The tables of those who read the page fetcher's events, and of what fills its queue."""

from sqlalchemy import Column, Index, Integer, Table, Text

from penstock.store.schema import CleanText, Moment, Whole, metadata

#: How far each has come: the place of the last event that it is done with.
stream_consumers = Table(
    "stream_consumers",
    metadata,
    Column("name", CleanText, primary_key=True),
    Column("seq", Whole, nullable=False),
    Column("updated_at", Moment, nullable=False),
)

#: How seeds stand; rounds begin and are due at microseconds since 1970.
stream_seeds = Table(
    "stream_seeds",
    metadata,
    Column("id", Text, primary_key=True),
    Column("whole_at", Whole),
    Column("next_at", Whole, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Index("ix_stream_seeds_expires_at", "expires_at"),
)

#: Numbers that are remembered of pages and sites, for a while; `kind` says which.
stream_marks = Table(
    "stream_marks",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("key", CleanText, primary_key=True),
    Column("number", Whole, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Index("ix_stream_marks_expires_at", "expires_at"),
)

#: Who pushes the seeds.
stream_holders = Table(
    "stream_holders",
    metadata,
    Column("name", Text, primary_key=True),
    Column("who", Text, nullable=False),
    Column("expires_at", Moment, nullable=False),
)
