"""Tables of what the kernel is told from the store: its proxies."""

from sqlalchemy import Boolean, Column, Index, Integer, Table, Text, text

from penstock.store.schema import CleanText, Moment, Whole, metadata

proxies = Table(
    "proxies",
    metadata,
    Column("id", Text, primary_key=True),
    Column("proxy_url", CleanText, nullable=False),
    Column("proxy_port", Integer, nullable=False),
    Column("proxy_protocol", Text, nullable=False, server_default="http"),
    Column("proxy_username", CleanText, nullable=False, server_default=""),
    # Encrypted, with a key of the settings.
    Column("proxy_password", Text),
    Column("region", Text),
    # Who brought it in: settings or admin; retired if the settings name it no more.
    Column("origin", Text, nullable=False, server_default="admin"),
    Column("is_active", Boolean, nullable=False, server_default=text("TRUE")),
    Column("is_healthy", Boolean, nullable=False, server_default=text("TRUE")),
    Column("failure_count", Integer, nullable=False, server_default="0"),
    Column("success_count", Whole, nullable=False, server_default="0"),
    Column("total_failures", Whole, nullable=False, server_default="0"),
    Column("last_used_at", Moment),
    Column("last_success_at", Moment),
    Column("last_failure_at", Moment),
    Column("avg_response_time_ms", Integer),
    # What it cost: bytes that it carried, and what a gigabyte costs in millionths of a unit.
    Column("bytes_carried", Whole, nullable=False, server_default="0"),
    Column("cost_per_gb_micros", Whole),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Index(
        "uq_proxies_address",
        "proxy_protocol",
        "proxy_url",
        "proxy_port",
        "proxy_username",
        unique=True,
    ),
    Index("idx_proxies_is_active", "is_active"),
    Index("idx_proxies_last_used_at", "last_used_at"),
    Index("idx_proxies_failure_count", "failure_count"),
)
