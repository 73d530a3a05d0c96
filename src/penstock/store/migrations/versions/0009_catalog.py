"""The product crawler, what it knows of source products, and proxies."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from penstock.store.migrations.pieces import create_partial, fixed

revision = "0009"
down_revision = "0008"

#: In the order in which they can be dropped.
TABLES = (
    "proxies",
    "error_logs",
    "crawl_attempts",
    "crawl_submission_tasks",
    "crawl_tasks",
    "crawl_submissions",
    "images",
    "domains",
)
OF_CATALOGUE = "domain_id IS NOT NULL"
INDEXES = {
    "idx_products_domain_id": ["domain_id", "id"],
    "idx_products_product_name": ["product_name", "id"],
    "idx_products_price": ["price", "id"],
    "idx_products_availability": ["availability", "id"],
    "idx_products_rating": ["rating", "id"],
    "idx_products_created_at": ["created_at", "id"],
    "idx_products_updated_at": ["updated_at", "id"],
    "idx_products_url_hash": ["url_hash"],
    "idx_products_brand": ["brand", "id"],
    "idx_products_category": ["category", "id"],
    "idx_products_crawl_task_id": ["crawl_task_id"],
}


def upgrade() -> None:
    _create_domains()
    for column in _columns():
        op.add_column("source_products", column)
    for name, columns in INDEXES.items():
        create_partial(name, "source_products", columns, OF_CATALOGUE)
    op.create_index("ix_prices_created_at_id", "prices", ["created_at", "id"])
    _create_images()
    _create_crawl_submissions()
    _create_crawl_tasks()
    _create_crawl_submission_tasks()
    _create_crawl_attempts()
    _create_error_logs()
    _create_proxies()


def downgrade() -> None:
    op.drop_index("ix_prices_created_at_id", "prices")
    for name in INDEXES:
        op.drop_index(name, "source_products")
    for column in _columns():
        op.drop_column("source_products", column.name)
    for name in TABLES:
        op.drop_table(name)


def _columns() -> list[sa.Column[Any]]:
    """What the catalogue knows of source products."""
    return [
        sa.Column("domain_id", sa.Text),
        sa.Column("crawl_task_id", sa.Text),
        sa.Column("url_hash", sa.Text),
        sa.Column("product_name", sa.Text, computed("substr(title, 1, 512)")),
        sa.Column("sku", sa.Text, computed("retailer_sku")),
        sa.Column("description", sa.Text),
        sa.Column("price", fixed(10, 2)),
        sa.Column("currency", sa.Text),
        sa.Column("availability", sa.Text),
        sa.Column("rating", fixed(3, 2)),
        sa.Column("review_count", sa.Integer),
        sa.Column("category", sa.Text),
        sa.Column("content_hash", sa.Text),
        sa.Column("metadata", sa.Text),
        sa.Column("last_seen_at", sa.BigInteger),
        sa.Column("stock_without_price", sa.Text),
        sa.Column("archived_at", sa.BigInteger),
    ]


def _create_domains() -> None:
    op.create_table(
        "domains",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("source_id", sa.Text, nullable=False),
        sa.Column("domain_name", sa.Text, nullable=False),
        sa.Column("base_url", sa.Text, nullable=False),
        sa.Column("crawl_delay_seconds", sa.Integer, nullable=False, server_default="1"),
        sa.Column("max_concurrent_requests", sa.Integer, nullable=False, server_default="5"),
        sa.Column("crawl_frequency", sa.Integer),
        sa.Column("parser", sa.Text),
        sa.Column("is_active", sa.Boolean, nullable=False, server_default=sa.text("TRUE")),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("updated_by", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_domains"),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"]),
        sa.UniqueConstraint("source_id", name="uq_domains_source_id"),
        sa.UniqueConstraint("domain_name", name="uq_domains_domain_name"),
    )
    op.create_index("idx_domains_domain_name", "domains", ["domain_name"])
    op.create_index("idx_domains_is_active", "domains", ["is_active"])


def _create_images() -> None:
    op.create_table(
        "images",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("product_id", sa.Text, nullable=False),
        sa.Column("image_url", sa.Text, nullable=False),
        sa.Column("image_path", sa.Text),
        sa.Column("alt_text", sa.Text),
        sa.Column("image_type", sa.Text, nullable=False, server_default="primary"),
        sa.Column("position", sa.Integer, nullable=False, server_default="0"),
        sa.Column("width", sa.Integer),
        sa.Column("height", sa.Integer),
        sa.Column("file_size", sa.Integer),
        sa.Column("content_type", sa.Text),
        sa.Column("status", sa.Text, nullable=False, server_default="pending"),
        sa.Column("error", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_images"),
        sa.ForeignKeyConstraint(["product_id"], ["source_products.id"]),
    )
    op.create_index("idx_images_product_id", "images", ["product_id", "position"])
    create_partial("ix_images_image_path", "images", ["image_path"], "image_path IS NOT NULL")
    create_partial("ix_images_pending", "images", ["updated_at"], "status = 'pending'")


def _create_crawl_submissions() -> None:
    op.create_table(
        "crawl_submissions",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("origin_name", sa.Text),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("submitted", sa.Integer, nullable=False, server_default="0"),
        sa.Column("accepted", sa.Integer, nullable=False, server_default="0"),
        sa.Column("duplicates", sa.Integer, nullable=False, server_default="0"),
        sa.Column("refused", sa.Integer, nullable=False, server_default="0"),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_crawl_submissions"),
    )


def _create_crawl_tasks() -> None:
    op.create_table(
        "crawl_tasks",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("domain_id", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("url_hash", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False, server_default="5"),
        sa.Column("scheduled_at", sa.BigInteger, nullable=False),
        sa.Column("started_at", sa.BigInteger),
        sa.Column("completed_at", sa.BigInteger),
        sa.Column("retry_count", sa.Integer, nullable=False, server_default="0"),
        sa.Column("max_retries", sa.Integer, nullable=False, server_default="3"),
        sa.Column("error_message", sa.Text),
        sa.Column("crawl_frequency", sa.Integer),
        sa.Column("crawl_interval", sa.Integer),
        sa.Column("next_crawl_at", sa.BigInteger),
        sa.Column("html_path", sa.Text),
        sa.Column("html_at", sa.BigInteger),
        sa.Column("html_headers", sa.Text),
        sa.Column("html_url", sa.Text),
        sa.Column("page_hash", sa.Text),
        sa.Column("parser", sa.Text),
        sa.Column("parser_version", sa.Text),
        sa.Column("is_paused", sa.Boolean, nullable=False, server_default=sa.text("FALSE")),
        sa.Column("item_id", sa.Text),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("unchanged_in_a_row", sa.Integer, nullable=False, server_default="0"),
        sa.Column("turn_key", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("accept_next", sa.Boolean, nullable=False, server_default=sa.text("FALSE")),
        sa.Column("failure", sa.Text),
        sa.Column("created_by", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_crawl_tasks"),
        sa.ForeignKeyConstraint(["domain_id"], ["domains.id"]),
    )
    table = "crawl_tasks"
    op.create_index("idx_crawl_tasks_status", table, ["status", "id"])
    op.create_index("idx_crawl_tasks_domain_id", table, ["domain_id", "status", "id"])
    op.create_index("idx_crawl_tasks_url_hash", table, ["url_hash"], unique=True)
    for name, columns, where in (
        ("idx_crawl_tasks_scheduled_at", ["scheduled_at"], "status = 'pending'"),
        ("idx_crawl_tasks_next_crawl_at", ["next_crawl_at"], "next_crawl_at IS NOT NULL"),
        (
            "ix_crawl_tasks_due",
            ["domain_id", "is_paused", "priority", "turn_key", "id"],
            "status = 'pending'",
        ),
        (
            "ix_crawl_tasks_under_way",
            ["updated_at", "id"],
            "status IN ('queued', 'crawling', 'downloaded', 'parsing')",
        ),
        ("ix_crawl_tasks_html_path", ["html_path"], "html_path IS NOT NULL"),
    ):
        create_partial(name, table, columns, where)


def _create_crawl_submission_tasks() -> None:
    op.create_table(
        "crawl_submission_tasks",
        sa.Column("submission_id", sa.Text, nullable=False),
        sa.Column("task_id", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("submission_id", "task_id", name="pk_crawl_submission_tasks"),
        sa.ForeignKeyConstraint(["submission_id"], ["crawl_submissions.id"]),
        sa.ForeignKeyConstraint(["task_id"], ["crawl_tasks.id"]),
    )
    op.create_index("ix_crawl_submission_tasks_task_id", "crawl_submission_tasks", ["task_id"])


def _create_crawl_attempts() -> None:
    op.create_table(
        "crawl_attempts",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("crawl_task_id", sa.Text, nullable=False),
        sa.Column("domain_id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("started_at", sa.BigInteger),
        sa.Column("ended_at", sa.BigInteger, nullable=False),
        sa.Column("http_status", sa.Integer),
        sa.Column("size", sa.BigInteger),
        sa.Column("fetcher", sa.Text),
        sa.Column("proxy", sa.Text),
        sa.Column("error_type", sa.Text),
        sa.Column("error_message", sa.Text),
        sa.Column("parser_version", sa.Text),
        sa.Column("changed", sa.Boolean),
        sa.Column("document", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_crawl_attempts"),
        sa.ForeignKeyConstraint(["crawl_task_id"], ["crawl_tasks.id"]),
    )
    table = "crawl_attempts"
    op.create_index("ix_crawl_attempts_crawl_task_id", table, ["crawl_task_id", "id"])
    op.create_index("ix_crawl_attempts_ended_at", table, ["ended_at"])
    parses = "parser_version IS NOT NULL"
    create_partial("ix_crawl_attempts_parses", table, ["domain_id", "ended_at"], parses)


def _create_error_logs() -> None:
    op.create_table(
        "error_logs",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("crawl_task_id", sa.Text, nullable=False),
        sa.Column("domain_id", sa.Text, nullable=False),
        sa.Column("category", sa.Text, nullable=False),
        sa.Column("error_type", sa.Text, nullable=False),
        sa.Column("error_message", sa.Text, nullable=False),
        sa.Column("stack_trace", sa.Text),
        sa.Column("occurred_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_error_logs"),
        sa.ForeignKeyConstraint(["crawl_task_id"], ["crawl_tasks.id"]),
    )
    op.create_index("ix_error_logs_crawl_task_id", "error_logs", ["crawl_task_id", "id"])
    op.create_index(
        "ix_error_logs_domain_id_occurred_at", "error_logs", ["domain_id", "occurred_at"]
    )
    op.create_index("ix_error_logs_occurred_at", "error_logs", ["occurred_at"])


def _create_proxies() -> None:
    op.create_table(
        "proxies",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("proxy_url", sa.Text, nullable=False),
        sa.Column("proxy_port", sa.Integer, nullable=False),
        sa.Column("proxy_protocol", sa.Text, nullable=False, server_default="http"),
        sa.Column("proxy_username", sa.Text, nullable=False, server_default=""),
        sa.Column("proxy_password", sa.Text),
        sa.Column("region", sa.Text),
        sa.Column("origin", sa.Text, nullable=False, server_default="admin"),
        sa.Column("is_active", sa.Boolean, nullable=False, server_default=sa.text("TRUE")),
        sa.Column("is_healthy", sa.Boolean, nullable=False, server_default=sa.text("TRUE")),
        sa.Column("failure_count", sa.Integer, nullable=False, server_default="0"),
        sa.Column("success_count", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("total_failures", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("last_used_at", sa.BigInteger),
        sa.Column("last_success_at", sa.BigInteger),
        sa.Column("last_failure_at", sa.BigInteger),
        sa.Column("avg_response_time_ms", sa.Integer),
        sa.Column("bytes_carried", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("cost_per_gb_micros", sa.BigInteger),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_proxies"),
    )
    address = ["proxy_protocol", "proxy_url", "proxy_port", "proxy_username"]
    op.create_index("uq_proxies_address", "proxies", address, unique=True)
    for name in ("is_active", "last_used_at", "failure_count"):
        op.create_index(f"idx_proxies_{name}", "proxies", [name])


def computed(value: str) -> sa.Computed:
    """What a column is made of; PostgreSQL before 18 can only store it, SQLite not add it so."""
    return sa.Computed(value, persisted=op.get_bind().dialect.name == "postgresql" or None)
