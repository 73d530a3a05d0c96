"""Runs of the monitor on both engines: scheduled, recorded and ended exactly once."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import update

from penstock.kernel.model import Blocked, SiteWide, UrlSpecific
from penstock.products.sources import approve_terms, edit_source
from penstock.queue.ports import LaneLimit
from penstock.queue.tables import items
from penstock.queue.upkeep import Upkeep
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor import runs
from penstock.workloads.monitor.clearance import Clearance
from penstock.workloads.monitor.model import DisabledReason, Trigger
from penstock.workloads.monitor.runs import RunRefused
from penstock.workloads.monitor.tables import scrape_targets
from tests.monitors import ROBOTS_DENY, open_monitor, product_page
from tests.stores import Stores, counted, lose_next_commit, pending


async def now_of(store: Store) -> int:
    return await store.read(lambda unit: unit.now)


async def test_a_run_counts_every_kind_of_end_and_its_rates_add_up(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 8)
    await monitor.tick()
    claims = sorted(await monitor.claims(), key=lambda claim: claim.payload["url"])
    turnouts = [
        monitor.good,
        monitor.sold_out,
        monitor.changed_markup,
        monitor.failing(SiteWide("timeout", "slow")),
        monitor.failing(ROBOTS_DENY),
        monitor.failing(UrlSpecific("http_404", "gone", 404)),
        monitor.showing(shown="24.99"),
        monitor.showing(stock=None),
    ]
    by_id = {claim.id: turnout for claim, turnout in zip(claims, turnouts, strict=True)}
    await monitor.end(claims, lambda claim: by_id[claim.id](claim))

    [run] = await monitor.all_runs()
    assert (run["urls_total"], run["urls_over"]) == (8, 8)
    assert run["urls_attempted"] == 7  # robots said no: nobody was asked for that page
    assert run["urls_attempted"] == run["urls_succeeded"] + run["urls_failed"]
    assert (run["urls_failed"], run["extraction_failures"]) == (3, 1)
    assert run["oos_no_price_count"] == 1
    assert run["offers_extracted"] == 3
    assert (run["offers_valid"], run["offers_quarantined"]) == (1, 1)
    assert (run["offers_dropped"], run["unknown_availability_count"]) == (2, 1)
    assert round(float(run["failure_rate"]), 4) == round(3 / 7, 4)
    assert round(float(run["yield_rate"]), 4) == round(1 / 7, 4)
    assert round(float(run["drop_rate"]), 4) == 0.5
    assert round(float(run["drift_rate"]), 4) == round(2 / 6, 4)
    assert run["status"] == "SUCCESS"
    assert len(await monitor.all_prices()) == 1
    assert [row["reason"] for row in await monitor.set_aside()] == ["AMBIGUOUS_PRICE"]
    assert sorted(row["fetch_status"] for row in await monitor.results()) == sorted(
        ["ok", "ok", "ok", "timeout", "robots_blocked", "error", "ok", "ok"]
    )
    assert await counted(monitor.store) == await pending(monitor.store) == {}


async def test_what_is_due_is_put_in_one_run_per_source_and_adapter_and_only_once(
    stores: Stores,
) -> None:
    monitor = await open_monitor(stores)
    for name in ("shop", "store"):
        await monitor.targets(await monitor.source(name), 3, host=f"{name}.test")
    await monitor.tick()
    await monitor.tick()
    begun = await monitor.all_runs()
    assert [(run["urls_total"], run["status"], run["trigger"]) for run in begun] == [
        (3, "RUNNING", "SCHEDULED")
    ] * 2
    assert len(await monitor.claims()) == 6
    assert {row["run_id"] for row in await monitor.all_targets()} == {run["id"] for run in begun}


async def test_a_source_is_not_read_before_its_terms_are_approved(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    source = await monitor.source(approved=False)
    await monitor.targets(source, 2)
    await monitor.tick()
    assert await monitor.all_runs() == []
    await monitor.store.write(lambda unit: approve_terms(unit, source, who="ann") and None)
    await monitor.tick()
    assert [run["urls_total"] for run in await monitor.all_runs()] == [2]


async def test_what_the_queue_has_no_room_for_stays_due(stores: Stores) -> None:
    monitor = await open_monitor(stores, LaneLimit(10, 3, 60.0))
    await monitor.targets(await monitor.source(), 5)
    await monitor.targets(await monitor.source("store"), 2, host="store.test")
    await monitor.tick()
    begun = await monitor.all_runs()
    # One shop with more than its share does not keep the other from being read.
    assert sorted(run["urls_total"] for run in begun) == [2, 3]
    waiting = [row for row in await monitor.all_targets() if row["run_id"] is None]
    assert len(waiting) == 2
    assert all(row["next_due_at"] is not None for row in waiting)
    assert monitor.rejected == [("quota_full", 2)]
    await monitor.end(await monitor.claims(), monitor.good)
    await monitor.make_due([row["id"] for row in waiting])
    await monitor.tick()
    assert all([(await monitor.target(row["id"]))["run_id"] for row in waiting])


async def test_a_full_queue_makes_the_scheduler_pause(stores: Stores) -> None:
    monitor = await open_monitor(stores, LaneLimit(1, None, 60.0))
    await monitor.targets(await monitor.source(), 4)
    await monitor.tick()
    assert [run["urls_total"] for run in await monitor.all_runs()] == [1]
    assert monitor.scheduler.backoff_until >= monitor.clock.monotonic() + 50
    assert monitor.rejected == [("queue_full", 3)]


async def test_a_run_ends_once_however_many_record_at_the_same_time(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 24)
    await monitor.tick()
    claims = await monitor.claims()
    parts = [claims[start : start + 3] for start in range(0, 24, 3)]
    await asyncio.gather(*(monitor.end(part, monitor.good) for part in parts))
    [run] = await monitor.all_runs()
    assert (run["urls_over"], run["offers_valid"], run["status"]) == (24, 24, "SUCCESS")
    assert (await monitor.topics()).count("run.finished") == 1
    assert len(await monitor.all_prices()) == 24


async def test_a_commit_whose_answer_was_lost_is_not_recorded_twice(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 3)
    await monitor.tick()
    claims = await monitor.claims()
    lose_next_commit(monitor.store)
    await monitor.end(claims, monitor.good)
    [run] = await monitor.all_runs()
    assert (run["urls_over"], run["offers_valid"]) == (3, 3)
    assert len(await monitor.all_prices()) == len(await monitor.results()) == 3


async def test_five_failures_in_a_row_break_a_url_and_a_recheck_mends_it(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    [target] = await monitor.targets(await monitor.source(), 1)
    gone = monitor.failing(UrlSpecific("http_404", "gone", 404))
    for failures in range(1, 6):
        assert (await monitor.target(target))["status"] == "ACTIVE"
        await monitor.run(gone)
        assert (await monitor.target(target))["consecutive_failures"] == failures
        await monitor.make_due()
    row = await monitor.target(target)
    assert row["status"] == "BROKEN"
    run = await monitor.run(gone)
    assert run["trigger"] == "RECHECK"
    row = await monitor.target(target)
    assert row["status"] == "BROKEN"
    week = row["next_due_at"] - row["updated_at"]
    assert week == 7 * 86_400_000
    await monitor.make_due()
    await monitor.run(monitor.good)
    row = await monitor.target(target)
    assert (row["status"], row["consecutive_failures"]) == ("ACTIVE", 0)


async def test_neither_an_outage_nor_a_hidden_price_breaks_a_url(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    [target] = await monitor.targets(await monitor.source(), 1)
    turnouts = [
        monitor.failing(UrlSpecific("http_404", "gone", 404)),
        *[monitor.failing(SiteWide("timeout", "slow"))] * 3,
        *[monitor.sold_out] * 3,
        monitor.failing(ROBOTS_DENY),
    ]
    for turnout in turnouts:
        await monitor.run(turnout)
        await monitor.make_due()
    row = await monitor.target(target)
    assert (row["status"], row["consecutive_failures"]) == ("ACTIVE", 1)


async def test_a_price_that_jumps_is_quarantined_and_the_same_product_twice_is_dropped(
    stores: Stores,
) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 2)
    await monitor.run(monitor.good)
    await monitor.make_due()
    run = await monitor.run(monitor.showing(price="199.99"))
    assert (run["offers_valid"], run["offers_quarantined"]) == (0, 2)
    assert {row["reason"] for row in await monitor.set_aside()} == {"VALIDATION_FAILED"}
    await monitor.make_due()
    run = await monitor.run(monitor.showing(more={"sku": "SKU-1"}))
    assert (run["offers_valid"], run["offers_dropped"]) == (1, 1)
    reasons = {row["reason"] for row in await monitor.results() if row["run_id"] == run["id"]}
    assert reasons == {None, "DUPLICATE_WITHIN_RUN"}


async def test_a_changed_price_and_stock_are_announced(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 1)
    await monitor.run(monitor.good)
    await monitor.make_due()
    await monitor.run(monitor.showing(price="17.99", stock="OutOfStock"))
    events = [event.message for event in await monitor.log.read()]
    [changed] = [event for event in events if event.topic == "price.changed"]
    assert (changed.data["before"]["price"], changed.data["after"]["price"]) == ("19.99", "17.99")
    assert "stock.changed" in {event.topic for event in events}
    assert len(monitor.changes) == 2


async def test_an_unchanged_page_appends_its_price_again(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    [target] = await monitor.targets(await monitor.source(), 1)
    page = product_page("http://shop.test/product/1")
    await monitor.run(lambda claim: monitor.page(claim, page, ETag='"one"'))
    await monitor.make_due()
    await monitor.tick()
    [claim] = await monitor.claims()
    request = monitor.lane.request(claim)
    assert (request.etag, len(request.content_hash)) == ('"one"', 64)
    await monitor.end([claim], monitor.unchanged)
    run = (await monitor.all_runs())[-1]
    names = ("offers_extracted", "offers_valid", "unchanged_count", "status")
    assert [run[name] for name in names] == [1, 1, 1, "SUCCESS"]
    rows = await monitor.all_prices()
    assert [str(row["price"]) for row in rows] == ["19.99", "19.99"]
    first, _ = await monitor.results()
    assert (await monitor.target(target))["last_good_result_id"] == first["id"]


async def test_a_new_version_of_an_adapter_ignores_what_the_old_one_knew(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 1, read_by="product@0.0.1", etag='"old"')
    await monitor.tick()
    [claim] = await monitor.claims()
    assert not monitor.lane.request(claim).conditions


async def test_targets_whose_items_went_stale_or_were_lost_leave_their_run(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 3)
    await monitor.tick()
    claims = await monitor.claims(1)
    await monitor.end(claims, monitor.good)
    assert await monitor.upkeep.settle_lost() == 0
    old = update(items).values(expires_at=1)
    await monitor.store.write(lambda unit: unit.run(old) and None)
    assert await Upkeep(monitor.store).make_stale() == 2
    assert await monitor.upkeep.settle_lost() == 2
    [run] = await monitor.all_runs()
    assert (run["urls_over"], run["urls_attempted"], run["status"]) == (3, 1, "SUCCESS")
    stale = [row for row in await monitor.all_targets() if row["status"] == "STALE"]
    assert len(stale) == 2
    assert all(row["run_id"] is None and row["next_due_at"] is None for row in stale)
    launch = await monitor.runs.start(
        "ann", target_ids=[row["id"] for row in stale], trigger=Trigger.RETRY
    )
    assert launch.accepted == 2
    await monitor.end(await monitor.claims(), monitor.good)
    assert {row["status"] for row in await monitor.all_targets()} == {"ACTIVE"}


async def test_a_run_by_hand_reads_what_is_named_and_says_why_not(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    source = await monitor.source()
    [fine] = await monitor.targets(source, 1)
    [paused] = await monitor.targets(source, 1, host="www.shop.test", status="PAUSED")
    launch = await monitor.runs.start("ann", target_ids=[fine, paused, "nonsense"])
    assert launch.accepted == 1
    assert set(launch.refused) == {paused, "nonsense"}
    again = await monitor.runs.start("ann", target_ids=[fine])
    assert again.refused == {fine: "it is in a run already"}
    [run] = await monitor.all_runs()
    assert run["trigger"] == "MANUAL"


async def test_a_run_by_hand_whose_commit_was_not_heard_of_is_started_once(
    stores: Stores,
) -> None:
    monitor = await open_monitor(stores)
    targets = await monitor.targets(await monitor.source(), 3)
    lose_next_commit(monitor.store)
    launch = await monitor.runs.start("ann", target_ids=targets)
    assert (launch.accepted, launch.refused) == (3, {})
    assert [run["id"] for run in await monitor.all_runs()] == list(launch.runs)


async def test_a_blocked_page_counts_as_unreadable(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 1)
    run = await monitor.run(monitor.failing(Blocked("captcha", "a captcha", 200)))
    assert (run["urls_failed"], run["extraction_failures"]) == (1, 1)
    [result] = await monitor.results()
    assert result["fetch_status"] == "blocked"


async def test_targets_that_are_nearly_due_go_along_with_those_of_their_shop(
    stores: Stores,
) -> None:
    monitor = await open_monitor(stores)
    soon = await now_of(monitor.store) + 200_000
    shop, store = await monitor.source(), await monitor.source("store")
    await monitor.targets(shop, 2)
    await monitor.targets(shop, 3, host="b.shop.test", next_due_at=soon)
    # Neither another shop's, nor one that was read lately, nor one that has its minute.
    await monitor.targets(store, 1, host="store.test", next_due_at=soon)
    await monitor.targets(shop, 1, host="c.shop.test", next_due_at=soon, last_scraped_at=soon)
    await monitor.targets(shop, 1, host="d.shop.test", next_due_at=soon, schedule="0 6 * * *")
    await monitor.tick()
    assert [run["urls_total"] for run in await monitor.all_runs()] == [5]


async def test_ops_are_told_of_rejections_and_of_a_long_pause(stores: Stores) -> None:
    monitor = await open_monitor(stores, LaneLimit(1, None, 1900.0))
    await monitor.targets(await monitor.source(), 4)
    await monitor.tick()
    assert [alert.kind for alert in monitor.alerts] == ["queue_rejections", "scheduler_paused"]
    assert "3 targets" in monitor.alerts[0].message


async def test_a_run_by_hand_of_a_large_source_says_how_many_are_left_and_goes_on(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MOST_BY_HAND", 2)
    monitor = await open_monitor(stores)
    source = await monitor.source()
    await monitor.targets(source, 5)
    found = [await monitor.runs.start("ann", source_id=source) for _ in range(3)]
    assert [(launch.accepted, launch.left) for launch in found] == [(2, 3), (2, 1), (1, 0)]


async def test_targets_that_cannot_be_read_do_not_stand_before_those_that_can(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MOST_BY_HAND", 3)
    monitor = await open_monitor(stores)
    source, stranger = await monitor.source(), await monitor.source("other", approved=False)
    await monitor.targets(source, 4, priority=9, robots_path_blocked=True)
    await monitor.targets(source, 4, host="a.shop.test", priority=8, adapter_id="gone")
    await monitor.targets(stranger, 4, host="other.test", priority=7)
    good = await monitor.targets(source, 4, host="b.shop.test")

    launch = await monitor.runs.start("ann", source_id=source)
    rest = await monitor.runs.start("ann", adapter="product")
    none = await monitor.runs.start("ann", adapter="product")

    assert (launch.accepted, launch.left) == (3, 1)
    assert set(launch.refused.values()) == {"its URL is blocked"}
    assert (rest.accepted, rest.left) == (1, 0)
    in_runs = [row["id"] for row in await monitor.all_targets() if row["run_id"]]
    assert in_runs == sorted(good)
    assert (none.accepted, none.left, len(none.refused)) == (0, 0, 3)


async def test_of_more_targets_than_fit_those_left_over_are_counted(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MOST_BY_HAND", 2)
    monitor = await open_monitor(stores)
    ids = await monitor.targets(await monitor.source(), 3)

    launch = await monitor.runs.start("ann", target_ids=ids)

    assert (launch.accepted, launch.left, dict(launch.refused)) == (2, 1, {})


async def test_the_failed_targets_of_a_run_are_tried_again(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    [bad, _] = await monitor.targets(await monitor.source(), 2)
    gone = monitor.failing(UrlSpecific("http_404", "gone", 404))
    run = await monitor.run(
        lambda claim: (gone if claim.payload["target"] == bad else monitor.good)(claim)
    )
    launch = await monitor.runs.retry("ann", run["id"])
    assert launch.accepted == 1
    [claim] = await monitor.claims()
    assert (claim.payload["target"], claim.payload["trigger"]) == (bad, "RETRY")
    await monitor.end([claim], monitor.good)
    with pytest.raises(RunRefused):
        await monitor.runs.retry("ann", launch.runs[0])


async def test_a_broken_url_that_answers_again_begins_anew_even_if_it_is_sold_out(
    stores: Stores,
) -> None:
    monitor = await open_monitor(stores)
    [target] = await monitor.targets(
        await monitor.source(), 1, status="BROKEN", consecutive_failures=5
    )
    await monitor.run(monitor.sold_out)
    row = await monitor.target(target)
    assert (row["status"], row["consecutive_failures"]) == ("ACTIVE", 0)


async def test_the_adapter_of_the_run_counts_and_not_the_one_the_target_has_by_now(
    stores: Stores,
) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 1)
    await monitor.tick()
    [claim] = await monitor.claims()
    other = update(scrape_targets).values(adapter_id="article")
    await monitor.store.write(lambda unit: unit.run(other) and None)
    await monitor.adapters.disable("product@shop", "ann", DisabledReason.MANUAL)
    refused = await monitor.lane.provide(claim)
    assert refused is not None
    assert refused.reason == "adapter_disabled"


async def test_who_asks_for_clearance_hears_of_any_trouble(stores: Stores) -> None:
    store = await stores.open()
    clearance = Clearance(store, stores.clock)
    trouble: list[Exception] = [ZeroDivisionError("a bug")]

    async def read(work: Callable[[Unit], Any]) -> Any:
        if trouble:
            raise trouble.pop()
        return await store.read(work)

    clearance._store = SimpleNamespace(read=read)  # type: ignore[assignment]
    with pytest.raises(ZeroDivisionError):
        await clearance.ask("nonsense", "no run")
    refused = await clearance.ask("nonsense", "no run")
    assert refused is not None
    assert refused.reason == "target_withdrawn"


async def test_what_was_approved_for_one_domain_does_not_hold_for_another(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    source = await monitor.source()
    ids = await monitor.targets(source, 2)

    def move(unit: Unit) -> None:
        edit_source(unit, source, who="ann", domain="moved.test")
        approve_terms(unit, source, who="ann")

    await monitor.store.write(move)
    launch = await monitor.runs.start("ann", target_ids=ids)

    assert set(launch.refused.values()) == {"its URL is not at moved.test, where its source is"}
