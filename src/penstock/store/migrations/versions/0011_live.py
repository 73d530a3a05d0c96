"""Live pages: what is watched, what was seen, how scrapers were and what went wrong."""

import sqlalchemy as sa
from alembic import op

from penstock.store.migrations.pieces import create_partial, fixed

revision = "0011"
down_revision = "0010"

#: In the order in which they can be dropped.
TABLES = ("scraper_errors", "scraper_health_log", "live_match_data", "matches")


def upgrade() -> None:
    _create_matches()
    _create_live_match_data()
    _create_scraper_health_log()
    _create_scraper_errors()


def downgrade() -> None:
    for name in TABLES:
        op.drop_table(name)


def _create_matches() -> None:
    op.create_table(
        "matches",
        sa.Column("match_id", sa.String(100), nullable=False),
        sa.Column("source_url", sa.Text, nullable=False),
        sa.Column("adapter", sa.Text, nullable=False),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("status", sa.String(20), nullable=False, server_default="waiting"),
        sa.Column("wanted", sa.Boolean, nullable=False, server_default=sa.text("TRUE")),
        sa.Column("priority", sa.Integer, nullable=False, server_default="5"),
        sa.Column("interval_ms", sa.Integer),
        sa.Column("state", sa.Text),
        sa.Column("reason", sa.Text),
        sa.Column("payload", sa.Text),
        sa.Column("last_sequence", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("last_hash", sa.Text, nullable=False, server_default=""),
        sa.Column("scraper_id", sa.String(36)),
        sa.Column("scraper_since", sa.BigInteger),
        sa.Column("worker", sa.String(32)),
        sa.Column("memory", sa.Text, nullable=False, server_default="{}"),
        sa.Column("restarts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("retry_at", sa.BigInteger),
        sa.Column("last_scraper_update", sa.BigInteger),
        sa.Column("data_freshness_seconds", sa.Integer, nullable=False, server_default="0"),
        sa.Column("scraper_status", sa.String(20), nullable=False, server_default="unknown"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("completed_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("match_id", name="pk_matches"),
    )
    op.create_index("idx_freshness", "matches", ["data_freshness_seconds"])
    op.create_index("idx_scraper_status", "matches", ["scraper_status"])
    op.create_index("ix_matches_status", "matches", ["status", "match_id"])
    op.create_index("ix_matches_worker", "matches", ["worker"])
    op.create_index("ix_matches_wanted", "matches", ["wanted", "priority", "created_at"])


def _create_live_match_data() -> None:
    op.create_table(
        "live_match_data",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("match_id", sa.String(100), nullable=False),
        sa.Column("source_url", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("critical", sa.Boolean, nullable=False, server_default=sa.text("FALSE")),
        sa.Column("final", sa.Boolean, nullable=False, server_default=sa.text("FALSE")),
        sa.Column("scraper_id", sa.String(36)),
        sa.Column("update_latency_ms", sa.Integer),
        sa.Column("data_source", sa.String(50), nullable=False, server_default="scraper"),
        sa.Column("scraped_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_live_match_data"),
        sa.ForeignKeyConstraint(["match_id"], ["matches.match_id"], ondelete="CASCADE"),
    )
    table = "live_match_data"
    op.create_index(
        "uq_live_match_data_match_id_sequence", table, ["match_id", "sequence"], unique=True
    )
    op.create_index("idx_scraper", table, ["scraper_id"])
    op.create_index("ix_live_match_data_scraped_at_id", table, ["scraped_at", "id"])


def _create_scraper_health_log() -> None:
    op.create_table(
        "scraper_health_log",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("scraper_id", sa.String(36), nullable=False),
        sa.Column("match_id", sa.String(100)),
        sa.Column("timestamp", sa.BigInteger, nullable=False),
        sa.Column("health_status", sa.String(20), nullable=False),
        sa.Column("error_count", sa.Integer, nullable=False, server_default="0"),
        sa.Column("memory_mb", fixed(10, 2)),
        sa.Column("cpu_percent", fixed(5, 2)),
        sa.Column("update_latency_ms", sa.Integer),
        sa.Column("polling_interval_seconds", fixed(5, 2)),
        sa.Column("uptime_seconds", sa.Integer),
        sa.Column("last_update_age_seconds", sa.Integer),
        sa.PrimaryKeyConstraint("id", name="pk_scraper_health_log"),
    )
    table = "scraper_health_log"
    op.create_index("idx_scraper_timestamp", table, ["scraper_id", "timestamp"])
    op.create_index("idx_match_timestamp", table, ["match_id", "timestamp"])
    op.create_index("idx_health_status", table, ["health_status", "timestamp"])
    op.create_index("ix_scraper_health_log_timestamp_id", table, ["timestamp", "id"])


def _create_scraper_errors() -> None:
    op.create_table(
        "scraper_errors",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("scraper_id", sa.String(36), nullable=False),
        sa.Column("match_id", sa.String(100)),
        sa.Column("timestamp", sa.BigInteger, nullable=False),
        sa.Column("error_type", sa.String(50), nullable=False),
        sa.Column("error_message", sa.Text),
        sa.Column("stack_trace", sa.Text),
        sa.Column("url", sa.String(500)),
        sa.Column("operation", sa.String(100)),
        sa.Column("retry_attempt", sa.Integer, nullable=False, server_default="0"),
        sa.Column("resolved", sa.Boolean, nullable=False, server_default=sa.text("FALSE")),
        sa.Column("resolution_time", sa.BigInteger),
        sa.Column("resolution_method", sa.String(50)),
        sa.Column("snapshot", sa.Text),
        sa.Column("screenshot", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_scraper_errors"),
    )
    table = "scraper_errors"
    op.create_index("idx_scraper_errors_scraper_timestamp", table, ["scraper_id", "timestamp"])
    op.create_index("idx_error_type", table, ["error_type", "timestamp"])
    op.create_index("idx_unresolved", table, ["resolved", "timestamp"])
    op.create_index("ix_scraper_errors_match_id", table, ["match_id", "id"])
    op.create_index("ix_scraper_errors_timestamp_id", table, ["timestamp", "id"])
    for name in ("snapshot", "screenshot"):
        create_partial(f"ix_{table}_{name}", table, [name], f"{name} IS NOT NULL")
