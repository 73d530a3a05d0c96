"""Erasing a page from the catalogue: nothing of it is left but what prices need."""

import random
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from penstock.core.ids import new_id
from penstock.core.urls import identity, parse
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.events.relay import Relay
from penstock.kernel.model import Outcome, Page, Request
from penstock.products.catalogue_reading import products_by_id
from penstock.products.search.feeding import SearchFeed, SearchSubscription, feed
from penstock.products.search.sql import SqlSearch
from penstock.products.search.tables import product_search
from penstock.products.tables import images, prices, source_products
from penstock.queue.lanes import Result
from penstock.queue.ports import Claim, Done, Item
from penstock.queue.sql import SqlQueue
from penstock.queue.tables import items
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.audit import audit
from penstock.workloads.catalog.erasure import erase_page
from penstock.workloads.catalog.holding import Begins, held
from penstock.workloads.catalog.model import DOWNLOADS, Status
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.tables import (
    crawl_attempts,
    crawl_submission_tasks,
    crawl_submissions,
    crawl_tasks,
    error_logs,
)
from tests.catalog_rows import CatalogRows, Site, rows_in
from tests.stores import Stores, all_of, enter_worker, rows_of

URL, OTHER = "https://shop.example/lamp", "https://shop.example/chair"
PAGE, PICTURE = "a" * 64, "b" * 64


def unheard(_unit: Unit, _messages: Sequence[Message]) -> None:
    """Nobody listens."""


@pytest.fixture
async def rows(store: Store) -> CatalogRows:
    return await rows_in(store)


async def crawled(rows: CatalogRows, site: Site, url: str, **more: Any) -> tuple[str, str]:
    """A page with everything that can be known of it; its task and its product."""
    page = {"url": url, "url_hash": identity(parse(url)), "html_path": PAGE}
    task = await rows.task(site, **page | more)
    said: dict[str, Any] = {
        "url": url,
        "url_hash": page["url_hash"],
        "description": f"all about {url}",
    }
    product = await rows.product(site, task, **said, category="Lamps", content_hash="c")
    await rows.image(product, image_path=PICTURE)
    await rows.attempt(task, domain_id=site.id)
    await rows.error(task, domain_id=site.id, error_message=f"{url} was slow")
    await rows.submission(task)
    return task, product


async def test_nothing_is_left_of_a_page_but_what_its_prices_need(
    store: Store, rows: CatalogRows
) -> None:
    task, product = await crawled(rows, await rows.site(), URL)

    counts, blobs = await erase_page(store, URL, unheard)

    assert (counts["tasks"], counts["pages"], blobs) == (1, 1, {PAGE, PICTURE})
    for table in (crawl_tasks, crawl_attempts, error_logs, crawl_submission_tasks, images):
        assert await rows_of(store, table) == [], table.name
    assert len(await rows_of(store, crawl_submissions)) == 1
    (left,) = await rows_of(store, source_products)
    assert {name: left[name] for name in ("description", "category", "rating", "metadata")} == {
        "description": None,
        "category": None,
        "rating": None,
        "metadata": None,
    }
    assert left["archived_at"] is not None
    assert left["title"]
    (price,) = await rows_of(store, prices)
    assert (price["source_product_id"], price["target_id"]) == (product, task)


async def test_readers_and_the_audit_find_nothing_of_it(store: Store, rows: CatalogRows) -> None:
    _, product = await crawled(rows, await rows.site(), URL)
    assert await store.read(lambda unit: list(products_by_id(unit, [product]))) == [product]

    await erase_page(store, URL, unheard)

    assert await store.read(lambda unit: products_by_id(unit, [product])) == {}
    assert (await audit(store, CatalogSettings())).findings == []


@pytest.mark.parametrize(
    "spelling",
    ["HTTPS://Shop.example:443/lamp", "http://shop.example/lamp/", f"{URL}?utm_source=mail#top"],
)
async def test_a_page_is_erased_in_all_spellings_of_its_url(
    store: Store, rows: CatalogRows, spelling: str
) -> None:
    await crawled(rows, await rows.site(), URL)

    counts, _ = await erase_page(store, spelling, unheard)

    assert counts["tasks"] == 1


async def test_other_pages_stay_as_they_are(store: Store, rows: CatalogRows) -> None:
    site = await rows.site()
    await crawled(rows, site, URL)
    other, product = await crawled(rows, site, OTHER)
    before = {
        table.name: [row for row in await rows_of(store, table) if _is_of(row, other, product)]
        for table in (crawl_tasks, crawl_attempts, error_logs, source_products, images)
    }

    await erase_page(store, URL, unheard)

    for table in (crawl_tasks, crawl_attempts, error_logs, source_products, images):
        left = [row for row in await rows_of(store, table) if _is_of(row, other, product)]
        assert left == before[table.name], table.name
        assert left


def _is_of(row: dict[str, Any], task: str, product: str) -> bool:
    return bool({task, product} & {str(value) for value in row.values()})


async def test_of_a_page_that_nobody_knows_there_is_nothing_to_erase(
    store: Store, rows: CatalogRows
) -> None:
    await crawled(rows, await rows.site(), OTHER)

    assert await erase_page(store, URL, unheard) == ({}, set())
    assert len(await rows_of(store, crawl_tasks)) == 1


async def test_search_finds_it_no_more(store: Store, rows: CatalogRows) -> None:
    _, product = await crawled(rows, await rows.site(), URL)
    index, log = SqlSearch(store), EventLog(store, [SearchSubscription()])
    await index.prepare()
    await feed(store, index, [product])

    await erase_page(store, URL, log.append)
    relay = Relay(store, SearchFeed(store, index), max_attempts=1, chance=random.Random(1))
    await relay.deliver_due()

    assert await rows_of(store, product_search) == []


async def test_a_worker_that_has_the_page_finds_that_it_is_theirs_no_more(
    stores: Stores, store: Store, rows: CatalogRows
) -> None:
    queue = await stores.queue()
    claim = await claimed(stores, queue, rows)
    begins = partial(Begins, Status.QUEUED, Status.CRAWLING)
    assert claim.id in await store.write(lambda unit: unit.tally(begins).add(claim))

    counts, _ = await erase_page(store, URL, unheard)
    page = Page(URL, 200, {}, b"<p>", 0.1)
    result = Result(claim, Outcome(Request(URL), page, None, ()), Done())

    assert counts["items"] == 1
    assert await store.write(lambda unit: held(unit, [result])) == []
    assert await queue.settle([(claim, Done())], lambda _unit, _accepted: None) == set()
    assert await rows_of(store, items) == []


async def claimed(stores: Stores, queue: SqlQueue, rows: CatalogRows) -> Claim:
    """The item of a task in the queue, as a worker has it."""
    await enter_worker(rows.store, "w")
    item = new_id()
    task, _ = await crawled(rows, await rows.site(), URL, status="queued", item_id=item)
    payload = {"task": task, "url": URL, "parser": "product"}
    await queue.put([Item(item, DOWNLOADS, payload, group="shop.example")])
    await stores.later(1)
    (claim,) = await queue.claim("w", [DOWNLOADS], 10, all_of)
    return claim
