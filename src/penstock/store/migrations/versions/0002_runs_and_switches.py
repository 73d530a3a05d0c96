"""Runs of durable fetching, switches, schedules and the seats of which only one is taken."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "fetch_runs",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("opened_at", sa.BigInteger, nullable=False),
        sa.Column("loaded_at", sa.BigInteger),
        sa.Column("closed_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_fetch_runs"),
    )
    op.create_index("ix_fetch_runs_name_closed_at", "fetch_runs", ["name", "closed_at"])
    op.create_table(
        "switches",
        sa.Column("domain", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("domain", name="pk_switches"),
    )
    op.create_table(
        "clock",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_clock"),
    )
    op.create_table(
        "seats",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_seats"),
    )
    op.create_table(
        "schedules",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("lane", sa.Text, nullable=False),
        sa.Column("timing", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("group_key", sa.Text, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("next_at", sa.BigInteger),
        sa.Column("last_at", sa.BigInteger),
        sa.Column("last_receipt", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_schedules"),
    )
    op.create_index(
        "ix_schedules_due",
        "schedules",
        ["next_at"],
        sqlite_where=sa.text("next_at IS NOT NULL"),
        postgresql_where=sa.text("next_at IS NOT NULL"),
    )


def downgrade() -> None:
    for name in ("schedules", "seats", "clock", "switches", "fetch_runs"):
        op.drop_table(name)
