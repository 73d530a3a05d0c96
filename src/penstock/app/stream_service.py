"""The page fetcher on the store, for people and consumers: whom its API and its commands ask."""

from collections.abc import Callable

from penstock.app import Platform
from penstock.app.engine import Engine
from penstock.cache.sql import SqlCache
from penstock.kernel.admission import Admission, SystemLookup
from penstock.kernel.model import Request
from penstock.queue.ports import Queue
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.stream.model import NAME
from penstock.workloads.stream.reading import Reading
from penstock.workloads.stream.stored import StoredDesk


def desk_on(settings: Settings, platform: Platform, store: Store, queue: Queue) -> StoredDesk:
    """The desk on a store."""

    def group_of(url: str) -> str:
        return platform.pipeline.line_of(Request(url, workload=NAME))[0]

    # Only to look at URLs: names are looked up by whoever contacts them.
    admission = Admission(settings.admission, SystemLookup(1))
    return StoredDesk(store, queue, admission, group_of)


def stream_of(
    settings: Settings, platform: Platform, engine: Engine, is_stopping: Callable[[], bool]
) -> tuple[StoredDesk, Reading]:
    """What `stream_routes` asks, beside an engine that runs."""
    reading = Reading(
        store=engine.store,
        log=engine.log,
        cache=SqlCache(engine.store, engine.stream.metrics.looked_up),
        clock=platform.clock,
        topic=settings.stream.webpage_log_topic,
        is_stopping=is_stopping,
    )
    return desk_on(settings, platform, engine.store, engine.queue), reading
