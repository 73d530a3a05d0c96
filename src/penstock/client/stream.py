"""The page fetcher's pages, for consumers: events with their bodies, from Kafka or from a service.

async with read_stream(kafka="host:9092", redis="redis://host", group="indexer") as pages:
    async for page in pages:
        if await page.is_expired():
            await pages.requeue(page)
        else:
            index(page.event.url, await page.body())
        await pages.commit()

Only what was committed is over: after a crash everything behind it comes again, in order.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal, Self, overload

from penstock.client.async_rest import AsyncClient
from penstock.client.errors import ClientError
from penstock.client.retrying import Retrying
from penstock.client.stream_models import WebpageEvent
from penstock.client.stream_service import ServiceSource
from penstock.client.stream_sources import Arrival, PartitionLost, Place, Source

__all__ = ["Pages", "PartitionLost", "Place", "StreamPage", "WebpageEvent", "read_stream"]

#: Events asked for at a time; Kafka takes a consumer for dead that needs 5 minutes for them.
AT_ONCE = 100
#: Bodies that are fetched before they are asked for, and how large they may be together.
AHEAD = 32
MOST_BYTES_AHEAD = 64 * 1024 * 1024


class StreamPage:
    """A page that was fetched: its event at once, its body when it is asked for."""

    def __init__(self, source: Source, arrival: Arrival) -> None:
        self.event: WebpageEvent = arrival.event
        self.place: Place = arrival.place
        self.arrival = arrival
        self._source = source
        self._fetching: asyncio.Task[bytes | None] | None = None

    async def body(self) -> bytes | None:
        """The bytes as they came; None if they are kept no more. Asked again after an error.

        The cache has one body for a URL: if it was fetched again meanwhile, it is the newer one,
        and its hash is not `event.content_hash`.
        """
        return await asyncio.shield(self.begin())

    async def is_expired(self) -> bool:
        """Whether the body is kept no more."""
        return await self.body() is None

    @property
    def is_begun(self) -> bool:
        """Whether the body was asked for, and not in vain."""
        task = self._fetching
        if task is None or not task.done():
            return task is not None
        return not task.cancelled() and task.exception() is None

    def begin(self) -> "asyncio.Task[bytes | None]":
        """Have the body fetched, if it is not."""
        if self._fetching is None or not self.is_begun:
            self._fetching = asyncio.create_task(self._source.body(self.event))
            self._fetching.add_done_callback(_look_at)
        return self._fetching

    def cancel(self) -> None:
        """Nobody wants the body any more."""
        if self._fetching is not None:
            self._fetching.cancel()


class Pages:
    """The pages of a stream, in order per URL; use it in an `async with` block."""

    def __init__(self, source: Source, *, ahead: int = AHEAD, at_once: int = AT_ONCE) -> None:
        self._source = source
        self._ahead = ahead
        self._at_once = at_once
        self._waiting: deque[StreamPage] = deque()
        # Of each partition the last page that was handed out and not committed.
        self._handed_out: dict[int, Arrival] = {}

    async def __aenter__(self) -> Self:
        try:
            await self._source.open()
        except BaseException:
            await self._source.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for page in self._waiting:
            page.cancel()
        self._waiting.clear()
        await self._source.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamPage:
        """The next page; waits for one as long as it takes."""
        while True:
            while self._waiting:
                self._fetch_ahead()
                page = self._waiting.popleft()
                if self._source.is_current(page.arrival):
                    self._handed_out[page.place.partition] = page.arrival
                    return page
                page.cancel()
            arrivals = await self._source.more(self._at_once)
            self._waiting.extend(StreamPage(self._source, arrival) for arrival in arrivals)

    async def commit(self, page: StreamPage | None = None) -> None:
        """Every page handed out so far is done with; or those of one partition, up to a page.

        `PartitionLost` if some are another consumer's by now: those come again, to that consumer.
        """
        chosen = dict(self._handed_out) if page is None else {page.place.partition: page.arrival}
        try:
            await self._source.commit(list(chosen.values()))
        except PartitionLost:
            self._forget(chosen)
            raise
        self._forget(chosen)

    async def requeue(self, page: StreamPage) -> None:
        """Have the URL of a page fetched again; it comes as a new event."""
        await self._source.push(page.event.url)

    def _forget(self, done: Mapping[int, Arrival]) -> None:
        for partition, arrival in done.items():
            if self._handed_out.get(partition) is arrival:
                del self._handed_out[partition]

    def _fetch_ahead(self) -> None:
        size = 0
        for number, page in enumerate(self._waiting):
            size += page.event.content_length
            if number >= self._ahead or (size > MOST_BYTES_AHEAD and number > 0):
                return
            if not page.is_begun:
                page.begin()


@overload
def read_stream(
    *,
    kafka: str,
    redis: str,
    group: str,
    topic: str = "webpage_log",
    queue: str = "crawler_queue",
    start: Literal["earliest", "latest"] = "earliest",
    kafka_options: Mapping[str, Any] | None = None,
    ahead: int = AHEAD,
    at_once: int = AT_ONCE,
) -> Pages: ...


@overload
def read_stream(
    *, service: str, key: str, consumer: str, ahead: int = AHEAD, at_once: int = AT_ONCE
) -> Pages: ...


def read_stream(*, ahead: int = AHEAD, at_once: int = AT_ONCE, **given: Any) -> Pages:
    """Pages by way of Kafka and Redis, as a member of a group; or of a service, as a consumer.

    `start` is for a group that never committed; `kafka_options` are aiokafka's, such as
    `security_protocol`. `queue` is the list in Redis that `requeue` pushes to.
    """
    source = _of_service(**given) if "service" in given else _of_kafka(**given)
    return Pages(source, ahead=ahead, at_once=at_once)


def _of_service(*, service: str, key: str, consumer: str) -> Source:
    return ServiceSource(AsyncClient(service, key), consumer)


def _of_kafka(
    *,
    kafka: str,
    redis: str,
    group: str,
    topic: str = "webpage_log",
    queue: str = "crawler_queue",
    start: str = "earliest",
    kafka_options: Mapping[str, Any] | None = None,
) -> Source:
    try:
        from penstock.client.stream_kafka import KafkaSource  # noqa: PLC0415
        from penstock.client.stream_redis import RedisPages  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("aiokafka", "redis"):
            raise
        raise ClientError(
            "read_stream(kafka=…) needs more: pip install 'penstock[kafka,redis]'"
        ) from error
    pages = RedisPages(redis, queue, retrying=Retrying())
    return KafkaSource(kafka, topic, group, pages, start=start, options=kafka_options or {})


def _look_at(fetching: asyncio.Task[bytes | None]) -> None:
    """A body that could not be fetched is asked for again by whoever wants it."""
    if not fetching.cancelled():
        fetching.exception()
