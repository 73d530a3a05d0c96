"""Gauges of the monitor: what the store holds, by adapter and source."""

from typing import Any

from sqlalchemy import update

from penstock.core.metrics import Metrics
from penstock.queue.tables import counts
from penstock.store.unit import Unit
from penstock.workloads.monitor.metrics import MonitorGauges
from penstock.workloads.monitor.tables import scrape_adapter_status
from tests.stores import Stores
from tests.unit.core.test_metrics import Readings
from tests.unit.products.offers import open_shop
from tests.unit.workloads.monitor.watched import add_status, add_target


async def test_gauges_say_what_the_store_holds(stores: Stores) -> None:
    store, metrics = await stores.open(), Metrics()
    gauges = MonitorGauges(metrics, store)

    def fill(unit: Unit) -> str:
        shop = open_shop(unit)
        add_status(unit, shop)
        for name, status in (("t1", "ACTIVE"), ("t2", "ACTIVE"), ("t3", "STALE"), ("t4", "BROKEN")):
            add_target(unit, shop, name, status=status)
        add_target(unit, shop, "t5", enabled=False)
        rows = [
            {"lane": "monitor", "quota": "product@shop", "shard": shard, "pending": 2}
            for shard in (0, 1)
        ]
        unit.insert_all(counts, [*rows, {**rows[0], "lane": "fetch"}])
        return shop.source_id

    source_id = await store.write(fill)
    await gauges.look()

    found = Readings(metrics.text())
    pair = {"adapter_id": "product@shop", "source_id": source_id}
    assert found.value("scrape_targets_active", **pair) == 2
    assert found.value("scrape_targets_stale", **pair) == 1
    assert found.value("scrape_targets_broken", **pair) == 1
    assert found.value("scrape_queue_pending", adapter_id="product@shop") == 4
    assert found.value("scrape_adapter_enabled", adapter_id="product@shop") == 1


async def test_disabling_counts_once_each_time(stores: Stores) -> None:
    store, metrics = await stores.open(), Metrics()
    gauges = MonitorGauges(metrics, store)
    await store.write(lambda unit: add_status(unit, open_shop(unit)))

    async def change(**values: Any) -> None:
        statement = update(scrape_adapter_status).values(values)
        await store.write(lambda unit: unit.run(statement) and None)
        await gauges.look()

    await change(enabled=False, disabled_at=1, disabled_reason="DRIFT_DETECTED")
    await gauges.look()
    await change(enabled=True)
    await change(enabled=False, disabled_at=2)

    found = Readings(metrics.text())
    labels = {"adapter_id": "product@shop", "reason": "DRIFT_DETECTED"}
    assert found.value("scrape_adapter_disabled_total", **labels) == 2
    assert found.value("scrape_adapter_enabled", adapter_id="product@shop") == 0
