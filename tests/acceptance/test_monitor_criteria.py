"""What the price monitor has to do to be called done, one test for each, on the local site."""

import json
from pathlib import Path
from typing import Any

from sqlalchemy import select

from penstock.app.engine import open_queue
from penstock.kernel.model import Request
from penstock.products import visible
from penstock.products.sources import Visibility, set_visibility
from penstock.products.tables import prices, source_products
from penstock.store.unit import Unit
from penstock.workloads.monitor.model import DisabledReason
from penstock.workloads.monitor.tables import scrape_adapter_status, scrape_results, scrape_targets
from tests.clocks import HandClock
from tests.monitors import NEW_SHOP, add_source, add_targets, product_page
from tests.platforms import platform_for
from tests.site import Site
from tests.site.answers import Reply
from tests.stores import rows_of
from tests.watching import watching

GOLDEN = Path(__file__).parents[2] / "golden" / "sgammo"
SHOP = "http://shop01.test/product/{}"
VALID = ("in-stock", "sale-price", "tiers", "others-on-the-page", "out-of-stock-with-price")


def plant_sgammo(site: Site, *cases: str) -> list[str]:
    """Pages in the structure of sgammo.com on the local site; their URLs."""
    urls = []
    for case in cases:
        path = f"/product/{case}"
        site.reply("www.sgammo.com", path, Reply(200, (GOLDEN / case / "page.html").read_text()))
        urls.append(f"http://www.sgammo.com{path}")
    return urls


def with_sgammo(site: Site) -> dict[str, Any]:
    known = {**site.known_hosts, "www.sgammo.com": site.address}
    return {"admission": {"known_hosts": known}}


# Phase 1


async def test_fetcher_respects_robots(site: Site, tmp_path: Path) -> None:
    async with watching(site, tmp_path) as watch:
        await watch.shop("private", ["http://private.test/product/1"])
        [run] = await watch.run()
        [result] = await rows_of(watch.store, scrape_results)
    assert (result["fetch_status"], result["reason"]) == ("robots_blocked", "BLOCKED_BY_ROBOTS_TXT")
    assert run["drift_rate"] is None
    assert [hit.path for hit in site.hits_of("private.test")] == ["/robots.txt"]


async def test_the_default_pace_is_one_request_in_two_seconds(site: Site) -> None:
    clock = HandClock()
    async with platform_for(site, clock=clock) as platform:
        began = clock.monotonic()
        for number in (1, 2, 3):
            request = Request(SHOP.format(number), workload="monitor", extract="product")
            assert (await platform.pipeline.run(request)).ok
        # The robots.txt takes a turn, too.
        assert clock.monotonic() - began >= 3 * 2.0
        policy = platform.policies.look_up("shop01.test", "monitor")
    assert (policy.pace.rates[0], policy.pace.delay, policy.pace.concurrency) == ((1, 2.0), 2.0, 1)


async def test_an_offer_that_lacks_a_required_field_is_not_written(
    site: Site, tmp_path: Path
) -> None:
    url = "http://nameless.test/product/1"
    page = product_page(url, more={"name": ""}).replace("Kettle 1", "")
    site.reply("nameless.test", "/product/1", Reply(200, page))
    async with watching(site, tmp_path) as watch:
        await watch.shop("nameless", [url])
        [run] = await watch.run()
        found = await rows_of(watch.store, prices)
    assert (run["offers_valid"], found) == (0, [])
    assert run["offers_dropped"] + run["extraction_failures"] == 1


async def test_the_adapter_is_disabled_after_two_failed_batches_in_a_row(
    site: Site, tmp_path: Path
) -> None:
    urls = [f"http://new.test/product/{number}" for number in range(1, 21)]
    for url in urls:
        site.reply("new.test", url.removeprefix("http://new.test"), Reply(200, NEW_SHOP))
    async with watching(site, tmp_path) as watch:
        await watch.shop("new", urls)
        states = []
        for _ in range(2):
            await watch.run()
            [status] = await rows_of(watch.store, scrape_adapter_status)
            states.append((status["consecutive_failed_batches"], status["enabled"]))
    assert states == [(1, True), (2, False)]
    assert status["disabled_reason"] == DisabledReason.DRIFT_DETECTED


async def test_sold_out_without_price_is_tracked_and_no_drift(site: Site, tmp_path: Path) -> None:
    urls = [f"http://sold.test/product/{number}" for number in range(1, 21)]
    for url in urls:
        page = product_page(url, price=None, stock="OutOfStock")
        site.reply("sold.test", url.removeprefix("http://sold.test"), Reply(200, page))
    async with watching(site, tmp_path) as watch:
        await watch.shop("sold", urls)
        runs = [(await watch.run())[0] for _ in range(3)]
        [status] = await rows_of(watch.store, scrape_adapter_status)
    assert [run["oos_no_price_count"] for run in runs] == [20] * 3
    assert {run["status"] for run in runs} == {"SUCCESS"}
    assert (status["enabled"], status["consecutive_failed_batches"]) == (True, 0)


async def test_scraped_prices_are_for_consumers_only_when_the_source_is_eligible(
    site: Site, tmp_path: Path
) -> None:
    def shown(unit: Unit) -> list[Any]:
        products = unit.run(select(source_products.c.product_id)).scalars().all()
        return [row for product_id in products for row in visible.current(unit, product_id)]

    async with watching(site, tmp_path) as watch:
        source = await watch.shop("shop01", [SHOP.format(1)])
        await watch.run()
        before = await watch.store.read(shown)
        await watch.store.write(
            lambda unit: set_visibility(unit, source, Visibility.ELIGIBLE, who="ann") and None
        )
        after = await watch.store.read(shown)
    assert (len(before), len(after)) == (0, 1)


async def test_the_queue_rejects_targets_when_it_is_full(site: Site, tmp_path: Path) -> None:
    limits = {"max_pending_per_adapter": 5, "max_pending_total": 8}
    async with watching(site, tmp_path, monitor=limits) as watch:
        source = await add_source(watch.store, "shop01", "shop01.test")
        ids = await add_targets(watch.store, source, [SHOP.format(n) for n in range(1, 11)])
        launch = await watch.runs.start("ann", target_ids=ids)
        await watch.over()
        targets = await rows_of(watch.store, scrape_targets)
    assert launch.accepted == 5
    assert set(launch.refused.values()) == {"quota_full"}
    assert launch.retry_after == 60.0
    rejected = [row for row in targets if row["id"] in launch.refused]
    assert all(row["next_due_at"] is not None and row["run_id"] is None for row in rejected)


# Phase 2


async def test_sgammo_gives_price_title_and_availability(site: Site, tmp_path: Path) -> None:
    cases = (*VALID, "out-of-stock-without-price", "changed-structure")
    urls = plant_sgammo(site, *cases)
    async with watching(site, tmp_path, **with_sgammo(site)) as watch:
        await watch.shop("SGAmmo", urls, domain="sgammo.com", adapter_id="sgammo")
        [run] = await watch.run()
        results = {
            row["document"]["url"]: row for row in await rows_of(watch.store, scrape_results)
        }
        found = {row["url"]: row for row in await rows_of(watch.store, prices)}
        [status] = await rows_of(watch.store, scrape_adapter_status)
    assert status["adapter_id"] == "sgammo"
    for case, url in zip(cases, urls, strict=True):
        expected = json.loads((GOLDEN / case / "expected.json").read_text())
        # Every path through the adapter says what became of the page, never nothing.
        assert results[url]["verdict"] or results[url]["reason"]
        if case in VALID:
            product = results[url]["document"]["product"]
            assert product["name"]
            assert found[url]["availability"] in expected_words(expected)
            assert found[url]["ingestion_run_id"] == run["id"]
    assert results[urls[-2]]["reason"] == "OOS_NO_PRICE"
    assert results[urls[-1]]["reason"] in ("PAGE_STRUCTURE_CHANGED", "TITLE_NOT_FOUND")


def expected_words(expected: dict[str, Any]) -> tuple[str, ...]:
    """Both spellings of the availability that a golden case expects."""
    said = json.dumps(expected)
    return ("IN_STOCK",) if "InStock" in said or "IN_STOCK" in said else ("OUT_OF_STOCK",)


async def test_nine_in_ten_urls_give_a_valid_offer_with_its_provenance(
    site: Site, tmp_path: Path
) -> None:
    async with watching(site, tmp_path) as watch:
        await watch.shop("shop01", [SHOP.format(n) for n in range(1, 21)])
        [run] = await watch.run()
        found = await rows_of(watch.store, prices)
    assert run["yield_rate"] > 0.9
    assert {row["ingestion_run_type"] for row in found} == {"SCRAPE"}
    assert {row["ingestion_run_id"] for row in found} == {run["id"]}
    assert all(row["observed_at"] and row["adapter_version"] for row in found)


async def test_scraped_products_are_linked_to_canonical_ones(site: Site, tmp_path: Path) -> None:
    async with watching(site, tmp_path) as watch:
        await watch.shop("shop01", [SHOP.format(1)])
        await watch.run()
        [found] = await rows_of(watch.store, source_products)
    assert found["product_id"] is not None


# Phase 3


async def test_a_disabled_adapter_recovers_by_hand_and_carefully(
    site: Site, tmp_path: Path
) -> None:
    async with watching(site, tmp_path) as watch:
        await watch.shop("shop01", [SHOP.format(n) for n in range(1, 11)])
        await watch.run()
        await watch.adapters.disable("product@shop01", "ann", DisabledReason.MANUAL)
        assert await watch.run() == []
        await watch.adapters.enable("product@shop01", "ann")
        [canary] = await watch.run()
        [rest] = await watch.run()
    assert (canary["is_canary"], canary["urls_total"]) == (True, 3)
    assert rest["urls_total"] == 10


async def test_limits_of_the_queue_are_those_of_the_settings(site: Site, tmp_path: Path) -> None:
    async with watching(site, tmp_path) as watch:
        queue = open_queue(watch.platform.settings, watch.store)
        limit = queue._limits["monitor"]
    assert (limit.pending, limit.per_quota) == (10_000, 1_000)
