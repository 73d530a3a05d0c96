"""The price monitor on the local site, whole: what is watched, what goes wrong, what survives."""

import asyncio
import sqlite3
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from penstock.app.monitoring import paces_of_sources
from penstock.core.clock import SystemClock
from penstock.products.tables import prices
from penstock.store import migrate
from penstock.store.settings import StoreSettings
from penstock.store.store import open_store
from penstock.workloads.monitor.tables import (
    quarantined_offers,
    scrape_adapter_status,
    scrape_results,
    scrape_targets,
)
from tests.monitors import NEW_SHOP, add_source, add_targets, product_page
from tests.shell import Shell, eventually
from tests.site import Site
from tests.site.answers import Hit, Reply
from tests.site.shops import product
from tests.stores import rows_of
from tests.watching import watching

SHOP = "http://shop01.test/product/{}"


def plant(site: Site, host: str, number: int, **traits: Any) -> list[str]:
    """So many products of a shop of the test's own; their URLs."""
    urls = [f"http://{host}/product/{place}" for place in range(1, number + 1)]
    for url in urls:
        site.reply(
            host, url.removeprefix(f"http://{host}"), Reply(200, product_page(url, **traits))
        )
    return urls


async def test_shops_are_read_judged_and_their_prices_appended(site: Site, tmp_path: Path) -> None:
    [hidden] = plant(site, "hidden.test", 1, price=None, stock="OutOfStock")
    [rivals] = plant(site, "rivals.test", 1, shown="24.99")
    async with watching(site, tmp_path) as watch:
        await watch.shop("shop01", [SHOP.format(n) for n in range(1, 8)])
        await watch.shop("hidden", [hidden])
        await watch.shop("rivals", [rivals])
        await watch.shop("private", ["http://private.test/product/1"])
        runs = await watch.run()
        found = await rows_of(watch.store, prices)
        results = await rows_of(watch.store, scrape_results)
        [waiting] = await rows_of(watch.store, quarantined_offers)

    assert len(runs) == 4
    total = Counter[str]()
    for run in runs:
        total.update({name: run[name] for name in ("urls_total", "urls_over", "offers_valid")})
    assert total == {"urls_total": 10, "urls_over": 10, "offers_valid": 7}
    truth = {SHOP.format(n): product("shop01.test", n) for n in range(1, 8)}
    assert {row["url"]: int(row["price"] * 100) for row in found} == {
        url: item.price_minor for url, item in truth.items()
    }
    assert {row["ingestion_run_type"] for row in found} == {"SCRAPE"}
    assert {row["availability"] for row in found} == {"IN_STOCK", "OUT_OF_STOCK"}
    assert waiting["reason"] == "AMBIGUOUS_PRICE"
    reasons = Counter(row["reason"] for row in results)
    assert reasons == {
        None: 7,
        "OOS_NO_PRICE": 1,
        "AMBIGUOUS_PRICE": 1,
        "BLOCKED_BY_ROBOTS_TXT": 1,
    }
    assert not site.hits_of("private.test", "/product/1")
    assert all(row["body"] for row in results if row["fetch_status"] == "ok")


async def test_a_page_that_has_not_changed_costs_no_extraction(site: Site, tmp_path: Path) -> None:
    [untagged] = plant(site, "untagged.test", 1)
    async with watching(site, tmp_path) as watch:
        await watch.shop("shop01", [SHOP.format(1)])
        await watch.shop("untagged", [untagged])
        await watch.run()
        runs = await watch.run()
        found = await rows_of(watch.store, prices)

    assert [run["unchanged_count"] for run in runs] == [1, 1]
    assert [run["offers_valid"] for run in runs] == [1, 1]
    assert Counter(row["url"] for row in found) == {SHOP.format(1): 2, untagged: 2}
    first, second = site.hits_of("shop01.test", "/product/1")
    assert "If-None-Match" not in first.headers
    assert "If-None-Match" in second.headers


async def test_a_shop_that_changes_its_pages_stops_its_adapter_and_no_wrong_price_is_written(
    site: Site, tmp_path: Path
) -> None:
    urls = plant(site, "changing.test", 20)
    async with watching(site, tmp_path) as watch:
        await watch.shop("changing", urls)
        await watch.shop("shop01", [SHOP.format(n) for n in range(1, 21)])
        await watch.run()
        for url in urls:
            site.reply(
                "changing.test", url.removeprefix("http://changing.test"), Reply(200, NEW_SHOP)
            )
        first, second, third = [await watch.run() for _ in range(3)]
        statuses = {
            row["adapter_id"]: row for row in await rows_of(watch.store, scrape_adapter_status)
        }
        events = [event.message for event in await watch.engine.log.read(limit=1000)]
        found = await rows_of(watch.store, prices)

    assert sorted(run["status"] for run in first) == ["FAILED", "SUCCESS"]
    assert sorted(run["status"] for run in second) == ["QUARANTINED", "SUCCESS"]
    assert [run["status"] for run in third] == ["SUCCESS"]
    assert not statuses["product@changing"]["enabled"]
    assert statuses["product@shop01"]["enabled"]
    assert [event.key for event in events if event.topic == "adapter.disabled"] == [
        "product@changing"
    ]
    kinds = [event.data["kind"] for event in events if event.topic == "alert.raised"]
    assert {"high_failure_rate", "no_offers", "adapter_disabled"} <= set(kinds)
    assert sum(row["url"].startswith("http://changing.test") for row in found) == 20


async def test_what_a_source_says_of_headers_and_pace_is_kept_to(
    site: Site, tmp_path: Path
) -> None:
    urls = plant(site, "headers.test", 1)
    config = {"customHeaders": {"Accept-Language": "de-DE"}, "rateLimit": {"requestsPerSecond": 4}}
    async with watching(site, tmp_path) as watch:
        source = await add_source(watch.store, "headers", "headers.test", scrape_config=config)
        await add_targets(watch.store, source, urls)
        await watch.run()
        watch.platform.policies.learn_sources(await paces_of_sources(watch.store))
        pace = watch.platform.policies.look_up("headers.test", "monitor").pace
        other = watch.platform.policies.look_up("other.test", "monitor").pace

    [hit] = site.hits_of("headers.test", "/product/1")
    assert hit.headers["Accept-Language"] == "de-DE"
    assert (pace.rates[0], pace.delay) == ((4, 1.0), 0.25)
    assert other.rates[0] == (1000, 1.0)


async def test_an_outage_neither_breaks_urls_nor_stops_the_adapter(
    site: Site, tmp_path: Path
) -> None:
    urls = plant(site, "away.test", 20)
    quick = {"breaker": {"threshold": 1000, "window": 1000}}
    async with watching(site, tmp_path, **quick) as watch:
        await watch.shop("away", urls)
        await watch.run()
        for url in urls:
            site.reply("away.test", url.removeprefix("http://away.test"), Reply(503, "later"))
        runs = [(await watch.run())[0] for _ in range(2)]
        targets = await rows_of(watch.store, scrape_targets)
        [status] = await rows_of(watch.store, scrape_adapter_status)

    assert [(run["urls_failed"], run["extraction_failures"]) for run in runs] == [(20, 0)] * 2
    assert [run["drift_rate"] for run in runs] == [0, 0]
    assert status["enabled"]
    assert {(row["status"], row["consecutive_failures"]) for row in targets} == {("ACTIVE", 0)}


async def test_a_killed_monitor_accounts_for_every_target_once(shell: Shell) -> None:
    site, hosts = shell.site, [f"kill{number}.test" for number in range(5)]
    folder = shell.folder / "penstock-data"
    folder.mkdir()
    async with open_store(StoreSettings(folder=folder), SystemClock()) as store:
        await migrate.upgrade(store)
        for host in hosts:
            source = await add_source(store, host, host)
            await add_targets(store, source, plant_slow(site, host, 40))
    pace = {
        "PENSTOCK_MONITOR__REQUESTS_PER_SECOND": "1000",
        "PENSTOCK_MONITOR__REQUEST_DELAY_MS": "20",
        "PENSTOCK_MONITOR__MAX_CONCURRENT": "4",
        "PENSTOCK_MONITOR__TICK_SECONDS": "0.2",
    }
    for wanted in (40, 110):
        process = await shell.start("up", "--no-api", **pace)
        await eventually(partial(has_results, folder, wanted))
        process.kill()
        await process.communicate()
    assert ask(folder, RESULTS)[0][0] < 200
    process = await shell.start("up", "--no-api", **pace)
    await eventually(lambda: ask(folder, RUNNING)[0][0] == 0, 60)
    process.terminate()
    await process.communicate()

    assert ask(folder, RESULTS) == [(200, 200)]
    [totals] = ask(folder, TOTALS)
    assert totals == (200, 200, 200, 200, 0, 200, 200, 0, 0)
    assert ask(folder, "SELECT count(*), count(DISTINCT target_id) FROM prices") == [(200, 200)]
    finished = "SELECT count(*), count(DISTINCT id) FROM events WHERE topic = 'run.finished'"
    [(runs,)] = ask(folder, "SELECT count(*) FROM scrape_runs WHERE status = 'SUCCESS'")
    assert ask(folder, finished) == [(runs, runs)]
    assert ask(folder, "SELECT count(*) FROM scrape_targets WHERE run_id IS NOT NULL") == [(0,)]


RESULTS = "SELECT count(*), count(DISTINCT target_id) FROM scrape_results"
RUNNING = "SELECT count(*) FROM scrape_targets WHERE run_id IS NOT NULL OR last_status IS NULL"
TOTALS = (
    "SELECT sum(urls_total), sum(urls_over), sum(urls_attempted), sum(urls_succeeded), "
    "sum(urls_failed), sum(offers_extracted), sum(offers_valid), sum(offers_dropped), "
    "sum(offers_quarantined) FROM scrape_runs"
)


def plant_slow(site: Site, host: str, number: int) -> list[str]:
    """Products whose pages take a moment, so that there is a middle to be killed in."""
    urls = [f"http://{host}/product/{place}" for place in range(1, number + 1)]

    def answer(hit: Hit) -> Reply:
        return Reply(200, product_page(f"http://{hit.host}{hit.route}"), delay=0.05)

    for url in urls:
        site.reply(host, url.removeprefix(f"http://{host}"), answer)
    return urls


def has_results(folder: Path, wanted: int) -> bool:
    return bool(ask(folder, RESULTS)[0][0] >= wanted)


def ask(folder: Path, query: str) -> list[tuple[Any, ...]]:
    store = sqlite3.connect(f"file:{folder / 'penstock.db'}?mode=ro", uri=True, timeout=20)
    try:
        return store.execute(query).fetchall()
    finally:
        store.close()


async def test_two_schedulers_at_once_put_nothing_twice(site: Site, tmp_path: Path) -> None:
    async with watching(site, tmp_path) as watch:
        await watch.shop("shop01", [SHOP.format(n) for n in range(1, 21)])
        await asyncio.gather(watch.tick(), watch.tick(), watch.tick())
        await watch.over()
        results = await rows_of(watch.store, scrape_results)
    assert len(results) == len({row["target_id"] for row in results}) == 20
