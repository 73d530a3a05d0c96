"""The whole product crawler on the local site: scheduler, workers, pipeline and store."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, update

from penstock.app import Platform, build
from penstock.app.catalog_service import service_of
from penstock.app.engine import Engine, open_engine, open_ready_store
from penstock.core.clock import SystemClock
from penstock.products.tables import images
from penstock.queue.seats import Seat
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.model import OVER, Status
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.catalog.submitting import Options
from penstock.workloads.catalog.tables import crawl_tasks
from tests.platforms import settings_for
from tests.site import Site
from tests.stores import rows_of

Row = dict[str, Any]
WHO = "ann"
#: A pace for tests; the site is ours.
QUICK = {"crawl_delay_seconds": 0, "max_concurrent_requests": 50, "tick_seconds": 0.1}


@dataclass(frozen=True, slots=True)
class Crawl:
    """A running crawler; its scheduler ticks when the test says so."""

    site: Site
    platform: Platform
    engine: Engine
    service: CatalogService
    #: Set whenever results were committed.
    settled: asyncio.Event

    @property
    def store(self) -> Store:
        return self.engine.store

    async def submit(self, *urls: str, **options: Any) -> str:
        """Hand URLs in; the id of the submission."""
        submission_id, _ = await self.service.submissions.submit(urls, Options(**options), WHO)
        return submission_id

    async def crawl(self, *urls: str, **options: Any) -> list[Row]:
        """Hand URLs in and see them to their end; their tasks."""
        await self.submit(*urls, **options)
        await self.over()
        return await self.tasks()

    async def tasks(self) -> list[Row]:
        """All tasks, by URL."""
        found = await rows_of(self.store, crawl_tasks)
        return sorted(found, key=lambda row: str(row["url"]))

    async def task(self, url: str) -> Row:
        return await self.service.tasks.get(url)

    async def again(self) -> None:
        """Crawl everything that is over once more."""
        is_over = crawl_tasks.c.status.in_([status.value for status in OVER])
        due = update(crawl_tasks).where(is_over, crawl_tasks.c.next_crawl_at.is_not(None))
        await self.store.write(lambda unit: unit.run(due.values(next_crawl_at=unit.now)) and None)
        await self.over()

    async def tick(self) -> None:
        """Hand what is due to the queue."""
        engine = self.engine
        seat = Seat(self.store, engine.heartbeat, "task scheduler")
        scheduler = engine.cataloguing.scheduler(
            self.platform, self.store, engine.rows, seat, engine.source
        )
        while await scheduler.tick():
            pass

    async def over(self) -> None:
        """Wait until nothing that is due is left to do, pictures included."""
        async with asyncio.timeout(60):
            while True:
                self.settled.clear()
                await self.tick()
                if not await self.store.read(_count_open):
                    return
                # Something may have fallen due since the tick: then nothing settles it.
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.settled.wait(), 1.0)


def _count_open(unit: Unit) -> int:
    tasks = crawl_tasks.c
    under_way = tasks.status.not_in([*(status.value for status in OVER), Status.PENDING.value])
    due = (tasks.status == Status.PENDING.value) & (tasks.scheduled_at <= unit.now)
    waiting = due & tasks.is_paused.is_(False)
    number = unit.run(select(func.count()).where(under_way | waiting)).scalar_one()
    pending = select(func.count()).where(images.c.status == "pending")
    return int(number) + int(unit.run(pending).scalar_one())


@asynccontextmanager
async def crawling(
    site: Site, folder: Path, *, only: Sequence[str] = (), **sections: Mapping[str, Any]
) -> AsyncIterator[Crawl]:
    """A crawler on the site."""
    sections["store"] = {"folder": folder, **sections.get("store", {})}
    sections["catalog"] = {**QUICK, **sections.get("catalog", {})}
    settings = settings_for(site, **sections)
    settled = asyncio.Event()
    async with (
        open_ready_store(settings, SystemClock()) as store,
        build(settings) as platform,
        open_engine(
            settings, platform, store, only=only, settled=lambda _result: settled.set()
        ) as engine,
        asyncio.TaskGroup() as tasks,
    ):
        work = tasks.create_task(engine.work())
        yield Crawl(site, platform, engine, service_of(settings, engine, platform.clock), settled)
        engine.stop()
        await work
