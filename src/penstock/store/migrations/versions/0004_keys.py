"""Items without a key are not in the index of keys: most have none, and all change often."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

NAME, TABLE, COLUMNS = "uq_queue_items_lane_key", "queue_items", ["lane", "key"]
HAS_KEY = sa.text('"key" IS NOT NULL')


def upgrade() -> None:
    op.drop_index(NAME, TABLE)
    op.create_index(
        NAME, TABLE, COLUMNS, unique=True, sqlite_where=HAS_KEY, postgresql_where=HAS_KEY
    )


def downgrade() -> None:
    op.drop_index(NAME, TABLE)
    op.create_index(NAME, TABLE, COLUMNS, unique=True)
