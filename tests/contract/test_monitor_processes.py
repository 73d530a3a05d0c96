"""Several processes on one store: what they schedule and record at once adds up."""

import asyncio

from penstock.kernel.model import UrlSpecific
from penstock.workloads.monitor.model import DisabledReason
from tests.monitors import open_monitor
from tests.stores import Stores, counted, pending


async def test_schedulers_that_look_at_once_put_nothing_twice(stores: Stores) -> None:
    monitors = [await open_monitor(stores) for _ in range(3)]
    await monitors[0].targets(await monitors[0].source(), 30)
    await asyncio.gather(*(monitor.tick() for monitor in monitors))
    claims = await monitors[0].claims()
    assert len({claim.payload["target"] for claim in claims}) == len(claims) == 30
    runs = await monitors[0].all_runs()
    assert sum(run["urls_total"] for run in runs) == 30


async def test_processes_that_record_one_run_at_once_count_every_end_once(stores: Stores) -> None:
    monitors = [await open_monitor(stores) for _ in range(4)]
    first = monitors[0]
    await first.targets(await first.source(), 40)
    await first.tick()
    claims = await first.claims()
    gone = first.failing(UrlSpecific("http_404", "gone", 404))
    await asyncio.gather(
        *(
            monitors[part % 4].end(claims[part::8], gone if part == 7 else first.good)
            for part in range(8)
        )
    )
    runs = await first.all_runs()
    assert {run["status"] for run in runs} == {"SUCCESS"}
    names = ("urls_over", "urls_attempted", "urls_failed", "offers_valid")
    totals = [sum(run[name] for run in runs) for name in names]
    assert totals == [40, 40, 5, 35]
    assert sum(run["field_counts"]["brand"] for run in runs) == 35
    assert (await first.topics()).count("run.finished") == len(runs)
    assert len(await first.all_prices()) == 35
    assert await counted(first.store) == await pending(first.store) == {}


async def test_an_adapter_disabled_by_another_process_ends_its_runs_quarantined(
    stores: Stores,
) -> None:
    here, there = await open_monitor(stores), await open_monitor(stores)
    await here.targets(await here.source(), 20)
    await here.tick()
    claims = await here.claims()
    await here.end(claims[:5], here.good)
    await asyncio.gather(
        *(here.end(claims[start : start + 3], here.good) for start in range(5, 20, 3)),
        there.adapters.disable("product@shop", "ann", DisabledReason.MANUAL),
        there.upkeep.settle_lost(),
    )
    [run] = await here.all_runs()
    assert (run["urls_over"], run["status"]) in ((20, "QUARANTINED"), (20, "SUCCESS"))
    assert run["offers_valid"] + run["offers_quarantined"] == run["urls_attempted"]
    assert len(await here.all_prices()) == run["offers_valid"] >= 5
