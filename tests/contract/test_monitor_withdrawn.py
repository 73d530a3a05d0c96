"""The last target of a run is taken away while the run is under way: it ends, and once."""

from typing import Any

import pytest
from sqlalchemy import Update, delete, update

from penstock.products.tables import sources
from penstock.queue.ports import Claim
from penstock.workloads.monitor.model import DisabledReason
from penstock.workloads.monitor.tables import scrape_runs, scrape_targets
from tests.monitors import Monitor, open_monitor
from tests.stores import Stores

LAST = scrape_targets.c.url == "http://shop.test/product/2"
TARGET = update(scrape_targets).where(LAST)


async def change(monitor: Monitor, statement: Any) -> None:
    await monitor.store.write(lambda unit: unit.run(statement) and None)


async def but_one_is_over(stores: Stores) -> tuple[Monitor, Claim]:
    """A run of two targets of which one was read, and what is left of it."""
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 2)
    await monitor.tick()
    first, last = sorted(await monitor.claims(), key=lambda claim: str(claim.payload["url"]))
    await monitor.end([first], monitor.good)
    return monitor, last


async def ends_once(monitor: Monitor, status: str) -> None:
    """The run is over with all that was in it, whoever looks after it again."""
    assert await monitor.upkeep.settle_lost() == 0
    [run] = await monitor.all_runs()
    assert (run["status"], run["urls_over"], run["offers_valid"]) == (status, 2, 1)
    assert (await monitor.topics()).count("run.finished") == 1
    assert all(row["run_id"] is None for row in await monitor.all_targets())


@pytest.mark.parametrize(
    "withdrawing",
    [
        TARGET.values(status="PAUSED"),
        TARGET.values(enabled=False),
        TARGET.values(robots_path_blocked=True),
        TARGET.values(url="http://elsewhere.test/2"),
        update(sources).values(tos_approved_by=None),
        update(sources).values(robots_compliant=False),
    ],
    ids=["paused", "disabled", "blocked", "moved", "terms revoked", "not compliant"],
)
async def test_a_run_ends_once_though_its_last_target_may_not_be_read_any_more(
    stores: Stores, withdrawing: Update
) -> None:
    monitor, last = await but_one_is_over(stores)
    await change(monitor, withdrawing)

    assert await monitor.lane.provide(last) is not None
    await monitor.end([last], monitor.good)

    await ends_once(monitor, "SUCCESS")


async def test_a_run_ends_once_and_quarantined_though_its_adapter_is_disabled_at_the_last(
    stores: Stores,
) -> None:
    monitor, last = await but_one_is_over(stores)
    await monitor.adapters.disable("product@shop", "ann", DisabledReason.MANUAL)

    await monitor.end([last], monitor.good)

    await ends_once(monitor, "QUARANTINED")


async def test_a_run_ends_once_though_its_last_target_is_gone(stores: Stores) -> None:
    monitor, last = await but_one_is_over(stores)
    await change(monitor, delete(scrape_targets).where(LAST))
    await monitor.end([last], monitor.good)
    [run] = await monitor.all_runs()
    assert run["status"] == "RUNNING"

    await change(monitor, update(scrape_runs).values(started_at=1))
    assert [await monitor.upkeep.settle_lost() for _ in range(2)] == [1, 0]

    [run] = await monitor.all_runs()
    assert (run["status"], run["error_code"], run["urls_over"]) == ("FAILED", "targets_gone", 1)
    assert (await monitor.topics()).count("run.finished") == 1
