"""What failed in a run of the monitor, read again on both engines: each target once."""

import pytest
from sqlalchemy import update

from penstock.kernel.model import Outcome, UrlSpecific
from penstock.queue.ports import Claim
from penstock.queue.tables import items
from penstock.workloads.monitor import runs
from penstock.workloads.monitor.runs import LANE, RunRefused
from penstock.workloads.monitor.tables import scrape_targets
from tests.monitors import Monitor, Row, open_monitor
from tests.stores import Stores

GONE = UrlSpecific("http_404", "gone", 404)


async def a_bad_run(monitor: Monitor, targets: int) -> Row:
    """A run in which nothing could be read."""
    await monitor.targets(await monitor.source(), targets)
    return await monitor.run(monitor.failing(GONE))


async def test_a_second_retry_goes_on_with_what_the_first_had_no_room_for(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MOST_BY_HAND", 2)
    monitor = await open_monitor(stores)
    run = await a_bad_run(monitor, 5)

    first = await monitor.runs.retry("ann", run["id"])
    await monitor.end(await monitor.claims(), monitor.failing(GONE))
    # The first is over, this one is not when the last is asked for.
    second = await monitor.runs.retry("ann", run["id"])
    third = await monitor.runs.retry("ann", run["id"])

    found = [(launch.accepted, launch.left) for launch in (first, second, third)]
    assert found == [(2, 3), (2, 1), (1, 0)]
    with pytest.raises(RunRefused, match="was read since, or is being read now"):
        await monitor.runs.retry("ann", run["id"])
    await monitor.end(await monitor.claims(), monitor.good)
    results = [row["target_id"] for row in await monitor.results()]
    assert all(results.count(target["id"]) == 2 for target in await monitor.all_targets())


async def test_what_failed_again_is_retried_by_the_run_in_which_it_did(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    run = await a_bad_run(monitor, 2)
    again = await monitor.runs.retry("ann", run["id"])
    await monitor.end(await monitor.claims(), monitor.failing(GONE))

    with pytest.raises(RunRefused, match="was read since"):
        await monitor.runs.retry("ann", run["id"])

    assert (await monitor.runs.retry("ann", again.runs[0])).accepted == 2


async def test_what_a_retry_finds_says_nothing_of_the_adapter(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 100)

    def some_changed(claim: Claim) -> Outcome:
        is_new = int(claim.payload["url"].rpartition("/")[2]) <= 20
        return (monitor.changed_markup if is_new else monitor.good)(claim)

    run = await monitor.run(some_changed)
    for _ in range(2):
        launch = await monitor.runs.retry("ann", run["id"])
        await monitor.end(await monitor.claims(), some_changed)
        run = {"id": launch.runs[0]}

    # A fifth of the shop fails: three times the same twenty, and not three batches.
    status = await monitor.status()
    assert (launch.accepted, status["enabled"], monitor.alerts) == (20, True, [])
    assert float(status["last_batch_failure_rate"]) == 0.2


async def test_a_retry_that_went_well_is_no_measure_of_what_is_usual(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    run = await a_bad_run(monitor, 20)
    await monitor.runs.retry("ann", run["id"])
    await monitor.end(await monitor.claims(), monitor.good)

    await monitor.make_due()
    await monitor.run(monitor.good)

    assert [each["status"] for each in await monitor.all_runs()] == ["FAILED", "SUCCESS", "SUCCESS"]
    assert (await monitor.status())["baseline_sample_size"] == 0


async def test_a_revived_item_of_a_target_that_left_its_run_is_not_begun(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    [target] = await monitor.targets(await monitor.source(), 1)
    await monitor.tick()
    stale = update(items).values(state="stale", finished_at=1)
    await monitor.store.write(lambda unit: unit.run(stale) and None)
    await monitor.upkeep.settle_lost()
    launch = await monitor.runs.start("ann", target_ids=[target])
    await monitor.queue.revive(lane=LANE)

    old, new = sorted(await monitor.claims(), key=lambda claim: claim.id)
    refused = await monitor.lane.provide(old)

    assert refused is not None
    assert (refused.reason, refused.detail) == (
        "target_withdrawn",
        "it is not in this run any more",
    )
    assert (await monitor.lane.provide(new), new.payload["run"]) == (None, launch.runs[0])
    await monitor.end([old, new], monitor.good)
    assert [run["urls_over"] for run in await monitor.all_runs()] == [1, 1]
    assert len(await monitor.all_prices()) == 1


async def test_what_cannot_be_retried_is_told_of_and_stands_in_nobodys_way(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MOST_BY_HAND", 2)
    monitor = await open_monitor(stores)
    source = await monitor.source()
    paused = await monitor.targets(source, 2, priority=9)
    [broken] = await monitor.targets(source, 1, host="a.shop.test", consecutive_failures=4)
    run = await monitor.run(monitor.failing(GONE))
    await monitor.store.write(
        lambda unit: (
            unit.run(
                update(scrape_targets)
                .where(scrape_targets.c.id.in_(paused))
                .values(status="PAUSED")
            )
            and None
        )
    )

    launch = await monitor.runs.retry("ann", run["id"])

    assert (await monitor.target(broken))["status"] == "BROKEN"
    assert (await monitor.target(broken))["run_id"] == launch.runs[0]
    assert dict(launch.refused) == dict.fromkeys(paused, "it is paused: resume it")
