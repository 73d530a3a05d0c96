"""The page fetcher on Redis and Kafka, without any database."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from penstock.app.stream_servers import await_redis
from tests.clocks import HandClock
from tests.durable_redis import DurableRedis, find_program
from tests.kafka_server import new_topic
from tests.page_fetchers import Servers, fetching, stand_up
from tests.shell import eventually
from tests.site import Reply, Reset, Site

ODD = bytes(range(256)) * 200


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        stand_up(site, "one.test", "two.test")
        yield site


async def test_what_producers_push_is_in_cache_and_topic(servers: Servers, site: Site) -> None:
    site.reply("one.test", "/odd", Reply(200, ODD, {"Content-Type": "application/octet-stream"}))
    url = "http://one.test/odd?as=Pushed"
    async with fetching(servers.settings(site, cache_ttl_seconds=77)):
        await servers.push(url)
        await eventually(servers.urls)
        await eventually(servers.is_empty)

    (event,) = await servers.events()
    assert await servers.body(url) == ODD
    assert 0 < await servers.client.ttl(event.cache_key) <= 77
    assert event.cache_key == f"webpage:{sha256(url.encode()).hexdigest()}"
    assert event.content_hash == sha256(ODD).hexdigest()
    assert (event.url, event.status_code, event.content_length) == (url, 200, len(ODD))


async def test_robots_skip_and_failures_become_dead_letters(servers: Servers, site: Site) -> None:
    site.reply("one.test", "/gone", Reply(410, "gone"))
    site.reply("one.test", "/ill", Reply(500, "ill"))
    async with fetching(servers.settings(site)) as fetcher:
        await servers.push("http://one.test/page", "http://one.test/private/1")
        await servers.push("http://one.test/gone", "http://one.test/ill", "http://[::1]/", "junk")
        await eventually(servers.is_empty)
        # What is over in Redis is counted when that is heard of.
        await eventually(lambda: not fetcher.station.held)
        text = fetcher.platform.metrics.text()

    dead = await servers.dead()
    assert await servers.urls() == ["http://one.test/page"]
    assert dead.keys() == {"http://one.test/gone", "http://one.test/ill", "http://[::1]/", "junk"}
    assert dead["http://one.test/gone"] == "http_410"
    assert "page_fetcher_pages_skipped_robots_total 1.0" in text
    assert "page_fetcher_dlq_enqueued_total 4.0" in text


async def test_an_event_that_kafka_refuses_ends_its_url_and_no_other(
    servers: Servers, site: Site
) -> None:
    servers.topic = await new_topic(servers.kafka, max_message_bytes="600")
    long, short = f"http://one.test/page?{'long' * 200}", "http://one.test/page"
    async with fetching(servers.settings(site)) as fetcher:
        await servers.push(long, short)
        await eventually(servers.is_empty)
        health = await fetcher.examine()

    assert await servers.urls() == [short]
    assert (await servers.dead()).keys() == {long}
    assert health.problems == []


@pytest.mark.parametrize("answer", [Reply(503, "down"), Reset()], ids=["503", "reset"])
async def test_an_outage_costs_nothing_and_others_go_on(
    servers: Servers, site: Site, answer: Reply | Reset
) -> None:
    ours = [f"http://one.test/page?{n}" for n in range(50)]
    others = [f"http://two.test/page?{n}" for n in range(50)]
    async with fetching(servers.settings(site)) as fetcher:
        await servers.push("http://one.test/page")
        await eventually(servers.urls)
        site.take_down("one.test", answer)
        await servers.push(*(url for pair in zip(ours, others, strict=True) for url in pair))

        await eventually(lambda: _has(servers, others))
        health = await fetcher.examine()
        site.bring_up("one.test")
        await eventually(lambda: _has(servers, ours))
        await eventually(servers.is_empty)

    assert [circuit["domain"] for circuit in health.figures["down"]] == ["one.test"]
    assert await servers.dead() == {}
    assert sorted([*ours, *others, "http://one.test/page"]) == await servers.urls()


async def _has(servers: Servers, urls: Sequence[str]) -> bool:
    return set(urls) <= set(await servers.urls())


async def test_a_pause_stops_fetchers_without_a_store(
    servers: Servers, site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_STREAM__REDIS_URL", servers.redis_url)
    urls = [f"http://one.test/page?{n}" for n in range(20)]
    async with fetching(servers.settings(site)) as fetcher:
        await command("pause", "--domain", "one.test", "--reason", "asked to")
        await eventually(lambda: fetcher.platform.switches.is_paused("one.test"))
        await servers.push(*urls, "http://two.test/page")
        await eventually(lambda: _has(servers, ["http://two.test/page"]))
        asked = site.hits_of("one.test")

        said = await command("resume", "--domain", "one.test")
        await eventually(lambda: _has(servers, urls))

    assert asked == []
    assert "nothing is paused" in said


async def command(*words: str) -> str:
    """What a command of ours says."""
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).parent / "penstock", *words, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    assert process.returncode == 0
    return said.decode()


async def test_a_redis_that_is_away_at_the_start_is_waited_for(site: Site) -> None:
    server = DurableRedis(find_program())
    server.start()
    server.kill()
    settings = Servers(server.url, "", "topic").settings(site)
    said: list[str] = []

    def say(why: str) -> None:
        said.append(why)
        server.start()

    await await_redis(settings, HandClock(), say)
    server.stop()

    assert len(said) == 1
    assert "PENSTOCK_STREAM__REDIS_URL" in said[0]
    assert said[0].endswith("waiting for it")
