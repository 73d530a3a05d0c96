"""What is done to live pages: each scenario breaks one thing, again and again."""

import asyncio
import os
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    asynccontextmanager,
    closing,
    contextmanager,
    suppress,
)
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from penstock.store.settings import FILE_NAME
from penstock.workloads.live.supervising import MEASURE_SECONDS
from tests import postgres_server
from tests.chaos.live.stand import ENOUGH, Stand, Watched, open_stand, some_feeds
from tests.chaos.live.truth import Findings
from tests.postgres_server import PrivatePostgres
from tests.shell import eventually

#: Fresh again so soon after a fault has ended.
LIMIT_SECONDS = 10.0
PATIENCE = 60.0
#: By the rule for errors, what is asked for each time is looked at so rarely after many of them.
SLOWEST_LOOKS = 20.0
RENDERER, DRIVER, KEEPER = "--type=renderer", "run-driver", "keeper.py"
RESTARTS, ERRORS = "scraper_restarts_total", "scraper_errors_total"
DROPPED = "scraper_dropped_updates_total"
MANY = 10**6
#: Limits for a browser with few pages.
SOFT_MB, HARD_MB = 320, 480
#: Megabytes a second: the first comes to the soft limit, the second past the hard one at once.
SLOW_LEAK, FAST_LEAK = 20, 200


@dataclass(frozen=True, slots=True)
class Size:
    """How many pages and calls are watched, how often something fails, and for how long."""

    pages: int
    calls: int
    faults: int
    #: Seconds for which a server or a file is away, and the network; and between two cuts of it.
    away: float
    locked: float
    cut: float
    pause: float
    #: Between two kills.
    breath: float


SMALL = Size(pages=3, calls=1, faults=1, away=8.0, locked=5.0, cut=3.0, pause=1.5, breath=1.0)
LONG = Size(pages=8, calls=2, faults=5, away=300.0, locked=30.0, cut=10.0, pause=50.0, breath=3.5)


@dataclass(slots=True)
class Result:
    """What a scenario cost: seconds until all was fresh after each fault, and what is stored."""

    scenario: str
    limit: float = LIMIT_SECONDS
    recoveries: list[float] = field(default_factory=list)
    found: Findings = field(default_factory=Findings)
    note: str = ""

    @property
    def is_well(self) -> bool:
        is_soon = 0 < max(self.recoveries, default=0.0) <= self.limit
        return is_soon and self.found.is_clean and self.found.critical > 0


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a scenario is played: a stand, its size, and the server of its store, if it has one."""

    stand: Stand
    size: Size
    postgres: PrivatePostgres | None


Play = Callable[[Ground, Result], Awaitable[None]]
Away = Callable[[], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Something that is done, and what the service needs to be for it."""

    name: str
    play: Play
    needs_postgres: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    #: What is watched, how long something must be seen to count, and how soon all must be fresh.
    feeds: Literal["all", "few", "pages", "calls"] = "all"
    enough: float = ENOUGH
    limit: float = LIMIT_SECONDS

    def feeds_of(self, size: Size) -> list[Watched]:
        """As many feeds as the size says, of the kinds that are watched here."""
        if self.feeds == "few":
            return some_feeds(SMALL.pages, SMALL.calls, leaks=(SLOW_LEAK, FAST_LEAK))
        number = size.pages + size.calls
        pages = {"all": size.pages, "pages": number, "calls": 0}[self.feeds]
        return some_feeds(pages, number - pages)


# ── processes


async def _kill_each(find: Callable[[Stand], Sequence[int]], ground: Ground, to: Result) -> None:
    for _ in range(ground.size.faults):
        victim = find(ground.stand)[0]
        to.recoveries.append(await ground.stand.suffer(partial(_kill, victim)))
        await asyncio.sleep(ground.size.breath)


async def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def _drivers(stand: Stand) -> list[int]:
    keepers = stand.find(KEEPER)
    return [pid for pid in stand.find(DRIVER) if pid not in keepers]


async def kill_the_service(ground: Ground, to: Result) -> None:
    """The whole process, which is started again at once."""
    longest = 0.0
    for _ in range(ground.size.faults):
        begun = time.time()
        to.recoveries.append(await ground.stand.suffer(partial(_restart, ground.stand)))
        longest = max(longest, time.time() - begun)
        to.note = f"{longest:.1f} s from the kill on"
        await asyncio.sleep(ground.size.breath)


async def _restart(stand: Stand) -> None:
    await stand.kill_service()
    await stand.start()


# ── pages


async def leak_slowly(ground: Ground, to: Result) -> None:
    """A page takes more and more: its browser is replaced when all cycles are done."""
    stand, leaking = ground.stand, ground.stand.feeds[0]
    for number in range(1, ground.size.faults + 1):
        before = await stand.metric(RESTARTS)
        pages = sum(feed.is_page for feed in stand.feeds)
        async with _gaps(stand) as gaps:
            stand.site.ground.set_trouble(leaking.host, "leak")
            await eventually(partial(_have_restarted, stand, before + pages), PATIENCE)
            stand.site.ground.end_trouble(leaking.host)
            await stand.fresh_again(time.time())
        to.recoveries.append(max(gaps.values()))
        to.note = f"{number * pages} scrapers moved, no look later than {max(gaps.values()):.1f} s"


async def leak_fast(ground: Ground, to: Result) -> None:
    """A page takes so much at once that its browser is killed, with all its pages."""
    stand, leaking = ground.stand, ground.stand.feeds[1]
    for _ in range(ground.size.faults):
        (browser, *_) = stand.browsers
        async with _gaps(stand) as gaps:
            stand.site.ground.set_trouble(leaking.host, "leak")
            await eventually(partial(_is_gone, stand, browser), PATIENCE)
            stand.site.ground.end_trouble(leaking.host)
            await stand.fresh_again(time.time())
        to.recoveries.append(max(gaps.values()))


def _is_gone(stand: Stand, browser: int) -> bool:
    return browser not in stand.browsers


async def _have_restarted(stand: Stand, times: float) -> bool:
    return await stand.metric(RESTARTS) >= times


async def hang(ground: Ground, to: Result) -> None:
    """The script of a page never comes back; nobody else notices."""
    stand, hanging = ground.stand, ground.stand.feeds[2]
    others = [feed for feed in stand.feeds if feed is not hanging]
    for _ in range(ground.size.faults):
        before = await stand.metric(ERRORS)
        async with _gaps(stand, others) as gaps:
            begun = time.time()
            stand.site.ground.set_trouble(hanging.host, "hang")
            await eventually(partial(_have_failed, stand, before + 1), PATIENCE)
            stand.site.ground.end_trouble(hanging.host)
            ended = time.time()
            took = await stand.fresh_again(ended)
        stand.blind.setdefault(hanging.host, []).append((begun, ended + took))
        to.recoveries.append(max(took, *gaps.values()))
        to.note = f"found after {ended - begun:.0f} s"


async def _have_failed(stand: Stand, times: float) -> bool:
    return await stand.metric(ERRORS) >= times


@asynccontextmanager
async def _gaps(
    stand: Stand, feeds: Sequence[Watched] | None = None
) -> AsyncIterator[dict[str, float]]:
    """The longest time between two looks at each feed in the block; nothing is seen in them."""
    gaps: dict[str, float] = {}
    watching = asyncio.create_task(stand.watch_gaps(gaps, stand.feeds if feeds is None else feeds))
    try:
        yield gaps
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


# ── the store


async def freeze_the_server(ground: Ground, to: Result) -> None:
    """PostgreSQL answers nobody for a while."""
    await _lose_store(ground, to, partial(_frozen, _server(ground)), ground.size.away)


async def kill_the_server(ground: Ground, to: Result) -> None:
    """PostgreSQL is killed, and started again after a while."""
    await _lose_store(ground, to, partial(_killed, _server(ground)), ground.size.away)


async def lock_the_file(ground: Ground, to: Result) -> None:
    """Another process writes to SQLite, and does not come to its end for a while."""
    file = ground.stand.store_settings.folder / FILE_NAME
    await _lose_store(ground, to, partial(_locked, file), ground.size.locked)


async def _lose_store(ground: Ground, to: Result, lost: Away, seconds: float) -> None:
    """Everything that must not be missed waits, and is there when the store is back."""
    before = await ground.stand.metric(DROPPED)
    async with lost():
        slowest = await ground.stand.slowest_health(seconds)
    # The pages were there to be seen all the time: nobody was blind.
    to.recoveries.append(await ground.stand.fresh_again(time.time()))
    dropped = await dropped_since(ground.stand, before)
    ground.stand.dropped += dropped
    to.note = (
        f"{seconds:.0f} s; {dropped} uncritical dropped; /health within {slowest * 1000:.0f} ms"
    )


async def dropped_since(stand: Stand, before: float) -> int:
    """How many updates were dropped; that is shown with the next measurement only."""
    await asyncio.sleep(MEASURE_SECONDS)
    return int(await stand.metric(DROPPED) - before)


async def die_without_the_store(ground: Ground, to: Result) -> None:
    """The service is killed while the store is away: what it had journalled is not lost."""
    stand = ground.stand
    async with _frozen(_server(ground)):
        await asyncio.sleep(ground.size.locked)
        begun = time.time()
        await stand.kill_service()
    # What was uncritical and waited in memory is gone, and so is who counted it.
    stand.dropped += MANY
    await stand.start()
    to.recoveries.append(await stand.fresh_again(time.time(), begun))


def _server(ground: Ground) -> PrivatePostgres:
    assert ground.postgres
    return ground.postgres


@asynccontextmanager
async def _frozen(server: PrivatePostgres) -> AsyncIterator[None]:
    frozen = server.processes()
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in frozen:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@asynccontextmanager
async def _killed(server: PrivatePostgres) -> AsyncIterator[None]:
    await asyncio.to_thread(server.kill)
    try:
        yield
    finally:
        await asyncio.to_thread(server.start)


@asynccontextmanager
async def _locked(file: Path) -> AsyncIterator[None]:
    with closing(sqlite3.connect(file, timeout=30, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.execute("ROLLBACK")


# ── the network


async def cut_the_network(ground: Ground, to: Result) -> None:
    """Every connection to the site is reset for a while, again and again."""
    for _ in range(2 * ground.size.faults):
        to.recoveries.append(await ground.stand.suffer(partial(_cut, ground)))
        await asyncio.sleep(ground.size.pause)


async def _cut(ground: Ground) -> None:
    hosts = [feed.host for feed in ground.stand.feeds]
    ground.stand.site.ground.cut(*hosts)
    await asyncio.sleep(ground.size.cut)
    ground.stand.site.ground.mend(*hosts)


# ── all of them

LIMITS: dict[str, Any] = {"memory_soft_limit_mb": SOFT_MB, "memory_hard_limit_mb": HARD_MB}
#: So little room that uncritical updates have to go.
BOUNDED: dict[str, Any] = {"max_queue_size": 4}
SCENARIOS = {
    each.name: each
    for each in (
        Scenario("kill -9 of a browser", partial(_kill_each, lambda stand: stand.browsers)),
        Scenario("kill -9 of a renderer", partial(_kill_each, lambda one: one.find(RENDERER))),
        Scenario("kill -9 of the driver", partial(_kill_each, _drivers)),
        Scenario("kill -9 of the keeper", partial(_kill_each, lambda stand: stand.find(KEEPER))),
        Scenario("kill -9 of the service", kill_the_service),
        Scenario("network cut", cut_the_network, feeds="pages"),
        Scenario(
            "network cut, data calls",
            cut_the_network,
            feeds="calls",
            enough=ENOUGH + SLOWEST_LOOKS,
            limit=LIMIT_SECONDS + SLOWEST_LOOKS,
        ),
        Scenario("SQLite locked", lock_the_file, settings=BOUNDED),
        Scenario("leak, soft limit", leak_slowly, settings=LIMITS, feeds="few"),
        Scenario("leak, hard limit", leak_fast, settings=LIMITS, feeds="few"),
        Scenario("page hangs", hang),
        Scenario("PostgreSQL frozen", freeze_the_server, True, BOUNDED),
        Scenario("PostgreSQL killed", kill_the_server, True, BOUNDED),
        Scenario("service killed while the store is away", die_without_the_store, True),
    )
}


async def play(
    names: Sequence[str], folder: Path, size: Size, **settings: Any
) -> dict[str, Result]:
    """Play scenarios one after the other on one stand; what is stored is looked at in the end."""
    chosen = [SCENARIOS[name] for name in names]
    for each in chosen:
        settings = {**each.settings, **settings}
    results = {each.name: Result(each.name, each.limit) for each in chosen}
    with ExitStack() as stack:
        server = stack.enter_context(_postgres()) if chosen[0].needs_postgres else None
        feeds = chosen[0].feeds_of(size)
        async with open_stand(folder, feeds, postgres=server, **settings) as stand:
            for each in chosen:
                await each.play(Ground(stand, size, server), results[each.name])
            await stand.settle()
            assert await stand.stop() == 0, stand.said
            await stand.nothing_is_left()
            found = await stand.findings(chosen[0].enough)
    for result in results.values():
        result.found = found
    return results


@contextmanager
def _postgres() -> Iterator[PrivatePostgres]:
    server = PrivatePostgres(postgres_server.find_program())
    server.start()
    try:
        yield server
    finally:
        server.stop()
