"""The soak: rounds of pages through the whole service, with a look at what it takes after each."""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from penstock.client import AsyncClient, Retrying, Target
from tests.browsers import Place
from tests.chaos.browsers.targets import endless_targets
from tests.chaos.browsers.vitals import (
    WARM_UP,
    Line,
    fit,
    open_files,
    process_count,
    resident_mb,
    tree_mb,
)
from tests.processes import ServiceProcess
from tests.shell import Shell
from tests.site import Site

KEY = "a-key"
PATIENCE = 600.0
PATIENT = Retrying(retries=400, most_seconds=0.2)
LOOK_SECONDS = 0.25
#: How long a service is looked at that has nothing to do; renderers take a moment to end.
REST_LOOKS = 4
AT_ONCE = 8
SETTINGS = {
    "PENSTOCK_API__SERVICE_KEY": KEY,
    "PENSTOCK_LOG__LEVEL": "ERROR",
    "PENSTOCK_SCRAPE__RATE_LIMIT_TOKENS": "100000",
    "PENSTOCK_PACING__MAX_CONCURRENT": str(AT_ONCE),
    "PENSTOCK_RETRY__MAX_ATTEMPTS": "1",
    # Nothing is spared because others failed: every page is opened.
    "PENSTOCK_BREAKER__THRESHOLD": "1000",
    "PENSTOCK_BROWSER__POOL_SIZE": str(AT_ONCE),
    "PENSTOCK_BROWSER__POOL_MAX": str(AT_ONCE),
    "PENSTOCK_BROWSER__PAGE_SECONDS": "4",
    "PENSTOCK_BROWSER__SETTLE_SECONDS": "0.5",
    # With a small heap a greedy page dies soon.
    "PENSTOCK_BROWSER__ARGUMENTS": "--js-flags=--max-old-space-size=32",
}


@dataclass(frozen=True, slots=True)
class Size:
    """How many pages, and how many of them in one round."""

    pages: int
    in_a_round: int


SMALL, LONG = Size(60, 10), Size(2_000, 40)


@dataclass(frozen=True, slots=True)
class Figure:
    """Something that is measured, and by how much its line may rise from warm-up to end."""

    name: str
    allowed: float


#: At rest a Chromium may run or just have been replaced: that alone is 100 MB and 5 processes.
FIGURES = (
    Figure("worker, RSS in MB", 16),
    Figure("whole tree at its largest, PSS in MB", 250),
    Figure("whole tree at rest, PSS in MB", 150),
    Figure("open files of the worker", 4),
    Figure("processes at rest", 8),
)


@dataclass(frozen=True, slots=True)
class Moment:
    """What the service took in and after a round; the values stand as in FIGURES."""

    pages: int
    values: tuple[float, ...]


@dataclass(slots=True)
class Soak:
    """What was seen."""

    moments: list[Moment] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    completed: int = 0
    spared: int = 0
    """Tasks that were to fail and did not."""

    @property
    def warm(self) -> Sequence[Moment]:
        """The moments after the warm-up."""
        return self.moments[round(len(self.moments) * WARM_UP) :]

    def lines(self) -> list[tuple[Figure, Line]]:
        """How each figure moves with the pages."""
        pages = [moment.pages for moment in self.warm]
        return [
            (figure, fit(pages, [moment.values[place] for moment in self.warm]))
            for place, figure in enumerate(FIGURES)
        ]

    @property
    def is_flat(self) -> bool:
        """Whether nothing grows by more than it may."""
        return all(line.growth <= figure.allowed for figure, line in self.lines())

    @property
    def failed(self) -> int:
        return self.errors.total()


class Look:
    """Looks at a service while a round lasts, and keeps the most memory that it took."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.most_mb = 0.0

    @asynccontextmanager
    async def on(self) -> AsyncIterator[None]:
        looking = asyncio.create_task(self._go_on())
        try:
            yield
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking

    async def _go_on(self) -> None:
        while True:
            self.most_mb = max(self.most_mb, await asyncio.to_thread(tree_mb, self._pid))
            await asyncio.sleep(LOOK_SECONDS)

    async def at_rest(self) -> tuple[float, ...]:
        """The figures of a round that is over."""
        files, processes, trees = [], [], []
        for _ in range(REST_LOOKS):
            files.append(open_files(self._pid))
            processes.append(process_count(self._pid))
            trees.append(await asyncio.to_thread(tree_mb, self._pid))
            await asyncio.sleep(LOOK_SECONDS)
        return (resident_mb(self._pid), self.most_mb, min(trees), min(files), min(processes))


async def soak(
    folder: Path,
    place: Place,
    size: Size,
    seed: int,
    tell: Callable[[Moment], None] = lambda _moment: None,
) -> Soak:
    """Open all pages, a round at a time; `tell` hears of every round."""
    found, targets = Soak(), endless_targets(random.Random(seed))
    async with Site() as site:
        shell = Shell(site, folder)
        service = ServiceProcess(shell, {**SETTINGS, **_environment(place)})
        try:
            await service.start()
            async with AsyncClient(service.url, KEY, retrying=PATIENT) as client:
                for done in range(0, size.pages, size.in_a_round):
                    look = Look(service.pid)
                    async with look.on():
                        await _play_round(client, list(islice(targets, size.in_a_round)), found)
                    found.moments.append(Moment(done + size.in_a_round, await look.at_rest()))
                    tell(found.moments[-1])
            await service.end(signal.SIGTERM)
        finally:
            await shell.end()
    return found


async def _play_round(
    client: AsyncClient, targets: Sequence[tuple[Target, str | None]], found: Soak
) -> None:
    meant = {target.target_url: error for target, error in targets}
    job = await client.batch([target for target, _ in targets])
    await client.wait_for_job(job.job_id, within=PATIENCE)
    async for task in client.tasks(job_id=job.job_id):
        if task.error:
            found.errors[task.error] += 1
        else:
            found.completed += 1
            found.spared += meant[task.target_url] is not None


def _environment(place: Place) -> Mapping[str, str]:
    return {f"PENSTOCK_BROWSER__{key.upper()}": str(v) for key, v in place.settings().items()}
