"""The price monitor for people: the service behind its API and its commands."""

import random
from collections.abc import Callable
from functools import partial

from penstock.app.engine import Engine, open_blobs, open_queue, open_subscribers
from penstock.events.log import EventLog
from penstock.extract.registry import open_registry
from penstock.kernel.admission import Admission, SystemLookup
from penstock.queue.sql import SqlQueue
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.monitor.service import Means, MonitorService, open_service


def service_of(settings: Settings, engine: Engine, chance: random.Random) -> MonitorService:
    """The service beside an engine that runs."""
    nudge = engine.source.nudge if engine.works else lambda: None
    means = _means(settings, engine.store, engine.rows, engine.log, chance=chance, nudge=nudge)
    return open_service(means, settings.monitor, settings.quality)


def service_on(settings: Settings, store: Store) -> MonitorService:
    """The service on a store alone, as a command has it; others do the work."""
    log = EventLog(store, open_subscribers(settings))
    queue = open_queue(settings, store)
    means = _means(settings, store, queue, log, chance=random.Random(), nudge=lambda: None)
    return open_service(means, settings.monitor, settings.quality)


def _means(
    settings: Settings,
    store: Store,
    queue: SqlQueue,
    log: EventLog,
    *,
    chance: random.Random,
    nudge: Callable[[], None],
) -> Means:
    return Means(
        store=store,
        blobs=open_blobs(settings),
        log=log,
        put_in=partial(queue.put_in, are_new=True),
        nudge=nudge,
        registry=open_registry(settings.extract.adapters, settings.extract.candidates),
        admission=Admission(settings.admission, SystemLookup(1)),
        chance=chance,
    )
