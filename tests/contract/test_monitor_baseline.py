"""What is usual for an adapter, where there are very many runs: found out cheaply, and rarely."""

from typing import Any

from sqlalchemy import update

from penstock.core.ids import new_id
from penstock.store.unit import Unit
from penstock.workloads.monitor.adapters import RENEW_MS, SETTLED_RUNS
from penstock.workloads.monitor.ending import MOST_RUNS
from penstock.workloads.monitor.model import DAY_MS
from penstock.workloads.monitor.tables import scrape_adapter_status, scrape_runs
from tests.monitors import Monitor, open_monitor
from tests.stores import Stores


async def add_runs(monitor: Monitor, number: int, *, days_ago: int = 0, valid: int = 20) -> None:
    """Good runs of the only adapter and source there are, each of 20 targets."""
    status = await monitor.status()
    [first, *_] = await monitor.all_runs()

    def work(unit: Unit) -> None:
        # A while before the end of the day, so that the day is the same however long it takes.
        at = unit.now - days_ago * DAY_MS - DAY_MS // 2
        changes: dict[str, Any] = {"started_at": at, "offers_valid": valid, "status": "SUCCESS"}
        rows = [{**first, **changes, "id": new_id()} for _ in range(number)]
        unit.insert_all(scrape_runs, rows)

    assert status["source_id"] == first["source_id"]
    await monitor.store.write(work)


async def watched_shop(stores: Stores) -> tuple[Monitor, str]:
    """A shop with one good run of 20 targets."""
    monitor = await open_monitor(stores)
    source = await monitor.source()
    await monitor.targets(source, 20)
    await monitor.run(monitor.good)
    return monitor, source


async def run_once(monitor: Monitor, source: str, host: str) -> dict[str, Any]:
    """A good run of 20 more targets; the status after it."""
    await monitor.targets(source, 20, host=host)
    await monitor.run(monitor.good)
    return await monitor.status()


async def test_of_very_many_runs_each_day_of_the_week_has_its_say(stores: Stores) -> None:
    monitor, source = await watched_shop(stores)
    for day in range(7):
        await add_runs(monitor, 150, days_ago=day, valid=20 - day)
    status = await run_once(monitor, source, "a.shop.test")
    assert status["baseline_sample_size"] == MOST_RUNS
    assert float(status["baseline_yield_rate"]) == 17 / 20


async def test_what_many_runs_say_is_looked_up_once_an_hour(stores: Stores) -> None:
    monitor, source = await watched_shop(stores)
    await add_runs(monitor, SETTLED_RUNS - 1)
    assert (await run_once(monitor, source, "a.shop.test"))["baseline_sample_size"] == SETTLED_RUNS
    await add_runs(monitor, 30, valid=10)
    later = await run_once(monitor, source, "b.shop.test")
    assert (later["baseline_sample_size"], later["baseline_yield_rate"]) == (SETTLED_RUNS, 1)

    table = scrape_adapter_status
    earlier = table.c.baseline_updated_at - RENEW_MS
    aged = update(table).values(baseline_updated_at=earlier)
    await monitor.store.write(lambda unit: unit.run(aged) and None)
    renewed = await run_once(monitor, source, "c.shop.test")
    assert renewed["baseline_sample_size"] == SETTLED_RUNS + 30 + 2
    assert float(renewed["baseline_yield_rate"]) == 0.5


async def test_what_few_runs_say_is_looked_up_at_every_end(stores: Stores) -> None:
    monitor, source = await watched_shop(stores)
    await add_runs(monitor, 3)
    assert (await run_once(monitor, source, "a.shop.test"))["baseline_sample_size"] == 4
    assert (await run_once(monitor, source, "b.shop.test"))["baseline_sample_size"] == 5


async def test_what_is_known_from_many_runs_is_what_a_bad_run_is_held_against(
    stores: Stores,
) -> None:
    monitor, source = await watched_shop(stores)
    await add_runs(monitor, SETTLED_RUNS)
    await run_once(monitor, source, "a.shop.test")
    await monitor.targets(source, 20, host="b.shop.test")
    await monitor.run(monitor.showing(more={"brand": None, "image": None}))
    assert [alert.kind for alert in monitor.alerts] == ["fields_lost"]
