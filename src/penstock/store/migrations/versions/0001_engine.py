"""The queue, its workers, outcomes, and events with their deliveries."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def text(name: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.Text, **{"nullable": False, **options})


def number(name: str, **options: Any) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, **{"nullable": False, **options})


def whole(name: str, **options: Any) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, **{"nullable": False, **options})


def partial(name: str, table: str, columns: Sequence[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)


def upgrade() -> None:
    create_queue()
    create_workers()
    create_outcomes()
    create_events()


def create_queue() -> None:
    op.create_table(
        "queue_items",
        text("id"),
        text("lane"),
        number("priority"),
        text("group_key"),
        text("key", nullable=True),
        text("quota"),
        text("payload"),
        text("traceparent"),
        text("state"),
        whole("not_before"),
        whole("enqueued_at"),
        whole("expires_at", nullable=True),
        number("attempts"),
        number("lost"),
        number("tried"),
        text("owner", nullable=True),
        whole("token", nullable=True),
        whole("claimed_at", nullable=True),
        whole("finished_at", nullable=True),
        whole("nudged_at", nullable=True),
        text("failure", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_queue_items"),
    )
    op.create_index("uq_queue_items_lane_key", "queue_items", ["lane", "key"], unique=True)
    order = ["lane", "priority", "group_key", "not_before", "id"]
    partial("ix_queue_items_waiting", "queue_items", order, "state = 'waiting'")
    partial("ix_queue_items_claimed", "queue_items", ["owner", "token"], "state = 'claimed'")
    expiring = "state = 'waiting' AND expires_at IS NOT NULL"
    partial("ix_queue_items_expiring", "queue_items", ["expires_at"], expiring)
    finished = ["state", "finished_at"]
    partial("ix_queue_items_finished", "queue_items", finished, "finished_at IS NOT NULL")
    op.create_table(
        "queue_lines",
        text("lane"),
        number("priority"),
        text("group_key"),
        whole("next_at", nullable=True),
        sa.PrimaryKeyConstraint("lane", "priority", "group_key", name="pk_queue_lines"),
    )
    due = ["lane", "priority", "next_at"]
    partial("ix_queue_lines_due", "queue_lines", due, "next_at IS NOT NULL")
    op.create_table(
        "queue_counts",
        text("lane"),
        text("quota"),
        number("shard"),
        whole("pending"),
        sa.PrimaryKeyConstraint("lane", "quota", "shard", name="pk_queue_counts"),
    )


def create_workers() -> None:
    op.create_table(
        "workers",
        text("id"),
        text("kind"),
        text("host"),
        text("process"),
        text("lanes"),
        whole("beats"),
        whole("started_at"),
        whole("beat_at"),
        text("status"),
        sa.PrimaryKeyConstraint("id", name="pk_workers"),
    )


def create_outcomes() -> None:
    op.create_table(
        "outcomes",
        text("item_id"),
        text("lane"),
        text("url"),
        text("domain"),
        text("status"),
        text("reason", nullable=True),
        text("body", nullable=True),
        text("document"),
        whole("at"),
        sa.PrimaryKeyConstraint("item_id", name="pk_outcomes"),
    )


def create_events() -> None:
    op.create_table(
        "events",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False),
        text("id"),
        text("topic"),
        text("key"),
        text("data"),
        text("traceparent"),
        whole("at"),
        sa.PrimaryKeyConstraint("seq", name="pk_events"),
        # A place is never given out twice, even after the newest events were deleted.
        sqlite_autoincrement=True,
    )
    op.create_index("uq_events_id", "events", ["id"], unique=True)
    op.create_table(
        "deliveries",
        whole("seq"),
        text("sink"),
        text("key"),
        text("state"),
        number("attempts"),
        whole("next_at"),
        text("error", nullable=True),
        sa.PrimaryKeyConstraint("sink", "seq", name="pk_deliveries"),
    )
    waiting = ["sink", "key", "seq"]
    partial("ix_deliveries_waiting", "deliveries", waiting, "state = 'waiting'")


def downgrade() -> None:
    tables = ("deliveries", "events", "outcomes", "workers", "queue_counts", "queue_lines")
    for name in (*tables, "queue_items"):
        op.drop_table(name)
