"""Outages of domains, and indexes of what the console lists: what is parked, dead or open."""

import sqlalchemy as sa
from alembic import op

from penstock.store.migrations.pieces import create_partial

revision = "0013"
down_revision = "0012"
DEAD = "status = 'failed' AND next_crawl_at IS NULL"
#: With the ids, so that what is found is in order already.
TARGETS = {
    "idx_scrape_targets_source": "source_id",
    "idx_scrape_targets_adapter": "adapter_id",
    "idx_scrape_targets_status": "status",
}


def upgrade() -> None:
    op.create_table(
        "outages",
        sa.Column("rules", sa.Text, primary_key=True),
        sa.Column("domain", sa.Text, primary_key=True),
        sa.Column("began_at", sa.BigInteger, primary_key=True),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("backoff_ms", sa.BigInteger, nullable=False),
    )
    create_partial(
        "uq_outages_open", "outages", ["rules", "domain"], "state <> 'closed'", unique=True
    )
    op.create_index("ix_outages_seen_at", "outages", ["seen_at"])
    create_partial("ix_deliveries_parked", "deliveries", ["sink", "seq"], "state = 'parked'")
    create_partial("ix_crawl_tasks_dead", "crawl_tasks", ["status", "next_crawl_at", "id"], DEAD)
    create_partial("ix_scrape_tasks_failed", "scrape_tasks", ["status", "id"], "status = 'failed'")
    for name, column in TARGETS.items():
        op.drop_index(name, "scrape_targets")
        op.create_index(name, "scrape_targets", [column, "id"])
    op.create_index("ix_quarantined_offers_status_id", "quarantined_offers", ["status", "id"])


def downgrade() -> None:
    for name, column in TARGETS.items():
        op.drop_index(name, "scrape_targets")
        op.create_index(name, "scrape_targets", [column])
    op.drop_index("ix_quarantined_offers_status_id", "quarantined_offers")
    op.drop_index("ix_scrape_tasks_failed", "scrape_tasks")
    op.drop_index("ix_crawl_tasks_dead", "crawl_tasks")
    op.drop_index("ix_deliveries_parked", "deliveries")
    op.drop_table("outages")
