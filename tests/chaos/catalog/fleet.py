"""A fleet of crawlers: a scheduler and workers, each a process of its own on the same servers."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from penstock.app.catalog_service import service_on
from penstock.app.engine import open_blobs
from penstock.blobs.ports import Blobs
from penstock.core.clock import SystemClock
from penstock.settings import Settings, load_settings
from penstock.store import migrate
from penstock.store.store import Store, open_store
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.catalog.submitting import Options
from tests import forks
from tests.catalogs import HOSTS
from tests.chaos.catalog.failpoints import VARIABLE
from tests.chaos.catalog.servers import Servers
from tests.chaos.engine.processes import Running
from tests.site import Site

WHO = "ann"
END_SECONDS = 90.0
#: As the crawler is run, but at a pace and with pauses that tests can afford.
QUICK: dict[str, dict[str, Any]] = {
    "policies": {"shipped": "false"},
    "robots": {"retry_seconds": 0.01},
    "queue": {"beat_seconds": 0.2, "silence_seconds": 2},
    "breaker": {"cooldown_seconds": 1, "max_cooldown_seconds": 1, "probe_seconds": 2},
    "catalog": {"tick_seconds": 0.2, "retry_seconds": 0.2, "max_retry_seconds": 2},
    "log": {"level": "WARNING"},
}


class Fleet:
    """Crawlers on a site, and the store that they share, for whoever hands in and looks."""

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        service: CatalogService,
        environment: Mapping[str, str],
    ) -> None:
        self._folder = folder
        self._environment = environment
        self._numbers = count()
        self.settings = settings
        self.service = service
        self.all: list[Running] = []

    @property
    def store(self) -> Store:
        return self.service.store

    @property
    def blobs(self) -> Blobs:
        return open_blobs(self.settings)

    async def submit(self, urls: list[str], at_once: int) -> None:
        """Hand URLs in, of shops that may be asked for so many pages a second."""
        pace: dict[str, Any] = {"crawl_delay_seconds": 0, "max_concurrent_requests": at_once}
        for host in HOSTS:
            await self.service.domains.add(f"http://{host}/", WHO, **pace)
        await self.service.submissions.submit(urls, Options(), WHO)

    def begin(self, *arguments: str, **extra: str) -> Running:
        """One more process, which may not be up yet."""
        log = self._folder / f"{arguments[0]}-{next(self._numbers)}.log"
        null = os.open(os.devnull, os.O_RDWR)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        pid = forks.fork(
            arguments,
            self._folder,
            {**self._environment, **extra},
            [null, output, output, null],
            run="tests.chaos.catalog.nursery:run",
        )
        running = Running(pid, log)
        self.all.append(running)
        return running

    async def start(self, *arguments: str) -> Running:
        """One more process, at work."""
        running = self.begin(*arguments)
        await running.is_up()
        return running

    async def lose(self, step: str, nth: int) -> None:
        """One more worker, which dies at a step that it comes by for the n-th time."""
        worker = self.begin("worker", **{VARIABLE: f"{step}:{nth}"})
        code = await worker.ended(END_SECONDS)
        assert code is None, f"it did not die when {step}: {worker.said[-2000:]}"


@asynccontextmanager
async def open_fleet(folder: Path, site: Site, servers: Servers) -> AsyncIterator[Fleet]:
    """A fleet with its tables made, of which nothing is left in the end."""
    known = ",".join(f"{name}={address}" for name, address in site.known_hosts.items())
    sections = {**servers.sections, **QUICK, "admission": {"known_hosts": known}}
    environment = {
        f"PENSTOCK_{section}__{name}".upper(): str(value)
        for section, values in sections.items()
        for name, value in values.items()
    }
    settings = load_settings(**sections)
    async with open_store(settings.store, SystemClock()) as store:
        await migrate.upgrade(store)
        async with service_on(settings, store) as service:
            fleet = Fleet(folder, settings, service, {**os.environ, **environment})
            try:
                yield fleet
            finally:
                await asyncio.gather(*(each.kill() for each in fleet.all if each.is_alive))
