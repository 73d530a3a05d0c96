"""A reader of the page fetcher's events that follows links, put together."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from penstock.app.engine import open_ready_store
from penstock.app.stream_desk import stored_desk
from penstock.app.stream_servers import kafka_module
from penstock.app.stream_sources import Supply, open_supply, stored_supply
from penstock.cache.sql import SqlCache
from penstock.core.clock import Clock
from penstock.core.log import get_logger
from penstock.events.log import EventLog
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.stream.feeding import DeskPusher, insist
from penstock.workloads.stream.links import LinkLimits, Links
from penstock.workloads.stream.model import WebpageEvent
from penstock.workloads.stream.reading import Reading
from penstock.workloads.stream.settings import StreamSettings

if TYPE_CHECKING:
    from penstock.client.stream import Pages

#: The consumer, and the group in Kafka, whose offsets say how far links were followed.
READER = "penstock-links"
AT_ONCE = 100
#: Seconds for which events are waited for at a time, and after servers did not answer.
WAIT = 20.0
PAUSE = 2.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Arrived:
    """A page that was fetched; `commit` says that its links are in the queue."""

    url: str
    content_type: str | None
    commit: Callable[[], Awaitable[object]]

    async def finish(self) -> None:
        """Nothing is left to do for it."""
        await self.commit()


Arrivals = AsyncIterator[tuple[Arrived, bytes | None]]


async def follow_links(settings: Settings, clock: Clock, stopping: asyncio.Event) -> None:
    """Follow the links of pages, also of those that come; a page that was begun is finished."""
    if settings.stream.uses_servers:
        async with open_supply(settings, clock) as supply:
            await _follow_kafka(settings.stream, supply, clock, stopping)
        return
    async with open_ready_store(settings, clock) as store:
        links = _links(settings.stream, stored_supply(store, stored_desk(settings, store)), clock)
        arrivals = _from_store(_reading(settings, store, clock, stopping))
        await _run(links, arrivals, stopping)


async def _follow_kafka(
    stream: StreamSettings, supply: Supply, clock: Clock, stopping: asyncio.Event
) -> None:
    """Servers that are away come back: then it goes on behind what was committed."""
    from penstock.client.errors import NotReached  # noqa: PLC0415 - heavy
    from penstock.client.stream import read_stream  # noqa: PLC0415

    links = _links(stream, supply, clock)
    cluster = kafka_module().reach(stream.kafka_bootstrap_servers, stream.kafka_options)
    while not stopping.is_set():
        pages = read_stream(
            kafka=stream.kafka_bootstrap_servers,
            redis=stream.redis_url.get_secret_value(),
            group=READER,
            topic=stream.webpage_log_topic,
            queue=stream.input_queue,
            kafka_options=cluster.options,
        )
        try:
            async with pages:
                await _run(links, _from_kafka(pages), stopping)
        except NotReached as error:
            get_logger().warning("no events for now", action="links.wait", error=str(error))
            await clock.wait_for(stopping, PAUSE)


async def _run(links: Links, arrivals: Arrivals, stopping: asyncio.Event) -> None:
    async with aclosing(until(stopping, arrivals)) as some:
        await links.run(some, Arrived.finish)


def _links(stream: StreamSettings, supply: Supply, clock: Clock) -> Links:
    limits = LinkLimits(stream.links_depth, stream.links_per_site, same=stream.links_same)
    return Links(DeskPusher(supply.desk, stream.max_waiting), supply.links, clock, limits)


def _reading(settings: Settings, store: Store, clock: Clock, stopping: asyncio.Event) -> Reading:
    return Reading(
        store=store,
        log=EventLog(store),
        cache=SqlCache(store),
        clock=clock,
        topic=settings.stream.webpage_log_topic,
        is_stopping=stopping.is_set,
    )


async def _from_store(reading: Reading) -> Arrivals:
    clock = reading.clock
    after = (await insist(partial(reading.consumer, READER), clock)).seq
    while True:
        part = await insist(partial(reading.events, after, AT_ONCE, WAIT), clock)
        for found in part.events:
            event = WebpageEvent.model_validate(found.message.data)
            body = await insist(partial(reading.cache.get, event.cache_key), clock)
            commit = partial(insist, partial(reading.commit, READER, found.seq), clock)
            yield Arrived(event.url, event.content_type, commit), body
        after = part.next_after


async def _from_kafka(pages: "Pages") -> Arrivals:
    async for page in pages:
        event = page.event
        yield Arrived(event.url, event.content_type, partial(_commit, pages)), await page.body()


async def _commit(pages: "Pages") -> None:
    from penstock.client.stream import PartitionLost  # noqa: PLC0415 - heavy

    try:
        await pages.commit()
    except PartitionLost as error:
        # Whoever has it now finds the links known.
        get_logger().info("a page comes again", action="links.commit", error=str(error))


async def until(stopping: asyncio.Event, coming: AsyncIterator[T]) -> AsyncGenerator[T, None]:
    """What comes, as it comes, until somebody says stop."""
    end = asyncio.create_task(stopping.wait())
    following: asyncio.Task[T] | None = None
    try:
        while not stopping.is_set():
            following = asyncio.create_task(_next(coming))
            await asyncio.wait({following, end}, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                return
            yield following.result()
    finally:
        waiting = [task for task in (end, following) if task is not None and not task.done()]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _next(coming: AsyncIterator[T]) -> T:
    return await anext(coming)
