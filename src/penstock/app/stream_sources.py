"""What fills the page fetcher's queue by itself, put together: seeds, and links of pages."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from penstock.app import Platform
from penstock.app.engine import Engine, open_ready_store
from penstock.app.stream_desk import RedisDesk, stored_desk
from penstock.app.stream_servers import open_redis, open_url_queue
from penstock.app.streaming import PageFetcher
from penstock.core.clock import Clock
from penstock.core.errors import PenstockError, SettingsError
from penstock.core.ids import new_id
from penstock.core.supervise import Supervisor
from penstock.extract.sitemap_walk import WalkLimits
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.stream.desk import Desk
from penstock.workloads.stream.feeding import DeskPusher
from penstock.workloads.stream.memory import LinkMemory, SeedMemory
from penstock.workloads.stream.redis_memory import LinksInRedis, SeedsInRedis
from penstock.workloads.stream.seed_file import Seed, SeedsRefused, load_seeds
from penstock.workloads.stream.seeds import Seeds, walks_through
from penstock.workloads.stream.settings import StreamSettings
from penstock.workloads.stream.stored_memory import LinksInStore, SeedsInStore

if TYPE_CHECKING:
    from penstock.kernel.redis import Server


class Supply(NamedTuple):
    """The way into the queue, and what those who fill it remember."""

    desk: Desk
    seeds: SeedMemory
    links: LinkMemory


def stored_supply(store: Store, desk: Desk) -> Supply:
    """For a queue in a store."""
    return Supply(desk, SeedsInStore(store), LinksInStore(store))


def redis_supply(stream: StreamSettings, server: "Server", desk: Desk) -> Supply:
    """For a queue in Redis."""
    queue = stream.input_queue
    return Supply(desk, SeedsInRedis(server, queue), LinksInRedis(server, queue))


@asynccontextmanager
async def open_supply(settings: Settings, clock: Clock) -> AsyncIterator[Supply]:
    """For the queue that the settings mean."""
    stream = settings.stream
    if stream.uses_servers:
        async with open_redis(stream) as server:
            # Only who claims URLs has to know their lines.
            desk = RedisDesk(open_url_queue(stream, server, str))
            yield redis_supply(stream, server, desk)
    else:
        async with open_ready_store(settings, clock) as store:
            yield stored_supply(store, stored_desk(settings, store))


def open_seeds(
    settings: Settings, platform: Platform, supply: Supply, seeds: Sequence[Seed], who: str
) -> Seeds:
    """Seeds that are pushed by way of a platform; their pages are where links begin."""
    return Seeds(
        seeds,
        walks=walks_through(platform.pipeline, platform.clock, WalkLimits()),
        pusher=DeskPusher(supply.desk, settings.stream.max_waiting),
        memory=supply.seeds,
        clock=platform.clock,
        chance=platform.chance,
        who=who,
        links=supply.links,
    )


async def keep_pushing(
    settings: Settings, platform: Platform, supply: Supply, seeds: Sequence[Seed]
) -> None:
    """Push seeds whenever they are due, until cancelled; then another process may at once."""
    who = new_id()
    try:
        await open_seeds(settings, platform, supply, seeds, who).run()
    finally:
        with suppress(PenstockError):
            await supply.seeds.hold(who, 0.0)


def start_stored_seeds(settings: Settings, platform: Platform, engine: Engine) -> None:
    """Push the seeds of the settings, if there are any, beside workers on the same store.

    A process that does not fetch itself may read sitemaps only where the ledger is shared.
    """
    may_fetch = engine.works or bool(settings.shared.url)
    if settings.stream.uses_servers or not may_fetch:
        return
    desk = stored_desk(settings, engine.store, engine.queue, platform.pipeline)
    _start(settings, platform, stored_supply(engine.store, desk), engine.supervisor)


def start_redis_seeds(settings: Settings, fetcher: PageFetcher) -> None:
    """Push the seeds of the settings, if there are any, beside a page fetcher on Redis."""
    supply = redis_supply(settings.stream, fetcher.server, RedisDesk(fetcher.queue))
    _start(settings, fetcher.platform, supply, fetcher.supervisor)


def _start(settings: Settings, platform: Platform, supply: Supply, supervisor: Supervisor) -> None:
    path = settings.stream.seeds_file
    if path is None:
        return
    seeds = _load(path)
    supervisor.start("seeds", lambda: keep_pushing(settings, platform, supply, seeds))


def _load(path: Path) -> list[Seed]:
    try:
        return load_seeds(path)
    except SeedsRefused as refused:
        first, *others = refused.problems
        more = f" (and {len(others)} more: `penstock stream seeds check`)" if others else ""
        raise SettingsError(f"PENSTOCK_STREAM__SEEDS_FILE: {first}{more}") from refused
