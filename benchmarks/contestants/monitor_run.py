"""Whole runs of the price monitor on the local site: first all pages are new, then unchanged."""

import argparse
import asyncio
import json
import resource
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvloop
from sqlalchemy import func, select, update

from benchmarks.contestants.penstock_fetch import POLICY
from penstock.app import Platform, build
from penstock.app.engine import Engine, open_engine
from penstock.core.clock import SystemClock
from penstock.core.log import configure
from penstock.core.memory import prepare_memory
from penstock.queue.seats import Seat
from penstock.settings import Settings, load_settings
from penstock.store import migrate
from penstock.store.store import Store, open_store
from penstock.store.unit import Unit
from penstock.workloads.monitor.scheduling import TargetScheduler
from penstock.workloads.monitor.tables import scrape_runs, scrape_targets
from tests.monitors import add_source, add_targets

MANNERS = ("new", "unchanged")
#: What the monitor's own pace is set to: none.
PACE = {
    "requests_per_second": 1000,
    "request_delay_ms": 0,
    "max_concurrent": 8,
    "max_pending_total": 10_000_000,
    "max_pending_per_adapter": 10_000_000,
}


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


@dataclass(slots=True)
class Countdown:
    """Says when so many targets are over and committed."""

    left: int
    over: asyncio.Event

    def count(self, _result: object) -> None:
        self.left -= 1
        if not self.left:
            self.over.set()


async def add_all(store: Store, urls: Sequence[str]) -> None:
    """A source for every shop, with its targets."""
    shops: dict[str, list[str]] = {}
    for url in urls:
        shops.setdefault(urlsplit(url).hostname or "", []).append(url)
    for host, some in shops.items():
        await add_targets(store, await add_source(store, host, host), some)


async def run_all(
    engine: Engine, scheduler: TargetScheduler, countdown: Countdown, number: int
) -> dict[str, float]:
    """Read every target once, from the first tick to the last commit."""
    countdown.left = number
    countdown.over.clear()
    began, spent = time.perf_counter(), cpu_seconds()
    while await scheduler.tick():
        engine.source.nudge()
    engine.source.nudge()
    await countdown.over.wait()
    seconds, cpu = time.perf_counter() - began, cpu_seconds() - spent
    return {"targets_per_second": number / seconds, "cpu_ms": cpu * 1000 / number}


async def measure(url: str, workers: int, urls: Sequence[str]) -> dict[str, dict[str, float]]:
    countdown = Countdown(0, asyncio.Event())
    figures = {}
    settings_of = partial(_settings, url, workers)
    async with working(settings_of, urls, countdown) as (platform, engine):
        seat = Seat(engine.store, engine.heartbeat, "target scheduler")
        scheduler = engine.monitoring.scheduler(platform, engine.store, seat)
        for manner in MANNERS:
            figures[manner] = await run_all(engine, scheduler, countdown, len(urls))
            _check(await engine.store.read(_totals), manner, len(urls))
            await engine.store.write(_make_due)
    return figures


@asynccontextmanager
async def working(
    settings_of: Callable[[Path], Settings], urls: Sequence[str], countdown: Countdown
) -> AsyncIterator[tuple[Platform, Engine]]:
    """A worker on a store with all targets, which are due."""
    with tempfile.TemporaryDirectory() as folder:
        settings = settings_of(Path(folder))
        async with open_store(settings.store, SystemClock()) as store:
            await migrate.upgrade(store)
            await add_all(store, urls)
            async with (
                build(settings) as platform,
                open_engine(settings, platform, store, settled=countdown.count) as engine,
                asyncio.TaskGroup() as tasks,
            ):
                work = tasks.create_task(engine.work())
                yield platform, engine
                engine.stop()
                await work


def _settings(url: str, workers: int, folder: Path) -> Settings:
    return load_settings(
        **POLICY,
        store={"folder": folder, "url": url},
        shared={"lock_file": folder / "lock"},
        fetch={"workers": workers},
        monitor=PACE,
    )


def _make_due(unit: Unit) -> None:
    unit.run(update(scrape_targets).values(next_due_at=unit.now))


def _totals(unit: Unit) -> dict[str, Any]:
    runs = scrape_runs.c
    names = ("urls_total", "urls_over", "offers_valid", "unchanged_count")
    query = select(*(func.sum(runs[name]).label(name) for name in names))
    return {name: int(value) for name, value in next(unit.rows(query)).items()}


def _check(totals: dict[str, Any], manner: str, number: int) -> None:
    """Figures of runs in which something went wrong are none."""
    times = MANNERS.index(manner) + 1
    wanted = dict.fromkeys(("urls_total", "urls_over", "offers_valid"), times * number)
    wanted["unchanged_count"] = (times - 1) * number
    if totals != wanted:
        raise RuntimeError(f"{totals} instead of {wanted}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="")
    parser.add_argument("--number", type=int, required=True, help="requests at once")
    parser.add_argument("--urls", type=Path, required=True)
    options = parser.parse_args()
    configure()
    prepare_memory()
    urls = options.urls.read_text().split()
    print(json.dumps(uvloop.run(measure(options.url, options.number, urls))))


if __name__ == "__main__":
    main()
