"""The `stream` lane: a URL becomes a page in the cache and an event, or a dead letter.

With Redis and Kafka the page is delivered before its URL is over: body cached, event confirmed, URL
removed. On the store all three are one transaction.
"""

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from penstock.cache.ports import CachedPage, PageCache, StoredCache
from penstock.core.clock import Clock
from penstock.core.errors import EventRefused, EventsLost, SharedStateLost, StoreError
from penstock.core.ids import new_id
from penstock.core.log import get_logger
from penstock.core.trace import new_trace
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.kernel.model import (
    Failure,
    Outcome,
    Page,
    ProxyFailed,
    RateLimited,
    Refused,
    Request,
    SiteWide,
)
from penstock.queue.lanes import Result
from penstock.queue.ports import Bury, Claim, Done, Ending, Item, Release, Retry
from penstock.store.unit import Unit
from penstock.workloads.stream.metrics import StreamMetrics
from penstock.workloads.stream.model import NAME, WebpageEvent, event_of, key_in, key_of

#: After a delivery that failed for want of a server, so many seconds until the next.
PAUSE = 1.0
#: A site that asks for patience without saying how much, and a proxy that fails, get so much.
LATER = 60.0
#: Servers that are away; they come back.
AWAY = (EventsLost, SharedStateLost, StoreError)


class Publisher(Protocol):
    """Where events go."""

    async def publish(self, topic: str, key: bytes, value: bytes) -> None:
        """Returns when the event is safe there."""
        ...


class Urls:
    """What both forms of the lane have in common: URLs in, and what an outcome means for them."""

    name = NAME

    def __init__(self, metrics: StreamMetrics) -> None:
        self.metrics = metrics

    def request(self, claim: Claim) -> Request:
        url = claim.payload["url"]
        return Request(url, id=claim.id, workload=NAME, traceparent=claim.traceparent)

    def conclude(self, claim: Claim, outcome: Outcome) -> Ending:
        del claim
        return Done() if outcome.failure is None else ending_of(outcome.failure)

    def note(self, result: Result) -> None:
        """Count what is over."""
        self.metrics.note(result)


def ending_of(failure: Failure) -> Ending:
    """What becomes of a URL without a page: it waits for its site, or it is to blame itself."""
    if isinstance(failure, SiteWide):
        return Retry(0.0, failure.as_json())
    if isinstance(failure, RateLimited):
        return Retry(failure.retry_after or LATER, failure.as_json(), park=True)
    if isinstance(failure, ProxyFailed):
        return Retry(LATER, failure.as_json())
    if not isinstance(failure, Refused):
        return Bury(failure.as_json())
    if failure.reason == "robots_unreachable":
        return Retry(LATER, failure.as_json(), park=True)
    if failure.gate == "robots":
        return Done()
    is_closed = failure.gate in ("hours", "breaker", "pacing", "retry")
    return Release(LATER, park=True) if is_closed else Bury(failure.as_json())


@dataclass(frozen=True, slots=True)
class Destination:
    """Where pages go, and for how many seconds their bodies are kept."""

    cache: PageCache
    events: Publisher
    topic: str
    seconds: float


class DeliveringLane(Urls):
    """Delivers pages to a cache and to Kafka before their URLs are over.

    While those are away, what was fetched is kept, up to `most_bytes`; then nothing more is begun.
    """

    def __init__(
        self, destination: Destination, metrics: StreamMetrics, clock: Clock, most_bytes: int
    ) -> None:
        super().__init__(metrics)
        self._to = destination
        self._clock = clock
        self._most_bytes = most_bytes
        self._undelivered = 0
        #: Why nothing can be delivered at the moment; empty if it can.
        self.trouble = ""

    def has_room(self) -> bool:
        """Whether another page may be fetched before what was fetched is delivered."""
        return self._undelivered < self._most_bytes

    def content(self, claim: Claim, outcome: Outcome) -> Coroutine[Any, Any, None] | None:
        if not outcome.ok or outcome.page is None:
            return None
        return self._keep_delivering(claim.payload["url"], outcome.page)

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        raise RuntimeError(f"{len(results)} pages were delivered, and are not for {unit.engine}")

    async def _keep_delivering(self, url: str, page: Page) -> None:
        """Deliver a page; a server that is away is waited for."""
        event = event_of(url, page, self._clock.now())
        self._undelivered += len(page.body)
        try:
            while not await self._is_delivered(event, page.body):
                await self._clock.sleep(PAUSE)
        finally:
            self._undelivered -= len(page.body)

    async def _is_delivered(self, event: WebpageEvent, body: bytes) -> bool:
        try:
            await self._to.cache.put(event.cache_key, body, self._to.seconds)
            key, value = key_in(event.cache_key), event.model_dump_json().encode()
            await self._to.events.publish(self._to.topic, key.encode(), value)
        except AWAY as error:
            self._say(str(error))
            return False
        except EventRefused as error:
            # Not of ours, so that the URL is not tried for ever: it becomes a dead letter.
            raise ValueError(f"the event is refused: {error}") from error
        self._say("")
        return True

    def _say(self, trouble: str) -> None:
        if trouble and not self.trouble:
            get_logger().error("pages cannot be delivered; they are kept", error=trouble)
        elif self.trouble and not trouble:
            get_logger().warning("pages are delivered again")
        self.trouble = trouble


class _Row(NamedTuple):
    event: WebpageEvent
    body: bytes


class StoredLane(Urls):
    """Writes page and event to the store, in the transaction that ends the URL."""

    def __init__(
        self,
        cache: StoredCache,
        log: EventLog,
        metrics: StreamMetrics,
        clock: Clock,
        *,
        topic: str,
        seconds: float,
    ) -> None:
        super().__init__(metrics)
        self._cache = cache
        self._log = log
        self._clock = clock
        self._topic = topic
        self._seconds = seconds

    def content(self, claim: Claim, outcome: Outcome) -> _Row | None:
        if not outcome.ok or outcome.page is None:
            return None
        url, page = claim.payload["url"], outcome.page
        return _Row(event_of(url, page, self._clock.now()), page.body)

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        rows = [(result.claim, result.content) for result in results if result.content]
        pages = [CachedPage(row.event.cache_key, row.body) for _, row in rows]
        self._cache.put_in(unit, pages, self._seconds)
        self._log.append(unit, [self._message(claim, row.event) for claim, row in rows])

    def _message(self, claim: Claim, event: WebpageEvent) -> Message:
        # The token makes the id: the same end of the same claim is the same event.
        identity = f"{claim.id}.{claim.token:x}"
        data = event.model_dump(mode="json")
        return Message(identity, self._topic, key_of(event.url), data, claim.traceparent)


def item_for(url: str, group: str) -> Item:
    """A URL as an item of the store's queue."""
    return Item(id=new_id(), lane=NAME, payload={"url": url}, group=group, traceparent=new_trace())
