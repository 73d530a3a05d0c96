"""The page cache of the stream."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "page_cache",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_page_cache"),
    )
    op.create_index("ix_page_cache_expires_at", "page_cache", ["expires_at"])


def downgrade() -> None:
    op.drop_table("page_cache")
