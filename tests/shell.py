"""The commands as a person runs them, with the hosts of the local site known to them."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.forks import Command
from tests.site import Site

PENSTOCK = Path(sys.executable).with_name("penstock")
FAST = {
    "PENSTOCK_POLICIES__SHIPPED": "false",
    "PENSTOCK_PACING__REQUESTS_PER_SECOND": "1000",
    "PENSTOCK_PACING__REQUEST_DELAY_MS": "0",
    "PENSTOCK_RETRY__INITIAL_DELAY_MS": "1",
    "PENSTOCK_ROBOTS__RETRY_SECONDS": "0.01",
    "PENSTOCK_API__PORT": "0",
    # Nobody reads what a service says before it ends, and a full pipe would stop it.
    "PENSTOCK_LOG__LEVEL": "WARNING",
}


class Ran(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Shell:
    """Runs commands with the site's hosts known to them, in forks: it runs hundreds."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site = site
        self.folder = folder
        known = ",".join(f"{name}={address}" for name, address in site.known_hosts.items())
        self.environment = {
            **os.environ,
            **FAST,
            "PENSTOCK_ADMISSION__KNOWN_HOSTS": known,
            "PENSTOCK_SHARED__LOCK_FILE": str(folder / "lock"),
        }
        self._started: list[Command] = []

    async def start(self, *arguments: str, **settings: str) -> Command:
        process = await Command.start(arguments, self.folder, {**self.environment, **settings})
        self._started.append(process)
        return process

    async def end(self) -> None:
        """End whatever still runs."""
        for process in self._started:
            with suppress(ProcessLookupError):
                process.kill()
            # What a process left behind may keep its pipes open.
            async with asyncio.timeout(20):
                await process.communicate()

    async def run(self, *arguments: str, stdin: str = "", **settings: str) -> Ran:
        process = await self.start(*arguments, **settings)
        async with asyncio.timeout(30):
            out, err = await process.communicate(stdin.encode())
        return Ran(process.returncode or 0, out.decode(), err.decode())


async def eventually(
    condition: Callable[[], object | Awaitable[object]], seconds: float = 20.0
) -> None:
    """Wait until something is true, at once or when awaited; it must become so in time."""
    async with asyncio.timeout(seconds):
        while True:
            answer = condition()
            if await answer if isinstance(answer, Awaitable) else answer:
                return
            await asyncio.sleep(0.02)


@pytest.fixture
async def shell(tmp_path: Path) -> AsyncIterator[Shell]:
    async with Site() as site:
        shell = Shell(site, tmp_path)
        yield shell
        await shell.end()
