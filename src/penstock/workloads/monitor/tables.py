"""The tables of the price monitor: what is watched, in which runs, and how adapters fare."""

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from penstock.store.schema import CleanText, Fixed, Json, Moment, metadata, partial_index

scrape_targets = Table(
    "scrape_targets",
    metadata,
    Column("id", Text, primary_key=True),
    Column("url", CleanText, nullable=False),
    Column("canonical_url", CleanText, nullable=False),
    Column("source_id", Text, ForeignKey("sources.id"), nullable=False),
    Column("adapter_id", Text, nullable=False),
    Column("source_product_id", Text, ForeignKey("source_products.id")),
    Column("schedule", Text),
    Column("priority", Integer, nullable=False, server_default="0"),
    Column("status", Text, nullable=False, server_default="ACTIVE"),
    Column("enabled", Boolean, nullable=False, server_default=text("TRUE")),
    Column("robots_path_blocked", Boolean, nullable=False, server_default=text("FALSE")),
    Column("last_scraped_at", Moment),
    Column("last_status", Text),
    Column("consecutive_failures", Integer, nullable=False, server_default="0"),
    # When it is due next; absent while nothing is to be done for it.
    Column("next_due_at", Moment),
    # The run that has it now: a target is in one run at a time.
    Column("run_id", Text),
    # What the last accepted page was, for conditional fetches and for comparison.
    Column("etag", CleanText),
    Column("last_modified", CleanText),
    Column("content_hash", Text),
    Column("read_by", Text),
    Column("last_good_result_id", Text),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("created_by", CleanText),
    Column("notes", CleanText),
    UniqueConstraint("source_id", "canonical_url", name="scrape_targets_source_url_unique"),
    Index("idx_scrape_targets_source", "source_id", "id"),
    Index("idx_scrape_targets_adapter", "adapter_id", "id"),
    Index("idx_scrape_targets_status", "status", "id"),
    partial_index("idx_scrape_targets_schedule", "schedule", where="enabled = TRUE"),
    partial_index("ix_scrape_targets_next_due_at", "next_due_at", where="next_due_at IS NOT NULL"),
    partial_index("ix_scrape_targets_run_id", "run_id", where="run_id IS NOT NULL"),
    # Those for which nothing is to be done, or nothing could be done when they were due.
    partial_index(
        "ix_scrape_targets_set_aside", "source_id", where="next_due_at IS NULL AND run_id IS NULL"
    ),
)

scrape_runs = Table(
    "scrape_runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("adapter_id", Text, nullable=False),
    Column("adapter_version", Text, nullable=False),
    Column("source_id", Text, ForeignKey("sources.id"), nullable=False),
    Column("retailer_id", Text, ForeignKey("retailers.id"), nullable=False),
    Column("trigger", Text, nullable=False),
    Column("status", Text, nullable=False, server_default="RUNNING"),
    Column("started_at", Moment, nullable=False),
    Column("completed_at", Moment),
    Column("duration_ms", Integer),
    # How many targets it has, and how many of them are over.
    Column("urls_total", Integer, nullable=False),
    Column("urls_over", Integer, nullable=False, server_default="0"),
    Column("urls_attempted", Integer, nullable=False, server_default="0"),
    Column("urls_succeeded", Integer, nullable=False, server_default="0"),
    Column("urls_failed", Integer, nullable=False, server_default="0"),
    Column("offers_extracted", Integer, nullable=False, server_default="0"),
    Column("offers_valid", Integer, nullable=False, server_default="0"),
    Column("offers_dropped", Integer, nullable=False, server_default="0"),
    Column("offers_quarantined", Integer, nullable=False, server_default="0"),
    Column("zero_price_count", Integer, nullable=False, server_default="0"),
    Column("oos_no_price_count", Integer, nullable=False, server_default="0"),
    Column("unknown_availability_count", Integer, nullable=False, server_default="0"),
    # Those of urls_failed in which the page was there and the adapter found nothing to trust.
    Column("extraction_failures", Integer, nullable=False, server_default="0"),
    # Those of urls_failed in which nobody could be reached, so that nothing is known of the page.
    Column("urls_unreachable", Integer, nullable=False, server_default="0"),
    Column("unchanged_count", Integer, nullable=False, server_default="0"),
    # Of the valid offers, how many had each field.
    Column("field_counts", Json, nullable=False),
    Column("failure_rate", Fixed(5, 4)),
    Column("yield_rate", Fixed(5, 4)),
    Column("drop_rate", Fixed(5, 4)),
    Column("drift_rate", Fixed(5, 4)),
    Column("is_canary", Boolean, nullable=False, server_default=text("FALSE")),
    Column("error_code", Text),
    Column("error_message", CleanText),
    Column("created_at", Moment, nullable=False),
    Index("idx_scrape_runs_adapter", "adapter_id"),
    Index("idx_scrape_runs_source", "source_id"),
    Index("idx_scrape_runs_retailer", "retailer_id"),
    Index("idx_scrape_runs_status", "status"),
    Index("idx_scrape_runs_started", "started_at"),
    Index("ix_scrape_runs_pair_started_at", "source_id", "adapter_id", "started_at"),
)

#: One row per adapter and source; the id of a shared adapter names the source, as `product@shop`.
scrape_adapter_status = Table(
    "scrape_adapter_status",
    metadata,
    Column("adapter_id", Text, primary_key=True),
    Column("adapter", Text, nullable=False),
    Column("source_id", Text, ForeignKey("sources.id"), nullable=False),
    Column("enabled", Boolean, nullable=False, server_default=text("TRUE")),
    Column("disabled_at", Moment),
    Column("disabled_reason", Text),
    Column("disabled_by", CleanText),
    Column("baseline_failure_rate", Fixed(5, 4)),
    Column("baseline_yield_rate", Fixed(5, 4)),
    Column("baseline_sample_size", Integer, nullable=False, server_default="0"),
    Column("baseline_coverage", Json, nullable=False),
    Column("baseline_updated_at", Moment),
    Column("consecutive_failed_batches", Integer, nullable=False, server_default="0"),
    Column("consecutive_empty_batches", Integer, nullable=False, server_default="0"),
    Column("consecutive_zero_price_batches", Integer, nullable=False, server_default="0"),
    Column("last_batch_failure_rate", Fixed(5, 4)),
    # Counters of runs that are too small to judge, until together they make a batch.
    Column("pooled", Json, nullable=False),
    # After it was enabled again: the next run is a canary of a few targets.
    Column("needs_canary", Boolean, nullable=False, server_default=text("FALSE")),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("adapter", "source_id", name="scrape_adapter_status_pair_unique"),
)

#: What became of a target in a run; kept for a while, for people who ask why.
scrape_results = Table(
    "scrape_results",
    metadata,
    Column("id", Text, primary_key=True),
    Column("target_id", Text, ForeignKey("scrape_targets.id"), nullable=False),
    Column("run_id", Text, ForeignKey("scrape_runs.id"), nullable=False),
    Column("at", Moment, nullable=False),
    Column("fetch_status", Text, nullable=False),
    Column("verdict", Text),
    Column("reason", Text),
    Column("adapter_version", Text, nullable=False),
    # The outcome: page, gates, record with evidence, failure.
    Column("document", Json, nullable=False),
    Column("body", Text),
    Column("price_id", Text),
    UniqueConstraint("run_id", "target_id", name="scrape_results_once_per_run"),
    Index("ix_scrape_results_target_id_at", "target_id", "at"),
    Index("ix_scrape_results_at", "at"),
    partial_index("ix_scrape_results_body", "body", where="body IS NOT NULL"),
)

quarantined_offers = Table(
    "quarantined_offers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("target_id", Text, ForeignKey("scrape_targets.id"), nullable=False),
    Column("run_id", Text, ForeignKey("scrape_runs.id"), nullable=False),
    Column("result_id", Text, nullable=False),
    Column("source_id", Text, ForeignKey("sources.id"), nullable=False),
    Column("adapter_id", Text, nullable=False),
    Column("adapter_version", Text, nullable=False),
    Column("identity_key", CleanText),
    Column("reason", Text, nullable=False),
    Column("detail", CleanText, nullable=False),
    Column("offer", Json, nullable=False),
    Column("observed_at", Moment, nullable=False),
    Column("status", Text, nullable=False, server_default="OPEN"),
    Column("decided_by", CleanText),
    Column("decided_at", Moment),
    Column("decision_note", CleanText),
    Column("price_id", Text),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("run_id", "target_id", name="quarantined_offers_once_per_run"),
    Index("ix_quarantined_offers_status_created_at", "status", "created_at"),
    Index("ix_quarantined_offers_status_id", "status", "id"),
    Index("ix_quarantined_offers_target_id", "target_id"),
)

#: What users want to be told of.
price_rules = Table(
    "price_rules",
    metadata,
    Column("id", Text, primary_key=True),
    Column("target_id", Text, ForeignKey("scrape_targets.id")),
    Column("product_id", Text, ForeignKey("products.id")),
    Column("kind", Text, nullable=False),
    Column("threshold", Fixed(10, 2)),
    Column("currency", Text),
    Column("notify_url", CleanText),
    Column("enabled", Boolean, nullable=False, server_default=text("TRUE")),
    Column("created_by", CleanText),
    Column("created_at", Moment, nullable=False),
    Index("ix_price_rules_target_id", "target_id"),
    Index("ix_price_rules_product_id", "product_id"),
)
