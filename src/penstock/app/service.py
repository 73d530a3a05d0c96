"""The API, put together on a platform and an engine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.types import ASGIApp

from penstock.api.application import create_application
from penstock.api.door import Said, Signs
from penstock.api.health import Doctor, PoolStats, QueueStats, Vitals, enveloped, health_routes
from penstock.api.live import live_health_routes, live_signs
from penstock.api.server import Server
from penstock.app import Platform
from penstock.app.catalog_service import service_of as catalog_of
from penstock.app.console import open_console
from penstock.app.engine import Engine
from penstock.app.living import Living
from penstock.app.monitor_service import service_of
from penstock.app.proxies import proxies_on
from penstock.app.stream_service import stream_of
from penstock.extract.registry import open_registry
from penstock.kernel.admission import Admission, SystemLookup
from penstock.settings import Settings
from penstock.web.guard import Guard
from penstock.web.keys import KeyRing, Keys, RateLimiter, service_key
from penstock.web.waiting import Waiters
from penstock.workloads.catalog.routes import catalog_routes
from penstock.workloads.live.asking import PREFIX as LIVE
from penstock.workloads.live.routes import live_routes
from penstock.workloads.monitor.routes import monitor_routes
from penstock.workloads.scrape.announcing import Announcer
from penstock.workloads.scrape.routes import Desk, scrape_routes
from penstock.workloads.scrape.service import Connections, ScrapeService
from penstock.workloads.scrape.stats import lane_stats
from penstock.workloads.scrape.stopping import Stopping
from penstock.workloads.scrape.stream import JobStream
from penstock.workloads.scrape.sync import ImmediateScraper
from penstock.workloads.stream.routes import stream_routes

HEALTH = "/health"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """An application and what steers it; `new_key` is a service key that was just made."""

    application: ASGIApp
    #: What is said of the process whatever its load.
    signs: Signs
    stopping: Stopping
    #: Those who are let go when all stops.
    waiters: tuple[Waiters, ...]
    service_key: str
    new_key: str | None = None

    def stop(self) -> None:
        """Take no new work; who watches a job or a feed is let go."""
        self.stopping.is_set = True
        for each in self.waiters:
            each.wake_all()

    def let_go(self) -> None:
        """Answer who still waits for a task: it will not be over while we are here."""
        self.stopping.is_final = True
        self.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Api(Served):
    """The whole API."""

    service: ScrapeService


def open_api(settings: Settings, platform: Platform, engine: Engine) -> Api:
    """The API on top of everything else."""
    clock = platform.clock
    stopping = Stopping(settings.api.retry_after_seconds)
    service = _service(settings, platform, engine)
    desk = Desk(
        service=service,
        now=ImmediateScraper(
            service,
            engine.scrape,
            platform.policies,
            clock,
            poll_seconds=settings.scrape.poll_seconds,
            stopping=stopping,
        ),
        stream=JobStream(service, settings.scrape, clock, stopping),
        registry=open_registry(settings.extract.adapters),
        is_stopping=stopping,
    )
    key, is_new = service_key(settings.api, settings.store.keys)
    doctor = Doctor(_vitals(platform, engine, stopping))
    routers = [
        scrape_routes(desk),
        monitor_routes(service_of(settings, engine, platform.chance)),
        stream_routes(*stream_of(settings, platform, engine, stopping)),
        *catalog_routes(
            catalog_of(settings, engine, clock), proxies_on(settings, engine.store), stopping
        ),
        *live_routes(engine.living.service(), engine.living.examine, stopping),
        health_routes(doctor, platform.metrics),
    ]
    ring = KeyRing(Keys(engine.store), key, settings.api, clock)
    routers += open_console(
        settings, platform, engine, scrape=service, ring=ring, is_stopping=stopping
    )
    guard = Guard(ring, RateLimiter(clock))

    async def signs() -> dict[str, Said]:
        return {HEALTH: await doctor.signs(), **await _live_signs(engine.living)}

    return Api(
        application=create_application(routers, guard, settings.api, clock, platform.metrics),
        signs=signs,
        service=service,
        stopping=stopping,
        waiters=(service.waiters, engine.living.waiters),
        service_key=key,
        new_key=key if is_new else None,
    )


def open_live_api(settings: Settings, platform: Platform, engine: Engine) -> Served:
    """The API of a process that watches live pages and does nothing else."""
    stopping, living = Stopping(settings.api.retry_after_seconds), engine.living
    key, is_new = service_key(settings.api, settings.store.keys)

    def trouble() -> str | None:
        if stopping():
            return "the service is shutting down"
        return None if living.supervision else "no feeds are watched yet"

    examine = living.examine if settings.live.health_check_enabled else None
    routers = [
        *live_routes(living.service(), living.examine, stopping),
        live_health_routes(examine, trouble, platform.metrics),
    ]
    clock = platform.clock
    guard = Guard(KeyRing(Keys(engine.store), key, settings.api, clock), RateLimiter(clock))

    async def signs() -> dict[str, Said]:
        found = await _live_signs(living)
        return {**found, HEALTH: live_signs(await living.examine())} if found else {}

    return Served(
        application=create_application(routers, guard, settings.api, clock, platform.metrics),
        signs=signs,
        stopping=stopping,
        waiters=(living.waiters,),
        service_key=key,
        new_key=key if is_new else None,
    )


async def _live_signs(living: Living) -> dict[str, Said]:
    """What is said of live pages, if they are watched here: elsewhere the store is asked."""
    if living.supervision is None or not living.settings.live.health_check_enabled:
        return {}
    return {f"{LIVE}{HEALTH}": enveloped(await living.examine())}


def _service(settings: Settings, platform: Platform, engine: Engine) -> ScrapeService:
    connections = Connections(
        store=engine.store,
        put_in=engine.rows.put_in,
        nudge=engine.source.nudge if engine.works else lambda: None,
        cancel=engine.station.cancel,
        line_of=platform.pipeline.line_of,
        # Only to look at URLs: names are looked up by whoever contacts them.
        admission=Admission(settings.admission, SystemLookup(1)),
        blobs=engine.blobs,
        clock=platform.clock,
    )
    announcer = Announcer(engine.log, settings.scrape.default_webhook_url)
    return ScrapeService(settings.scrape, connections, announcer, engine.waiters)


def _vitals(platform: Platform, engine: Engine, stopping: Stopping) -> Vitals:
    async def queue() -> QueueStats:
        depth, active, seconds = await engine.store.read(lane_stats)
        return QueueStats(depth, active, seconds)

    def pool() -> PoolStats | None:
        return platform.browsers.stats() if platform.has_browsers else None

    async def browser_trouble() -> str | None:
        return await platform.browsers.check() if platform.has_browsers else None

    return Vitals(
        queue=queue,
        pool=pool,
        browser_trouble=browser_trouble,
        proxies=platform.proxies.members,
        is_stopping=stopping,
        metrics=platform.metrics,
        clock=platform.clock,
    )


@asynccontextmanager
async def open_server(
    api: Served, settings: Settings, setting: str = "PENSTOCK_API__PORT"
) -> AsyncIterator[Server]:
    """A server on the port of the settings, which is given back when the block is left."""
    server = Server(
        api.application,
        settings.api,
        before_stop=api.let_go,
        setting=setting,
        signs=api.signs,
    )
    try:
        yield server
    finally:
        server.close()
