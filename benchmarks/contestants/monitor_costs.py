"""What it costs to put targets in runs and to record what came of them, by how many there are.

Pages are read before the clock runs: measured are the transactions.
"""

import argparse
import json
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvloop
from sqlalchemy import update

from benchmarks import watched
from penstock.app import Platform, build
from penstock.app.engine import Engine, open_engine
from penstock.core.clock import SystemClock
from penstock.core.log import configure
from penstock.core.memory import prepare_memory
from penstock.extract.registry import open_registry
from penstock.kernel.model import Outcome, Page
from penstock.kernel.reader import Reader
from penstock.quality.settings import QualitySettings
from penstock.quality.standalone import StandaloneJudge
from penstock.queue.lanes import Result
from penstock.queue.ports import Claim
from penstock.queue.seats import Seat
from penstock.settings import load_settings
from penstock.store import migrate
from penstock.store.store import open_store
from penstock.store.unit import Unit
from penstock.workloads.monitor.lane import MonitorLane
from penstock.workloads.monitor.runs import LANE
from penstock.workloads.monitor.scheduling import TargetScheduler
from penstock.workloads.monitor.tables import scrape_targets
from tests.monitors import product_page
from tests.stores import all_of, result_of

#: Targets that are due together; of each shop as many.
DUE = watched.SHOPS * watched.RUN_SIZE
SETS = 5
#: What the pages say, the first time and then; each time another price.
FIRST, LATER = "19.99", ("18.99", "19.49", "18.49")


@dataclass(frozen=True, slots=True)
class Costs:
    """Milliseconds per target, of each round."""

    scheduling: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)

    def best(self) -> dict[str, float]:
        return {
            "scheduling": min(self.scheduling),
            "first": min(self.first),
            "again": min(self.again),
        }


class Bench:
    """A monitor whose pages come from nowhere."""

    def __init__(self, engine: Engine, scheduler: TargetScheduler) -> None:
        self._engine = engine
        self._scheduler = scheduler
        self._lane: MonitorLane = engine.monitoring.lane
        self._reader = Reader(open_registry(()), StandaloneJudge(QualitySettings()))

    async def round(self, ids: Sequence[str], price: str) -> tuple[float, float]:
        """Let targets be due, put them in runs, record them; what both cost per target."""
        await self._engine.store.write(lambda unit: _make_due(unit, ids))
        began = time.perf_counter()
        await self._scheduler.tick()
        scheduling = time.perf_counter() - began
        rows, worker = self._engine.rows, self._engine.heartbeat.id
        claims = await rows.claim(worker, [LANE], len(ids), all_of)
        if len(claims) != len(ids):
            raise RuntimeError(f"{len(ids)} were due, {len(claims)} were put in runs")
        results = [await result_of(self._lane, claim, self._read(claim, price)) for claim in claims]
        began = time.perf_counter()
        await self._settle({result.claim.id: result for result in results})
        recording = time.perf_counter() - began
        return scheduling * 1000 / len(ids), recording * 1000 / len(ids)

    def _read(self, claim: Claim, price: str) -> Outcome:
        request = self._lane.request(claim)
        body = product_page(request.url, price=price).encode()
        page = Page(request.url, 200, {"Content-Type": "text/html; charset=utf-8"}, body, 0.1)
        return Outcome(
            request, page, None, (), claim.group, 1, reading=self._reader.read(page, "product")
        )

    async def _settle(self, results: dict[str, Result]) -> None:
        await self._engine.rows.settle(
            [(result.claim, result.ending) for result in results.values()],
            lambda unit, accepted: self._lane.record(unit, [results[each] for each in accepted]),
        )


def _make_due(unit: Unit, ids: Sequence[str]) -> None:
    chosen = unit.among(scrape_targets.c.id, ids)
    unit.run(update(scrape_targets).where(chosen).values(next_due_at=unit.now))


def sets_of(number: int) -> list[list[str]]:
    """Targets of all shops, none in two sets; of a shop some that were added one after another.

    So they are due in truth: what was read in one run is due together again.
    """
    of_shop = number // watched.SHOPS
    return [
        [
            watched.target_id(shop * of_shop + part * of_shop // SETS + place)
            for shop in range(watched.SHOPS)
            for place in range(watched.RUN_SIZE)
        ]
        for part in range(SETS)
    ]


@asynccontextmanager
async def open_bench(url: str, number: int) -> AsyncIterator[Bench]:
    """A monitor with so many targets."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(
            store={"folder": Path(folder), "url": url},
            shared={"lock_file": Path(folder) / "lock"},
            monitor={"keep_pages_days": 0},
        )
        async with open_store(settings.store, SystemClock()) as store:
            await migrate.upgrade(store)
            await watched.make_shops(store)
            await watched.make_targets(store, number)
            await watched.tidy(settings.store)
            async with (
                build(settings) as platform,
                open_engine(settings, platform, store) as engine,
            ):
                yield Bench(engine, _scheduler(platform, engine))


def _scheduler(platform: Platform, engine: Engine) -> TargetScheduler:
    seat = Seat(engine.store, engine.heartbeat, "target scheduler")
    return engine.monitoring.scheduler(platform, engine.store, seat)


async def measure(url: str, number: int) -> Costs:
    costs = Costs()
    async with open_bench(url, number) as bench:
        for kind, price in [(costs.first, FIRST), *((costs.again, price) for price in LATER)]:
            for ids in sets_of(number):
                scheduling, recording = await bench.round(ids, price)
                costs.scheduling.append(scheduling)
                kind.append(recording)
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="")
    parser.add_argument("--number", type=int, required=True, help="targets; 1,000 or more")
    options = parser.parse_args()
    configure()
    prepare_memory()
    print(json.dumps(uvloop.run(measure(options.url, options.number)).best()))


if __name__ == "__main__":
    main()
