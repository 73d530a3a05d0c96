"""Product facts and the price monitor."""

import sqlalchemy as sa
from alembic import op

from penstock.store.migrations.pieces import create_partial, fixed
from penstock.store.migrations.product_tables import create_products

revision = "0005"
down_revision = "0004"

#: In the order in which they can be dropped.
TABLES = (
    "scrape_results",
    "quarantined_offers",
    "price_rules",
    "price_corrections",
    "source_product_identifiers",
    "scrape_targets",
    "prices",
    "source_trust_config",
    "source_products",
    "scrape_runs",
    "scrape_adapter_status",
    "sources",
    "product_keys",
    "retailers",
    "products",
    "ops_alerts",
)


def upgrade() -> None:
    create_products()
    _create_scrape_targets()
    _create_scrape_runs()
    _create_scrape_adapter_status()
    _create_scrape_results()
    _create_quarantined_offers()
    _create_price_rules()
    _create_ops_alerts()


def _create_scrape_targets() -> None:
    op.create_table(
        "scrape_targets",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("canonical_url", sa.Text, nullable=False),
        sa.Column("source_id", sa.Text, nullable=False),
        sa.Column("adapter_id", sa.Text, nullable=False),
        sa.Column("source_product_id", sa.Text),
        sa.Column("schedule", sa.Text),
        sa.Column("priority", sa.Integer, nullable=False, server_default="0"),
        sa.Column("status", sa.Text, nullable=False, server_default="ACTIVE"),
        sa.Column("enabled", sa.Boolean, nullable=False, server_default=sa.text("TRUE")),
        sa.Column(
            "robots_path_blocked", sa.Boolean, nullable=False, server_default=sa.text("FALSE")
        ),
        sa.Column("last_scraped_at", sa.BigInteger),
        sa.Column("last_status", sa.Text),
        sa.Column("consecutive_failures", sa.Integer, nullable=False, server_default="0"),
        sa.Column("next_due_at", sa.BigInteger),
        sa.Column("run_id", sa.Text),
        sa.Column("etag", sa.Text),
        sa.Column("last_modified", sa.Text),
        sa.Column("content_hash", sa.Text),
        sa.Column("read_by", sa.Text),
        sa.Column("last_good_result_id", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("created_by", sa.Text),
        sa.Column("notes", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_scrape_targets"),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"]),
        sa.ForeignKeyConstraint(["source_product_id"], ["source_products.id"]),
        sa.UniqueConstraint("source_id", "canonical_url", name="scrape_targets_source_url_unique"),
    )
    op.create_index("idx_scrape_targets_adapter", "scrape_targets", ["adapter_id"])
    create_partial("idx_scrape_targets_schedule", "scrape_targets", ["schedule"], "enabled = TRUE")
    op.create_index("idx_scrape_targets_source", "scrape_targets", ["source_id"])
    op.create_index("idx_scrape_targets_status", "scrape_targets", ["status"])
    create_partial(
        "ix_scrape_targets_next_due_at",
        "scrape_targets",
        ["next_due_at"],
        "next_due_at IS NOT NULL",
    )
    create_partial("ix_scrape_targets_run_id", "scrape_targets", ["run_id"], "run_id IS NOT NULL")
    create_partial(
        "ix_scrape_targets_set_aside",
        "scrape_targets",
        ["source_id"],
        "next_due_at IS NULL AND run_id IS NULL",
    )


def _create_scrape_runs() -> None:
    op.create_table(
        "scrape_runs",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("adapter_id", sa.Text, nullable=False),
        sa.Column("adapter_version", sa.Text, nullable=False),
        sa.Column("source_id", sa.Text, nullable=False),
        sa.Column("retailer_id", sa.Text, nullable=False),
        sa.Column("trigger", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False, server_default="RUNNING"),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("completed_at", sa.BigInteger),
        sa.Column("duration_ms", sa.Integer),
        sa.Column("urls_total", sa.Integer, nullable=False),
        sa.Column("urls_over", sa.Integer, nullable=False, server_default="0"),
        sa.Column("urls_attempted", sa.Integer, nullable=False, server_default="0"),
        sa.Column("urls_succeeded", sa.Integer, nullable=False, server_default="0"),
        sa.Column("urls_failed", sa.Integer, nullable=False, server_default="0"),
        sa.Column("offers_extracted", sa.Integer, nullable=False, server_default="0"),
        sa.Column("offers_valid", sa.Integer, nullable=False, server_default="0"),
        sa.Column("offers_dropped", sa.Integer, nullable=False, server_default="0"),
        sa.Column("offers_quarantined", sa.Integer, nullable=False, server_default="0"),
        sa.Column("zero_price_count", sa.Integer, nullable=False, server_default="0"),
        sa.Column("oos_no_price_count", sa.Integer, nullable=False, server_default="0"),
        sa.Column("unknown_availability_count", sa.Integer, nullable=False, server_default="0"),
        sa.Column("extraction_failures", sa.Integer, nullable=False, server_default="0"),
        sa.Column("urls_unreachable", sa.Integer, nullable=False, server_default="0"),
        sa.Column("unchanged_count", sa.Integer, nullable=False, server_default="0"),
        sa.Column("field_counts", sa.Text, nullable=False),
        sa.Column("failure_rate", fixed(5, 4)),
        sa.Column("yield_rate", fixed(5, 4)),
        sa.Column("drop_rate", fixed(5, 4)),
        sa.Column("drift_rate", fixed(5, 4)),
        sa.Column("is_canary", sa.Boolean, nullable=False, server_default=sa.text("FALSE")),
        sa.Column("error_code", sa.Text),
        sa.Column("error_message", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_scrape_runs"),
        sa.ForeignKeyConstraint(["retailer_id"], ["retailers.id"]),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"]),
    )
    op.create_index("idx_scrape_runs_adapter", "scrape_runs", ["adapter_id"])
    op.create_index("idx_scrape_runs_retailer", "scrape_runs", ["retailer_id"])
    op.create_index("idx_scrape_runs_source", "scrape_runs", ["source_id"])
    op.create_index("idx_scrape_runs_started", "scrape_runs", ["started_at"])
    op.create_index("idx_scrape_runs_status", "scrape_runs", ["status"])
    op.create_index(
        "ix_scrape_runs_pair_started_at", "scrape_runs", ["source_id", "adapter_id", "started_at"]
    )


def _create_scrape_adapter_status() -> None:
    op.create_table(
        "scrape_adapter_status",
        sa.Column("adapter_id", sa.Text, nullable=False),
        sa.Column("adapter", sa.Text, nullable=False),
        sa.Column("source_id", sa.Text, nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False, server_default=sa.text("TRUE")),
        sa.Column("disabled_at", sa.BigInteger),
        sa.Column("disabled_reason", sa.Text),
        sa.Column("disabled_by", sa.Text),
        sa.Column("baseline_failure_rate", fixed(5, 4)),
        sa.Column("baseline_yield_rate", fixed(5, 4)),
        sa.Column("baseline_sample_size", sa.Integer, nullable=False, server_default="0"),
        sa.Column("baseline_coverage", sa.Text, nullable=False),
        sa.Column("baseline_updated_at", sa.BigInteger),
        sa.Column("consecutive_failed_batches", sa.Integer, nullable=False, server_default="0"),
        sa.Column("consecutive_empty_batches", sa.Integer, nullable=False, server_default="0"),
        sa.Column("consecutive_zero_price_batches", sa.Integer, nullable=False, server_default="0"),
        sa.Column("last_batch_failure_rate", fixed(5, 4)),
        sa.Column("pooled", sa.Text, nullable=False),
        sa.Column("needs_canary", sa.Boolean, nullable=False, server_default=sa.text("FALSE")),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("adapter_id", name="pk_scrape_adapter_status"),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"]),
        sa.UniqueConstraint("adapter", "source_id", name="scrape_adapter_status_pair_unique"),
    )


def _create_scrape_results() -> None:
    op.create_table(
        "scrape_results",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("target_id", sa.Text, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("fetch_status", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text),
        sa.Column("reason", sa.Text),
        sa.Column("adapter_version", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("body", sa.Text),
        sa.Column("price_id", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_scrape_results"),
        sa.ForeignKeyConstraint(["run_id"], ["scrape_runs.id"]),
        sa.ForeignKeyConstraint(["target_id"], ["scrape_targets.id"]),
        sa.UniqueConstraint("run_id", "target_id", name="scrape_results_once_per_run"),
    )
    op.create_index("ix_scrape_results_at", "scrape_results", ["at"])
    create_partial("ix_scrape_results_body", "scrape_results", ["body"], "body IS NOT NULL")
    op.create_index("ix_scrape_results_target_id_at", "scrape_results", ["target_id", "at"])


def _create_quarantined_offers() -> None:
    op.create_table(
        "quarantined_offers",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("target_id", sa.Text, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("result_id", sa.Text, nullable=False),
        sa.Column("source_id", sa.Text, nullable=False),
        sa.Column("adapter_id", sa.Text, nullable=False),
        sa.Column("adapter_version", sa.Text, nullable=False),
        sa.Column("identity_key", sa.Text),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("offer", sa.Text, nullable=False),
        sa.Column("observed_at", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Text, nullable=False, server_default="OPEN"),
        sa.Column("decided_by", sa.Text),
        sa.Column("decided_at", sa.BigInteger),
        sa.Column("decision_note", sa.Text),
        sa.Column("price_id", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_quarantined_offers"),
        sa.ForeignKeyConstraint(["run_id"], ["scrape_runs.id"]),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"]),
        sa.ForeignKeyConstraint(["target_id"], ["scrape_targets.id"]),
        sa.UniqueConstraint("run_id", "target_id", name="quarantined_offers_once_per_run"),
    )
    op.create_index(
        "ix_quarantined_offers_status_created_at", "quarantined_offers", ["status", "created_at"]
    )
    op.create_index("ix_quarantined_offers_target_id", "quarantined_offers", ["target_id"])


def _create_price_rules() -> None:
    op.create_table(
        "price_rules",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("target_id", sa.Text),
        sa.Column("product_id", sa.Text),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("threshold", fixed(10, 2)),
        sa.Column("currency", sa.Text),
        sa.Column("notify_url", sa.Text),
        sa.Column("enabled", sa.Boolean, nullable=False, server_default=sa.text("TRUE")),
        sa.Column("created_by", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_price_rules"),
        sa.ForeignKeyConstraint(["product_id"], ["products.id"]),
        sa.ForeignKeyConstraint(["target_id"], ["scrape_targets.id"]),
    )
    op.create_index("ix_price_rules_product_id", "price_rules", ["product_id"])
    op.create_index("ix_price_rules_target_id", "price_rules", ["target_id"])


def _create_ops_alerts() -> None:
    op.create_table(
        "ops_alerts",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("severity", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("count", sa.Integer, nullable=False, server_default="1"),
        sa.Column("first_at", sa.BigInteger, nullable=False),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.Column("resolved_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_ops_alerts"),
    )
    create_partial(
        "uq_ops_alerts_kind_subject",
        "ops_alerts",
        ["kind", "subject"],
        "resolved_at IS NULL",
        unique=True,
    )


def downgrade() -> None:
    op.execute("DROP VIEW current_visible_prices")
    for name in TABLES:
        op.drop_table(name)
    if op.get_bind().dialect.name != "sqlite":
        op.execute("DROP FUNCTION prices_refuse()")
