"""The end of the page fetcher's events, wherever they are, and the bodies that are left."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pydantic import ValidationError

from penstock.app.engine import open_ready_store
from penstock.app.stream_servers import kafka_module, open_page_cache, open_redis
from penstock.cache.ports import PageCache
from penstock.cache.sql import SqlCache
from penstock.core.clock import Clock
from penstock.core.log import get_logger
from penstock.events.log import EventLog
from penstock.events.ports import Event
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.stream.model import WebpageEvent
from penstock.workloads.stream.reading import Reading

if TYPE_CHECKING:
    from penstock.events.kafka import KafkaTail, Written

AT_ONCE = 1000
#: Seconds for which events are waited for at a time.
WAIT = 20.0


class TailedPage(NamedTuple):
    """An event, and where it stands; the store has one log, which is partition 0."""

    partition: int
    offset: int
    event: WebpageEvent


class Tail(Protocol):
    """The end of the events, and the bodies that belong to them."""

    cache: PageCache

    async def last(self, number: int) -> Sequence[TailedPage]:
        """The last ones, oldest first."""
        ...

    async def more(self) -> Sequence[TailedPage]:
        """What has come since; waits for a while, and may come back with nothing."""
        ...


@asynccontextmanager
async def open_tail(settings: Settings, clock: Clock) -> AsyncIterator[Tail]:
    """The end of the events that the settings mean."""
    stream = settings.stream
    async with AsyncExitStack() as stack:
        if stream.uses_servers:
            server = await stack.enter_async_context(open_redis(stream))
            opened = kafka_module().open_tail(
                stream.kafka_bootstrap_servers, stream.webpage_log_topic, **stream.kafka_options
            )
            topic = await stack.enter_async_context(opened)
            yield _OnServers(topic, open_page_cache(server))
        else:
            store = await stack.enter_async_context(open_ready_store(settings, clock))
            yield _OnStore(store, stream.webpage_log_topic, clock)


class _OnStore:
    def __init__(self, store: Store, topic: str, clock: Clock) -> None:
        self.cache: PageCache = SqlCache(store)
        self._log = EventLog(store)
        self._reading = Reading(store, self._log, self.cache, clock, topic, lambda: False)
        self._after = 0

    async def last(self, number: int) -> Sequence[TailedPage]:
        # In this order: what comes meanwhile is among the last ones or comes next.
        self._after = await self._log.last()
        found = await self._log.latest(number, [self._reading.topic])
        self._after = max([self._after, *(event.seq for event in found)])
        return [_stored(event) for event in found]

    async def more(self) -> Sequence[TailedPage]:
        part = await self._reading.events(self._after, AT_ONCE, WAIT)
        self._after = part.next_after
        return [_stored(event) for event in part.events]


class _OnServers:
    def __init__(self, topic: "KafkaTail", cache: PageCache) -> None:
        self.cache = cache
        self._topic = topic

    async def last(self, number: int) -> Sequence[TailedPage]:
        return _written(await self._topic.last(number))

    async def more(self) -> Sequence[TailedPage]:
        return _written(await self._topic.more())


def _stored(event: Event) -> TailedPage:
    return TailedPage(0, event.seq, WebpageEvent.model_validate(event.message.data))


def _written(found: Sequence["Written"]) -> Sequence[TailedPage]:
    """Messages as pages; what is no event of one is passed over."""
    pages = []
    for each in found:
        try:
            event = WebpageEvent.model_validate_json(each.value)
        except ValidationError:
            place = {"partition": each.partition, "offset": each.offset}
            get_logger().warning("no event of a page", action="stream.skip", place=place)
            continue
        pages.append(TailedPage(each.partition, each.offset, event))
    return pages
