"""A catalogue of any size: some thousand products as they are written, and copies of them."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import count, islice
from typing import Any, NamedTuple

from sqlalchemy import Table, insert, text

from penstock.core.urls import identity, parse
from penstock.kernel.records import Product
from penstock.products.catalogue import Entry, write_entries
from penstock.products.sources import Visibility, create_retailer, create_source, set_visibility
from penstock.products.tables import (
    domains,
    prices,
    product_keys,
    products,
    source_product_identifiers,
    source_products,
)
from penstock.store.sqlite import WRITER_CACHE_KB
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.catalogs import AVAILABILITIES
from tests.site.catalog_items import SHOPS, CatalogItem, catalog_item

#: Of each shop; all of them are written as the crawler does.
TEMPLATES_OF_A_SHOP = 250
TEMPLATES = TEMPLATES_OF_A_SHOP * len(SHOPS)
BATCH = 500
#: Copies of every template in one transaction.
ROUNDS_AT_ONCE = 10
WHO = "bench"


class Site(NamedTuple):
    """A domain with its source and retailer."""

    source_id: str
    retailer_id: str
    domain_id: str


#: An id of a copy: as scattered as the digests that ids are, and no other's.
_TURN = "CAST(r % 31 AS INTEGER)"
_COPY = f"(substr(t.#, 1 + {_TURN}) || substr(t.#, 1, {_TURN}) || '.' || r)"
_OTHER = "(t.# || '.' || r)"
_EARLIER = "(t.# - r * 60000)"
_COPIED: dict[Table, tuple[str, dict[str, str]]] = {
    products: (
        "t.id IN (SELECT product_id FROM source_products WHERE id IN (SELECT id FROM templates))",
        {"id": _COPY, "upc": _OTHER, "mpn": _OTHER},
    ),
    product_keys: (
        "t.product_id IN "
        "(SELECT product_id FROM source_products WHERE id IN (SELECT id FROM templates))",
        {"key": _OTHER, "product_id": _COPY},
    ),
    source_products: (
        "t.id IN (SELECT id FROM templates)",
        {
            **dict.fromkeys(("id", "product_id"), _COPY),
            **dict.fromkeys(("identity_key", "url", "url_hash", "content_hash"), _OTHER),
            **dict.fromkeys(("retailer_sku", "upc", "mpn", "gtin_key", "mpn_key"), _OTHER),
            **dict.fromkeys(("created_at", "updated_at", "last_seen_at"), _EARLIER),
            "title": "(t.# || ' R' || r)",
        },
    ),
    source_product_identifiers: (
        "t.source_product_id IN (SELECT id FROM templates)",
        {"source_product_id": _COPY, "id_value": _OTHER},
    ),
    prices: (
        "t.source_product_id IN (SELECT id FROM templates)",
        {
            **dict.fromkeys(("id", "source_product_id"), _COPY),
            "ingestion_run_id": _OTHER,
            **dict.fromkeys(("observed_at", "created_at"), _EARLIER),
        },
    ),
}


class Catalogue:
    """Grows a store; what it adds by copying is what it adds by writing, but for the words."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sites: dict[str, Site] = {}
        self._copies = 0
        self._fresh = self._items(TEMPLATES_OF_A_SHOP + 1)

    async def begin(self) -> None:
        """Write the shops and the templates."""
        self._sites = await self._store.write(_make_sites)
        items = islice(self._items(1), TEMPLATES)
        while some := list(islice(items, BATCH)):
            entries = [self._entry(item) for item in some]
            await self._store.write(partial(write, entries=entries))
        await self._store.write(_note_templates)

    async def grow(self, number: int) -> None:
        """Copy templates until there are about so many products; indexes are made after that."""
        wanted = number // TEMPLATES - 1
        await self._store.write(_drop_indexes)
        while self._copies < wanted:
            first = self._copies + 1
            last = min(wanted, self._copies + ROUNDS_AT_ONCE)
            await self._store.write(partial(_copy, first=first, last=last))
            self._copies = last
        await self._store.write(_make_indexes)

    def fresh(self, number: int) -> list[Entry]:
        """Entries of products that are not there yet."""
        return [self._entry(item) for item in islice(self._fresh, number)]

    def _items(self, first: int) -> Iterator[CatalogItem]:
        return (catalog_item(host, number) for number in count(first) for host in SHOPS)

    def _entry(self, item: CatalogItem) -> Entry:
        site = self._sites[item.host]
        return Entry(
            **site._asdict(),
            crawl_task_id=f"task.{item.sku}",
            url_hash=identity(parse(item.url)),
            identity_key=f"SKU:{item.sku}",
            url=item.url,
            record=record_of(item),
            observed_at=1_790_000_000_000,
            run_id=f"run.{item.sku}",
            adapter_id="product",
            adapter_version="product@1",
        )


def record_of(item: CatalogItem) -> Product:
    return Product(
        url=item.url,
        name=item.title,
        price_minor=item.price_minor,
        currency=None if item.price_minor is None else item.currency,
        availability=AVAILABILITIES[item.availability],
        sku=item.sku,
        gtin=item.gtin,
        mpn=item.mpn,
        brand=item.brand,
        category=item.category,
        description=item.description,
        rating=Decimal(item.rating),
        review_count=item.reviews,
    )


def _make_sites(unit: Unit) -> dict[str, Site]:
    return {host: _make_site(unit, host) for host in SHOPS}


def _make_site(unit: Unit, host: str) -> Site:
    retailer = create_retailer(unit, host, f"http://{host}", who=WHO)["id"]
    source = create_source(unit, host, host, retailer, who=WHO)["id"]
    set_visibility(unit, source, Visibility.ELIGIBLE, who=WHO)
    row = {"id": f"domain.{host}", "source_id": source, "domain_name": host}
    times = {"created_at": unit.now, "updated_at": unit.now}
    unit.run(insert(domains).values(**row, base_url=f"http://{host}", **times))
    return Site(source, retailer, row["id"])


def write(unit: Unit, entries: Sequence[Entry]) -> None:
    """Write entries as the crawler does."""
    write_entries(unit, entries)


def _note_templates(unit: Unit) -> None:
    unit.run(text("CREATE TABLE templates (id TEXT PRIMARY KEY)"))
    unit.run(text("INSERT INTO templates SELECT id FROM source_products"))


def _drop_indexes(unit: Unit) -> None:
    for table in _COPIED:
        for index in table.indexes:
            index.drop(unit.connection)


def _make_indexes(unit: Unit) -> None:
    _widen(unit)
    for table in _COPIED:
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            index.create(unit.connection)
    _narrow(unit)


def _widen(unit: Unit) -> None:
    """Let an engine have the memory that a load of this size is given; copies refer to copies."""
    if unit.engine == "sqlite":
        unit.run(text("PRAGMA cache_size=-1000000"))
        return
    unit.run(text("SET LOCAL maintenance_work_mem = '1GB'"))
    unit.run(text("SET LOCAL session_replication_role = replica"))


def _narrow(unit: Unit) -> None:
    if unit.engine == "sqlite":
        unit.run(text(f"PRAGMA cache_size=-{WRITER_CACHE_KB}"))


def _copy(unit: Unit, first: int, last: int) -> None:
    _widen(unit)
    for table, (chosen, others) in _COPIED.items():
        columns = [column.name for column in table.c if column.computed is None]
        values = ", ".join(_value(name, others) for name in columns)
        names = ", ".join(f'"{name}"' for name in columns)
        statement = f"""
            WITH RECURSIVE series(r) AS (
                SELECT CAST({first} AS BIGINT) UNION ALL SELECT r + 1 FROM series WHERE r < {last}
            )
            INSERT INTO {table.name} ({names})
            SELECT {values} FROM {table.name} AS t CROSS JOIN series WHERE {chosen}
        """
        unit.run(text(statement))
    _narrow(unit)


def _value(name: str, others: Mapping[str, Any]) -> str:
    return str(others.get(name, "t.#")).replace("#", f'"{name}"')
