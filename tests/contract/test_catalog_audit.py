"""The audit finds what cannot be right, by name, and nothing where all is well."""

from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock.blobs.local import LocalBlobs
from penstock.core.ids import new_id
from penstock.products.search.feeding import reindex
from penstock.products.search.sql import SqlSearch
from penstock.products.tables import domains, images, prices, source_products, sources
from penstock.queue.ports import Item
from penstock.queue.sql import SqlQueue
from penstock.store.store import Store
from penstock.workloads.catalog import audit as auditing
from penstock.workloads.catalog.audit import Report, audit
from penstock.workloads.catalog.audit_checks import checks_at
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.tables import (
    crawl_attempts,
    crawl_submission_tasks,
    crawl_tasks,
    error_logs,
)
from tests.catalog_rows import DAY, HOUR, MINUTE, CatalogRows, Site, put_orphan, rows_in
from tests.stores import Stores

SETTINGS = CatalogSettings()


class Shelf:
    """A catalogue in which all is well, and what it takes to spoil it."""

    def __init__(self, stores: Stores, rows: CatalogRows, site: Site) -> None:
        self.stores, self.rows, self.site = stores, rows, site
        self.now = rows.now
        self.task = ""
        self.product = ""

    async def fill(self) -> None:
        self.task = await self.rows.task(self.site)
        self.product = await self.rows.product(self.site, self.task)
        await self.rows.image(self.product)
        await self.rows.attempt(self.task)
        await self.rows.error(self.task)
        await self.rows.submission(self.task)

    async def change(self, **values: Any) -> None:
        """Change the product."""
        await self.rows.change(source_products, self.product, **values)

    async def change_task(self, **values: Any) -> None:
        await self.rows.change(crawl_tasks, self.task, **values)

    async def orphan(self, table: Any, **values: Any) -> None:
        await put_orphan(self.stores, table, values)

    def times(self) -> dict[str, int]:
        return {"created_at": self.now - HOUR, "updated_at": self.now - HOUR}


async def make_shelf(stores: Stores, rows: CatalogRows, name: str = "shop") -> Shelf:
    made = Shelf(stores, rows, await rows.site(name))
    await made.fill()
    return made


@pytest.fixture
async def shelf(stores: Stores, store: Store) -> Shelf:
    return await make_shelf(stores, await rows_in(store))


def names_in(report: Report) -> list[str]:
    return [finding.name for finding in report.findings]


async def test_nothing_is_wrong_with_an_empty_store(store: Store) -> None:
    report = await audit(store, SETTINGS)

    assert report.is_clean
    assert report.lines() == ["Nothing wrong was found in an empty catalogue."]


async def test_nothing_is_wrong_where_all_is_well(
    shelf: Shelf, store: Store, tmp_path: Path
) -> None:
    blobs = LocalBlobs(tmp_path / "blobs")
    path = await blobs.put(b"a picture")
    await shelf.rows.image(shelf.product, image_path=path)
    await shelf.rows.change(images, (await _ids(store, images))[0], image_path=path)
    index = SqlSearch(store)
    await reindex(store, index, lambda *_: None)

    report = await audit(store, SETTINGS, index, blobs)

    assert names_in(report) == []
    assert report.looked_at["source_products"] == 1


async def _ids(store: Store, table: Any) -> list[str]:
    query = table.select().order_by(table.c.id)
    return await store.read(lambda unit: [row["id"] for row in unit.rows(query)])


async def spoil_two_of_a_page(shelf: Shelf) -> None:
    await shelf.change(url_hash="one")
    await shelf.rows.product(shelf.site, shelf.task, url_hash="one")


async def spoil_source(shelf: Shelf) -> None:
    other = await shelf.rows.site("other")
    await shelf.change(source_id=other.source_id)


async def close_domain(shelf: Shelf) -> None:
    await shelf.rows.change(
        domains, shelf.site.id, is_active=False, updated_at=shelf.now - 2 * HOUR
    )
    await shelf.change_task(status="queued", updated_at=shelf.now)


async def spoil_price(shelf: Shelf) -> None:
    await shelf.rows.price(shelf.site, shelf.product, shelf.task, at=1, price=Decimal("5.00"))


Spoil = Callable[[Shelf], Awaitable[Any]]
#: What has to be done for each finding.
SPOILED: dict[str, Spoil] = {
    "image_without_product": lambda shelf: shelf.orphan(
        images, id="i", product_id="none", image_url="u", **shelf.times()
    ),
    "price_without_product": lambda shelf: shelf.orphan(
        prices,
        id="p",
        source_product_id="none",
        source_id=shelf.site.source_id,
        retailer_id=shelf.site.retailer_id,
        price=1,
        currency="EUR",
        url="u",
        observed_at=shelf.now - HOUR,
        ingestion_run_type="CRAWL",
        ingestion_run_id="r",
        adapter_id="a",
        adapter_version="1",
        created_at=shelf.now - HOUR,
    ),
    "product_without_domain": lambda shelf: shelf.change(domain_id="none", crawl_task_id=None),
    "product_without_task": lambda shelf: shelf.change(crawl_task_id="none"),
    "task_without_domain": lambda shelf: shelf.orphan(
        crawl_tasks,
        id="t",
        domain_id="none",
        url="u",
        url_hash="h",
        status="completed",
        scheduled_at=shelf.now - HOUR,
        **shelf.times(),
    ),
    "attempt_without_task": lambda shelf: shelf.orphan(
        crawl_attempts,
        id="a",
        crawl_task_id="none",
        domain_id="d",
        kind="parse",
        status="ok",
        number=1,
        ended_at=shelf.now - HOUR,
    ),
    "error_without_task": lambda shelf: shelf.orphan(
        error_logs,
        id="e",
        crawl_task_id="none",
        domain_id="d",
        category="network",
        error_type="dns",
        error_message="m",
        occurred_at=shelf.now - HOUR,
    ),
    "link_without_submission": lambda shelf: shelf.orphan(
        crawl_submission_tasks, submission_id="none", task_id=shelf.task
    ),
    "product_without_name": lambda shelf: shelf.change(title="  "),
    "product_without_url": lambda shelf: shelf.change(url=""),
    "product_of_no_domain": lambda shelf: shelf.change(domain_id=None),
    "price_impossible": lambda shelf: shelf.rows.product(
        shelf.site, shelf.task, price=Decimal("-1.00")
    ),
    "price_without_currency": lambda shelf: shelf.change(currency=None),
    "currency_unknown": lambda shelf: shelf.change(currency="EURO"),
    "availability_unknown": lambda shelf: shelf.change(availability="UNKNOWN"),
    "rating_impossible": lambda shelf: shelf.change(rating=Decimal("5.01")),
    "reviews_negative": lambda shelf: shelf.change(review_count=-1),
    "source_products_in_the_future": lambda shelf: shelf.change(last_seen_at=shelf.now + HOUR),
    "source_products_changed_before_made": lambda shelf: shelf.change(updated_at=shelf.now - DAY),
    "prices_in_the_future": lambda shelf: shelf.rows.price(
        shelf.site, shelf.product, shelf.task, at=-HOUR
    ),
    "images_in_the_future": lambda shelf: shelf.rows.image(shelf.product, at=-HOUR),
    "images_changed_before_made": lambda shelf: shelf.rows.image(
        shelf.product, updated_at=shelf.now - DAY
    ),
    "crawl_tasks_in_the_future": lambda shelf: shelf.change_task(completed_at=shelf.now + HOUR),
    "crawl_tasks_changed_before_made": lambda shelf: shelf.change_task(updated_at=1),
    "crawl_attempts_in_the_future": lambda shelf: shelf.rows.attempt(shelf.task, at=-HOUR),
    "error_logs_in_the_future": lambda shelf: shelf.rows.error(shelf.task, at=-HOUR),
    "image_kept_nowhere": lambda shelf: shelf.rows.image(shelf.product, width=None),
    "image_status_unknown": lambda shelf: shelf.rows.image(shelf.product, status="odd"),
    "image_not_downloaded": lambda shelf: shelf.rows.image(
        shelf.product, status="pending", at=2 * DAY
    ),
    "products_of_one_url": spoil_two_of_a_page,
    "product_of_two_sources": spoil_source,
    "domain_of_other_source": lambda shelf: shelf.rows.change(
        sources, shelf.site.source_id, domain="elsewhere.example"
    ),
    "task_stuck": lambda shelf: shelf.change_task(
        status="crawling", created_at=1, updated_at=shelf.now - 2 * HOUR, item_id="gone"
    ),
    "task_late": lambda shelf: shelf.change_task(
        status="pending", scheduled_at=shelf.now - 2 * DAY
    ),
    "task_of_inactive_domain": close_domain,
    "product_not_seen": lambda shelf: shelf.change(last_seen_at=shelf.now - 4 * DAY),
    "price_not_current": spoil_price,
}
#: A link without its task is not to be had where the task is what the walk goes by.
FOUND_WITH = {
    "product_of_no_domain": {"product_of_no_domain"},
    "price_impossible": {"price_impossible", "price_not_current"},
    "price_without_currency": {"price_without_currency", "price_not_current"},
    "currency_unknown": {"currency_unknown", "price_not_current"},
    "availability_unknown": {"availability_unknown", "price_not_current"},
    "product_without_domain": {"product_without_domain"},
}


@pytest.mark.parametrize("name", SPOILED)
async def test_what_is_wrong_is_found(in_sqlite: Stores, name: str) -> None:
    store = await in_sqlite.open()
    await SPOILED[name](await make_shelf(in_sqlite, await rows_in(store)))

    report = await audit(store, SETTINGS)

    assert set(names_in(report)) == FOUND_WITH.get(name, {name})
    (finding,) = [each for each in report.findings if each.name == name]
    assert finding.number == (2 if name == "products_of_one_url" else 1)


async def test_all_that_is_wrong_at_once_is_found(stores: Stores, store: Store) -> None:
    rows = await rows_in(store)
    for number, spoil in enumerate(SPOILED.values()):
        await spoil(await make_shelf(stores, rows, f"shop-{number}"))

    numbers = {each.name: each.number for each in (await audit(store, SETTINGS)).findings}

    several = sum("price_not_current" in also for also in FOUND_WITH.values())
    assert numbers == dict.fromkeys(SPOILED, 1) | {
        "products_of_one_url": 2,
        "price_not_current": several + 1,
    }


def test_every_check_is_tried() -> None:
    names = [check.name for check in checks_at(0, 0)]

    assert len(names) == len(set(names))
    assert set(names) | {"price_not_current"} == SPOILED.keys() | {"link_without_task"}


async def test_a_link_to_no_task_is_an_orphan(shelf: Shelf, store: Store) -> None:
    submission = await shelf.rows.submission()
    await shelf.orphan(crawl_submission_tasks, submission_id=submission, task_id="none")

    assert names_in(await audit(store, SETTINGS)) == ["link_without_task"]


@pytest.mark.parametrize(
    "changes",
    [
        {"archived_at": 1, "crawl_task_id": "erased"},
        {"archived_at": 1, "last_seen_at": 1},
        {"rating": None, "review_count": 0},
        {"rating": Decimal(0)},
    ],
)
async def test_what_only_looks_odd_is_not_reported(
    shelf: Shelf, store: Store, changes: dict[str, Any]
) -> None:
    await shelf.change(**changes)

    assert names_in(await audit(store, SETTINGS)) == []


async def test_a_price_is_measured_in_its_currency(shelf: Shelf, store: Store) -> None:
    site, task = shelf.site, shelf.task
    for price, currency in (("99999999.00", "JPY"), ("1000000.00", "EUR"), ("10.50", "JPY")):
        product = await shelf.rows.product(
            site, task, price=Decimal(price), currency=currency, id=f"{currency} {price}"
        )
        await shelf.rows.price(site, product, task, price=Decimal(price), currency=currency)

    (finding,) = (await audit(store, SETTINGS)).findings

    assert [example.id for example in finding.examples] == ["EUR 1000000.00", "JPY 10.50"]


async def test_a_task_that_is_in_the_queue_is_not_stuck(shelf: Shelf, store: Store) -> None:
    await SqlQueue(store, {}).put([Item("item", "catalog", {})])
    await shelf.change_task(status="queued", item_id="item", updated_at=shelf.now - HOUR - MINUTE)
    await shelf.change_task(created_at=shelf.now - DAY)

    assert names_in(await audit(store, SETTINGS)) == []


@pytest.mark.parametrize("said", [{"crawl_frequency": 0}, {"is_paused": True}])
async def test_a_page_that_is_not_crawled_again_is_not_missed(
    shelf: Shelf, store: Store, said: dict[str, Any]
) -> None:
    await shelf.change_task(**said)
    await shelf.change(last_seen_at=shelf.now - 80 * DAY)

    assert names_in(await audit(store, SETTINGS)) == []


async def test_a_picture_whose_file_is_gone_is_found(
    shelf: Shelf, store: Store, tmp_path: Path
) -> None:
    report = await audit(store, SETTINGS, blobs=LocalBlobs(tmp_path / "blobs"))

    assert names_in(report) == ["image_file_gone"]


async def test_an_index_that_is_out_of_step_is_found(shelf: Shelf, store: Store) -> None:
    index = SqlSearch(store)
    await reindex(store, index, lambda *_: None)
    missing = await shelf.rows.product(shelf.site, shelf.task)
    await shelf.change(archived_at=shelf.now - HOUR)

    report = await audit(store, SETTINGS, index)

    found = {each.name: [example.id for example in each.examples] for each in report.findings}
    assert found == {"product_not_in_index": [missing], "only_in_index": [shelf.product]}


async def test_an_index_that_is_a_moment_behind_is_not_out_of_step(
    shelf: Shelf, store: Store
) -> None:
    index = SqlSearch(store)
    await reindex(store, index, lambda *_: None)
    await shelf.rows.product(shelf.site, shelf.task, at=MINUTE)
    await shelf.change(archived_at=shelf.now - MINUTE, updated_at=shelf.now - MINUTE)

    assert names_in(await audit(store, SETTINGS, index)) == []


async def test_a_long_walk_is_made_in_parts_and_names_only_some(
    shelf: Shelf, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "AT_ONCE", 7)
    index = SqlSearch(store)
    await reindex(store, index, lambda *_: None)
    for number in range(30):
        await shelf.rows.attempt(shelf.task, id=new_id(), number=number, at=-HOUR)
        await shelf.rows.product(shelf.site, shelf.task, review_count=-number - 1)
    seen: list[tuple[str, int]] = []

    report = await audit(store, SETTINGS, index, progress=lambda *part: seen.append(part))

    numbers = {each.name: (each.number, len(each.examples)) for each in report.findings}
    assert numbers == {
        "crawl_attempts_in_the_future": (30, 20),
        "product_not_in_index": (30, 20),
        "reviews_negative": (30, 20),
    }
    assert ("source_products", 31) in seen
    assert "  and 10 more" in report.lines()


async def test_a_report_can_be_read_by_people_and_by_programs(shelf: Shelf, store: Store) -> None:
    await shelf.change(rating=Decimal("9.99"))

    report = await audit(store, SETTINGS)

    assert report.lines()[1:] == [
        "impossible: rating_impossible: 1 in source_products (outside of 0 to 5)",
        f"  {shelf.product}  rating=9.99",
    ]
    told = report.as_json()
    assert told["totals"] == {"impossible": 1}
    assert told["findings"][0]["examples"] == [{"id": shelf.product, "detail": "rating=9.99"}]
