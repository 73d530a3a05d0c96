"""The archive: products that the catalogue has not seen for long are kept, but not shown."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, select, update

from penstock.products.announcing import Announce, product_messages
from penstock.products.corrections import refresh_current, time_of_change
from penstock.products.resolving import take_turn
from penstock.products.tables import images, source_products
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
    take_turn(unit)
    rows = _last_of_tasks(unit, crawl_task_ids)
    column = source_products.c
    seen = update(source_products).where(unit.among(column.id, sorted(rows)))
    unit.run(seen.values(last_seen_at=unit.now))
    archived = {each for each, row in rows.items() if row["archived_at"] is not None}
    if archived:
        again = update(source_products).where(unit.among(column.id, sorted(archived)))
        unit.run(again.values(archived_at=None, updated_at=time_of_change(unit)))
    # A page that still shows no price takes back what was seen elsewhere in the meantime.
    bare = [each for each, row in rows.items() if row["stock_without_price"] is not None]
    changed = archived | refresh_current(unit, sorted(bare))
    announce(unit, product_messages(unit, sorted(changed)))


def _last_of_tasks(unit: Unit, crawl_task_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The product that was last seen on the page of each task; pages may change their product."""
    column = source_products.c
    names = ("id", "crawl_task_id", "last_seen_at", "archived_at", "stock_without_price")
    query = select(*(column[name] for name in names)).where(
        column.domain_id.is_not(None), unit.among(column.crawl_task_id, crawl_task_ids)
    )
    rows = unit.rows(query.order_by(column.last_seen_at, column.id))
    last = {row["crawl_task_id"]: row for row in rows}
    return {row["id"]: row for row in last.values()}


def erase_content(unit: Unit, crawl_task_id: str, announce: Announce) -> set[str]:
    """Erase what the page of a task says of its products, and announce it; their images' blobs.

    They are shown to nobody any more. Their prices stay, and the names that these need.
    """
    take_turn(unit)
    column = source_products.c
    query = select(column.id).where(
        column.domain_id.is_not(None), column.crawl_task_id == crawl_task_id
    )
    ids = sorted(unit.run(query).scalars())
    if not ids:
        return set()
    pictures = unit.among(images.c.product_id, ids)
    paths = unit.run(select(images.c.image_path).where(pictures)).scalars()
    blobs = {path for path in paths if path}
    unit.run(delete(images).where(pictures))
    nothing = dict.fromkeys(
        ("description", "category", "rating", "review_count", "content_hash", "metadata")
    )
    gone = {"archived_at": unit.now, "updated_at": time_of_change(unit), "image_url": None}
    unit.run(update(source_products).where(unit.among(column.id, ids)).values(**nothing, **gone))
    announce(unit, product_messages(unit, ids))
    return blobs
