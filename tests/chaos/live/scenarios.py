"""What is done to live pages: each scenario breaks one thing, again and again."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests import postgres_server
from tests.chaos.live.model import Ground, Result, Scenario, Size
from tests.chaos.live.outages import (
    die_without_the_store,
    freeze_the_server,
    kill_the_server,
    lock_the_file,
)
from tests.chaos.live.stand import Stand, Watched, open_stand
from tests.postgres_server import PrivatePostgres
from tests.shell import eventually

PATIENCE = 60.0
#: By the rule for errors, what is asked for each time is looked at so rarely after many of them.
SLOWEST_LOOKS = 20.0
RENDERER, DRIVER, KEEPER = "--type=renderer", "run-driver", "keeper.py"
RESTARTS, ERRORS = "scraper_restarts_total", "scraper_errors_total"
#: Limits for a browser with few pages.
SOFT_MB, HARD_MB = 320, 480


# ── processes


async def _kill_each(find: Callable[[Stand], Sequence[int]], ground: Ground, to: Result) -> None:
    pages = [feed for feed in ground.stand.feeds if feed.is_page]
    for _ in range(ground.size.kills):
        victim = find(ground.stand)[0]
        to.recoveries.append(await ground.stand.suffer(partial(_kill, victim), pages))
        await asyncio.sleep(ground.size.breath)


async def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def _drivers(stand: Stand) -> list[int]:
    keepers = stand.find(KEEPER)
    return [pid for pid in stand.find(DRIVER) if pid not in keepers]


async def kill_the_service(ground: Ground, to: Result) -> None:
    """The whole process, which is started again at once."""
    longest = 0.0
    for _ in range(ground.size.kills):
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
    for number in range(1, ground.size.kills + 1):
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
    for _ in range(ground.size.kills):
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
    for _ in range(ground.size.kills):
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


# ── the network


async def cut_the_network(ground: Ground, to: Result) -> None:
    """Every connection to the site is reset for a while, again and again."""
    for _ in range(ground.size.cuts):
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
            longer=SLOWEST_LOOKS,
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
        async with open_stand(folder, feeds, size.tempo, postgres=server, **settings) as stand:
            for each in chosen:
                await each.play(Ground(stand, size, server), results[each.name])
            await stand.settle()
            assert await stand.stop() == 0, stand.said
            await stand.nothing_is_left()
            found = await stand.findings(size.tempo.enough + chosen[0].longer)
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
