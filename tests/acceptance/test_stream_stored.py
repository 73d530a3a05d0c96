"""The page fetcher on the store alone: URLs in, pages in the cache, an event for each."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from penstock.app import Platform, build
from penstock.app.engine import Engine, open_engine, open_ready_store
from penstock.cache.sql import SqlCache
from penstock.core.clock import SystemClock
from penstock.queue.ports import State
from penstock.queue.upkeep import Upkeep
from penstock.workloads.stream.lane import item_for
from penstock.workloads.stream.model import WebpageEvent, cache_key
from tests.page_fetchers import QUICK, stand_up
from tests.platforms import settings_for
from tests.shell import eventually
from tests.site import Reply, Reset, Site

ODD = bytes(range(256)) * 200


@dataclass
class Stream:
    """A running page fetcher."""

    platform: Platform
    engine: Engine

    async def push(self, *urls: str) -> None:
        await self.engine.queue.put([item_for(url, url.split("/")[2]) for url in urls])
        self.engine.source.nudge()

    async def events(self) -> list[WebpageEvent]:
        found = await self.engine.log.read(topics=["webpage_log"])
        return [WebpageEvent.model_validate(event.message.data) for event in found]

    async def urls(self) -> list[str]:
        return sorted(event.url for event in await self.events())

    async def body(self, url: str) -> bytes | None:
        return await SqlCache(self.engine.store).get(cache_key(url))

    async def dead(self) -> Sequence[Mapping[str, Any]]:
        return await Upkeep(self.engine.store).items(lane="stream", state=State.DEAD, limit=100)

    async def is_empty(self) -> bool:
        lanes = {depth.lane: depth.counts for depth in await self.engine.rows.depth()}
        left = lanes.get("stream", {})
        return not left.get(State.WAITING) and not left.get(State.CLAIMED)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        stand_up(site, "one.test", "two.test")
        yield site


@asynccontextmanager
async def streaming(folder: Path, site: Site, **stream: Any) -> AsyncIterator[Stream]:
    settings = settings_for(site, store={"folder": folder}, stream={**QUICK, **stream})
    async with (
        open_ready_store(settings, SystemClock()) as store,
        build(settings) as platform,
        open_engine(settings, platform, store, only=["stream"]) as engine,
        asyncio.TaskGroup() as tasks,
    ):
        work = tasks.create_task(engine.work())
        yield Stream(platform, engine)
        engine.stop()
        await work


async def test_page_and_event_agree_byte_for_byte(site: Site, tmp_path: Path) -> None:
    site.reply("one.test", "/odd", Reply(200, ODD, {"Content-Type": "application/octet-stream"}))
    url = "http://one.test/odd?as=Pushed"
    async with streaming(tmp_path, site) as stream:
        await stream.push(url)
        await eventually(stream.urls)
        (event,) = await stream.events()
        body = await stream.body(url)

    assert body == ODD
    assert event.url == url
    assert event.cache_key == f"webpage:{sha256(url.encode()).hexdigest()}"
    assert event.content_hash == sha256(ODD).hexdigest()
    assert (event.status_code, event.content_length) == (200, len(ODD))
    assert event.content_type == "application/octet-stream"


async def test_robots_skip_failures_die_and_the_rest_is_fetched(site: Site, tmp_path: Path) -> None:
    site.reply("one.test", "/gone", Reply(410, "gone"))
    site.reply("one.test", "/ill", Reply(500, "ill"))
    async with streaming(tmp_path, site) as stream:
        await stream.push(
            *("http://one.test/page", "http://one.test/private/1"),
            *("http://one.test/gone", "http://one.test/ill", "http://[::1]/"),
        )
        await eventually(stream.is_empty)
        # What is committed is counted when that is heard of.
        await eventually(lambda: not stream.engine.station.held)
        dead = {row["payload"]["url"]: row["failure"]["reason"] for row in await stream.dead()}
        urls = await stream.urls()
        text = stream.platform.metrics.text()

    assert urls == ["http://one.test/page"]
    assert dead.pop("http://[::1]/")
    assert dead == {"http://one.test/gone": "http_410", "http://one.test/ill": "server_error"}
    assert "page_fetcher_pages_fetched_total 1.0" in text
    assert "page_fetcher_pages_skipped_robots_total 1.0" in text
    assert "page_fetcher_pages_failed_total 3.0" in text
    assert "page_fetcher_dlq_enqueued_total 3.0" in text
    assert "page_fetcher_retries_total 2.0" in text


@pytest.mark.parametrize("answer", [Reply(503, "down"), Reset()], ids=["503", "reset"])
async def test_an_outage_costs_nothing_and_others_go_on(
    site: Site, tmp_path: Path, answer: Reply | Reset
) -> None:
    ours = [f"http://one.test/page?{n}" for n in range(30)]
    others = [f"http://two.test/page?{n}" for n in range(30)]
    async with streaming(tmp_path, site) as stream:
        await stream.push("http://one.test/page")
        await eventually(stream.urls)
        site.take_down("one.test", answer)
        await stream.push(*ours, *others)

        await eventually(lambda: _has(stream, others))
        asked = len(site.hits_of("one.test", "/page"))
        site.bring_up("one.test")
        await eventually(lambda: _has(stream, ours))
        dead, text = await stream.dead(), stream.platform.metrics.text()

    assert dead == []
    # So many as there were under way when the circuit opened, not each again and again.
    assert asked < 1 + 2 * len(ours)
    assert "page_fetcher_circuit_breaker_opened_total 0.0" not in text
    assert "page_fetcher_circuit_breaker_closed_total 1.0" in text
    assert 'page_fetcher_circuit_breaker_probes_total{result="success"} 1.0' in text


async def _has(stream: Stream, urls: Sequence[str]) -> bool:
    return set(urls) <= set(await stream.urls())
