"""A page fetcher that dies after any step of a URL's life: its body is there before its event."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.chaos.stream.crawl import count_disagreeing
from tests.chaos.stream.failpoints import STEPS
from tests.chaos.stream.fleet import Fleet, open_fleet
from tests.page_fetchers import Servers, stand_up
from tests.shell import eventually
from tests.site import Site

HOST = "one.test"
#: A step is come by for the first to so many-th time.
LATEST = 3


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        stand_up(site, HOST)
        yield site


@pytest.fixture
async def fleet(tmp_path: Path, site: Site, servers: Servers) -> AsyncIterator[Fleet]:
    async with open_fleet(tmp_path, site, servers, workers=4) as fleet:
        yield fleet


async def test_death_after_any_step_loses_nothing_and_tells_of_nothing_that_is_not_there(
    servers: Servers, site: Site, fleet: Fleet
) -> None:
    pushed: list[str] = []
    for number, step in enumerate(STEPS):
        urls = [f"http://{HOST}/page?{number}-{n}" for n in range(20)]
        pushed += urls
        await servers.push(*urls)
        await fleet.lose(step, nth=1 + number % LATEST)

        events = await servers.events()
        assert await count_disagreeing(servers, events) == 0, step
        assert len(pushed) <= await servers.left() + len({event.url for event in events}), step

    heir = await fleet.start()
    await eventually(servers.is_empty)
    await heir.end()

    told = Counter(await servers.urls())
    assert told.keys() == set(pushed)
    assert await servers.dead() == {}
    # Only what was under way when a fetcher died can be told of twice.
    assert told.total() - len(told) <= len(STEPS) * LATEST * 4
    assert await count_disagreeing(servers, await servers.events()) == 0


async def test_what_kafka_confirmed_and_redis_did_not_hear_of_is_told_of_again(
    servers: Servers, site: Site, fleet: Fleet
) -> None:
    url = f"http://{HOST}/page"
    await servers.push(url)
    await fleet.lose("event confirmed", nth=1)
    assert (await servers.urls(), await servers.left()) == ([url], 1)

    heir = await fleet.start()
    await eventually(servers.is_empty)
    await heir.end()

    assert await servers.urls() == [url, url]
    assert await servers.client.hgetall("crawler_queue:lost") == {}
