"""The processes that chaos is done to: started, stopped, killed, and ended with the test."""

import asyncio
import os
import select
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path

from tests import forks
from tests.chaos.engine.nursery import ENDED

PENSTOCK = Path(sys.executable).with_name("penstock")
LOOK_EVERY = 0.01
UP = "penstock is up"
END_SECONDS = 60.0


class Running:
    """One process, the leader of its group; watched by a pidfd, whoever its parent is."""

    def __init__(
        self, pid: int, log: Path, process: asyncio.subprocess.Process | None = None
    ) -> None:
        self.pid = pid
        self.log = log
        self._process = process
        try:
            self._pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            self._pidfd = -1  # it is over already

    @property
    def is_alive(self) -> bool:
        return self._pidfd >= 0 and not select.select([self._pidfd], [], [], 0)[0]

    @property
    def is_frozen(self) -> bool:
        status = Path(f"/proc/{self.pid}/stat").read_text()
        return status.rpartition(")")[2].split()[0] == "T"

    @property
    def said(self) -> str:
        """What it wrote to its standard error."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def send(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            # Gone, or so new that it leads no group yet.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def kill(self) -> None:
        """End it without a farewell."""
        self.send(signal.SIGKILL)
        await self.ended(END_SECONDS)

    async def ended(self, seconds: float) -> int | None:
        """Wait for its end; the code it ended with, None if it had no time to say."""
        async with asyncio.timeout(seconds):
            while True:
                if not self.is_alive:
                    break
                await asyncio.sleep(LOOK_EVERY)
            self.close()
            if self._process:
                return await self._process.wait()
        last = self.said.rstrip().rpartition("\n")[2]
        return int(last.removeprefix(ENDED)) if last.startswith(ENDED) else None

    async def is_up(self, seconds: float = 30.0) -> None:
        """Wait until it says that it is up."""
        async with asyncio.timeout(seconds):
            while UP not in self.said:
                if not self.is_alive:
                    raise AssertionError(f"it ended instead of coming up: {self.said[-2000:]}")
                await asyncio.sleep(LOOK_EVERY)

    @property
    def worker(self) -> str:
        """The id under which the store knows it first."""
        return self.said.partition(f"{UP} as ")[2].partition(";")[0]

    def close(self) -> None:
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1


class Nursery:
    """Starts processes; all of them are ended when it is left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count()
        self.alive: list[Running] = []

    async def fork(self, arguments: Sequence[str], environment: Mapping[str, str]) -> Running:
        """Penstock, or a submitter, in a fork of a process that has it loaded."""
        log = self._new_log()
        null = os.open(os.devnull, os.O_RDWR)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        pid = forks.fork(
            arguments,
            forks.ROOT,
            {**os.environ, **environment},
            [null, output, output, null],
            run="tests.chaos.engine.nursery:run",
        )
        return self._keep(Running(pid, log))

    async def execute(
        self, command: Sequence[str | Path], environment: Mapping[str, str]
    ) -> Running:
        """A program of its own."""
        log = self._new_log()
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *command,
                env={**os.environ, **environment},
                cwd=self._folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return self._keep(Running(process.pid, log, process))

    def _new_log(self) -> Path:
        return self._folder / f"process-{next(self._numbers)}.log"

    def _keep(self, running: Running) -> Running:
        self.alive = [*(each for each in self.alive if each.is_alive), running]
        return running


@asynccontextmanager
async def open_nursery(folder: Path) -> AsyncIterator[Nursery]:
    """A nursery that logs to a folder; whatever happens, nothing it started is left."""
    nursery = Nursery(folder)
    try:
        yield nursery
    finally:
        for running in nursery.alive:
            await running.kill()
