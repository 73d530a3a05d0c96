"""Targets in an order and in numbers, results and statuses: the same on every store."""

from collections.abc import Callable

import pytest

from penstock.store.store import Store
from penstock.web.errors import ApiError
from penstock.workloads.monitor import listing
from penstock.workloads.monitor.listing import Order, Part, figures_of, list_in_order
from penstock.workloads.monitor.model import TargetStatus
from penstock.workloads.monitor.results import Ended, Results
from penstock.workloads.monitor.targets import Filter
from tests.monitors import Monitor, open_monitor
from tests.stores import Stores

#: Of ids in the order of their addresses; those of one moment are in any order.
SEEN_FROM: dict[Order, Callable[[list[str]], list[str]]] = {
    Order.NEWEST: lambda ids: sorted(ids, reverse=True),
    Order.OLDEST: sorted,
    Order.DUE: sorted,
    Order.ADDRESS: list,
}


@pytest.fixture
async def monitor(stores: Stores) -> Monitor:
    return await open_monitor(stores)


async def with_targets(monitor: Monitor, number: int = 9) -> list[str]:
    return await monitor.targets(await monitor.source(), number)


async def all_parts(store: Store, wanted: Filter, order: Order) -> list[Part]:
    parts: list[Part] = []
    while not parts or parts[-1].next:
        parts.append(await one_part(store, wanted, order, parts[-1].next if parts else None))
    return parts


async def one_part(store: Store, wanted: Filter, order: Order, after: str | None) -> Part:
    return await store.read(lambda unit: list_in_order(unit, wanted, order, after))


def ids_of(parts: list[Part]) -> list[str]:
    return [row["id"] for part in parts for row in part.rows]


@pytest.mark.parametrize("order", list(Order))
async def test_every_target_comes_once_in_its_order(monitor: Monitor, order: Order) -> None:
    ids = await with_targets(monitor)
    parts = await all_parts(monitor.store, Filter(limit=4), order)
    assert [len(part.rows) for part in parts] == [4, 4, 1]
    assert ids_of(parts) == SEEN_FROM[order](ids)


@pytest.mark.parametrize("order", list(Order))
async def test_what_is_rare_is_looked_for_some_at_a_time(
    monitor: Monitor, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "LOOKED_AT", 3)
    monkeypatch.setattr(listing, "FEW", 0)
    ids = await with_targets(monitor)
    parts = await all_parts(monitor.store, Filter(url="product/5", limit=2), order)
    assert ids_of(parts) == [ids[4]]
    assert [part.looked_at for part in parts] == [3, 3, 3, None]
    wanted = Filter(status=TargetStatus.ACTIVE, adapter="product", limit=2)
    parts = await all_parts(monitor.store, wanted, order)
    assert ids_of(parts) == SEEN_FROM[order](ids)
    source_id = (await monitor.target(ids[0]))["source_id"]
    parts = await all_parts(monitor.store, Filter(source_id=source_id, limit=5), order)
    assert ids_of(parts) == SEEN_FROM[order](ids)


async def test_a_list_goes_on_only_at_a_place_that_is_one(monitor: Monitor) -> None:
    for after in ("nowhere", "1.2.3", "0" * 32):
        with pytest.raises(ApiError):
            await one_part(monitor.store, Filter(), Order.ADDRESS, after)


async def test_numbers_are_counted_so_far_and_no_further(monitor: Monitor) -> None:
    source_id = await monitor.source()
    await monitor.targets(source_id, 3)
    await monitor.targets(source_id, 2, host="www.shop.test", status="PAUSED", next_due_at=None)
    figures = await monitor.store.read(lambda unit: figures_of(unit, 2))
    assert figures.statuses == {"ACTIVE": 3, "PAUSED": 2, "BROKEN": 0, "STALE": 0}
    assert (figures.due, figures.in_runs, figures.quarantined) == (3, 0, 0)
    await monitor.tick()
    figures = await monitor.store.read(lambda unit: figures_of(unit, 10))
    assert (figures.due, figures.in_runs) == (0, 3)


async def test_results_are_found_by_target_by_run_and_by_how_they_ended(monitor: Monitor) -> None:
    ids = await with_targets(monitor, 3)
    results = Results(monitor.store)
    run = await monitor.run(monitor.good)
    await monitor.make_due()
    broken = await monitor.run(monitor.changed_markup)
    assert [row["run_id"] for row in await results.of_target(ids[0])] == [broken["id"], run["id"]]
    rows = await results.of_run(run["id"], Ended.ACCEPT, limit=2)
    rows += await results.of_run(run["id"], Ended.ACCEPT, after=rows[-1]["target_id"])
    assert [row["target_id"] for row in rows] == sorted(ids)
    assert {row["url"] for row in rows} == {f"http://shop.test/product/{n}" for n in (1, 2, 3)}
    assert await results.of_run(run["id"], Ended.FAILED) == []
    assert len(await results.of_run(broken["id"], Ended.FAILED)) == 3
    target_id, result = await results.get(rows[0]["id"])
    assert (target_id, result.verdict) == (rows[0]["target_id"], "accept")
    with pytest.raises(ApiError):
        await results.get("0" * 32)


async def test_offers_stand_beside_what_was_accepted_last(monitor: Monitor) -> None:
    await with_targets(monitor, 1)
    await monitor.run(monitor.good)
    await monitor.make_due()
    await monitor.run(monitor.showing(price="199.90"))
    [offer] = await monitor.quarantine.list()
    accepted = await monitor.quarantine.accepted([offer, {**offer, "identity_key": None}])
    assert str(accepted[offer["id"]].price) == "19.99"


async def test_statuses_of_adapters_come_in_parts(monitor: Monitor) -> None:
    for name in ("one", "two"):
        source_id = await monitor.source(name)
        await monitor.targets(source_id, 1, host=f"{name}.test")
    await monitor.tick()
    [first] = await monitor.adapters.some(limit=1)
    [second] = await monitor.adapters.some(after=first.adapter_id)
    assert (first.adapter_id, second.adapter_id) == ("product@one", "product@two")
    assert await monitor.adapters.some(enabled=False) == []
