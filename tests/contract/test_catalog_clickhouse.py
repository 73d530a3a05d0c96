"""The catalogue in ClickHouse: what is sent, on the real engine."""

from collections.abc import AsyncIterator
from decimal import Decimal

import pytest
from pydantic import ValidationError

from penstock.core.errors import SettingsError
from penstock.products import exporting
from penstock.products.exporting import (
    COLUMNS,
    ExportLost,
    ExportRefused,
    Subject,
    export,
)
from penstock.products.tables import source_products
from penstock.store.store import Store
from penstock.workloads.catalog.clickhouse import ClickHouse, ClickHouseSettings
from tests.catalog_rows import DAY, HOUR, CatalogRows, rows_in
from tests.clickhouse import ClickHouseServer, clickhouse, clickhouse_engine
from tests.clocks import HandClock
from tools.provision.processes import free_port

__all__ = ["clickhouse", "clickhouse_engine"]
PRODUCTS, PRICES = Subject.PRODUCTS, Subject.PRICES
ODD = 'a "lamp";\n\\ of \'two\'\tparts\u2028 \N{SNOWMAN} {"}'


@pytest.fixture
async def rows(store: Store) -> CatalogRows:
    return await rows_in(store)


@pytest.fixture
async def receiver(clickhouse: ClickHouseServer) -> AsyncIterator[ClickHouse]:
    settings = ClickHouseSettings(url=clickhouse.url, database=clickhouse.database)
    made = ClickHouse(settings, HandClock())
    yield made
    await made.close()


async def test_amounts_times_and_texts_arrive_exactly(
    store: Store, rows: CatalogRows, receiver: ClickHouse, clickhouse: ClickHouseServer
) -> None:
    site = await rows.site()
    task = await rows.task(site)
    product = await rows.product(site, task, title=ODD, description=ODD)
    bare = {"price": None, "currency": None, "rating": None, "review_count": None}
    empty = await rows.product(site, task, at=2 * HOUR, archived_at=rows.now - 1, **bare)

    done = await export(store, receiver, PRODUCTS)

    times = [f"toUnixTimestamp64Milli({name}_at) AS {name}" for name in ("updated", "archived")]
    columns = ", ".join(["*", *times])
    found = clickhouse.rows(columns, "products", "ORDER BY updated_at DESC")
    assert done.rows == 2
    assert [row["id"] for row in found] == [product, empty]
    assert (found[0]["price"], found[0]["rating"]) == ("19.90", "4.50")
    assert (found[0]["product_name"], found[0]["description"]) == (ODD, ODD)
    assert (found[0]["updated"], found[0]["archived"]) == (rows.now - HOUR, None)
    assert found[1]["archived"] == rows.now - 1
    assert [found[1][name] for name in bare] == [None] * 4


async def test_prices_arrive_with_their_corrections(
    store: Store, rows: CatalogRows, receiver: ClickHouse, clickhouse: ClickHouseServer
) -> None:
    site = await rows.site()
    task = await rows.task(site)
    product = await rows.product(site, task, price=None, currency=None)
    first = await rows.price(site, product, task, at=40 * DAY, tax_included=True)
    second = await rows.price(site, product, task, at=DAY, shipping=Decimal("4.95"))
    await export(store, receiver, PRICES)

    await rows.correct(first, "HIDE")
    await rows.correct(second, "OVERRIDE", price=Decimal("5.00"))
    await export(store, receiver, PRICES)

    columns = "id, price, price_as_seen, shipping, tax_included, is_hidden"
    found = clickhouse.rows(columns, "prices", "ORDER BY observed_at")
    seen = {"price_as_seen": "19.90"}
    hidden = {"id": first, "price": "19.90", "shipping": None, "tax_included": True}
    other = {"id": second, "price": "5.00", "shipping": "4.95", "tax_included": None}
    assert found == [
        hidden | seen | {"is_hidden": True},
        other | seen | {"is_hidden": False},
    ]


async def test_rows_that_are_sent_again_replace_themselves(
    store: Store,
    rows: CatalogRows,
    receiver: ClickHouse,
    clickhouse: ClickHouseServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exporting, "AT_ONCE", 2)
    site = await rows.site()
    task = await rows.task(site)
    ids = [await rows.product(site, task) for _ in range(5)]
    # The batch is taken, and nobody hears of it.
    clickhouse.after_taking = [500]
    await export(store, receiver, PRODUCTS)
    await rows.change(source_products, ids[0], category="Lamps", updated_at=rows.now)
    await export(store, receiver, PRODUCTS)
    # An old batch that comes last changes nothing.
    oldest = next(each for each in clickhouse.inserted if ids[0].encode() in each)
    await receiver._ask(receiver.insertion(PRODUCTS), oldest)

    counted = clickhouse.rows("count() AS n, uniqExact(id) AS ids", "products")
    changed = clickhouse.rows("category", "products", f"WHERE id = '{ids[0]}'")
    assert counted == [{"n": 5, "ids": 5}]
    assert changed == [{"category": "Lamps"}]


async def test_the_watermark_stands_where_the_rows_are(
    store: Store, rows: CatalogRows, receiver: ClickHouse, clickhouse: ClickHouseServer
) -> None:
    site = await rows.site()
    await rows.product(site, await rows.task(site))
    done = await export(store, receiver, PRODUCTS)

    assert await receiver.watermark(PRODUCTS) == done.watermark > 0
    assert await receiver.watermark(PRICES) == 0
    assert (await export(store, receiver, PRODUCTS)).rows == 0

    for table in ("products", "watermarks"):
        clickhouse.run(f"TRUNCATE TABLE {clickhouse.table(table)}")
    assert (await export(store, receiver, PRODUCTS)).rows == 1


async def test_a_table_of_an_older_version_gets_what_it_lacks(
    store: Store, rows: CatalogRows, receiver: ClickHouse, clickhouse: ClickHouseServer
) -> None:
    clickhouse.run(
        f"CREATE TABLE {clickhouse.table('products')} (id String,"
        " updated_at DateTime64(3, 'UTC')) ENGINE = ReplacingMergeTree(updated_at) ORDER BY id"
    )
    site = await rows.site()
    await rows.product(site, await rows.task(site))

    assert (await export(store, receiver, PRODUCTS)).rows == 1

    (found,) = clickhouse.rows("*", "products")
    assert found.keys() == set(COLUMNS[PRODUCTS])


async def test_a_server_that_is_busy_is_asked_again(
    store: Store, rows: CatalogRows, clickhouse: ClickHouseServer
) -> None:
    clock = HandClock()
    settings = ClickHouseSettings(url=clickhouse.url, database=clickhouse.database)
    receiver = ClickHouse(settings, clock)
    site = await rows.site()
    await rows.product(site, await rows.task(site))
    clickhouse.failing = [503, 429]

    assert (await export(store, receiver, PRODUCTS)).rows == 1
    assert clock.slept == [1.0, 2.0]
    await receiver.close()


async def test_a_server_that_stays_away_is_given_up_and_no_secret_is_told(store: Store) -> None:
    url = f"http://ann:s%40cret@127.0.0.1:{free_port()}"
    clock = HandClock()
    receiver = ClickHouse(ClickHouseSettings(url=url), clock)

    with pytest.raises(ExportLost, match="does not answer") as lost:
        await export(store, receiver, PRODUCTS)

    assert len(clock.slept) == 4
    assert "cret" not in repr(lost.value) + repr(lost.value.__cause__)
    await receiver.close()


async def test_what_is_refused_is_not_sent_again_and_is_not_taken_for_sent(
    store: Store, rows: CatalogRows, clickhouse: ClickHouseServer
) -> None:
    clock = HandClock()
    receiver = ClickHouse(ClickHouseSettings(url=clickhouse.url, database="nowhere"), clock)

    with pytest.raises(ExportRefused, match="nowhere"):
        await export(store, receiver, PRODUCTS)

    assert clock.slept == []
    await receiver.close()


async def test_credentials_go_in_headers(
    store: Store, receiver: ClickHouse, clickhouse: ClickHouseServer
) -> None:
    await export(store, receiver, PRODUCTS)

    sent = {name.lower(): value for name, value in clickhouse.headers[0].items()}
    assert (sent["x-clickhouse-user"], sent["x-clickhouse-key"]) == ("ann", "s@cret")
    assert "authorization" not in sent


@pytest.mark.parametrize("name", ["", "a b", "a;DROP", "a.b", "1a", "x" * 65, "a`"])
def test_names_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        ClickHouseSettings(database=name)


@pytest.mark.parametrize("url", ["", "localhost:8123", "ftp://host", "http://"])
def test_a_url_that_is_none_is_named(url: str) -> None:
    with pytest.raises(SettingsError, match="address of ClickHouse"):
        ClickHouse(ClickHouseSettings(url=url), HandClock())
