"""The product crawler, put together: its lanes, its scheduler, and what looks after both."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from penstock.app import Platform
from penstock.blobs.ports import Blobs
from penstock.core.chores import Chore
from penstock.core.clock import Clock
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.events.log import EventLog
from penstock.extract.registry import Registry, open_registry
from penstock.extract.sitemap_walk import SitemapWalk, WalkLimits
from penstock.kernel.admission import Admission, SystemLookup
from penstock.kernel.policy import PolicyBook
from penstock.kernel.reader import Reader
from penstock.notify.ops import OpsAlerts
from penstock.products.search.caching import CachedSearch
from penstock.products.search.ports import SearchIndex
from penstock.products.search.rest import open_rest
from penstock.products.search.sql import SqlSearch
from penstock.quality.shadow import Shadow
from penstock.quality.standalone import StandaloneJudge
from penstock.queue.lanes import Lane, Result
from penstock.queue.ports import LaneLimit
from penstock.queue.seats import Seat
from penstock.queue.sources import Source
from penstock.queue.sql import SqlQueue
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.catalog.domains import paces_of_domains
from penstock.workloads.catalog.downloading import DownloadLane
from penstock.workloads.catalog.imaging import ImageLane
from penstock.workloads.catalog.lost import LostTasks
from penstock.workloads.catalog.metrics import CatalogMetrics
from penstock.workloads.catalog.model import DOWNLOADS, WORKLOAD
from penstock.workloads.catalog.parsing import ParseLane
from penstock.workloads.catalog.parsing_rates import ParserUpkeep
from penstock.workloads.catalog.scheduling import CatalogScheduler
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.sitemaps import SitemapLane
from penstock.workloads.catalog.submitting import Submitter
from penstock.workloads.catalog.upkeep import CatalogUpkeep

SHADOW_SETTING = "PENSTOCK_CATALOG__SHADOW"
#: Tasks and pictures whose items were lost are looked for so often.
LOST_EVERY = 300.0
PARSERS_EVERY = 600.0
#: So often it is looked what domains say of their pace.
PACES_EVERY = 10.0


@dataclass(frozen=True, slots=True)
class Cataloguing:
    """The parts of the crawler that the engine runs."""

    settings: CatalogSettings
    registry: Registry
    downloads: DownloadLane
    parses: ParseLane
    images: ImageLane
    sitemaps: SitemapLane
    upkeep: CatalogUpkeep
    lost: LostTasks
    parsers: ParserUpkeep
    metrics: CatalogMetrics

    def note(self, result: Result) -> None:
        """A result is committed."""
        self.downloads.note(result)
        self.metrics.note(result)

    @property
    def lanes(self) -> Sequence[Lane]:
        """All of them."""
        return (self.downloads, self.parses, self.images, self.sitemaps)

    def chores(self) -> list[Chore]:
        """What is done from time to time, by one process for all."""
        return [
            *self.upkeep.chores(),
            Chore("lost crawl tasks", self.lost.settle, LOST_EVERY),
            Chore("parsers that drop", self.parsers.look, PARSERS_EVERY),
        ]

    def scheduler(
        self, platform: Platform, store: Store, rows: SqlQueue, seat: Seat, source: Source
    ) -> CatalogScheduler:
        """Who hands due tasks to the queue."""
        return CatalogScheduler(
            store,
            rows.put_in,
            seat,
            platform.clock,
            platform.chance,
            settings=self.settings,
            registry=self.registry,
            line_of=platform.pipeline.line_of,
            nudge=source.nudge,
        )


def open_cataloguing(
    settings: Settings,
    platform: Platform,
    store: Store,
    *,
    queue: SqlQueue,
    log: EventLog,
    blobs: Blobs,
    ops: OpsAlerts,
) -> Cataloguing:
    """The crawler on a store and its queue."""
    section, pipeline, clock = settings.catalog, platform.pipeline, platform.clock
    registry = open_registry(settings.extract.adapters, settings.extract.candidates)
    breaker, metrics = platform.circuits.common.breaker, CatalogMetrics(platform.metrics)

    async def is_open(domain: str) -> bool:
        return await breaker.look(domain) is not None

    return Cataloguing(
        settings=section,
        registry=registry,
        downloads=DownloadLane(
            section,
            store,
            blobs,
            log=log,
            registry=registry,
            put_in=queue.put_in,
            is_open=is_open,
            clock=clock,
            chance=platform.chance,
        ),
        parses=ParseLane(
            section,
            settings.quality,
            store,
            blobs,
            reader=Reader(registry, StandaloneJudge(settings.quality)),
            log=log,
            put_in=queue.put_in,
            line_of=pipeline.line_of,
            compare=Shadow(
                section.shadow, registry, settings.quality, setting=SHADOW_SETTING
            ).compare,
            unread=metrics.unread,
        ),
        images=ImageLane(section, blobs),
        sitemaps=SitemapLane(
            store,
            open_submitter(settings),
            lambda: SitemapWalk(
                pipeline,
                clock,
                workload=WORKLOAD,
                limits=WalkLimits(urls=section.max_submission),
            ),
        ),
        upkeep=CatalogUpkeep(store, section, log.append),
        lost=LostTasks(store, queue.put_in, pipeline.line_of),
        parsers=ParserUpkeep(store, ops),
        metrics=metrics,
    )


def open_submitter(settings: Settings) -> Submitter:
    """Who takes URLs on; it only looks at them."""
    admission = Admission(settings.admission, SystemLookup(1))
    return Submitter(admission, settings.catalog)


async def open_index(
    settings: Settings, store: Store, clock: Clock, stack: AsyncExitStack
) -> SearchIndex:
    """Where products are searched for, in the store or on a server; closed with the stack."""
    index: SearchIndex = SqlSearch(store)
    if settings.search.url.get_secret_value():
        index = await stack.enter_async_context(open_rest(settings.search))
    return CachedSearch(index, settings.search, clock)


async def keep_preparing(index: SearchIndex, clock: Clock) -> None:
    """Have the index made; a server that is away is waited for."""
    while True:
        try:
            await index.prepare()
        except PenstockError as error:
            get_logger().error("the search index cannot be prepared yet", error=str(error))
            await clock.sleep(PACES_EVERY)
        else:
            return


def limits_of(settings: CatalogSettings, retry_after: float) -> dict[str, LaneLimit]:
    """How much may be pending; what downloads lead to is never turned away."""
    most = LaneLimit(settings.max_queued, settings.max_queued_per_domain, retry_after)
    return {DOWNLOADS: most}


async def keep_learning_domains(store: Store, policies: PolicyBook, clock: Clock) -> None:
    """Let domains be crawled as fast as their rows say, where no policy says otherwise."""
    while True:
        try:
            policies.learn_for(WORKLOAD, await paces_of_domains(store))
        except PenstockError as error:
            get_logger().error("the paces of domains cannot be read", error=str(error))
        await clock.sleep(PACES_EVERY)
