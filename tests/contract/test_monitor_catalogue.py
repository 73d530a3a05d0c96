"""What the monitor learns of products that the catalogue has is shown there, and announced."""

from decimal import Decimal
from typing import Any

from sqlalchemy import select

from penstock.kernel.admission import Admission
from penstock.kernel.records import Product
from penstock.kernel.settings import AdmissionSettings
from penstock.products.catalogue import Entry, write_entries
from penstock.products.sources import Visibility, get_source
from penstock.products.tables import domains, source_products
from penstock.products.topics import PRODUCT_CHANGED, SOURCE_CHANGED
from penstock.store.unit import Unit
from penstock.workloads.monitor.drafting import Drafter
from penstock.workloads.monitor.service import Prices
from penstock.workloads.monitor.shops import Shops
from tests.monitors import Monitor, open_monitor
from tests.stores import Stores, rows_of

URL = "http://shop.test/product/1"


async def catalogue_has(monitor: Monitor, source_id: str) -> str:
    """The id of what the catalogue knows of the product that the monitor watches."""

    def work(unit: Unit) -> str:
        source = get_source(unit, source_id)
        domain = {"id": "domain", "source_id": source_id, "domain_name": "shop.test"}
        times = {"created_at": unit.now, "updated_at": unit.now}
        unit.run(domains.insert().values(domain | times | {"base_url": "http://shop.test"}))
        record = Product(name="Kettle 1", sku="SKU-1", price_minor=1500, currency="USD", url=URL)
        entry = Entry(
            source_id=source_id,
            retailer_id=source["retailer_id"],
            domain_id="domain",
            crawl_task_id="task",
            url_hash="hash",
            identity_key="SKU:SKU-1",
            url=URL,
            record=record,
            observed_at=unit.now - 3_600_000,
            run_id="attempt",
            adapter_id="product",
            adapter_version="1",
        )
        (kept,) = write_entries(unit, [entry])
        return kept.source_product_id

    return await monitor.store.write(work)


async def no_lookup(host: str) -> list[str]:
    raise AssertionError(f"nobody should look up {host}")


async def shown(monitor: Monitor, each: str) -> Any:
    query = select(source_products.c.price).where(source_products.c.id == each)
    return await monitor.store.read(lambda unit: unit.run(query).scalar())


async def told(monitor: Monitor, topic: str) -> list[str]:
    return [event.message.key for event in await monitor.log.read(topics=[topic])]


async def test_price_that_the_monitor_sees_is_shown_and_announced_once(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    source = await monitor.source()
    await monitor.targets(source, 2)
    each = await catalogue_has(monitor, source)

    await monitor.run(monitor.good)
    assert await shown(monitor, each) == Decimal("19.99")
    assert await told(monitor, PRODUCT_CHANGED) == [each], "the other one is the monitor's alone"

    await monitor.make_due()
    await monitor.run(monitor.good)
    assert await told(monitor, PRODUCT_CHANGED) == [each]


async def test_correction_of_a_price_is_shown_and_announced(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    source = await monitor.source()
    await monitor.targets(source, 1)
    each = await catalogue_has(monitor, source)
    await monitor.run(monitor.good)
    prices = Prices(monitor.store, monitor.log)
    newest = max(await monitor.all_prices(), key=lambda row: row["observed_at"])["id"]

    correction = await prices.correct(newest, None, who="ann", why="misread")
    assert await shown(monitor, each) == Decimal(15)
    await prices.revoke(correction, "ann")
    assert await shown(monitor, each) == Decimal("19.99")
    await prices.correct(newest, Decimal("9.99"), who="ann", why="per box")
    assert await shown(monitor, each) == Decimal("9.99")

    assert await told(monitor, PRODUCT_CHANGED) == [each] * 4


async def test_offer_let_out_of_quarantine_is_shown_and_announced(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    source = await monitor.source()
    await monitor.targets(source, 1)
    each = await catalogue_has(monitor, source)
    await monitor.run(monitor.showing(shown="24.99"))
    (waiting,) = await monitor.set_aside()

    await monitor.quarantine.release(
        waiting["id"], who="ann", why="looked", price=Decimal("24.99"), currency="USD"
    )

    assert await shown(monitor, each) == Decimal("24.99")
    assert await told(monitor, PRODUCT_CHANGED) == [each]


async def test_product_that_only_the_monitor_has_is_not_announced(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 1)

    await monitor.run(monitor.good)

    (row,) = await rows_of(monitor.store, source_products)
    assert (row["domain_id"], row["price"]) == (None, None)
    assert await told(monitor, PRODUCT_CHANGED) == []


async def test_source_that_is_shown_or_hidden_is_announced(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    source = await monitor.source()
    drafter = Drafter(monitor.registry, Admission(AdmissionSettings(), no_lookup))
    shops = Shops(monitor.store, drafter, monitor.log)

    await shops.edit(source, "ann", name="another name")
    assert await told(monitor, SOURCE_CHANGED) == []
    for visibility in (Visibility.ELIGIBLE, Visibility.ELIGIBLE, Visibility.INELIGIBLE):
        await shops.edit(source, "ann", visibility_status=visibility)

    assert await told(monitor, SOURCE_CHANGED) == [source] * 2
