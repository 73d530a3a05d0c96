"""What failed in a run of the monitor, read again on both engines: each target once."""

import pytest
from sqlalchemy import update

from penstock.kernel.model import UrlSpecific
from penstock.workloads.monitor import runs
from penstock.workloads.monitor.runs import RunRefused
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
