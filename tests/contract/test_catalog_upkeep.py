"""What is old leaves the catalogue, and nothing that is needed does."""

from typing import Any

import pytest

from penstock.products.tables import source_products
from penstock.store.store import Store
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.tables import (
    crawl_attempts,
    crawl_submission_tasks,
    crawl_submissions,
    crawl_tasks,
    error_logs,
)
from penstock.workloads.catalog.upkeep import CatalogUpkeep, pages_in_use
from tests.catalog_rows import DAY, CatalogRows, rows_in
from tests.stores import rows_of

OLD, YOUNG = 91 * DAY, 89 * DAY


@pytest.fixture
async def rows(store: Store) -> CatalogRows:
    return await rows_in(store)


def upkeep_of(store: Store, announced: list[Any] | None = None) -> CatalogUpkeep:
    told = [] if announced is None else announced
    return CatalogUpkeep(
        store, CatalogSettings(), lambda _unit, messages: told.extend(m.key for m in messages)
    )


async def test_attempts_and_errors_are_forgotten_by_their_age(
    store: Store, rows: CatalogRows
) -> None:
    task = await rows.task(await rows.site())
    kept = [await rows.attempt(task, at=YOUNG), await rows.error(task, at=YOUNG)]
    for _ in range(3):
        await rows.attempt(task, at=OLD)
        await rows.error(task, at=OLD)

    upkeep = upkeep_of(store)

    assert (await upkeep.forget_attempts(), await upkeep.forget_errors()) == (3, 3)
    assert (await upkeep.forget_attempts(), await upkeep.forget_errors()) == (0, 0)
    left = [*await rows_of(store, crawl_attempts), *await rows_of(store, error_logs)]
    assert [row["id"] for row in left] == kept


async def test_more_than_fits_in_a_step_is_forgotten_at_once(
    store: Store, rows: CatalogRows
) -> None:
    task = await rows.task(await rows.site())
    many = [
        {
            "id": f"{number:04}",
            "crawl_task_id": task,
            "domain_id": "d",
            "kind": "download",
            "status": "ok",
            "number": number,
            "ended_at": rows.now - OLD,
        }
        for number in range(1201)
    ]
    await store.write(lambda unit: unit.insert_all(crawl_attempts, many))

    assert await upkeep_of(store).forget_attempts() == 1201


async def test_a_page_is_let_go_when_its_task_was_not_crawled_for_long(
    store: Store, rows: CatalogRows
) -> None:
    site = await rows.site()
    old = await rows.task(site, at=31 * DAY, html_path="old")
    young = await rows.task(site, at=29 * DAY, html_path="young")
    waiting = await rows.task(site, at=31 * DAY, html_path="waiting", status="downloaded")

    assert await upkeep_of(store).forget_pages() == 1

    paths = {row["id"]: row["html_path"] for row in await rows_of(store, crawl_tasks)}
    assert paths == {old: None, young: "young", waiting: "waiting"}
    in_use = await pages_in_use(store, ["old", "young", "waiting", "unheard of"])
    assert in_use == {"young", "waiting"}


async def test_a_submission_is_forgotten_once_its_tasks_were_crawled(
    store: Store, rows: CatalogRows
) -> None:
    site = await rows.site()
    done, again = await rows.task(site), await rows.task(site, status="pending")
    new = await rows.task(site, status="queued", completed_at=None)
    await rows.submission(done, again, at=OLD)
    young = await rows.submission(done, at=YOUNG)
    unfinished = await rows.submission(done, new, at=OLD)
    being_read = await rows.submission(at=OLD, status="reading")

    assert await upkeep_of(store).forget_submissions() == 1

    left = {row["id"] for row in await rows_of(store, crawl_submissions)}
    assert left == {young, unfinished, being_read}
    assert len(await rows_of(store, crawl_submission_tasks)) == 3
    assert len(await rows_of(store, crawl_tasks)) == 3


async def test_products_not_seen_for_long_are_archived_and_announced(
    store: Store, rows: CatalogRows
) -> None:
    site = await rows.site()
    task = await rows.task(site)
    old = await rows.product(site, task, at=OLD)
    young = await rows.product(site, task, at=YOUNG)
    announced: list[Any] = []
    upkeep = upkeep_of(store, announced)

    assert (await upkeep.archive(), await upkeep.archive()) == (1, 0)

    assert announced == [old]
    archived = {row["id"]: row["archived_at"] for row in await rows_of(store, source_products)}
    assert archived[old] is not None
    assert archived[young] is None


async def test_every_chore_is_done_in_an_empty_store(store: Store) -> None:
    assert [await chore.do() for chore in upkeep_of(store).chores()] == [0] * 5
