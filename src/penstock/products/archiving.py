"""The archive: products that the catalogue has not seen for long are kept, but not shown."""

from collections.abc import Sequence

from sqlalchemy import select, update

from penstock.products.announcing import Announce, product_messages
from penstock.products.corrections import time_of_change
from penstock.products.resolving import take_turn
from penstock.products.tables import source_products
from penstock.store.unit import Unit


def archive_inactive(unit: Unit, older_than_ms: int, limit: int, announce: Announce) -> int:
    """Archive some products that were not seen for so long, and announce it; how many.

    Whoever sees one again takes it out of the archive.
    """
    take_turn(unit)
    column = source_products.c
    query = select(column.id).where(
        column.domain_id.is_not(None),
        column.archived_at.is_(None),
        column.last_seen_at < unit.now - older_than_ms,
    )
    ids = sorted(unit.run(query.limit(limit)).scalars())
    if not ids:
        return 0
    statement = update(source_products).where(unit.among(column.id, ids))
    unit.run(statement.values(archived_at=unit.now, updated_at=time_of_change(unit)))
    announce(unit, product_messages(unit, ids))
    return len(ids)


def note_seen(unit: Unit, crawl_task_ids: Sequence[str], announce: Announce) -> None:
    """Note that the pages of products are as they were; who was archived is shown again."""
    if not crawl_task_ids:
        return
    column = source_products.c
    of_tasks = (column.domain_id.is_not(None), unit.among(column.crawl_task_id, crawl_task_ids))
    query = select(column.id).where(*of_tasks, column.archived_at.is_not(None))
    archived = sorted(unit.run(query).scalars())
    unit.run(update(source_products).where(*of_tasks).values(last_seen_at=unit.now))
    if archived:
        statement = update(source_products).where(unit.among(column.id, archived))
        unit.run(statement.values(archived_at=None, updated_at=time_of_change(unit)))
        announce(unit, product_messages(unit, archived))
