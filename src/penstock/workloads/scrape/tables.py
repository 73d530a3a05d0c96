"""The tables of the scrape service.

A task that is not over says `queued`: whether it is running is told by its item in the queue.
"""

from sqlalchemy import Column, Index, Integer, Table, Text

from penstock.store.schema import CleanText, Json, Moment, Whole, metadata, partial_index

scrape_jobs = Table(
    "scrape_jobs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("workspace_id", CleanText, nullable=False),
    Column("status", Text, nullable=False),
    Column("total_tasks", Integer, nullable=False),
    Column("completed_tasks", Integer, nullable=False),
    Column("failed_tasks", Integer, nullable=False),
    Column("callback_url", CleanText),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("completed_at", Moment),
    Column("expires_at", Moment),
    Index("ix_scrape_jobs_workspace_id_id", "workspace_id", "id"),
    partial_index("ix_scrape_jobs_expires_at", "expires_at", where="expires_at IS NOT NULL"),
)

scrape_tasks = Table(
    "scrape_tasks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("job_id", Text),
    Column("item_id", Text, nullable=False),
    Column("workspace_id", CleanText, nullable=False),
    Column("target_type", Text, nullable=False),
    Column("target_url", CleanText, nullable=False),
    Column("requested_fields", Json),
    Column("options", Json, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("callback_url", CleanText),
    Column("status", Text, nullable=False),
    Column("result", Json),
    Column("error", CleanText),
    Column("created_at", Moment, nullable=False),
    Column("started_at", Moment),
    Column("completed_at", Moment),
    Column("expires_at", Moment),
    Index("ix_scrape_tasks_job_id_id", "job_id", "id"),
    Index("ix_scrape_tasks_workspace_id_id", "workspace_id", "id"),
    partial_index("ix_scrape_tasks_failed", "status", "id", where="status = 'failed'"),
    partial_index("ix_scrape_tasks_completed_at", "completed_at", where="completed_at IS NOT NULL"),
    partial_index("ix_scrape_tasks_expires_at", "expires_at", where="expires_at IS NOT NULL"),
)

#: What is too large for a row, or no text: screenshots and long pages, kept as blobs.
scrape_files = Table(
    "scrape_files",
    metadata,
    Column("task_id", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("address", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("bytes", Whole, nullable=False),
    Index("ix_scrape_files_address", "address"),
)

#: Which task or job a key's `Idempotency-Key` led to, and a digest of what was asked for then.
scrape_submissions = Table(
    "scrape_submissions",
    metadata,
    Column("key_id", Text, primary_key=True),
    Column("idempotency_key", CleanText, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("task_id", Text),
    Column("job_id", Text),
    Column("created_at", Moment, nullable=False),
    Index("ix_scrape_submissions_created_at", "created_at"),
)
