"""Rows of a price monitor that has been at work for long, made by the database itself."""

import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing

from sqlalchemy import text

from penstock.products.tables import retailers, sources
from penstock.store.settings import FILE_NAME, StoreSettings
from penstock.store.store import Store
from penstock.store.unit import Unit
from tests.stores import run_sql

SHOPS = 10
RETAILER = "retailer"
#: So many rows in one transaction.
AT_ONCE = 100_000
DAY_MS = 86_400_000
BEGIN = 1_600_000_000_000
#: Runs of the last week: every target is read daily, so many of a shop together.
RUN_SIZE, WEEK = 20, 7

SERIES = """
    WITH RECURSIVE series(i) AS (
        SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM series WHERE i + 1 < :last
    )
"""
#: As long as real ids, in the order in which rows were made, and before those that are made now.
_ZEROS, _FIRST = "0" * 22, 10**9
ID = f"('{_ZEROS}' || ({_FIRST} + i))"
_PRODUCT = f"('{_ZEROS}' || ({_FIRST} + i % :products))"
_SHOP = "(i * :shops / :total)"
_URL = f"('http://shop' || {_SHOP} || '.test/product/' || i)"

_TARGETS = f"""{SERIES}
    INSERT INTO scrape_targets (id, url, canonical_url, source_id, adapter_id, source_product_id,
        last_status, next_due_at, created_at, updated_at)
    SELECT {ID}, {_URL}, {_URL}, 'source' || {_SHOP}, 'product', {ID},
        'ACCEPT', CAST(:now AS BIGINT) + 86400000 + i, :now, :now
    FROM series
"""
_PRODUCTS = f"""{SERIES}
    INSERT INTO products (id, name, created_at, updated_at)
    SELECT {ID}, 'Product ' || i, CAST(:now AS BIGINT), :now FROM series
"""
_KEYS = f"""{SERIES}
    INSERT INTO product_keys (key, product_id) SELECT 'offer:' || {ID}, {ID} FROM series
"""
_OFFERS = f"""{SERIES}
    INSERT INTO source_products (id, source_id, identity_key, product_id, url, title,
        adapter_version, created_at, updated_at)
    SELECT {ID}, 'source' || {_SHOP}, 'PID:' || i, {_PRODUCT}, {_URL}, 'Product ' || i,
        '1', CAST(:now AS BIGINT), :now
    FROM series
"""
_RESULTS = f"""{SERIES}
    INSERT INTO scrape_results (id, target_id, run_id, at, fetch_status, verdict, adapter_version,
        document)
    SELECT {ID}, {ID}, '{_ZEROS}' || ({_FIRST} + i / {RUN_SIZE}),
        CAST(:now AS BIGINT) - 86400000, 'ok', 'ACCEPT', '1', '{{"product": {{}}}}'
    FROM series
"""
_RUNS = f"""{SERIES}
    INSERT INTO scrape_runs (id, adapter_id, adapter_version, source_id, retailer_id, "trigger",
        status, started_at, completed_at, duration_ms, urls_total, urls_over, urls_attempted,
        urls_succeeded, offers_extracted, offers_valid, field_counts, created_at)
    SELECT {ID}, 'product', '1', 'source' || (i % :shops), '{RETAILER}',
        'SCHEDULED', 'SUCCESS', CAST(:now AS BIGINT) - 600000000 * i / :total, :now, 1000,
        {RUN_SIZE}, {RUN_SIZE}, {RUN_SIZE}, {RUN_SIZE}, {RUN_SIZE}, {RUN_SIZE},
        '{{"brand": {RUN_SIZE}, "sku": {RUN_SIZE}}}', :now
    FROM series
"""
#: Prices in the order in which they were seen: all offers, then all of them again. A target and
#: its offer have the same id.
_PRICES = """
    INSERT INTO prices (id, source_product_id, source_id, retailer_id, target_id, price, currency,
        availability, url, observed_at, ingestion_run_type, ingestion_run_id, adapter_id,
        adapter_version, created_at)
    SELECT '00' || (CAST(:now AS BIGINT) + CAST(:round AS BIGINT) * 21600000)
            || substr(offer.id, 16),
        offer.id, offer.source_id, :retailer, offer.id, 1999 + :round % 100, 'USD', 'IN_STOCK',
        offer.url, CAST(:now AS BIGINT) + CAST(:round AS BIGINT) * 21600000, 'SCRAPE',
        '00run.' || CAST(:round AS BIGINT), 'product', '1', :now
    FROM source_products AS offer
"""


def target_id(number: int) -> str:
    """The id of a target, by its number."""
    return f"{_ZEROS}{_FIRST + number}"


async def make_shops(store: Store) -> None:
    """Sources that may be read and whose prices may be seen."""
    await store.write(_make_shops)


def _make_shops(unit: Unit) -> None:
    now = unit.now - DAY_MS
    retailer = {"id": RETAILER, "name": RETAILER, "created_at": now, "updated_at": now}
    unit.insert_all(retailers, [retailer])
    rows = [
        {
            "id": f"source{shop}",
            "name": f"shop{shop}",
            "domain": f"shop{shop}.test",
            "retailer_id": RETAILER,
            "scrape_config": {},
            "visibility_status": "ELIGIBLE",
            "tos_approved_by": "bench",
            "robots_compliant": True,
            "created_at": now,
            "updated_at": now,
        }
        for shop in range(SHOPS)
    ]
    unit.insert_all(sources, rows)


async def make_targets(store: Store, number: int) -> None:
    """So many targets that are not due, each with an offer, a result, a price; a week's runs."""
    await fill(store, _PRODUCTS, number)
    await fill(store, _KEYS, number)
    await fill(store, _OFFERS, number, products=number)
    await fill(store, _TARGETS, number)
    await fill(store, _RUNS, number * WEEK // RUN_SIZE)
    await fill(store, _RESULTS, number)
    await make_prices(store, range(1))


async def make_offers(store: Store, products: int, per_product: int) -> None:
    """Products, each of them sold by so many shops."""
    await fill(store, _PRODUCTS, products)
    await fill(store, _OFFERS, products * per_product, products=products)


async def make_prices(store: Store, rounds: range) -> None:
    """A price of every offer in each round; rounds are six hours apart."""
    for number in rounds:
        await _run(store, _PRICES, {"round": number, "retailer": RETAILER, "now": BEGIN})


async def fill(store: Store, statement: str, number: int, **more: int) -> None:
    """Run a statement that inserts rows of a series, until it has so many."""
    values = {"total": number, "shops": SHOPS, "now": int(time.time() * 1000), **more}
    for first in range(0, number, AT_ONCE):
        some = {"first": first, "last": min(first + AT_ONCE, number)}
        await _run(store, statement, values | some)


async def _run(store: Store, statement: str, values: Mapping[str, int | str]) -> None:
    needed = {name: value for name, value in values.items() if f":{name}" in statement}
    await store.write(lambda unit: unit.run(text(statement), needed) and None)


async def tidy(settings: StoreSettings) -> None:
    """What an engine does by itself after a while, done before anything is measured."""
    if settings.is_shared:
        await run_sql(settings.url.get_secret_value(), "VACUUM ANALYZE")
        return
    with closing(sqlite3.connect(settings.folder / FILE_NAME)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
