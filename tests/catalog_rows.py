"""Rows of a catalogue, put into the tables one by one; without more words they are all right."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import Table, insert, update

from penstock.core.ids import new_id
from penstock.products.sources import Visibility, set_visibility
from penstock.products.tables import (
    domains,
    images,
    price_corrections,
    prices,
    source_products,
    sources,
)
from penstock.store.settings import FILE_NAME
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.tables import (
    crawl_attempts,
    crawl_submission_tasks,
    crawl_submissions,
    crawl_tasks,
    error_logs,
)
from tests.stores import Stores, run_sql
from tests.unit.products.offers import open_shop

Row = dict[str, Any]
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


@dataclass(frozen=True, slots=True)
class Site:
    """A domain with its source and retailer."""

    id: str
    source_id: str
    retailer_id: str


class CatalogRows:
    """Fills a store; `at` is how long ago, in milliseconds, rows were made."""

    def __init__(self, store: Store, now: int) -> None:
        self.store = store
        self.now = now
        self._number = 0

    async def put(self, table: Table, **values: Any) -> str:
        await self.store.write(lambda unit: unit.run(insert(table).values(values)) and None)
        found: str = values.get("id", "")
        return found

    async def change(self, table: Table, which: str, **values: Any) -> None:
        statement = update(table).where(table.c.id == which).values(values)
        await self.store.write(lambda unit: unit.run(statement) and None)

    async def site(self, name: str = "shop", **more: Any) -> Site:
        """A domain whose products readers see."""

        def work(unit: Unit) -> Site:
            shop = open_shop(unit, name)
            set_visibility(unit, shop.source_id, Visibility.ELIGIBLE, who="ann")
            return Site(new_id(), shop.source_id, shop.retailer_id)

        site = await self.store.write(work)
        await self.change(sources, site.source_id, **self._times(DAY))
        await self.put(
            domains,
            id=site.id,
            source_id=site.source_id,
            **self._times(DAY)
            | {"domain_name": f"{name}.example", "base_url": f"https://{name}.example"}
            | more,
        )
        return site

    async def task(self, site: Site, *, at: int = HOUR, **more: Any) -> str:
        """A task that was crawled well a while ago."""
        self._number += 1
        done = {
            "status": "completed",
            "scheduled_at": self.now - at,
            "started_at": self.now - at,
            "completed_at": self.now - at,
            "url": f"https://shop.example/{self._number}",
            "url_hash": f"hash-{self._number}",
        }
        row = {"id": new_id(), "domain_id": site.id, **done, **self._times(at), **more}
        return await self.put(crawl_tasks, **row)

    async def product(self, site: Site, task: str, *, at: int = HOUR, **more: Any) -> str:
        """A product that was seen a while ago, with the price that it shows."""
        self._number += 1
        name = f"Lamp {self._number}"
        row = {
            "id": new_id(),
            "source_id": site.source_id,
            "domain_id": site.id,
            "crawl_task_id": task,
            "identity_key": f"key-{self._number}",
            "url": f"https://shop.example/lamp-{self._number}",
            "url_hash": f"product-{self._number}",
            "title": name,
            "adapter_version": "1.0.0",
            "price": Decimal("19.90"),
            "currency": "EUR",
            "availability": "IN_STOCK",
            "rating": Decimal("4.50"),
            "review_count": 7,
            "metadata": {"gtin": "00012345678905"},
            "last_seen_at": self.now - at,
            **self._times(at),
        }
        row |= more
        await self.put(source_products, **row)
        if row["price"] is not None and "price" not in more:
            await self.price(site, row["id"], task, at=at)
        found: str = row["id"]
        return found

    async def price(
        self, site: Site, product: str, task: str, *, at: int = HOUR, **more: Any
    ) -> str:
        """A price that was seen a while ago."""
        row = {
            "id": new_id(),
            "source_product_id": product,
            "source_id": site.source_id,
            "retailer_id": site.retailer_id,
            "target_id": task,
            "price": Decimal("19.90"),
            "currency": "EUR",
            "availability": "IN_STOCK",
            "url": "https://shop.example/lamp",
            "observed_at": self.now - at,
            "ingestion_run_type": "CRAWL",
            "ingestion_run_id": new_id(),
            "adapter_id": "product",
            "adapter_version": "1.0.0",
            "created_at": self.now - at,
        }
        return await self.put(prices, **row | more)

    async def correct(self, price_id: str, action: str, *, at: int = 0, **more: Any) -> str:
        """A correction of a price."""
        said = {"reason": "wrong", "created_by": "ann", "created_at": self.now - at}
        return await self.put(
            price_corrections,
            **{"id": new_id(), "price_id": price_id, "action": action} | said | more,
        )

    async def image(self, product: str, *, at: int = HOUR, **more: Any) -> str:
        """An image that is kept."""
        kept = {
            "image_url": "https://shop.example/lamp.jpg",
            "image_path": "a" * 64,
            "width": 640,
            "height": 480,
            "file_size": 12_345,
            "content_type": "image/jpeg",
            "status": "kept",
        }
        row = {"id": new_id(), "product_id": product, **kept, **self._times(at), **more}
        return await self.put(images, **row)

    async def attempt(self, task: str, *, at: int = HOUR, **more: Any) -> str:
        row = {"id": new_id(), "crawl_task_id": task, "domain_id": "d", "number": 1}
        said = {"kind": "download", "status": "ok", "ended_at": self.now - at}
        return await self.put(crawl_attempts, **row | said | more)

    async def error(self, task: str, *, at: int = HOUR, **more: Any) -> str:
        row = {"id": new_id(), "crawl_task_id": task, "domain_id": "d", "category": "network"}
        said = {"error_type": "dns", "error_message": "?", "occurred_at": self.now - at}
        return await self.put(error_logs, **row | said | more)

    async def submission(self, *tasks: str, at: int = HOUR, **more: Any) -> str:
        row = {"id": new_id(), "origin": "urls", "status": "accepted", "options": {}}
        said = {"created_by": "ann", **self._times(at)}
        made = await self.put(crawl_submissions, **row | said | more)
        for task in tasks:
            await self.put(crawl_submission_tasks, submission_id=made, task_id=task)
        return made

    def _times(self, at: int) -> Row:
        return {"created_at": self.now - at, "updated_at": self.now - at}


async def rows_in(store: Store) -> CatalogRows:
    """Rows by the clock of a store."""
    return CatalogRows(store, await store.read(lambda unit: unit.now))


async def put_orphan(stores: Stores, table: Table, values: Mapping[str, Any]) -> None:
    """Insert a row that names others which do not exist, as no program of ours could."""
    names = ", ".join(values)
    if stores.engine == "sqlite":
        # Without a word, a connection to SQLite does not look at foreign keys.
        with sqlite3.connect(stores.settings.folder / FILE_NAME) as connection:
            places = ", ".join("?" * len(values))
            statement = f"INSERT INTO {table.name} ({names}) VALUES ({places})"  # noqa: S608
            connection.execute(statement, tuple(values.values()))
        connection.close()
        return
    shown = ", ".join(f"'{value}'" for value in values.values())
    for statement in (
        f"ALTER TABLE {table.name} DISABLE TRIGGER ALL",
        f"INSERT INTO {table.name} ({names}) VALUES ({shown})",  # noqa: S608
        f"ALTER TABLE {table.name} ENABLE TRIGGER ALL",
    ):
        await run_sql(stores.server_url, statement)
