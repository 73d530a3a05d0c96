"""The tables of the queue."""

from sqlalchemy import Column, Integer, Table, Text

from penstock.store.schema import CleanText, Json, Moment, Whole, metadata, partial_index

items = Table(
    "queue_items",
    metadata,
    Column("id", CleanText, primary_key=True),
    Column("lane", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("group_key", CleanText, nullable=False),
    Column("key", CleanText),
    Column("quota", CleanText, nullable=False),
    Column("payload", Json, nullable=False),
    Column("traceparent", CleanText, nullable=False),
    Column("state", Text, nullable=False),
    Column("not_before", Moment, nullable=False),
    Column("enqueued_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("attempts", Integer, nullable=False),
    Column("lost", Integer, nullable=False),
    Column("tried", Integer, nullable=False),
    Column("owner", Text),
    Column("token", Whole),
    Column("claimed_at", Moment),
    Column("finished_at", Moment),
    Column("nudged_at", Moment),
    Column("failure", Json),
    partial_index("uq_queue_items_lane_key", "lane", "key", where='"key" IS NOT NULL', unique=True),
    partial_index(
        "ix_queue_items_waiting",
        "lane",
        "priority",
        "group_key",
        "not_before",
        "id",
        where="state = 'waiting'",
    ),
    partial_index("ix_queue_items_claimed", "owner", "token", where="state = 'claimed'"),
    partial_index(
        "ix_queue_items_expiring",
        "expires_at",
        where="state = 'waiting' AND expires_at IS NOT NULL",
    ),
    partial_index(
        "ix_queue_items_finished", "state", "finished_at", where="finished_at IS NOT NULL"
    ),
)

#: One row per lane, priority and group that ever had work: when to look for its next item.
lines = Table(
    "queue_lines",
    metadata,
    Column("lane", Text, primary_key=True),
    Column("priority", Integer, primary_key=True),
    Column("group_key", CleanText, primary_key=True),
    Column("next_at", Moment),
    partial_index("ix_queue_lines_due", "lane", "priority", "next_at", where="next_at IS NOT NULL"),
)

#: What is pending, waiting or claimed. Each process has a shard, so that none waits for another.
counts = Table(
    "queue_counts",
    metadata,
    Column("lane", Text, primary_key=True),
    Column("quota", CleanText, primary_key=True),
    Column("shard", Integer, primary_key=True),
    Column("pending", Whole, nullable=False),
)

workers = Table(
    "workers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("host", CleanText, nullable=False),
    Column("process", CleanText, nullable=False),
    Column("lanes", Json, nullable=False),
    Column("beats", Whole, nullable=False),
    Column("started_at", Moment, nullable=False),
    Column("beat_at", Moment, nullable=False),
    Column("status", Json, nullable=False),
)

#: Which worker does what only one may do.
seats = Table(
    "seats",
    metadata,
    Column("name", Text, primary_key=True),
    Column("worker", Text, nullable=False),
    Column("since", Moment, nullable=False),
)

#: Work that comes again and again.
schedules = Table(
    "schedules",
    metadata,
    Column("id", Text, primary_key=True),
    Column("lane", Text, nullable=False),
    Column("timing", Json, nullable=False),
    Column("payload", Json, nullable=False),
    Column("group_key", CleanText, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("next_at", Moment),
    Column("last_at", Moment),
    Column("last_receipt", Json),
    partial_index("ix_schedules_due", "next_at", where="next_at IS NOT NULL"),
)
