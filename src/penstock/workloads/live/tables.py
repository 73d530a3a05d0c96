"""The tables of live pages: what is watched, what was seen, how it went and what went wrong."""

import math
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    TypeDecorator,
    text,
)

from penstock.store.schema import (
    CleanText,
    Fixed,
    Json,
    Moment,
    Whole,
    metadata,
    partial_index,
    storable,
)

Row = dict[str, Any]
ID_LENGTH, URL_LENGTH, OPERATION_LENGTH = 100, 500, 100
LARGEST = 2**31 - 1


class Words(TypeDecorator[str]):
    """Text from anywhere, of so many characters at most; who writes it sees to that."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else storable(value)


#: A page that is watched, and the last that is known of it.
matches = Table(
    "matches",
    metadata,
    Column("match_id", Words(ID_LENGTH), primary_key=True),
    Column("source_url", CleanText, nullable=False),
    Column("adapter", CleanText, nullable=False),
    Column("options", Json, nullable=False),
    Column("status", String(20), nullable=False, server_default="waiting"),
    Column("wanted", Boolean, nullable=False, server_default=text("TRUE")),
    Column("priority", Integer, nullable=False, server_default="5"),
    Column("interval_ms", Integer),
    Column("state", CleanText),
    # Why it was put off, refused, stopped, completed or given up.
    Column("reason", CleanText),
    # Of the last update.
    Column("payload", Json),
    Column("last_sequence", Whole, nullable=False, server_default="0"),
    Column("last_hash", Text, nullable=False, server_default=""),
    # Who may write, and since when nobody else may.
    Column("scraper_id", String(36)),
    Column("scraper_since", Moment),
    # Whose it is to watch: a row of `workers`.
    Column("worker", String(32)),
    Column("memory", Json, nullable=False, server_default="{}"),
    Column("restarts", Integer, nullable=False, server_default="0"),
    Column("retry_at", Moment),
    Column("last_scraper_update", Moment),
    Column("data_freshness_seconds", Integer, nullable=False, server_default="0"),
    Column("scraper_status", String(20), nullable=False, server_default="unknown"),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("completed_at", Moment),
    Index("idx_freshness", "data_freshness_seconds"),
    Index("idx_scraper_status", "scraper_status"),
    Index("ix_matches_status", "status", "match_id"),
    Index("ix_matches_worker", "worker"),
    Index("ix_matches_wanted", "wanted", "priority", "created_at"),
)

#: What a page said, whenever that was news.
live_match_data = Table(
    "live_match_data",
    metadata,
    Column("id", Text, primary_key=True),
    Column(
        "match_id",
        Words(ID_LENGTH),
        ForeignKey("matches.match_id", ondelete="CASCADE"),
        nullable=False,
    ),
    Column("source_url", CleanText, nullable=False),
    Column("state", CleanText, nullable=False),
    Column("payload", Json, nullable=False),
    Column("sequence", Whole, nullable=False),
    Column("hash", Text, nullable=False),
    Column("critical", Boolean, nullable=False, server_default=text("FALSE")),
    Column("final", Boolean, nullable=False, server_default=text("FALSE")),
    Column("scraper_id", String(36)),
    Column("update_latency_ms", Integer),
    Column("data_source", String(50), nullable=False, server_default="scraper"),
    Column("scraped_at", Moment, nullable=False),
    Index("uq_live_match_data_match_id_sequence", "match_id", "sequence", unique=True),
    Index("idx_scraper", "scraper_id"),
    Index("ix_live_match_data_scraped_at_id", "scraped_at", "id"),
)

#: How scrapers were, minute by minute.
scraper_health_log = Table(
    "scraper_health_log",
    metadata,
    Column("id", Text, primary_key=True),
    Column("scraper_id", String(36), nullable=False),
    Column("match_id", Words(ID_LENGTH)),
    Column("timestamp", Moment, nullable=False),
    Column("health_status", String(20), nullable=False),
    Column("error_count", Integer, nullable=False, server_default="0"),
    Column("memory_mb", Fixed(10, 2)),
    Column("cpu_percent", Fixed(5, 2)),
    Column("update_latency_ms", Integer),
    Column("polling_interval_seconds", Fixed(5, 2)),
    Column("uptime_seconds", Integer),
    Column("last_update_age_seconds", Integer),
    Index("idx_scraper_timestamp", "scraper_id", "timestamp"),
    Index("idx_match_timestamp", "match_id", "timestamp"),
    Index("idx_health_status", "health_status", "timestamp"),
    Index("ix_scraper_health_log_timestamp_id", "timestamp", "id"),
)

#: What went wrong, and what made it good again.
scraper_errors = Table(
    "scraper_errors",
    metadata,
    Column("id", Text, primary_key=True),
    Column("scraper_id", String(36), nullable=False),
    Column("match_id", Words(ID_LENGTH)),
    Column("timestamp", Moment, nullable=False),
    Column("error_type", String(50), nullable=False),
    Column("error_message", CleanText),
    Column("stack_trace", CleanText),
    Column("url", Words(URL_LENGTH)),
    Column("operation", Words(OPERATION_LENGTH)),
    Column("retry_attempt", Integer, nullable=False, server_default="0"),
    Column("resolved", Boolean, nullable=False, server_default=text("FALSE")),
    Column("resolution_time", Moment),
    Column("resolution_method", String(50)),
    # The page as it was, and a picture of it: addresses of blobs.
    Column("snapshot", Text),
    Column("screenshot", Text),
    Index("idx_scraper_errors_scraper_timestamp", "scraper_id", "timestamp"),
    Index("idx_error_type", "error_type", "timestamp"),
    Index("idx_unresolved", "resolved", "timestamp"),
    Index("ix_scraper_errors_match_id", "match_id", "id"),
    Index("ix_scraper_errors_timestamp_id", "timestamp", "id"),
    partial_index("ix_scraper_errors_snapshot", "snapshot", where="snapshot IS NOT NULL"),
    partial_index("ix_scraper_errors_screenshot", "screenshot", where="screenshot IS NOT NULL"),
)


def bounded(number: float | None) -> int | None:
    """A number as a column of whole numbers takes it: not negative, and not too large."""
    if number is None or not math.isfinite(number):
        return None
    return min(max(int(number), 0), LARGEST)
