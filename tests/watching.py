"""The whole price monitor on the local site: scheduler, worker, pipeline and store."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, update

from penstock.app import Platform, build
from penstock.app.engine import Engine, open_engine, open_ready_store
from penstock.core.clock import SystemClock
from penstock.queue.seats import Seat
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.adapters import Adapters
from penstock.workloads.monitor.runs import Runs
from penstock.workloads.monitor.tables import scrape_runs, scrape_targets
from tests.monitors import add_source, add_targets
from tests.platforms import settings_for
from tests.site import Site
from tests.stores import rows_of

Row = dict[str, Any]
#: A pace for tests; the site is ours.
QUICK = {"requests_per_second": 1000, "request_delay_ms": 0, "max_concurrent": 20}


@dataclass(frozen=True, slots=True)
class Watch:
    """A running monitor; its scheduler ticks when the test says so."""

    site: Site
    platform: Platform
    engine: Engine
    #: Set whenever results were committed.
    settled: asyncio.Event

    @property
    def store(self) -> Store:
        return self.engine.store

    @property
    def runs(self) -> Runs:
        return Runs(self.store, self.engine.monitoring.launcher)

    @property
    def adapters(self) -> Adapters:
        return Adapters(self.store, self.engine.log)

    async def shop(
        self, name: str, urls: Sequence[str], *, domain: str = "", **columns: Any
    ) -> str:
        """The id of a new source with targets, which are due now."""
        source = await add_source(self.store, name, domain or f"{name}.test")
        await add_targets(self.store, source, urls, **columns)
        return source

    async def run(self) -> list[Row]:
        """Read everything, due or not; the runs as they ended."""
        free = scrape_targets.c.run_id.is_(None), scrape_targets.c.next_due_at.is_not(None)
        due = update(scrape_targets).where(*free)
        before = {run["id"] for run in await rows_of(self.store, scrape_runs)}
        await self.store.write(lambda unit: unit.run(due.values(next_due_at=unit.now)) and None)
        await self.tick()
        await self.over()
        runs = sorted(await rows_of(self.store, scrape_runs), key=lambda run: str(run["id"]))
        return [run for run in runs if run["id"] not in before]

    async def tick(self) -> None:
        """Put what is due in runs."""
        engine = self.engine
        seat = Seat(self.store, engine.heartbeat, "target scheduler")
        scheduler = engine.monitoring.scheduler(self.platform, self.store, seat)
        while await scheduler.tick():
            pass
        engine.source.nudge()

    async def over(self) -> None:
        """Wait until no run is under way."""
        async with asyncio.timeout(30):
            self.settled.clear()
            while await self.store.read(_count_running):
                await self.settled.wait()
                self.settled.clear()


def _count_running(unit: Unit) -> int:
    running = select(func.count()).where(scrape_runs.c.status == "RUNNING")
    return int(unit.run(running).scalar_one())


@asynccontextmanager
async def watching(site: Site, folder: Path, **sections: Mapping[str, Any]) -> AsyncIterator[Watch]:
    """A monitor on the site."""
    sections["store"] = {"folder": folder, **sections.get("store", {})}
    sections["monitor"] = {**QUICK, **sections.get("monitor", {})}
    settings = settings_for(site, **sections)
    settled = asyncio.Event()
    async with (
        open_ready_store(settings, SystemClock()) as store,
        build(settings) as platform,
        open_engine(settings, platform, store, settled=lambda _result: settled.set()) as engine,
        asyncio.TaskGroup() as tasks,
    ):
        work = tasks.create_task(engine.work())
        yield Watch(site, platform, engine, settled)
        engine.stop()
        await work
