"""Drift on both engines: an adapter that no longer fits is stopped, and comes back slowly."""

import asyncio

import pytest
from sqlalchemy import update

from penstock.kernel.model import Outcome, SiteWide, UrlSpecific
from penstock.queue.ports import Claim
from penstock.store.unit import Unit
from penstock.workloads.monitor.adapters import UnknownAdapterStatus
from penstock.workloads.monitor.model import DisabledReason
from penstock.workloads.monitor.tables import scrape_runs, scrape_targets
from tests.monitors import Monitor, open_monitor
from tests.stores import Stores


async def broken_shop(stores: Stores, batches: int) -> Monitor:
    """A shop that changed its pages, so many batches ago."""
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 20)
    for _ in range(batches):
        await monitor.run(monitor.changed_markup)
        await monitor.make_due()
    return monitor


async def test_one_bad_batch_is_told_of_and_the_second_stops_the_adapter(stores: Stores) -> None:
    monitor = await broken_shop(stores, 1)
    status = await monitor.status()
    assert (status["adapter_id"], status["enabled"]) == ("product@shop", True)
    assert (status["consecutive_failed_batches"], status["last_batch_failure_rate"]) == (1, 1)
    assert {alert.kind for alert in monitor.alerts} == {"high_failure_rate", "no_offers"}
    run = await monitor.run(monitor.changed_markup)
    status = await monitor.status()
    assert run["status"] == "QUARANTINED"
    assert (status["enabled"], status["disabled_reason"]) == (False, "DRIFT_DETECTED")
    assert ("adapter_disabled", "P1") in {(a.kind, a.severity) for a in monitor.alerts}
    assert "adapter.disabled" in await monitor.topics()
    await monitor.make_due()
    await monitor.tick()
    assert await monitor.claims() == []


async def test_one_broken_shop_stops_no_other_that_shares_its_adapter(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 20)
    await monitor.targets(await monitor.source("store"), 20, host="store.test")
    for _ in range(2):
        await monitor.run(
            lambda claim: (
                monitor.changed_markup(claim)
                if "shop.test" in claim.payload["url"]
                else monitor.good(claim)
            )
        )
        await monitor.make_due()
    found = {status.adapter_id: status.enabled for status in await monitor.adapters.all()}
    assert found == {"product@shop": False, "product@store": True}


async def test_small_runs_make_a_batch_together(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 12)
    for number in range(1, 5):
        run = await monitor.run(monitor.changed_markup)
        await monitor.make_due()
        status = await monitor.status()
        assert status["enabled"] == (number < 4)
        # Such a run is bad in itself, but only with others it is enough to judge by.
        assert run["status"] == ("FAILED" if number < 4 else "QUARANTINED")
    assert status["pooled"] == {}


async def test_late_offers_of_a_disabled_adapter_are_quarantined(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 6)
    await monitor.tick()
    claims = await monitor.claims()
    await monitor.end(claims[:2], monitor.good)
    begun = [await monitor.lane.provide(claim) for claim in claims[2:4]]
    assert begun == [None, None]
    await monitor.adapters.disable("product@shop", "ann", DisabledReason.MANUAL)
    late = [monitor.good(claim) for claim in claims[2:4]]
    await monitor.settle(claims[2:4], late)
    await monitor.end(claims[4:], monitor.good)
    [run] = await monitor.all_runs()
    assert (run["status"], run["urls_over"], run["urls_attempted"]) == ("QUARANTINED", 6, 4)
    assert (run["offers_valid"], run["offers_quarantined"]) == (2, 2)
    assert {row["reason"] for row in await monitor.set_aside()} == {"DRIFT_DETECTED"}
    refused = [row["reason"] for row in await monitor.results() if row["verdict"] is None]
    assert refused == ["adapter_disabled"] * 2
    status = await monitor.status()
    assert (status["disabled_by"], status["disabled_reason"]) == ("ann", "MANUAL")


async def test_the_first_run_after_enabling_is_a_canary_and_the_rest_waits_for_it(
    stores: Stores,
) -> None:
    monitor = await broken_shop(stores, 2)
    await monitor.tick()
    assert await monitor.claims() == []
    await monitor.adapters.enable("product@shop", "ann")
    await monitor.tick()
    claims = await monitor.claims()
    assert len(claims) == 3
    await monitor.tick()
    assert await monitor.claims() == []
    await monitor.end(claims, monitor.good)
    run = (await monitor.all_runs())[-1]
    assert (run["is_canary"], run["status"]) == (True, "SUCCESS")
    await monitor.tick()
    assert len(await monitor.claims()) == 17
    assert not (await monitor.status())["needs_canary"]


async def test_what_the_broken_adapter_could_not_read_is_due_when_it_is_enabled_again(
    stores: Stores,
) -> None:
    monitor = await broken_shop(stores, 1)
    await monitor.run(monitor.changed_markup)
    await monitor.adapters.enable("product@shop", "ann")
    await monitor.tick()
    canary = await monitor.claims()
    await monitor.end(canary, monitor.good)
    await monitor.tick()
    assert (len(canary), len(await monitor.claims())) == (3, 17)


async def test_what_was_read_well_keeps_its_time_when_an_adapter_is_enabled_again(
    stores: Stores,
) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 3)
    await monitor.run(monitor.good)
    before = [row["next_due_at"] for row in await monitor.all_targets()]
    await monitor.adapters.disable("product@shop", "ann", DisabledReason.MANUAL)
    await monitor.adapters.enable("product@shop", "ann")
    assert [row["next_due_at"] for row in await monitor.all_targets()] == before


async def test_a_bad_canary_disables_the_adapter_again(stores: Stores) -> None:
    monitor = await broken_shop(stores, 2)
    await monitor.tick()
    await monitor.adapters.enable("product@shop", "ann")
    run = await monitor.run(monitor.changed_markup)
    assert (run["urls_total"], run["status"]) == (3, "QUARANTINED")
    assert not (await monitor.status())["enabled"]


async def test_zero_prices_are_quarantined_and_twice_in_a_row_stop_the_adapter(
    stores: Stores,
) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 20)

    def one_is_free(claim: Claim) -> Outcome:
        is_free = claim.payload["url"].endswith("/1")
        return monitor.showing(price="0.00" if is_free else "19.99")(claim)

    run = await monitor.run(one_is_free)
    assert (run["zero_price_count"], run["offers_quarantined"], run["offers_valid"]) == (1, 1, 19)
    assert [alert.kind for alert in monitor.alerts] == ["zero_price"]
    await monitor.make_due()
    run = await monitor.run(one_is_free)
    assert run["status"] == "QUARANTINED"
    assert not (await monitor.status())["enabled"]


async def test_a_baseline_is_made_of_good_runs_and_silent_loss_is_told_of(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 20)
    for _ in range(4):
        await monitor.run(monitor.good)
        await monitor.make_due()
    status = await monitor.status()
    assert (status["baseline_sample_size"], status["baseline_yield_rate"]) == (3, 1)
    assert status["baseline_coverage"]["brand"] == 1.0
    await monitor.run(monitor.showing(more={"brand": None, "image": None}))
    assert [alert.kind for alert in monitor.alerts] == ["fields_lost"]
    assert "brand" in monitor.alerts[0].message


async def test_nobody_can_enable_what_there_is_not(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    with pytest.raises(UnknownAdapterStatus, match="nonsense"):
        await monitor.adapters.enable("nonsense", "ann")


async def test_disabling_while_results_come_in_loses_none(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 20)
    await monitor.tick()
    claims = await monitor.claims()
    parts = [claims[start : start + 4] for start in range(0, 20, 4)]
    await asyncio.gather(
        *(monitor.end(part, monitor.good) for part in parts),
        monitor.adapters.disable("product@shop", "ann", DisabledReason.TOS_VIOLATION),
    )
    [run] = await monitor.all_runs()
    assert run["urls_over"] == 20
    assert run["status"] in ("QUARANTINED", "SUCCESS")
    total = run["offers_valid"] + run["offers_quarantined"]
    assert total == run["urls_attempted"] == run["offers_extracted"]
    assert len(await monitor.all_prices()) == run["offers_valid"]


async def test_disabling_and_enabling_during_a_canary_leaves_no_target_waiting(
    stores: Stores,
) -> None:
    monitor = await broken_shop(stores, 2)
    await monitor.tick()
    await monitor.adapters.enable("product@shop", "ann")
    await monitor.tick()
    first = await monitor.claims()
    await monitor.adapters.disable("product@shop", "ann", DisabledReason.MANUAL)
    await monitor.adapters.enable("product@shop", "ann")
    await monitor.tick()
    second = await monitor.claims()
    assert (len(first), len(second)) == (3, 3)
    await monitor.end(first, monitor.good)
    await monitor.end(second, monitor.good)
    await monitor.tick()
    await monitor.end(await monitor.claims(), monitor.good)
    assert all(row["next_due_at"] is not None for row in await monitor.all_targets())
    assert not (await monitor.status())["needs_canary"]


async def test_the_rest_of_a_run_is_not_read_by_an_adapter_that_was_disabled_and_is_back(
    stores: Stores,
) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 6)
    await monitor.tick()
    await monitor.adapters.disable("product@shop", "ann", DisabledReason.MANUAL)
    await monitor.adapters.enable("product@shop", "ann")

    claims = await monitor.claims()
    refused = [await monitor.lane.provide(claim) for claim in claims]
    await monitor.end(claims, monitor.good)

    assert [each and each.reason for each in refused] == ["adapter_disabled"] * 6
    [run] = await monitor.all_runs()
    assert (run["status"], run["urls_over"], run["urls_attempted"]) == ("QUARANTINED", 6, 0)
    await monitor.make_due()
    await monitor.tick()
    assert len(await monitor.claims()) == 3


async def test_what_was_set_aside_too_late_to_be_woken_is_looked_at_after_an_hour(
    stores: Stores,
) -> None:
    monitor = await open_monitor(stores)
    await monitor.tick()
    await monitor.targets(await monitor.source(), 3)
    await monitor.tick()
    await monitor.end(await monitor.claims(), monitor.good)
    lost = update(scrape_targets).values(next_due_at=None)
    await monitor.store.write(lambda unit: unit.run(lost) and None)
    await monitor.tick()
    assert await monitor.claims() == []
    monitor.scheduler.forget_woken()
    await monitor.tick()
    assert len(await monitor.claims()) == 3


async def test_pages_that_are_all_gone_stop_an_adapter_and_a_site_that_is_away_does_not(
    stores: Stores,
) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 20)
    for _ in range(2):
        await monitor.run(monitor.failing(SiteWide("timeout", "slow")))
        await monitor.make_due()
    assert (await monitor.status())["enabled"]
    for _ in range(2):
        await monitor.run(monitor.failing(UrlSpecific("http_404", "gone", 404)))
        await monitor.make_due()
    assert not (await monitor.status())["enabled"]


async def test_broken_urls_say_nothing_of_what_is_usual(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 20)
    await monitor.run(monitor.good)
    recheck = update(scrape_runs).values(trigger="RECHECK")
    await monitor.store.write(lambda unit: unit.run(recheck) and None)
    await monitor.make_due()
    await monitor.run(monitor.good)
    assert (await monitor.status())["baseline_sample_size"] == 0


async def test_abandoned_runs_of_a_stopped_adapter_are_all_quarantined(stores: Stores) -> None:
    monitor = await broken_shop(stores, 1)
    for part in range(2):
        ids = [row["id"] for row in await monitor.all_targets()][part * 10 :][:10]
        await monitor.runs.start("ann", target_ids=ids)
    bad = {"extraction_failures": 20, "urls_attempted": 20, "urls_failed": 20, "started_at": 1}
    is_new = scrape_runs.c.status == "RUNNING"

    def abandon(unit: Unit) -> None:
        unit.run(update(scrape_runs).where(is_new).values(bad))
        unit.run(update(scrape_targets).values(run_id=None))

    await monitor.store.write(abandon)
    assert await monitor.upkeep.settle_lost() == 2
    assert [run["status"] for run in await monitor.all_runs()][1:] == ["QUARANTINED"] * 2
