"""The product crawler for people: the service behind its API and its commands."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from penstock.app.cataloguing import open_index
from penstock.app.engine import Engine, open_blobs, open_queue, open_subscribers
from penstock.core.clock import Clock, SystemClock
from penstock.events.log import EventLog
from penstock.extract.registry import open_registry
from penstock.kernel.admission import Admission, SystemLookup
from penstock.products.search.ports import SearchIndex
from penstock.queue.sql import SqlQueue
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.catalog.service import CatalogService, Means, open_service


def service_of(settings: Settings, engine: Engine, clock: Clock) -> CatalogService:
    """The service beside an engine that runs."""
    nudge = engine.source.nudge if engine.works else lambda: None
    means = _means(
        settings,
        engine.store,
        index=engine.index,
        queue=engine.rows,
        log=engine.log,
        clock=clock,
        nudge=nudge,
    )
    return open_service(means, settings.catalog)


@asynccontextmanager
async def service_on(settings: Settings, store: Store) -> AsyncIterator[CatalogService]:
    """The service on a store alone, as a command has it; others do the work."""
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        means = _means(
            settings,
            store,
            index=await open_index(settings, store, clock, stack),
            queue=open_queue(settings, store),
            log=EventLog(store, open_subscribers(settings)),
            clock=clock,
            nudge=lambda: None,
        )
        yield open_service(means, settings.catalog)


def _means(
    settings: Settings,
    store: Store,
    *,
    index: SearchIndex,
    queue: SqlQueue,
    log: EventLog,
    clock: Clock,
    nudge: Callable[[], None],
) -> Means:
    return Means(
        store=store,
        blobs=open_blobs(settings),
        index=index,
        log=log,
        put_in=queue.put_in,
        nudge=nudge,
        registry=open_registry(settings.extract.adapters, settings.extract.candidates),
        admission=Admission(settings.admission, SystemLookup(1)),
        clock=clock,
    )
