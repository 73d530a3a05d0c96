"""The product crawler for people: the service behind its API and its commands."""

from collections.abc import Callable

from penstock.app.cataloguing import open_index
from penstock.app.engine import Engine, open_blobs, open_queue
from penstock.core.clock import Clock, SystemClock
from penstock.extract.registry import open_registry
from penstock.kernel.admission import Admission, SystemLookup
from penstock.queue.sql import SqlQueue
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.catalog.service import CatalogService, Means, open_service


def service_of(settings: Settings, engine: Engine, clock: Clock | None = None) -> CatalogService:
    """The service beside an engine that runs."""
    nudge = engine.source.nudge if engine.works else lambda: None
    means = _means(settings, engine.store, engine.rows, clock or SystemClock(), nudge)
    return open_service(means, settings.catalog)


def service_on(settings: Settings, store: Store) -> CatalogService:
    """The service on a store alone, as a command has it; others do the work."""
    means = _means(settings, store, open_queue(settings, store), SystemClock(), lambda: None)
    return open_service(means, settings.catalog)


def _means(
    settings: Settings, store: Store, queue: SqlQueue, clock: Clock, nudge: Callable[[], None]
) -> Means:
    return Means(
        store=store,
        blobs=open_blobs(settings),
        index=open_index(settings, store, clock),
        put_in=queue.put_in,
        nudge=nudge,
        registry=open_registry(settings.extract.adapters, settings.extract.candidates),
        admission=Admission(settings.admission, SystemLookup(1)),
        clock=clock,
    )
