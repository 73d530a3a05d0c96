"""Targets that are watched while whole monitors are killed: each is accounted for once."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from sqlalchemy import Select, func, select

from penstock.events.tables import events
from penstock.products.tables import prices
from penstock.queue.tables import counts
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.tables import (
    quarantined_offers,
    scrape_results,
    scrape_runs,
    scrape_targets,
)
from tests.chaos.engine.arena import LOOK_EVERY, RECOVERY_SECONDS, Arena, until
from tests.chaos.engine.checker import Findings
from tests.chaos.engine.processes import Running
from tests.chaos.engine.scenarios import Played, Size
from tests.monitors import add_source, add_targets, product_page
from tests.site import Hit, Reply

#: Targets of one shop; more targets are more shops.
OF_A_SHOP = 100
FEWEST_SHOPS = 5
MONITORS = 2
LONGEST_STEP = 300.0
PACE = {
    "PENSTOCK_MONITOR__REQUESTS_PER_SECOND": "1000",
    "PENSTOCK_MONITOR__REQUEST_DELAY_MS": "0",
    "PENSTOCK_MONITOR__MAX_CONCURRENT": "4",
    "PENSTOCK_MONITOR__TICK_SECONDS": "0.2",
}
#: Of so many pages of a shop, one is each of these; the others are offers like any.
EVERY = 20
GONE, SOLD_OUT, AMBIGUOUS = 3, 7, 11
SPECIAL = {GONE, SOLD_OUT, AMBIGUOUS}
#: What every other page says.
PRICE = Decimal("19.99")
Row = dict[str, Any]


def kind_of(url: str) -> int:
    """What is special about a page."""
    return int(url.rpartition("/")[2]) % EVERY


class Shelf:
    """A page of a product after a moment."""

    def __init__(self, arena: Arena) -> None:
        self._chance = arena.chance

    def __call__(self, hit: Hit) -> Reply:
        url = f"http://{hit.host}{hit.route}"
        delay = self._chance.uniform(0.0, 0.1)
        match kind_of(url):
            case place if place == GONE:
                return Reply(404, "gone", delay=delay)
            case place if place == SOLD_OUT:
                page = product_page(url, price=None, stock="OutOfStock")
            case place if place == AMBIGUOUS:
                page = product_page(url, shown="24.99")
            case _:
                page = product_page(url)
        return Reply(200, page, delay=delay)


async def kill_monitors(arena: Arena, size: Size) -> Played:
    """`kill -9` of one of two whole monitors, again and again, until every target was read."""
    shops = max(FEWEST_SHOPS, size.items // OF_A_SHOP)
    async with arena.store() as store:
        for shop in range(shops):
            await _open_shop(arena, store, f"watched{shop}.test", size.items // shops)
        total = size.items // shops * shops
        monitors = [await _start(arena) for _ in range(MONITORS)]
        for fault in range(1, size.faults + 1):
            wanted = total * fault // (size.faults + 1)
            await until(partial(_has_results, store, wanted), LONGEST_STEP)
            await asyncio.sleep(arena.chance.uniform(0.0, 0.1))
            victim = arena.chance.randrange(MONITORS)
            await monitors[victim].kill()
            monitors[victim] = await arena.nursery.fork(["up", "--no-api"], _environment(arena))
        recovery = await _all_read(store, total)
        found = await _findings(arena, store)
    return Played(size.faults, recovery, found)


def _environment(arena: Arena) -> dict[str, str]:
    return arena.as_worker(**PACE)


async def _start(arena: Arena) -> Running:
    monitor = await arena.nursery.fork(["up", "--no-api"], _environment(arena))
    await monitor.is_up()
    return monitor


async def _open_shop(arena: Arena, store: Store, host: str, number: int) -> None:
    urls = [f"http://{host}/product/{place}" for place in range(1, number + 1)]
    shelf = Shelf(arena)
    for url in urls:
        arena.site.reply(host, url.removeprefix(f"http://{host}"), shelf)
    await add_targets(store, await add_source(store, host, host), urls)


async def _has_results(store: Store, wanted: int) -> bool:
    return await _count(store, select(func.count()).select_from(scrape_results)) >= wanted


async def _all_read(store: Store, total: int) -> float:
    """Wait until every target was read and no run is under way; how long that took."""
    began = time.monotonic()
    read = select(func.count()).where(
        scrape_targets.c.run_id.is_(None), scrape_targets.c.last_status.is_not(None)
    )
    while time.monotonic() - began < RECOVERY_SECONDS:
        if await _count(store, read) >= total:
            break
        await asyncio.sleep(LOOK_EVERY)
    return time.monotonic() - began


async def _count(store: Store, query: Select[int]) -> int:
    return await store.read(lambda unit: int(unit.run(query).scalar_one()))


# ── what became of them


@dataclass(frozen=True, slots=True)
class Kept:
    """What the store says of targets, as of one moment."""

    targets: Mapping[str, Row]
    results: list[Row]
    prices: list[Row]
    quarantined: list[Row]
    runs: Mapping[str, Row]
    finished: Counter[str]
    pending: int


def _keep(unit: Unit) -> Kept:
    runs = {row["id"]: row for row in unit.rows(select(scrape_runs))}
    told = select(events.c.id).where(events.c.topic == "run.finished")
    results = select(*(scrape_results.c[name] for name in ("target_id", "run_id")))
    seen = select(prices.c.target_id, prices.c.ingestion_run_id.label("run_id"), prices.c.price)
    pending = select(func.coalesce(func.sum(counts.c.pending), 0))
    return Kept(
        targets={row["id"]: row for row in unit.rows(select(scrape_targets))},
        results=list(unit.rows(results)),
        prices=list(unit.rows(seen)),
        quarantined=list(unit.rows(select(quarantined_offers.c.target_id))),
        runs=runs,
        finished=Counter(each.partition(".")[0] for each in unit.run(told).scalars()),
        pending=int(unit.run(pending).scalar_one()),
    )


async def _findings(arena: Arena, store: Store) -> Findings:
    kept = await store.read(_keep)
    hits = Counter(f"http://{hit.host}{hit.path}" for hit in arena.site.hits)
    urls = {target: row["url"] for target, row in kept.targets.items()}
    priced = {target for target, url in urls.items() if kind_of(url) not in SPECIAL}
    doubtful = {target for target, url in urls.items() if kind_of(url) == AMBIGUOUS}
    read = Counter(row["target_id"] for row in kept.results)
    bought = Counter(row["target_id"] for row in kept.prices)
    set_aside = Counter(row["target_id"] for row in kept.quarantined)
    missing = [urls.keys() - read, priced - bought.keys(), doubtful - set_aside.keys()]
    invented = [
        bought.keys() - priced,
        set_aside.keys() - doubtful,
        {target for target in read if not hits[urls[target]]},
        kept.finished.keys() - kept.runs.keys(),
    ]
    running = [run for run in kept.runs.values() if run["status"] == "RUNNING"]
    return Findings(
        items=len(urls),
        lost=sum(map(len, missing)) + len(kept.runs.keys() - kept.finished.keys()),
        phantom=sum(map(len, invented)) + sum(row["price"] != PRICE for row in kept.prices),
        duplicated=sum(map(_surplus, (read, bought, set_aside, kept.finished))),
        stuck=len(running) + sum(row["run_id"] is not None for row in kept.targets.values()),
        miscounted=kept.pending + sum(_miscounts(kept, urls)),
        refetched=_surplus(Counter({url: hits[url] for url in urls.values()})),
    )


def _surplus(found: Counter[str]) -> int:
    """How many there are beyond one of each."""
    return sum(max(0, number - 1) for number in found.values())


def _miscounts(kept: Kept, urls: Mapping[str, str]) -> Iterable[bool]:
    """Whether what a run says of itself is another than what its results say, run by run."""
    kinds: dict[str, Counter[int]] = {run: Counter() for run in kept.runs}
    for row in kept.results:
        kinds[row["run_id"]][kind_of(urls[row["target_id"]])] += 1
    for run_id, run in kept.runs.items():
        wanted = _wanted(kinds[run_id])
        yield any(run[name] != value for name, value in wanted.items())


def _wanted(kinds: Counter[int]) -> Row:
    """What a run has to say, by the pages that were read in it."""
    total = kinds.total()
    gone, sold_out, doubtful = kinds[GONE], kinds[SOLD_OUT], kinds[AMBIGUOUS]
    valid = total - gone - sold_out - doubtful
    numbers = {
        "urls_total": total,
        "urls_over": total,
        "urls_attempted": total,
        "urls_succeeded": total - gone,
        "urls_failed": gone,
        "offers_extracted": valid + doubtful,
        "offers_valid": valid,
        "offers_dropped": 0,
        "offers_quarantined": doubtful,
        "oos_no_price_count": sold_out,
        "extraction_failures": 0,
    }
    return numbers | {
        "failure_rate": _rate(gone, total),
        "yield_rate": _rate(valid, total),
        "drop_rate": _rate(0, valid + doubtful),
        "drift_rate": _rate(0, total - sold_out),
    }


def _rate(part: int, whole: int) -> Decimal | None:
    return (Decimal(part) / Decimal(whole)).quantize(Decimal("0.0001")) if whole else None
