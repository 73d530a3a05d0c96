"""The page fetcher on the store, for people and consumers: whom its API and its commands ask."""

from collections.abc import Callable

from penstock.app import Platform
from penstock.app.engine import Engine
from penstock.app.stream_desk import stored_desk
from penstock.cache.sql import SqlCache
from penstock.settings import Settings
from penstock.workloads.stream.desk import Desk
from penstock.workloads.stream.reading import Reading


def stream_of(
    settings: Settings, platform: Platform, engine: Engine, is_stopping: Callable[[], bool]
) -> tuple[Desk, Reading]:
    """What `stream_routes` asks, beside an engine that runs."""
    reading = Reading(
        store=engine.store,
        log=engine.log,
        cache=SqlCache(engine.store, engine.stream.metrics.looked_up),
        clock=platform.clock,
        topic=settings.stream.webpage_log_topic,
        is_stopping=is_stopping,
    )
    desk = stored_desk(settings, engine.store, engine.queue, platform.pipeline)
    return desk, reading
