"""Redis and Kafka as the page fetcher uses them: opened, waited for and looked at."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from penstock.app import check_shared
from penstock.app.extras import needed
from penstock.core.clock import Clock
from penstock.core.errors import SharedStateLost, StoreLost
from penstock.events.ports import Sink, Subscriber
from penstock.settings import Settings
from penstock.workloads.stream.settings import StreamSettings

if TYPE_CHECKING:
    from penstock.cache.redis import RedisCache
    from penstock.events.kafka import KafkaPublisher, Standing
    from penstock.kernel.redis import Server
    from penstock.queue.redis import RedisQueue

REDIS_URL = "PENSTOCK_STREAM__REDIS_URL"
#: A body of ten megabytes may be on its way for so long.
ANSWER_SECONDS = 10.0
#: Seconds until a server that is away is asked again.
ASK_AGAIN = 5.0


def with_shared_redis(settings: Settings) -> Settings:
    """The same settings; who fetches from Redis shares pacing, breakers and robots there, too."""
    if settings.shared.url or not settings.stream.uses_servers:
        return settings
    update = {"url": settings.stream.redis_url, "prefix": "penstock:"}
    shared = settings.shared.model_copy(update=update)
    return settings.model_copy(update={"shared": shared})


# ── Redis


@asynccontextmanager
async def open_redis(stream: StreamSettings) -> AsyncIterator["Server"]:
    """The server of queue and cache."""
    redis = needed("penstock.kernel.redis", "redis", REDIS_URL)
    usage = redis.Usage(REDIS_URL, StoreLost, ANSWER_SECONDS)
    async with redis.open_server(stream.redis_url.get_secret_value(), usage) as server:
        yield server


async def await_redis(settings: Settings, clock: Clock, say: Callable[[str], None]) -> None:
    """Wait until the servers of the queue and of the shared ledger answer; say why, each time."""
    while True:
        try:
            async with open_redis(settings.stream):
                return await check_shared(settings)
        except (StoreLost, SharedStateLost) as error:
            say(f"{error}; waiting for it")
        await clock.sleep(ASK_AGAIN)


def open_url_queue(
    stream: StreamSettings, server: "Server", line_of: Callable[[str], str]
) -> "RedisQueue":
    """The queue of URLs in Redis."""
    redis = queue_module()
    queue: RedisQueue = redis.RedisQueue(server, stream.input_queue, stream.dlq_queue, line_of)
    return queue


def open_page_cache(
    server: "Server", looked_up: Callable[[bool], None] = lambda _found: None
) -> "RedisCache":
    """The bodies of pages in Redis; `looked_up` is told whether one was there."""
    redis = needed("penstock.cache.redis", "redis", REDIS_URL)
    cache: RedisCache = redis.RedisCache(server, looked_up)
    return cache


def queue_module() -> ModuleType:
    """The queue in Redis, if the client of Redis is installed."""
    return needed("penstock.queue.redis", "redis", REDIS_URL)


async def check_url_queue(stream: StreamSettings) -> list[str]:
    """What is wrong with the Redis of queue and cache; raises if it does not answer."""
    async with open_redis(stream) as server:
        found: list[str] = await queue_module().check(server)
        return found


# ── Kafka


@asynccontextmanager
async def open_kafka(stream: StreamSettings) -> AsyncIterator["KafkaPublisher"]:
    """Where events go."""
    servers, options = stream.kafka_bootstrap_servers, stream.kafka_options
    async with kafka_module().open_publisher(servers, **options) as publisher:
        yield publisher


def kafka_subscription(settings: Settings) -> list[Subscriber]:
    """Kafka, if it is owed the events of the store."""
    return [kafka_module().KafkaSubscription()] if settings.events.kafka_prefix else []


async def open_kafka_sink(settings: Settings, stack: AsyncExitStack) -> list[Sink]:
    """What passes events of the store on to Kafka, if that is wanted."""
    prefix = settings.events.kafka_prefix
    if not prefix:
        return []
    publisher = await stack.enter_async_context(open_kafka(settings.stream))
    return [kafka_module().KafkaSink(publisher, prefix)]


def kafka_module() -> ModuleType:
    """The door to Kafka, if its client is installed."""
    return needed("penstock.events.kafka", "kafka", "PENSTOCK_STREAM__KAFKA_BOOTSTRAP_SERVERS")


async def check_page_events(stream: StreamSettings) -> "Standing":
    """What Kafka knows of the topic of page events; raises if no broker answers."""
    servers, options = stream.kafka_bootstrap_servers, stream.kafka_options
    found: Standing = await kafka_module().check(servers, stream.webpage_log_topic, **options)
    return found
