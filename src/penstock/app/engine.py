"""The engine, put together: the store, the queue, and everything that works from them."""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from penstock.app import Platform
from penstock.app.cataloguing import (
    Cataloguing,
    keep_learning_domains,
    keep_preparing,
    limits_of,
    open_cataloguing,
    open_index,
)
from penstock.app.extras import needed
from penstock.app.living import Living, open_living
from penstock.app.monitoring import Monitoring, keep_learning_paces, limit_of, open_monitoring
from penstock.app.scraping import open_scrape_lane
from penstock.app.stream_servers import kafka_subscription, open_kafka_sink
from penstock.app.streaming import (
    expired_pages,
    keep_showing,
    open_stored_lane,
    station_settings,
    stored_depth,
)
from penstock.blobs.local import LocalBlobs
from penstock.blobs.ports import Blobs
from penstock.console.audit import Audit
from penstock.core.chores import Chore, keep_doing
from penstock.core.clock import Clock
from penstock.core.errors import SettingsError
from penstock.core.supervise import Supervisor
from penstock.events.file import EventFile
from penstock.events.log import EventLog
from penstock.events.ports import Sink, Subscriber
from penstock.events.relay import Relay
from penstock.notify.alerts import open_channels
from penstock.notify.webhooks import WebhookSubscription
from penstock.products.images import images_in_use
from penstock.products.search.feeding import SearchFeed, SearchSubscription
from penstock.products.search.ports import SearchIndex
from penstock.queue.broker import NoReceiver, Nudger, Receiver
from penstock.queue.health import report
from penstock.queue.heartbeat import Heartbeat, Pulse
from penstock.queue.lanes import Lane, Result
from penstock.queue.nudging import NudgingQueue
from penstock.queue.ports import LaneLimit, Queue, State
from penstock.queue.resend import Resender
from penstock.queue.scheduler import Scheduler
from penstock.queue.seats import Seat
from penstock.queue.sources import Polling, Source, Told
from penstock.queue.sql import SqlQueue
from penstock.queue.station import Station
from penstock.queue.upkeep import Upkeep, forget_empty_counts, forget_empty_lines
from penstock.settings import Settings
from penstock.store import migrate
from penstock.store.outages import Outages
from penstock.store.store import Store, open_store
from penstock.web.waiting import Waiters
from penstock.workloads.catalog.metrics import CatalogGauges
from penstock.workloads.catalog.upkeep import pages_in_use as crawled_pages_in_use
from penstock.workloads.fetch.lane import NAME as FETCH_LANE
from penstock.workloads.fetch.lane import FetchLane, bodies_in_use, forget_outcomes
from penstock.workloads.fetch.runs import Runs
from penstock.workloads.live.model import WORKLOAD as LIVE
from penstock.workloads.live.upkeep import pages_in_use as live_pages_in_use
from penstock.workloads.monitor.metrics import MonitorGauges
from penstock.workloads.monitor.runs import LANE as MONITOR_LANE
from penstock.workloads.monitor.upkeep import pages_in_use
from penstock.workloads.scrape.announcing import Announcer
from penstock.workloads.scrape.erasure import Erasure
from penstock.workloads.scrape.lane import NAME as SCRAPE_LANE
from penstock.workloads.scrape.lane import ScrapeLane
from penstock.workloads.scrape.retention import files_in_use, forget_expired
from penstock.workloads.stream.lane import StoredLane
from penstock.workloads.stream.model import NAME as STREAM_LANE
from penstock.workloads.stream.stored_memory import forget_expired as forget_seeds_and_links

DAY = 86400.0


class Listener(Protocol):
    """Hears what became of an item."""

    def note(self, result: Result) -> None:
        """An item is over, and what it left is written."""
        ...


@dataclass(frozen=True, slots=True)
class Engine:
    """Durable work on a platform: what is put in the queue is done, whatever happens."""

    store: Store
    rows: SqlQueue
    queue: Queue
    log: EventLog
    blobs: Blobs
    runs: Runs
    scrape: ScrapeLane
    monitoring: Monitoring
    stream: StoredLane
    cataloguing: Cataloguing
    index: SearchIndex
    living: Living
    waiters: Waiters
    source: Source
    receiver: Receiver
    station: Station
    heartbeat: Heartbeat
    scheduler: Scheduler
    supervisor: Supervisor
    #: Whether items are carried out in this process.
    works: bool

    async def work(self) -> None:
        """Work until stopped."""
        async with self.receiver:
            await self.station.run(self.heartbeat.id)

    def stop(self) -> None:
        """Begin nothing new; what is under way may come to its end."""
        self.receiver.pause()
        self.station.stop()

    def abort(self) -> None:
        """Drop what is under way; it is given back."""
        self.receiver.pause()
        self.station.abort()


@dataclass(frozen=True, slots=True)
class _Distribution:
    """How work gets to workers: they ask the store, or are told by messages."""

    queue: Queue
    source: Source
    receiver: Receiver
    resender: Resender | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """The way of events to one sink, for one process at a time."""

    relay: Relay
    seat: Seat

    async def deliver_due(self) -> int:
        """Deliver what is due, if that is ours to do; how many events were taken."""
        return await self.relay.deliver_due() if await self.seat.is_ours() else 0


@asynccontextmanager
async def open_ready_store(settings: Settings, clock: Clock) -> AsyncIterator[Store]:
    """The store with the tables of this version; an embedded one is upgraded by itself."""
    async with open_store(settings.store, clock) as store:
        await migrate.make_ready(store)
        yield store


@asynccontextmanager
async def open_engine(
    settings: Settings,
    platform: Platform,
    store: Store,
    *,
    only: Collection[str] = (),
    fetches: bool = True,
    settled: Callable[[Result], None] = lambda _result: None,
) -> AsyncIterator[Engine]:
    """Everything that works from the store, as one worker among others; `only` names lanes."""
    clock = platform.clock
    log = EventLog(store, open_subscribers(settings))
    blobs, waiters, rows = open_blobs(settings), Waiters(), open_queue(settings, store)
    async with AsyncExitStack() as stack:
        scrape = await open_scrape_lane(
            settings, platform, log, blobs, ended=waiters.wake, stack=stack
        )
        work = _open_workloads(
            settings, platform, store, scrape=scrape, queue=rows, log=log, blobs=blobs
        )
        index = await open_index(settings, store, clock, stack)
        lanes = _choose_lanes(work.lanes, only)
        heartbeat = Heartbeat(
            store,
            rows,
            clock,
            kind="worker" if fetches else "scheduler",
            lanes=list(lanes) if fetches else [],
            pulse=Pulse(settings.queue.beat_seconds, settings.queue.silence_seconds),
            alone=fetches and not settings.shared.url,
        )
        ways = await _distribute(platform, rows, store, list(lanes), stack)
        station = Station(
            rows,
            ways.source,
            lanes,
            pipeline=platform.pipeline,
            clock=clock,
            settings=station_settings(settings, settings.fetch.workers),
            settled=partial(_note, work.listeners, settled),
        )
        seat = Seat(store, heartbeat, "scheduler")
        await heartbeat.register()
        stack.push_async_callback(heartbeat.leave)
        supervisor = await stack.enter_async_context(Supervisor(clock))
        engine = Engine(
            store=store,
            rows=rows,
            queue=ways.queue,
            log=log,
            blobs=blobs,
            runs=Runs(store),
            scrape=work.scrape,
            monitoring=work.monitoring,
            stream=work.stream,
            cataloguing=work.cataloguing,
            index=index,
            living=work.living,
            waiters=waiters,
            source=ways.source,
            receiver=ways.receiver,
            station=station,
            heartbeat=heartbeat,
            scheduler=Scheduler(store, rows.put_in, seat, clock, platform.chance),
            supervisor=supervisor,
            works=fetches,
        )
        platform.supervisors.append(supervisor)
        stack.callback(platform.supervisors.remove, supervisor)
        _start_upkeep(platform, engine)
        if ways.resender:
            supervisor.start("resender", ways.resender.run)
        yield engine


@dataclass(frozen=True, slots=True)
class _Workloads:
    """What the engine works for."""

    fetch: FetchLane
    scrape: ScrapeLane
    monitoring: Monitoring
    stream: StoredLane
    cataloguing: Cataloguing
    living: Living

    @property
    def lanes(self) -> list[Lane]:
        """Every lane that there is."""
        catalog = self.cataloguing.lanes
        return [self.fetch, self.scrape, self.monitoring.lane, self.stream, *catalog]

    @property
    def listeners(self) -> Mapping[str, Listener]:
        """Who hears what became of the items of a lane."""
        return {
            SCRAPE_LANE: self.scrape,
            MONITOR_LANE: self.monitoring.lane,
            STREAM_LANE: self.stream,
            **{lane.name: self.cataloguing for lane in self.cataloguing.lanes},
        }


def _open_workloads(
    settings: Settings,
    platform: Platform,
    store: Store,
    *,
    scrape: ScrapeLane,
    queue: SqlQueue,
    log: EventLog,
    blobs: Blobs,
) -> _Workloads:
    monitoring = open_monitoring(settings, platform, store, queue=queue, log=log, blobs=blobs)
    ops = monitoring.ops
    return _Workloads(
        fetch=FetchLane(log, blobs if settings.fetch.keep_bodies else None),
        scrape=scrape,
        monitoring=monitoring,
        stream=open_stored_lane(settings, platform, store, log),
        cataloguing=open_cataloguing(
            settings, platform, store, queue=queue, log=log, blobs=blobs, ops=ops
        ),
        living=open_living(settings, platform, store, blobs=blobs, ops=ops),
    )


def _start_upkeep(platform: Platform, engine: Engine) -> None:
    """What every process does beside its work: beat, note outages, learn the pace of domains."""
    store, policies, clock = engine.store, platform.policies, platform.clock
    start = engine.supervisor.start
    start("heartbeat", lambda: _keep_beating(platform, engine))
    start("outages", Outages(store, platform.circuits, clock).keep_looking)
    start("paces of sources", lambda: keep_learning_paces(store, policies, clock))
    start("paces of domains", lambda: keep_learning_domains(store, policies, clock))


def _note(
    lanes: Mapping[str, Listener],
    settled: Callable[[Result], None],
    result: Result,
) -> None:
    if lane := lanes.get(result.claim.lane):
        lane.note(result)
    settled(result)


async def _distribute(
    platform: Platform,
    rows: SqlQueue,
    store: Store,
    lanes: Sequence[str],
    stack: AsyncExitStack,
) -> _Distribution:
    """Through RabbitMQ if there is one, else through the store alone."""
    broker, clock = platform.settings.broker, platform.clock
    if not broker.url:
        return _Distribution(rows, Polling(rows, lanes, clock), NoReceiver())
    celery = needed("penstock.queue.celery", "celery", "PENSTOCK_BROKER__URL")
    told = Told(rows, clock)
    nudger: Nudger = await stack.enter_async_context(celery.CeleryNudger(broker))
    return _Distribution(
        NudgingQueue(rows, nudger),
        told,
        celery.CeleryConsumer(broker, lanes, told.take),
        Resender(store, nudger, clock, broker, lanes),
    )


def _choose_lanes(all_lanes: Sequence[Lane], only: Collection[str]) -> Mapping[str, Lane]:
    lanes = {lane.name: lane for lane in all_lanes}
    if unknown := set(only) - {*lanes, LIVE}:
        known = ", ".join([*lanes, LIVE])
        raise SettingsError(f"no such lane: {', '.join(unknown)}; there are {known}")
    return {name: lane for name, lane in lanes.items() if not only or name in only}


def start_gauges(platform: Platform, engine: Engine) -> None:
    """Say what the store holds, in a process that is asked for its metrics."""
    store, clock, start = engine.store, platform.clock, engine.supervisor.start
    gauges = MonitorGauges(platform.metrics, store)
    start("gauges of targets", lambda: gauges.keep_looking(clock))
    crawled = CatalogGauges(platform.metrics, store)
    start("gauges of crawl tasks", lambda: crawled.keep_looking(clock))
    depth = partial(stored_depth, engine.rows)
    start("gauges of pages", lambda: keep_showing(platform, engine.stream.metrics, depth))


async def start_services(
    settings: Settings, platform: Platform, engine: Engine, stack: AsyncExitStack
) -> list[Delivery]:
    """What one process at a time does for all: schedules, deliveries, upkeep."""
    store, clock, start = engine.store, platform.clock, engine.supervisor.start
    start("scheduler", engine.scheduler.run)
    targets = engine.monitoring.scheduler(
        platform, store, Seat(store, engine.heartbeat, "target scheduler")
    )
    start("target scheduler", targets.run)
    tasks = engine.cataloguing.scheduler(
        platform, store, engine.rows, Seat(store, engine.heartbeat, "task scheduler"), engine.source
    )
    start("task scheduler", tasks.run)
    services = []
    start("search index", lambda: keep_preparing(engine.index, clock))
    kafka = await open_kafka_sink(settings, stack)
    for sink in [*open_sinks(settings), *kafka, SearchFeed(store, engine.index)]:
        relay = Relay(
            store, sink, max_attempts=settings.events.max_attempts, chance=platform.chance
        )
        delivery = Delivery(relay, Seat(store, engine.heartbeat, f"relay {sink.name}"))
        start(f"relay {sink.name}", partial(_keep_delivering, delivery, clock))
        services.append(delivery)
    of_workloads = [
        *engine.monitoring.chores(),
        *engine.cataloguing.chores(),
        *engine.living.upkeep.chores(),
    ]
    for chore in [*_chores(settings, store), *of_workloads]:
        seat = Seat(store, engine.heartbeat, f"chore {chore.name}")
        start(chore.name, partial(keep_doing, chore, seat.is_ours, clock))
    return services


def open_queue(settings: Settings, store: Store) -> SqlQueue:
    """The queue in a store, with the limits of its lanes."""
    limits, scrape = settings.queue, settings.scrape
    limit = LaneLimit(limits.max_pending, limits.max_pending_per_quota, limits.retry_after_seconds)
    tasks = LaneLimit(scrape.max_queue_depth, scrape.max_per_workspace, scrape.retry_after_seconds)
    targets = limit_of(settings.monitor)
    urls = LaneLimit(limits.max_pending, None, limits.retry_after_seconds)
    lanes = {FETCH_LANE: limit, SCRAPE_LANE: tasks, MONITOR_LANE: targets, STREAM_LANE: urls}
    return SqlQueue(store, lanes | limits_of(settings.catalog, limits.retry_after_seconds))


def open_blobs(settings: Settings) -> Blobs:
    """Where pages are kept: a folder, or a server that speaks S3."""
    if not settings.blobs.url:
        return LocalBlobs(settings.store.folder / "blobs")
    s3 = needed("penstock.blobs.s3", "s3", "PENSTOCK_BLOBS__URL")
    blobs: Blobs = s3.S3Blobs(settings.blobs)
    return blobs


def open_sinks(settings: Settings) -> list[Sink]:
    """Who is told of events, beside the log in the store."""
    files = [EventFile(settings.events.file)] if settings.events.file else []
    return [*open_channels(settings.notify), *files]


def open_subscribers(settings: Settings) -> list[Subscriber]:
    """Who is owed events from the moment they are written."""
    others = (WebhookSubscription(), SearchSubscription())
    return [*open_sinks(settings), *kafka_subscription(settings), *others]


def _chores(settings: Settings, store: Store) -> list[Chore]:
    upkeep, log, blobs = Upkeep(store), EventLog(store), open_blobs(settings)
    in_use = partial(blobs_in_use, store)
    done = settings.queue.keep_done_hours * 3600
    days = settings.events.keep_days * DAY
    return [
        Chore("stale items", upkeep.make_stale),
        Chore("finished items", lambda: upkeep.purge([State.DONE], older_than=done)),
        Chore("empty lines", lambda: store.write(forget_empty_lines, "upkeep")),
        Chore("empty counts", lambda: store.write(forget_empty_counts, "upkeep")),
        Chore("old events", lambda: log.forget(days)),
        Chore("old audit", lambda: Audit(store).forget(settings.console.keep_audit_days)),
        Chore(
            "old outcomes", lambda: forget_outcomes(store, settings.fetch.keep_outcomes_days * DAY)
        ),
        expired_pages(store),
        Chore("old seeds and links", lambda: forget_seeds_and_links(store)),
        Chore("expired tasks", partial(_forget_tasks, settings, store)),
        Chore("unused blobs", lambda: blobs.sweep(in_use, settings.blobs.retention_days * DAY)),
    ]


async def _forget_tasks(settings: Settings, store: Store) -> int:
    """Forget what is over for long; profiles first, while it is known where they stand.

    They are forgotten in events, too; files of theirs are swept as unused blobs.
    """
    scrape = settings.scrape
    announcer = Announcer(EventLog(store, [WebhookSubscription()]), scrape.default_webhook_url)
    erasure = Erasure(store, announcer, scrape.retention_hours)
    erased = await erasure.erase_profiles(scrape.profile_retention_hours * 3600)
    return erased.counts.total() + await forget_expired(store, scrape.retention_hours)


async def blobs_in_use(store: Store, addresses: Sequence[str]) -> set[str]:
    """Which of some blobs anything in the store still speaks of."""
    fetched = await bodies_in_use(store, addresses)
    files = await files_in_use(store, addresses)
    crawled = await crawled_pages_in_use(store, addresses)
    pictures = await images_in_use(store, addresses)
    evidence = await live_pages_in_use(store, addresses)
    kept = fetched | files | crawled | pictures | evidence
    return kept | await pages_in_use(store, addresses)


async def _keep_delivering(delivery: Delivery, clock: Clock) -> None:
    while True:
        if not await delivery.deliver_due():
            await clock.sleep(1.0)


async def _keep_beating(platform: Platform, engine: Engine) -> None:
    async def lost() -> None:
        engine.station.worker = engine.heartbeat.id
        await engine.station.forget()

    await engine.heartbeat.keep_beating(
        lambda: report(
            engine.station,
            platform.supervisors,
            platform.switches,
            platform.metrics,
            platform.clock,
        ),
        lost,
    )
