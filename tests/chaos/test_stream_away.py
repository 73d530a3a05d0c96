"""Kafka or Redis away under load, a Redis that is full, and fetchers that are sent home."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from math import ceil
from pathlib import Path

import pytest

from tests import durable_redis
from tests.chaos.stream.crawl import count_disagreeing
from tests.chaos.stream.fleet import Fetcher, Fleet, open_fleet
from tests.durable_redis import DurableRedis
from tests.kafka_server import PrivateKafka, own_kafka
from tests.page_fetchers import Servers, stand_up
from tests.private_server import PrivateServer
from tests.shell import eventually
from tests.site import Reply, Site

__all__ = ["own_kafka"]

HOSTS = ("one.test", "two.test")
KILOBYTE = 1024
LARGE = b"<title>large</title>" + b"<p>text</p>" * (64 * KILOBYTE // 11)
WORKERS = 8
MEGABYTES = 1
#: What is not confirmed after so many seconds is said to be in trouble.
PATIENCE = 10.0
SECOND_SIGNAL_SECONDS = 2.0


@pytest.fixture(scope="module")
def redis() -> Iterator[DurableRedis]:
    server = DurableRedis(durable_redis.find_program())
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def servers(redis: DurableRedis, own_kafka: PrivateKafka) -> AsyncIterator[Servers]:
    servers = await Servers.clean(redis.url, own_kafka.url)
    yield servers
    await servers.close()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        stand_up(site, *HOSTS)
        for host in HOSTS:
            site.reply(host, "/large", Reply(200, LARGE))
            site.reply(host, "/slow", Reply(200, LARGE, delay=0.2))
            site.reply(host, "/hangs", Reply(200, LARGE, delay=25.0))
        yield site


@pytest.fixture
async def fleet(tmp_path: Path, site: Site, servers: Servers) -> AsyncIterator[Fleet]:
    settings = {"workers": WORKERS, "max_undelivered_mb": MEGABYTES}
    async with open_fleet(tmp_path, site, servers, **settings) as fleet:
        yield fleet


@asynccontextmanager
async def away(server: PrivateServer) -> AsyncIterator[None]:
    """A server is killed, and there again when the block is left."""
    await asyncio.to_thread(server.kill)
    try:
        yield
    finally:
        await asyncio.to_thread(server.start)


def urls_of(path: str, number: int) -> list[str]:
    return [f"http://{HOSTS[n % 2]}{path}?{n}" for n in range(number)]


async def is_in_trouble(fetcher: Fetcher, word: str) -> bool:
    health = await fetcher.health()
    return health["status"] == "trouble" and any(word in each for each in health["problems"])


async def is_well(fetcher: Fetcher) -> bool:
    return bool((await fetcher.health())["status"] == "ok")


async def require_all(servers: Servers, urls: list[str]) -> None:
    """All are over, told of with their bodies, and none is a dead letter."""
    await eventually(servers.is_empty, 60.0)
    events = await servers.events()
    assert {event.url for event in events} == set(urls)
    assert await count_disagreeing(servers, events) == 0
    assert await servers.dead() == {}


async def test_pages_are_kept_while_kafka_is_away_and_no_more_than_may_be(
    servers: Servers, site: Site, fleet: Fleet, own_kafka: PrivateKafka
) -> None:
    fetcher = await fleet.start()
    assert await is_well(fetcher)
    urls = urls_of("/large", 200)
    async with away(own_kafka):
        await servers.push(*urls)
        await eventually(lambda: is_in_trouble(fetcher, "Kafka"), 3 * PATIENCE)
        assert not await fetcher.is_ready()
        asked = sum(hit.route == "/large" for hit in site.hits)
        assert asked <= ceil(MEGABYTES * KILOBYTE * KILOBYTE / len(LARGE)) + WORKERS + 1
        assert await servers.left() == len(urls)
    await require_all(servers, urls)
    await eventually(lambda: is_well(fetcher))
    await fetcher.end()


async def test_a_frozen_kafka_is_waited_for(
    servers: Servers, fleet: Fleet, own_kafka: PrivateKafka
) -> None:
    fetcher = await fleet.start()
    await servers.push(*urls_of("/page", 1))
    await eventually(servers.is_empty)
    own_kafka.freeze()
    try:
        urls = urls_of("/page", 100)
        await servers.push(*urls)
        await eventually(lambda: is_in_trouble(fetcher, "Kafka"), 3 * PATIENCE)
        assert await servers.left() == len(urls)
    finally:
        own_kafka.thaw()
    await require_all(servers, urls)
    await fetcher.end()


async def test_redis_that_is_killed_under_load_is_waited_for(
    servers: Servers, site: Site, fleet: Fleet, redis: DurableRedis
) -> None:
    fetcher = await fleet.start()
    urls = urls_of("/slow", 150)
    await servers.push(*urls)
    await eventually(lambda: len(site.hits) > 40)
    async with away(redis):
        await eventually(lambda: is_in_trouble(fetcher, "Redis"))
        assert not await fetcher.is_ready()
    await require_all(servers, urls)
    await eventually(lambda: is_well(fetcher))
    await fetcher.end()


async def test_a_redis_without_room_is_waited_for(
    servers: Servers, site: Site, fleet: Fleet
) -> None:
    fetcher = await fleet.start()
    urls = urls_of("/slow", 150)
    await servers.push(*urls)
    await eventually(lambda: any(hit.route == "/slow" for hit in site.hits))
    await servers.client.config_set("maxmemory", 1024 * 1024)
    try:
        await eventually(lambda: is_in_trouble(fetcher, "maxmemory"))
        assert await servers.left() + len(set(await servers.urls())) >= len(urls)
    finally:
        await servers.client.config_set("maxmemory", 0)
    await require_all(servers, urls)
    await eventually(lambda: is_well(fetcher))
    await fetcher.end()


async def test_sigterm_under_load_finishes_or_gives_back_everything(
    servers: Servers, site: Site, fleet: Fleet
) -> None:
    urls = urls_of("/slow", 200)
    await servers.push(*urls)
    for number in range(1, 3):
        fetcher = await fleet.start()
        await eventually(lambda: len(site.hits) > 20 * number)  # noqa: B023 - at once
        await fetcher.end()
        assert not await servers.client.keys("crawler_queue:claimed:*")
        assert not await servers.client.zcard("crawler_queue:workers")
        told = await servers.urls()
        assert len(told) == len(set(told))
        assert await servers.left() + len(told) == len(urls)

    await fleet.start()
    await require_all(servers, urls)
    told = await servers.urls()
    assert len(told) == len(urls)


async def test_a_second_sigterm_ends_at_once_and_gives_back_everything(
    servers: Servers, site: Site, fleet: Fleet
) -> None:
    urls = urls_of("/hangs", 50)
    await servers.push(*urls)
    fetcher = await fleet.start()
    await eventually(lambda: any(hit.route == "/hangs" for hit in site.hits))
    fetcher.send(signal.SIGTERM)
    await eventually(lambda: "finishing" in fetcher.said)
    fetcher.send(signal.SIGTERM)
    assert await fetcher.ended(SECOND_SIGNAL_SECONDS) == 0, fetcher.said

    assert not await servers.client.keys("crawler_queue:claimed:*")
    assert await servers.left() == len(urls)
    assert await servers.client.hgetall("crawler_queue:lost") == {}


async def test_pages_that_kafka_never_took_are_in_the_queue_after_the_grace(
    servers: Servers, fleet: Fleet, own_kafka: PrivateKafka
) -> None:
    fetcher = await fleet.start(PENSTOCK_QUEUE__GRACE_SECONDS="1")
    urls = urls_of("/page", 20)
    async with away(own_kafka):
        await servers.push(*urls)
        await eventually(lambda: _are_cached(servers, urls))
        await fetcher.end()
        assert not await servers.client.keys("crawler_queue:claimed:*")
        assert await servers.left() == len(urls)
    await fleet.start()
    await require_all(servers, urls)


async def _are_cached(servers: Servers, urls: list[str]) -> bool:
    return all([await servers.body(url) for url in urls])
