"""What the product crawler does for people, through the API and the command line alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import func, select

from penstock.blobs.ports import Blobs
from penstock.core.clock import Clock
from penstock.events.log import EventLog
from penstock.extract.registry import Registry
from penstock.kernel.admission import Admission
from penstock.products import catalogue_reading as reading
from penstock.products import visible
from penstock.products.images import list_images
from penstock.products.search.ports import Filters, Query, SearchIndex, Sort, Total
from penstock.products.tables import domains, images, source_products
from penstock.quality.shadow import ShadowReport
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import NotFound
from penstock.workloads.catalog.domains import Domains, find_domain
from penstock.workloads.catalog.downloading import PutIn
from penstock.workloads.catalog.errors import Errors
from penstock.workloads.catalog.model import Row
from penstock.workloads.catalog.parsing_rates import ParseRate, parse_rates
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.shadow import report_of_newest
from penstock.workloads.catalog.submissions import Submissions
from penstock.workloads.catalog.submitting import Submitter
from penstock.workloads.catalog.tasks import Filter, Tasks, find_task

Rows = list[Row]
#: One report looks at about so many attempts.
MOST_IN_SHADOW = 10_000


@dataclass(frozen=True, slots=True)
class Means:
    """What the service works with."""

    store: Store
    blobs: Blobs
    index: SearchIndex
    log: EventLog
    put_in: PutIn
    #: Lets workers of this process look at once.
    nudge: Callable[[], None]
    registry: Registry
    #: Only to look at URLs: names are looked up by whoever contacts them.
    admission: Admission
    clock: Clock


class Listed(NamedTuple):
    """A page of products that were searched for; each has its `highlights`."""

    products: Sequence[Row]
    next_cursor: str | None
    total: Total


@dataclass(frozen=True, slots=True)
class Products:
    """Products, for readers: those of sources that are shown to them."""

    store: Store
    blobs: Blobs
    index: SearchIndex

    async def list(self, wanted: reading.Filter) -> list[Row]:
        """Products by filters, from the store itself."""
        return await self.store.read(lambda unit: reading.list_products(unit, wanted))

    async def search(
        self,
        text: str,
        filters: Filters,
        *,
        sort: Sort | None = None,
        cursor: str | None = None,
        limit: int = 20,
    ) -> Listed:
        """Products by words and filters; what the index has too much is left out."""
        stock = tuple(reading.STOCK.get(each, each) for each in filters.availability)
        wanted = replace(filters, availability=stock)
        found = await self.index.search(Query(text, wanted, sort, cursor, limit))
        ids = [hit.product_id for hit in found.hits]
        rows = await self.store.read(lambda unit: reading.products_by_id(unit, ids))
        shown = [
            rows[hit.product_id] | {"score": hit.score, "highlights": dict(hit.highlights)}
            for hit in found.hits
            if hit.product_id in rows
        ]
        return Listed(shown, found.next_cursor, found.total)

    async def get(self, product_id: str) -> Row:
        """A product with its images."""
        return await self.store.read(lambda unit: reading.get_product(unit, product_id))

    async def prices(
        self,
        product_id: str,
        since: int | None = None,
        until: int | None = None,
        limit: int | None = None,
    ) -> Rows:
        """What a product cost, oldest first."""
        return await self.store.read(
            lambda unit: reading.price_history(unit, product_id, since, until, limit)
        )

    async def pictures(self, ids: Sequence[str]) -> dict[str, str]:
        """The first image of each of some products that is here, by the product's id."""
        found = await self.store.read(lambda unit: list_images(unit, ids)) if ids else {}
        return {
            product_id: next(row["id"] for row in rows if row["image_path"])
            for product_id, rows in found.items()
            if any(row["image_path"] for row in rows)
        }

    async def offers(self, product: Row) -> Rows:
        """What the same product costs now wherever it was seen, the cheapest first."""
        same: str | None = product["product_id"]
        return await self.store.read(lambda unit: visible.current(unit, same)) if same else []

    async def image(self, product_id: str, image_id: str) -> Row:
        """An image of a product that is here."""

        def look(unit: Unit) -> Row:
            reading.get_product(unit, product_id)
            query = select(images).where(images.c.id == image_id, images.c.product_id == product_id)
            for row in unit.rows(query):
                return row
            raise NotFound("There is no such image")

        row = await self.store.read(look)
        if not row["image_path"]:
            raise NotFound(row["error"] or "This image is not there yet")
        return row

    async def image_bytes(self, image: Row) -> bytes:
        """What is in an image."""
        data = await self.blobs.get(image["image_path"])
        if data is None:
            raise NotFound("This image is not there any more")
        return data


@dataclass(frozen=True, slots=True)
class Parsers:
    """How parsers do."""

    store: Store

    async def rates(
        self, since: int, domain: str | None = None, most: int | None = None
    ) -> Sequence[ParseRate]:
        """How often each parser succeeds on each domain since a time (ms).

        Of the latest attempts so many are looked at, if that is said.
        """

        def look(unit: Unit) -> Sequence[ParseRate]:
            domain_id = find_domain(unit, domain)["id"] if domain is not None else None
            return parse_rates(unit, since, domain_id, most=most)

        return await self.store.read(look)

    async def shadow(self, adapter: str, since: int) -> tuple[Sequence[ShadowReport], int | None]:
        """How candidates did beside an adapter; the time (ms) at which there was too much."""
        return await self.store.read(
            lambda unit: report_of_newest(unit, adapter, since, MOST_IN_SHADOW)
        )


@dataclass(frozen=True, slots=True)
class CatalogService:
    """All that people do with the crawler."""

    store: Store
    blobs: Blobs
    index: SearchIndex
    clock: Clock
    domains: Domains
    submissions: Submissions
    tasks: Tasks
    errors: Errors
    products: Products
    parsers: Parsers

    async def page(self, id_or_url: str) -> bytes:
        """The page of a task as it was downloaded last."""

        def look(unit: Unit) -> str | None:
            path: str | None = find_task(unit, id_or_url)["html_path"]
            return path

        path = await self.store.read(look)
        data = await self.blobs.get(path) if path else None
        if data is None:
            raise NotFound("This page is not kept, or not any more")
        return data

    async def now(self) -> int:
        """The store's time, in ms."""
        return await self.store.read(lambda unit: unit.now)

    async def overview(self) -> dict[str, Any]:
        """The crawler in numbers."""
        return {
            "tasks": await self.tasks.counts(),
            "paused": await self.tasks.count(Filter(paused=True)),
            "dead": await self.tasks.count(Filter(dead=True)),
            **await self.store.read(_numbers),
            "indexed": await self.index.count(),
        }


def _numbers(unit: Unit) -> dict[str, Any]:
    """Domains by whether they are active, products that are not archived, images by status."""
    active = select(domains.c.is_active, func.count()).group_by(domains.c.is_active)
    is_active = {row[0]: row[1] for row in unit.run(active)}
    products, present = source_products.c, source_products.c.archived_at.is_(None)
    number = select(func.count()).where(products.domain_id.is_not(None), present)
    pictures = select(images.c.status, func.count()).group_by(images.c.status)
    return {
        "domains": {"active": is_active.get(True, 0), "inactive": is_active.get(False, 0)},
        "products": int(unit.run(number).scalar_one()),
        "images": {row[0]: row[1] for row in unit.run(pictures)},
    }


def open_service(means: Means, settings: CatalogSettings) -> CatalogService:
    """The service, put together."""
    store, registry = means.store, means.registry
    return CatalogService(
        store=store,
        blobs=means.blobs,
        index=means.index,
        clock=means.clock,
        domains=Domains(store, settings, registry, means.log.append),
        submissions=Submissions(
            store,
            Submitter(means.admission, settings),
            admission=means.admission,
            registry=registry,
            put_in=means.put_in,
            nudge=means.nudge,
            most=settings.max_submission,
        ),
        tasks=Tasks(store, registry, means.put_in, means.nudge, settings),
        errors=Errors(store),
        products=Products(store, means.blobs, means.index),
        parsers=Parsers(store),
    )
