"""What seeds and links of the page fetcher remember."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "stream_seeds",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("whole_at", sa.BigInteger(), nullable=True),
        sa.Column("next_at", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_stream_seeds"),
    )
    op.create_index("ix_stream_seeds_expires_at", "stream_seeds", ["expires_at"])
    op.create_table(
        "stream_marks",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "key", name="pk_stream_marks"),
    )
    op.create_index("ix_stream_marks_expires_at", "stream_marks", ["expires_at"])
    op.create_table(
        "stream_holders",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_stream_holders"),
    )


def downgrade() -> None:
    op.drop_table("stream_holders")
    op.drop_table("stream_marks")
    op.drop_table("stream_seeds")
