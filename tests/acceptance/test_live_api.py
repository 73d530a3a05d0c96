"""The API beside scrapers that watch a real match, and the API of a process that does only that."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.app import living as app_living
from penstock.app.service import Served, open_live_api
from penstock.core.errors import StoreLost
from penstock.store.store import Store
from penstock.workloads.live.supervising import Supervision
from tests.services import KEY, URL, Service, serving
from tests.site import Site

MATCH = "http://live.test/match/7/plain?speed=60"
WANTED = {"url": MATCH, "match_id": "m", "adapter": "cricket-html"}


@dataclass(frozen=True, slots=True)
class Ground:
    """A service that watches feeds, and the same as a process of live pages alone."""

    service: Service
    supervision: Supervision
    alone: Served
    http: httpx.AsyncClient

    async def seen(self, sequence: int) -> dict[str, Any]:
        """The state of the match, as soon as there were so many updates."""
        waiters, clock = self.service.engine.living.waiters, self.service.platform.clock
        async with asyncio.timeout(30):
            with waiters.watch("m") as changed:
                while True:
                    changed.clear()
                    answer = await self.service.get("/live/m")
                    if answer.status_code == 200:
                        state: dict[str, Any] = answer.json()["data"]
                        if state["_metadata"]["sequence"] >= sequence:
                            return state
                    await clock.wait_for(changed, 1)


@asynccontextmanager
async def watching(site: Site, folder: Path, **live: Any) -> AsyncIterator[Ground]:
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(serving(site, folder, works=False, live=live))
        engine, platform = service.engine, service.platform
        supervision = await engine.living.watch(
            lambda: engine.heartbeat.id, engine.supervisor, stack
        )
        stack.push_async_callback(supervision.stop)
        alone = open_live_api(service.settings, platform, engine)
        http = httpx.AsyncClient(transport=httpx.ASGITransport(alone.application), base_url=URL)
        yield Ground(service, supervision, alone, await stack.enter_async_context(http))


async def test_a_match_is_started_read_restarted_and_stopped(site: Site, tmp_path: Path) -> None:
    async with watching(site, tmp_path) as ground:
        service = ground.service
        assert (await service.post("/live/feeds", WANTED)).status_code == 201
        first = await ground.seen(1)
        feed = (await service.get("/live/feeds/m")).json()["data"]
        restarted = await service.post("/live/feeds/m/restart", None)
        second = await ground.seen(first["_metadata"]["sequence"] + 1)
        stopped = await service.post("/live/feeds/m/stop", None)
        left = (await service.get("/live/m")).json()["data"]
        removed = await service.http.delete("/api/v1/live/feeds/m")
        gone = await service.get("/live/m")

    assert (first["matchId"], first["_metadata"]["source"]) == (7, "scraper")
    assert (feed["status"], feed["scraper_status"]) == ("watching", "active")
    assert feed["scraper"]["scraper_id"] == feed["scraper_id"] == first["_metadata"]["scraper_id"]
    assert (feed["scraper"]["health_status"], feed["scraper"]["total_errors"]) == ("healthy", 0)
    assert feed["circuit_breaker"]["state"] == "CLOSED"
    assert restarted.status_code == stopped.status_code == removed.status_code == 200
    assert second["_metadata"]["scraper_id"] != first["_metadata"]["scraper_id"]
    assert (left["_metadata"]["source"], left["_metadata"]["scraper_status"]) == (
        "cache",
        "stopped",
    )
    assert gone.status_code == 404


async def test_a_second_feed_of_a_domain_has_to_share_its_pace(site: Site, tmp_path: Path) -> None:
    async with watching(site, tmp_path) as ground:
        await ground.service.post("/live/feeds", WANTED)
        other = {**WANTED, "match_id": "other"}
        too_fast = await ground.service.post("/live/feeds", other)

    assert too_fast.status_code == 422
    [error] = too_fast.json()["meta"]["errors"]
    assert error["field"] == "interval"
    assert "other feeds use it already (m)" in error["message"]


async def test_a_feed_is_kept_while_memory_is_short_and_started_later(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = [100 * 1024**2]
    monkeypatch.setattr(app_living, "free_memory", lambda: free[0])
    async with watching(site, tmp_path, min_free_memory_mb=512) as ground:
        refused = await ground.service.post("/live/feeds", WANTED)
        kept = (await ground.service.get("/live/feeds/m")).json()["data"]
        free[0] = 8 * 1024**3
        again = await ground.service.post("/live/feeds", WANTED)
        state = await ground.seen(1)

    assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
    assert "memory is short: 100 MB are left" in refused.json()["error"]
    assert "feed m is kept and started later by itself" in refused.json()["error"]
    assert (kept["status"], kept["wanted"]) == ("waiting", True)
    assert again.status_code == 200
    assert state["matchId"] == 7


# ── a process of live pages alone


async def test_a_process_of_live_pages_serves_them_and_nothing_else(
    site: Site, tmp_path: Path
) -> None:
    async with watching(site, tmp_path) as ground:
        await ground.service.post("/live/feeds", WANTED)
        await ground.seen(1)
        health = await ground.http.get("/health")
        ready = await ground.http.get("/readiness")
        metrics = await ground.http.get("/metrics")
        secret = {"X-Service-Key": KEY}
        enveloped = await ground.http.get("/api/v1/live/health")
        state = await ground.http.get("/cricket-data/match-info/m", headers=secret)
        other = await ground.http.get("/api/v1/scrape", headers=secret)
        ground.alone.stop()
        stopping = await ground.http.get("/readiness")

    found = health.json()
    assert (found["status"], found["active_scraper_count"]) == ("healthy", 1)
    assert [each["match_id"] for each in found["scrapers"]] == ["m"]
    assert found["errors"]["circuit_breakers"][0]["name"] == "m_scraper"
    assert enveloped.json()["data"]["scrapers"][0]["match_id"] == "m"
    assert (ready.status_code, stopping.status_code) == (200, 503)
    assert stopping.json()["meta"] == {"problems": ["the service is shutting down"]}
    assert 'scraper_updates_total{match_id="m",status="changed"}' in metrics.text
    assert (state.status_code, other.status_code) == (200, 404)


async def test_health_is_of_memory_alone(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any, **__: Any) -> Any:
        raise StoreLost("the store is away")

    async with watching(site, tmp_path) as ground:
        await ground.service.post("/live/feeds", WANTED)
        await ground.seen(1)
        with monkeypatch.context() as patches:
            patches.setattr(Store, "read", away)
            patches.setattr(Store, "write", away)
            bare = await ground.http.get("/health")
            enveloped = await ground.http.get("/api/v1/live/health")
            state = await ground.http.get(
                "/cricket-data/match-info/m", headers={"X-Service-Key": KEY}
            )

    assert bare.status_code == enveloped.status_code == 200
    assert bare.json()["active_scraper_count"] == 1
    assert (state.status_code, state.headers["retry-after"]) == (503, "5")
    assert state.json() == {"error": "The store does not answer"}


async def test_health_and_metrics_can_be_switched_off(site: Site, tmp_path: Path) -> None:
    off = {"health_check_enabled": False, "enable_prometheus_metrics": False}
    async with watching(site, tmp_path, **off) as ground:
        await ground.service.post("/live/feeds", WANTED)
        await ground.seen(1)
        health = await ground.http.get("/health")
        enveloped = await ground.service.get("/live/health")
        metrics = await ground.http.get("/metrics")

    assert (health.status_code, enveloped.status_code) == (404, 404)
    assert "penstock_gate_answers" in metrics.text
    assert "scraper_" not in metrics.text


async def test_metrics_have_a_port_of_their_own_if_it_is_named(
    site: Site, tmp_path: Path, unused_tcp_port: int
) -> None:
    async with watching(site, tmp_path, prometheus_port=unused_tcp_port) as ground:
        await ground.service.post("/live/feeds", WANTED)
        await ground.seen(1)
        address = f"http://127.0.0.1:{unused_tcp_port}"
        async with httpx.AsyncClient() as http:
            metrics = await http.get(f"{address}/metrics")
            nothing_else = await http.get(f"{address}/health")

    assert 'scraper_updates_total{match_id="m",status="changed"}' in metrics.text
    assert nothing_else.status_code == 404


async def test_what_waits_for_the_store_makes_what_is_there_no_fresher(
    site: Site, tmp_path: Path
) -> None:
    async with watching(site, tmp_path) as ground:
        await ground.service.post("/live/feeds", WANTED)
        await ground.seen(1)
        row = await ground.service.engine.living.service().get("m")
        supervision, service = ground.supervision, ground.service.engine.living.service()
        context = supervision.watchers["m"].context
        assert context is not None
        old, seen_at = {**row, "last_scraper_update": 1}, context.last_update_ms
        fresh = service.freshness(old)
        waiting = replace(supervision.hands, desk=_Waiting())  # type: ignore[arg-type]
        supervision.hands = waiting
        stale = service.freshness(old)

    assert fresh.scraped_at == seen_at
    assert (stale.scraped_at, stale.source) == (1, "cache")


class _Waiting:
    def last_of(self, match_id: str) -> object:
        return match_id
