"""A page fetcher on a Redis and a Kafka of the tests' own, and what came out of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError as ConnectionLost

from penstock.app import build
from penstock.app.stream_servers import with_shared_redis
from penstock.app.streaming import PageFetcher, open_page_fetcher
from penstock.settings import Settings
from penstock.workloads.stream.model import WebpageEvent, cache_key
from tests import durable_redis
from tests.durable_redis import DurableRedis
from tests.kafka_server import new_topic, read
from tests.platforms import settings_for
from tests.site import Reply, Site

#: A pace that tests can afford, and outages that are over soon.
QUICK: Mapping[str, Any] = {
    "rate_limit_per_second": 1000,
    "retry_backoff_base_seconds": 0.01,
    "circuit_breaker_failure_threshold": 3,
    "circuit_breaker_initial_backoff_seconds": 0.2,
    "circuit_breaker_max_backoff_seconds": 0.4,
}
#: The rest of what a process of its own is told.
FAST: Mapping[str, str] = {
    "PENSTOCK_POLICIES__SHIPPED": "false",
    "PENSTOCK_PACING__REQUEST_DELAY_MS": "0",
    "PENSTOCK_PACING__MAX_CONCURRENT": "8",
    "PENSTOCK_ROBOTS__RETRY_SECONDS": "0.01",
}
PRIVATE = "User-agent: *\nDisallow: /private\n"
LEFT = """
local left = redis.call('LLEN', 'crawler_queue')
for _, key in ipairs(redis.call('KEYS', 'crawler_queue:parked:*')) do
  left = left + redis.call('LLEN', key)
end
for _, key in ipairs(redis.call('KEYS', 'crawler_queue:claimed:*')) do
  left = left + redis.call('HLEN', key)
end
return left
"""


def stand_up(site: Site, *hosts: str) -> None:
    """Hosts with a page, a root, and something that robots may not see."""
    for host in hosts:
        site.robots[host] = PRIVATE
        site.reply(host, "/page", Reply(200, f"<title>{host}</title>" + "<p>text</p>" * 300))
        site.reply(host, "/", Reply(200, "home"))


class Servers:
    """A Redis and a topic of Kafka, as producers and consumers see them."""

    def __init__(self, redis_url: str, kafka: str, topic: str) -> None:
        self.redis_url = redis_url
        self.kafka = kafka
        self.topic = topic
        # A server that was started again has closed what was open before.
        again = Retry(ConstantBackoff(0.1), 10)
        self.client: Any = Redis.from_url(redis_url, retry=again, retry_on_error=[ConnectionLost])

    @classmethod
    async def clean(cls, redis_url: str, kafka: str) -> Self:
        """With nothing in them."""
        servers = cls(redis_url, kafka, await new_topic(kafka))
        await servers.client.flushdb()
        return servers

    def settings(self, site: Site, **stream: Any) -> Settings:
        names = {"redis_url": self.redis_url, "kafka_bootstrap_servers": self.kafka}
        section = {**QUICK, **names, "webpage_log_topic": self.topic, **stream}
        return with_shared_redis(settings_for(site, stream=section))

    def environment(self, **stream: Any) -> dict[str, str]:
        """The same for a process of its own; without the site, which it has to be told of."""
        names = {"redis_url": self.redis_url, "kafka_bootstrap_servers": self.kafka}
        section = {**QUICK, **names, "webpage_log_topic": self.topic, **stream}
        return {**FAST, **as_environment("stream", section)}

    async def push(self, *urls: str) -> None:
        await self.client.rpush("crawler_queue", *urls)

    async def events(self) -> list[WebpageEvent]:
        found = await read(self.kafka, self.topic)
        return [WebpageEvent.model_validate_json(kept.value) for kept in found]

    async def urls(self) -> list[str]:
        return sorted(event.url for event in await self.events())

    async def body(self, url: str) -> bytes | None:
        body: bytes | None = await self.client.get(cache_key(url))
        return body

    async def dead_urls(self) -> list[str]:
        """Dead letters in their order, each as often as it is there."""
        return [url.decode() for url in await self.client.lrange("page_fetcher_dlq", 0, -1)]

    async def dead(self) -> dict[str, str]:
        """Dead letters with their reasons."""
        reasons = await self.client.hgetall("page_fetcher_dlq:reasons")
        urls = await self.dead_urls()
        return {url: json.loads(reasons[url.encode()])["reason"] for url in urls}

    async def left(self) -> int:
        """How many URLs are not over; counted in one step, because they move about."""
        return int(await self.client.eval(LEFT, 0))

    async def is_empty(self) -> bool:
        return await self.left() == 0

    async def close(self) -> None:
        await self.client.aclose()


@pytest.fixture(scope="module")
def durable() -> Iterator[DurableRedis]:
    """A Redis that loses nothing, for the tests of one file."""
    server = DurableRedis(durable_redis.find_program())
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def servers(durable: DurableRedis, kafka: str) -> AsyncIterator[Servers]:
    """A Redis and a topic of Kafka with nothing in them."""
    servers = await Servers.clean(durable.url, kafka)
    yield servers
    await servers.close()


@asynccontextmanager
async def fetching(settings: Settings) -> AsyncIterator[PageFetcher]:
    """A page fetcher at work."""
    async with (
        build(settings) as platform,
        open_page_fetcher(settings, platform) as fetcher,
        asyncio.TaskGroup() as tasks,
    ):
        work = tasks.create_task(fetcher.work())
        yield fetcher
        fetcher.stop()
        await work


def as_environment(section: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings of a section as a process is told of them."""
    return {f"PENSTOCK_{section}__{name}".upper(): str(each) for name, each in settings.items()}
