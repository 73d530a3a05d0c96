"""The tables of the product crawler: what is to be crawled, what came of it, what went wrong."""

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, Table, Text, text

from penstock.store.schema import CleanText, Json, Moment, Whole, metadata, partial_index

#: URLs that somebody submitted together.
crawl_submissions = Table(
    "crawl_submissions",
    metadata,
    Column("id", Text, primary_key=True),
    # urls, file or sitemap; and which.
    Column("origin", Text, nullable=False),
    Column("origin_name", CleanText),
    # reading while a sitemap is walked, then accepted or failed.
    Column("status", Text, nullable=False),
    Column("error", CleanText),
    Column("options", Json, nullable=False),
    Column("submitted", Integer, nullable=False, server_default="0"),
    Column("accepted", Integer, nullable=False, server_default="0"),
    Column("duplicates", Integer, nullable=False, server_default="0"),
    Column("refused", Integer, nullable=False, server_default="0"),
    Column("created_by", CleanText, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
)

#: A page that is crawled, again and again: the truth about it; the queue only distributes it.
crawl_tasks = Table(
    "crawl_tasks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("domain_id", Text, ForeignKey("domains.id"), nullable=False),
    Column("url", CleanText, nullable=False),
    Column("url_hash", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("priority", Integer, nullable=False, server_default="5"),
    Column("scheduled_at", Moment, nullable=False),
    Column("started_at", Moment),
    Column("completed_at", Moment),
    Column("retry_count", Integer, nullable=False, server_default="0"),
    Column("max_retries", Integer, nullable=False, server_default="3"),
    Column("error_message", CleanText),
    # Seconds between two crawls as somebody wants it, and as what was seen makes it.
    Column("crawl_frequency", Integer),
    Column("crawl_interval", Integer),
    Column("next_crawl_at", Moment),
    Column("html_path", Text),
    # When it was seen like that, and what it takes to read it again, or only if it has changed.
    Column("html_at", Moment),
    Column("html_headers", Json),
    Column("html_url", CleanText),
    Column("page_hash", Text),
    Column("parser", Text),
    Column("parser_version", Text),
    Column("is_paused", Boolean, nullable=False, server_default=text("FALSE")),
    # The item of the queue that it is in at the moment.
    Column("item_id", Text),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("unchanged_in_a_row", Integer, nullable=False, server_default="0"),
    # Who goes first among equals: who failed lately, then who was not crawled for longest.
    Column("turn_key", Moment, nullable=False, server_default="0"),
    # Whether somebody says that the next price is right, however unlikely it looks.
    Column("accept_next", Boolean, nullable=False, server_default=text("FALSE")),
    # What put it among the failed ones.
    Column("failure", Json),
    Column("created_by", CleanText),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Index("idx_crawl_tasks_status", "status", "id"),
    Index("idx_crawl_tasks_domain_id", "domain_id", "status", "id"),
    Index("idx_crawl_tasks_url_hash", "url_hash", unique=True),
    partial_index(
        "idx_crawl_tasks_next_crawl_at", "next_crawl_at", where="next_crawl_at IS NOT NULL"
    ),
    partial_index("idx_crawl_tasks_scheduled_at", "scheduled_at", where="status = 'pending'"),
    partial_index(
        "ix_crawl_tasks_due",
        *("domain_id", "is_paused", "priority", "turn_key", "id"),
        where="status = 'pending'",
    ),
    partial_index(
        "ix_crawl_tasks_under_way",
        *("updated_at", "id"),
        where="status IN ('queued', 'crawling', 'downloaded', 'parsing')",
    ),
    partial_index(
        "ix_crawl_tasks_dead",
        *("status", "next_crawl_at", "id"),
        where="status = 'failed' AND next_crawl_at IS NULL",
    ),
    partial_index("ix_crawl_tasks_html_path", "html_path", where="html_path IS NOT NULL"),
)

#: Which submissions a task is part of: one that is submitted again is the same task.
crawl_submission_tasks = Table(
    "crawl_submission_tasks",
    metadata,
    Column("submission_id", Text, ForeignKey("crawl_submissions.id"), primary_key=True),
    Column("task_id", Text, ForeignKey("crawl_tasks.id"), primary_key=True),
    Index("ix_crawl_submission_tasks_task_id", "task_id"),
)

#: Everything that was tried, one row each: a download, or the parsing of a page that is kept.
crawl_attempts = Table(
    "crawl_attempts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("crawl_task_id", Text, ForeignKey("crawl_tasks.id"), nullable=False),
    Column("domain_id", Text, nullable=False),
    # download or parse.
    Column("kind", Text, nullable=False),
    # ok, failed or unchanged.
    Column("status", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("started_at", Moment),
    Column("ended_at", Moment, nullable=False),
    Column("http_status", Integer),
    Column("size", Whole),
    Column("fetcher", Text),
    Column("proxy", CleanText),
    Column("error_type", Text),
    Column("error_message", CleanText),
    Column("parser_version", Text),
    # Whether the product is another than before.
    Column("changed", Boolean),
    Column("document", Json),
    Index("ix_crawl_attempts_crawl_task_id", "crawl_task_id", "id"),
    Index("ix_crawl_attempts_ended_at", "ended_at"),
    partial_index(
        "ix_crawl_attempts_parses", "domain_id", "ended_at", where="parser_version IS NOT NULL"
    ),
)

error_logs = Table(
    "error_logs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("crawl_task_id", Text, ForeignKey("crawl_tasks.id"), nullable=False),
    Column("domain_id", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("error_type", Text, nullable=False),
    Column("error_message", CleanText, nullable=False),
    Column("stack_trace", CleanText),
    Column("occurred_at", Moment, nullable=False),
    Index("ix_error_logs_crawl_task_id", "crawl_task_id", "id"),
    Index("ix_error_logs_domain_id_occurred_at", "domain_id", "occurred_at"),
    Index("ix_error_logs_occurred_at", "occurred_at"),
)
