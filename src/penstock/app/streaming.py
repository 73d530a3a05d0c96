"""The page fetcher, put together: on the store, or on Redis and Kafka without one."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from penstock.app import Platform
from penstock.app.stream_servers import (
    open_kafka,
    open_page_cache,
    open_redis,
    open_url_queue,
    queue_module,
)
from penstock.cache.sql import SqlCache
from penstock.core.chores import Chore
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.core.signs import Signs
from penstock.core.supervise import Supervisor
from penstock.events.log import EventLog
from penstock.kernel.entrance import Entrance
from penstock.kernel.model import Request
from penstock.kernel.pipeline import Pipeline
from penstock.queue.heartbeat import Pulse
from penstock.queue.lanes import Result
from penstock.queue.ports import Queue, State
from penstock.queue.sources import Polling
from penstock.queue.station import Station, StationSettings
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.stream.erasure import erase_page
from penstock.workloads.stream.lane import DeliveringLane, Destination, StoredLane
from penstock.workloads.stream.metrics import StreamMetrics
from penstock.workloads.stream.model import NAME, cache_key

if TYPE_CHECKING:
    from penstock.kernel.redis import Server
    from penstock.queue.redis import RedisHeartbeat, RedisQueue

#: Seconds between two looks at queue and circuits, for the gauges.
LOOK_EVERY = 5.0
MEGABYTE = 1024 * 1024
#: How many URLs wait, and how many are dead letters.
Depths = Callable[[], Awaitable[tuple[int, int]]]
Settled = Callable[[Result], None]


# ── on the store


def open_stored_lane(
    settings: Settings, platform: Platform, store: Store, log: EventLog
) -> StoredLane:
    """The lane that keeps pages and events in the store."""
    metrics = StreamMetrics(platform.metrics)
    return StoredLane(
        SqlCache(store, metrics.looked_up),
        log,
        metrics,
        platform.clock,
        topic=settings.stream.webpage_log_topic,
        seconds=settings.stream.cache_ttl_seconds,
    )


async def stored_depth(queue: Queue) -> tuple[int, int]:
    """How many URLs wait in the store, and how many are dead letters."""
    for depth in await queue.depth():
        if depth.lane == NAME:
            return depth.counts.get(State.WAITING, 0), depth.counts.get(State.DEAD, 0)
    return 0, 0


def expired_pages(store: Store) -> Chore:
    """The chore that forgets bodies whose time is over."""
    return Chore("expired pages", partial(_forget_expired, SqlCache(store)), every=60.0)


async def _forget_expired(cache: SqlCache) -> int:
    total = 0
    while number := await cache.forget_expired():
        total += number
    return total


async def erase_streamed(settings: Settings, store: Store, url: str) -> Counter[str]:
    """Erase a page from what the page fetcher keeps: in the store, and in Redis if that is used."""
    stream = settings.stream
    erased = await erase_page(store, SqlCache(store), url, stream.webpage_log_topic)
    if stream.uses_servers:
        async with open_redis(stream) as server:
            erased["pages"] += await open_page_cache(server).erase([cache_key(url)])
    return erased


# ── on Redis and Kafka


@dataclass(frozen=True, slots=True)
class PageFetcher:
    """One worker among others on the same Redis."""

    platform: Platform
    server: "Server"
    queue: "RedisQueue"
    lane: DeliveringLane
    station: Station
    heartbeat: "RedisHeartbeat"
    supervisor: Supervisor

    async def work(self) -> None:
        """Work until stopped."""
        await self.station.run(self.heartbeat.id)

    def stop(self) -> None:
        """Begin nothing new; what is under way may come to its end."""
        self.station.stop()

    def abort(self) -> None:
        """Drop what is under way; it is given back."""
        self.station.abort()

    async def examine(self) -> Signs:
        """How it is now."""
        problems = [self.lane.trouble] if self.lane.trouble else []
        try:
            depth = await self.queue.depth()
        except PenstockError as error:
            return Signs([str(error), *problems], [], {})
        breaker = self.platform.circuits.of_workloads[NAME].breaker
        figures = {
            "waiting": depth.waiting,
            "parked": {group: line.waiting for group, line in depth.parked.items()},
            "under_way": sum(depth.claimed.values()),
            "workers": len(depth.claimed),
            "dead": depth.dead,
            "down": [circuit._asdict() for circuit in await breaker.troubled()],
        }
        warnings: list[str] = await queue_module().check(self.server)
        return Signs(problems, warnings, figures)


@asynccontextmanager
async def open_page_fetcher(
    settings: Settings, platform: Platform, settled: Settled = lambda _result: None
) -> AsyncIterator[PageFetcher]:
    """A worker on Redis and Kafka; it is there for others to see until the block is left.

    `settled` hears of every URL that is over.
    """
    stream, clock = settings.stream, platform.clock
    metrics = StreamMetrics(platform.metrics)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(open_redis(stream))
        publisher = await stack.enter_async_context(open_kafka(stream))
        queue = open_url_queue(stream, server, partial(line_in, platform.pipeline))
        cache = open_page_cache(server, metrics.looked_up)
        to = Destination(cache, publisher, stream.webpage_log_topic, stream.cache_ttl_seconds)
        lane = DeliveringLane(to, metrics, clock, stream.max_undelivered_mb * MEGABYTE)
        station = Station(
            queue,
            Polling(queue, [NAME], clock, min(1.0, stream.poll_timeout_seconds)),
            {NAME: lane},
            pipeline=platform.pipeline,
            clock=clock,
            settings=station_settings(settings, stream.workers),
            settled=partial(_note, lane, settled),
        )
        pulse = Pulse(settings.queue.beat_seconds, settings.queue.silence_seconds)
        heartbeat = queue_module().RedisHeartbeat(server, queue, clock, pulse)
        await heartbeat.register()
        stack.push_async_callback(_leave, heartbeat)
        supervisor = await stack.enter_async_context(Supervisor(clock))
        platform.supervisors.append(supervisor)
        stack.callback(platform.supervisors.remove, supervisor)
        fetcher = PageFetcher(platform, server, queue, lane, station, heartbeat, supervisor)
        supervisor.start("heartbeat", lambda: _keep_beating(fetcher))
        depths = partial(_redis_depth, queue)
        supervisor.start("gauges of pages", lambda: keep_showing(platform, metrics, depths))
        yield fetcher


def line_in(path: Pipeline | Entrance, url: str) -> str:
    """The line that a URL has to stand in."""
    return path.line_of(Request(url, workload=NAME))[0]


def _note(lane: DeliveringLane, settled: Settled, result: Result) -> None:
    lane.note(result)
    settled(result)


async def _leave(heartbeat: "RedisHeartbeat") -> None:
    """Say that we are gone; where that cannot be said, our silence says it."""
    try:
        await heartbeat.leave()
    except PenstockError as error:
        get_logger().warning("our claims are taken back later", error=str(error))


async def _keep_beating(fetcher: PageFetcher) -> None:
    async def lost() -> None:
        fetcher.station.worker = fetcher.heartbeat.id
        await fetcher.station.forget()

    await fetcher.heartbeat.keep_beating(dict, lost)


async def _redis_depth(queue: "RedisQueue") -> tuple[int, int]:
    depth = await queue.depth()
    return depth.waiting + sum(line.waiting for line in depth.parked.values()), depth.dead


# ── both


def station_settings(settings: Settings, workers: int) -> StationSettings:
    """How much is claimed, carried by so many workers, and waited for."""
    limits = settings.queue
    return StationSettings(
        workers=workers,
        capacity=limits.capacity,
        claim_at_once=limits.claim_at_once,
        keep_seconds=limits.keep_seconds,
        grace_seconds=limits.grace_seconds,
    )


async def keep_showing(platform: Platform, metrics: StreamMetrics, depths: Depths) -> None:
    """Keep the gauges of queue and circuits fresh."""
    breaker = platform.circuits.of_workloads[NAME].breaker
    while True:
        try:
            metrics.show_queue(*await depths())
            metrics.show_circuits(await breaker.troubled())
        except PenstockError as error:
            get_logger().warning("the page fetcher's gauges are old", error=str(error))
        await platform.clock.sleep(LOOK_EVERY)
