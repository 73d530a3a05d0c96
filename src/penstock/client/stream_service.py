"""Pages from the log of a service: the same as Kafka and Redis give, on one machine."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from penstock.client import stream_calls as calls
from penstock.client.async_rest import AsyncClient
from penstock.client.errors import ClientError, NotFound, NotReached, RateLimited, Unavailable
from penstock.client.stream_models import WebpageEvent
from penstock.client.stream_sources import Arrival, Place
from penstock.core.log import get_logger

TOPIC = "webpage_log"
#: Seconds for which the service is asked to wait for events.
WAIT = 20.0
#: After a service did not answer at all, so many seconds until it is asked again.
PAUSE = 2.0


class ServiceSource:
    """Reads as a named consumer, from where it committed last."""

    def __init__(
        self,
        client: AsyncClient,
        consumer: str,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._consumer = consumer
        self._sleep = sleep
        self._after = 0

    async def open(self) -> None:
        self._after = (await self._client.do(calls.consumer(self._consumer))).seq

    async def close(self) -> None:
        await self._client.close()

    async def more(self, most: int) -> Sequence[Arrival]:
        call = calls.events(self._after, limit=most, wait=WAIT)
        try:
            part = await self._client.do(call)
        except (NotReached, RateLimited, Unavailable) as error:
            get_logger().warning("no events for now", action="stream.wait", error=str(error))
            await self._sleep(PAUSE)
            return []
        self._after = part.next_after
        return [Arrival(Place(TOPIC, 0, each.seq), each.event) for each in part.events]

    def is_current(self, arrival: Arrival) -> bool:
        del arrival
        return True

    async def commit(self, arrivals: Sequence[Arrival]) -> None:
        if arrivals:
            seq = max(arrival.place.offset for arrival in arrivals)
            await self._client.do(calls.commit(self._consumer, seq))

    async def body(self, event: WebpageEvent) -> bytes | None:
        try:
            return await self._client.do(calls.body(event.cache_key.removeprefix("webpage:")))
        except NotFound:
            return None

    async def push(self, url: str) -> None:
        pushed = await self._client.do(calls.push([url]))
        for rejected in pushed.rejected:
            raise ClientError(f"{url} was not taken: {rejected.detail}")
