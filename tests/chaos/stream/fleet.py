"""A fleet of page fetchers, each a process of its own on the same Redis and Kafka."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

from tests import forks
from tests.chaos.engine.processes import Running
from tests.chaos.stream.failpoints import VARIABLE
from tests.page_fetchers import Servers
from tests.shell import eventually
from tests.site import Site

UP, PLACE = "is up, health and metrics on ", ";"
START_SECONDS = 30.0
END_SECONDS = 30.0
PULSE = {"PENSTOCK_QUEUE__BEAT_SECONDS": "0.2", "PENSTOCK_QUEUE__SILENCE_SECONDS": "2"}
#: When Redis is back it shall be noticed soon.
SHARED = {"PENSTOCK_SHARED__RETRY_SECONDS": "0.5"}
LOG = {"PENSTOCK_LOG__LEVEL": "WARNING"}


class Fetcher(Running):
    """`penstock stream run`."""

    async def is_up(self, seconds: float = START_SECONDS) -> None:
        await eventually(lambda: UP in self.said or not self.is_alive, seconds)
        assert self.is_alive, f"it ended instead of coming up: {self.said[-2000:]}"

    @property
    def address(self) -> str:
        """Where it tells how it is."""
        return self.said.partition(UP)[2].partition(PLACE)[0]

    async def health(self) -> dict[str, Any]:
        """What it says of itself."""
        url = f"{self.address}/health"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            said: dict[str, Any] = (await answer.json())["data"]
            return said

    async def is_ready(self) -> bool:
        url = f"{self.address}/readiness"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return answer.ok

    async def end(self) -> None:
        """End it gently; it must go well."""
        self.send(signal.SIGTERM)
        assert await self.ended(END_SECONDS) == 0, self.said[-2000:]


class Fleet:
    """Starts page fetchers on a site; all of them are told the same.

    Settings of the stream are given by their names, any others as in the environment.
    """

    def __init__(self, folder: Path, site: Site, servers: Servers, **stream: Any) -> None:
        known = ",".join(f"{name}={address}" for name, address in site.known_hosts.items())
        self._folder = folder
        self._numbers = count()
        self._environment = {
            **os.environ,
            **PULSE,
            **SHARED,
            **LOG,
            **servers.environment(**stream),
            "PENSTOCK_ADMISSION__KNOWN_HOSTS": known,
        }
        self.all: list[Fetcher] = []

    def begin(self, **extra: str) -> Fetcher:
        """One more, which may not be up yet."""
        log = self._folder / f"fetcher-{next(self._numbers)}.log"
        null = os.open(os.devnull, os.O_RDWR)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        pid = forks.fork(
            ["stream", "run", "--port", "0"],
            self._folder,
            {**self._environment, **extra},
            [null, output, output, null],
            run="tests.chaos.stream.nursery:run",
        )
        fetcher = Fetcher(pid, log)
        self.all.append(fetcher)
        return fetcher

    async def start(self, **extra: str) -> Fetcher:
        """One more, at work."""
        fetcher = self.begin(**extra)
        await fetcher.is_up()
        return fetcher

    async def lose(self, step: str, nth: int) -> None:
        """One more, which dies at a step that it comes by for the n-th time."""
        fetcher = self.begin(**{VARIABLE: f"{step}:{nth}"})
        code = await fetcher.ended(END_SECONDS)
        assert code is None, f"it did not die when {step}: {fetcher.said[-2000:]}"


@asynccontextmanager
async def open_fleet(
    folder: Path, site: Site, servers: Servers, **stream: Any
) -> AsyncIterator[Fleet]:
    """A fleet of which nothing is left in the end."""
    fleet = Fleet(folder, site, servers, **stream)
    try:
        yield fleet
    finally:
        await asyncio.gather(*(each.kill() for each in fleet.all if each.is_alive))
