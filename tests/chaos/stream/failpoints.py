"""Steps in the life of one URL at which a page fetcher can be made to die."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiokafka import AIOKafkaProducer

from penstock.cache.redis import RedisCache
from penstock.events.kafka import KafkaPublisher
from penstock.kernel.fetchers.http import HttpFetcher
from penstock.queue.redis import RedisQueue
from tests.chaos.engine.failpoints import FATES

VARIABLE = "PENSTOCK_CHAOS_STREAM_FAILPOINT"

Fuse = Callable[[], None]
Put = Callable[[Fuse], None]


def plant(wanted: str) -> None:
    """Have the process die when a step is come by for the n-th time: `name:n`, empty for never."""
    if not wanted:
        return
    name, nth = wanted.split(":")
    left = int(nth)

    def fuse() -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            FATES["death"]()

    STEPS[name](fuse)


def _before(owner: Any, name: str) -> Put:
    def put(fuse: Fuse) -> None:
        original: Callable[..., Awaitable[Any]] = getattr(owner, name)

        async def burning(*args: Any, **kwargs: Any) -> Any:
            fuse()
            return await original(*args, **kwargs)

        setattr(owner, name, burning)

    return put


def _after(owner: Any, name: str, counts: Callable[[Any], object] = lambda _result: True) -> Put:
    def put(fuse: Fuse) -> None:
        original: Callable[..., Awaitable[Any]] = getattr(owner, name)

        async def burning(*args: Any, **kwargs: Any) -> Any:
            result = await original(*args, **kwargs)
            if counts(result):
                fuse()
            return result

        setattr(owner, name, burning)

    return put


#: In the order of a URL's life.
STEPS: dict[str, Put] = {
    "claimed": _after(RedisQueue, "claim", bool),
    "before the fetch": _before(HttpFetcher, "fetch"),
    "fetched": _after(HttpFetcher, "fetch"),
    "body cached": _after(RedisCache, "put"),
    "event sent": _after(AIOKafkaProducer, "send_batch"),
    "event confirmed": _after(KafkaPublisher, "publish"),
    "before the settling": _before(RedisQueue, "settle"),
    "settled": _after(RedisQueue, "settle"),
}
