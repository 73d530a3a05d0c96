"""Tasks and jobs of the scrape service, and the keys of the API."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    _create_keys()
    _create_jobs()
    _create_tasks()
    _create_files_and_submissions()


def _create_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("workspace_id", sa.Text),
        sa.Column("rate_limit", sa.Integer),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
    )
    op.create_index("uq_api_keys_hash", "api_keys", ["hash"], unique=True)


def _create_jobs() -> None:
    op.create_table(
        "scrape_jobs",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("workspace_id", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("total_tasks", sa.Integer, nullable=False),
        sa.Column("completed_tasks", sa.Integer, nullable=False),
        sa.Column("failed_tasks", sa.Integer, nullable=False),
        sa.Column("callback_url", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("completed_at", sa.BigInteger),
        sa.Column("expires_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_scrape_jobs"),
    )
    op.create_index("ix_scrape_jobs_workspace_id_id", "scrape_jobs", ["workspace_id", "id"])
    _create_partial("ix_scrape_jobs_expires_at", "scrape_jobs", "expires_at")


def _create_tasks() -> None:
    op.create_table(
        "scrape_tasks",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("job_id", sa.Text),
        sa.Column("item_id", sa.Text, nullable=False),
        sa.Column("workspace_id", sa.Text, nullable=False),
        sa.Column("target_type", sa.Text, nullable=False),
        sa.Column("target_url", sa.Text, nullable=False),
        sa.Column("requested_fields", sa.Text),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("callback_url", sa.Text),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("result", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("started_at", sa.BigInteger),
        sa.Column("completed_at", sa.BigInteger),
        sa.Column("expires_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_scrape_tasks"),
    )
    op.create_index("ix_scrape_tasks_job_id_id", "scrape_tasks", ["job_id", "id"])
    op.create_index("ix_scrape_tasks_workspace_id_id", "scrape_tasks", ["workspace_id", "id"])
    _create_partial("ix_scrape_tasks_completed_at", "scrape_tasks", "completed_at")
    _create_partial("ix_scrape_tasks_expires_at", "scrape_tasks", "expires_at")


def _create_files_and_submissions() -> None:
    op.create_table(
        "scrape_files",
        sa.Column("task_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("task_id", "name", name="pk_scrape_files"),
    )
    op.create_index("ix_scrape_files_address", "scrape_files", ["address"])
    op.create_table(
        "scrape_submissions",
        sa.Column("key_id", sa.Text, nullable=False),
        sa.Column("idempotency_key", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("task_id", sa.Text),
        sa.Column("job_id", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("key_id", "idempotency_key", name="pk_scrape_submissions"),
    )
    op.create_index("ix_scrape_submissions_created_at", "scrape_submissions", ["created_at"])


def _create_partial(name: str, table: str, column: str) -> None:
    """An index of the rows that have a value."""
    has_one = sa.text(f"{column} IS NOT NULL")
    op.create_index(name, table, [column], sqlite_where=has_one, postgresql_where=has_one)


def downgrade() -> None:
    for name in ("scrape_submissions", "scrape_files", "scrape_tasks", "scrape_jobs", "api_keys"):
        op.drop_table(name)
