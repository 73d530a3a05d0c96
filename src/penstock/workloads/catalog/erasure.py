"""Erasing a page from the catalogue: its task, what was tried, and what was read on it.

Prices stay, as all do: the database refuses to delete one. What is left of a product then is what
they need to be understood: its name, and where it was sold.
"""

from collections import Counter

from sqlalchemy import delete, select

from penstock.core.urls import identity, parse
from penstock.products.announcing import Announce
from penstock.products.archiving import erase_content
from penstock.queue.erasure import SamePage, erase_items, items_of_page
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.model import DOWNLOADS, Row
from penstock.workloads.catalog.tables import (
    crawl_attempts,
    crawl_submission_tasks,
    crawl_tasks,
    error_logs,
)


async def erase_page(store: Store, url: str, announce: Announce) -> tuple[Counter[str], set[str]]:
    """Erase everything of a page; how much, and the blobs that may be needed no more.

    The index is told through `announce` that the product is gone.
    """
    left = await items_of_page(store, DOWNLOADS, SamePage(url))
    url_hash = identity(parse(url))
    counts, blobs = await store.write(lambda unit: _erase(unit, url_hash, announce), "settle")
    if left:
        counts["items"] += await store.write(lambda unit: erase_items(unit, left), "upkeep")
    return counts, blobs


def _erase(unit: Unit, url_hash: str, announce: Announce) -> tuple[Counter[str], set[str]]:
    query = select(crawl_tasks).where(crawl_tasks.c.url_hash == url_hash)
    task: Row | None = next(unit.rows(query.with_for_update()), None)
    if task is None:
        return Counter(), set()
    blobs = erase_content(unit, task["id"], announce)
    if task["html_path"]:
        blobs.add(task["html_path"])
    counts = Counter({"tasks": 1, "pages": int(task["html_path"] is not None)})
    if task["item_id"]:
        counts["items"] = erase_items(unit, [task["item_id"]])
    for table in (crawl_attempts, error_logs):
        unit.run(delete(table).where(table.c.crawl_task_id == task["id"]))
    links = crawl_submission_tasks
    unit.run(delete(links).where(links.c.task_id == task["id"]))
    unit.run(delete(crawl_tasks).where(crawl_tasks.c.id == task["id"]))
    return counts, blobs
