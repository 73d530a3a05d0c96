"""The scrape service as a back end sees it: who may ask for how much, lists and health."""

from pathlib import Path

import httpx
import pytest

from penstock.app.webhooks import open_webhooks
from penstock.queue.health import report
from penstock.web.keys import Keys, Scope
from tests.services import SHOP, Service, claim, serving, wanted
from tests.site import Site


@pytest.mark.parametrize("targets", [0, 101])
async def test_a_batch_has_one_to_a_hundred_targets(idle: Service, targets: int) -> None:
    answer = await idle.post("/scrape/batch", {"targets": [wanted(SHOP.format(1))] * targets})

    assert answer.status_code == 422
    assert answer.json()["meta"]["errors"][0]["field"] == "body.targets"


async def test_a_full_queue_takes_all_of_a_batch_or_nothing(tmp_path: Path, site: Site) -> None:
    async with serving(site, tmp_path, works=False, scrape={"max_queue_depth": 5}) as service:
        await service.submit_batch([wanted(SHOP.format(n)) for n in range(3)])
        refused = await service.post(
            "/scrape/batch", {"targets": [wanted(SHOP.format(n)) for n in range(3)]}
        )
        await service.submit(SHOP.format(1))
        await service.submit(SHOP.format(2))
        full = await service.post("/scrape", wanted(SHOP.format(3)))
        listed = await service.tasks()

    for answer in (refused, full):
        assert answer.status_code == 503
        assert answer.json()["error"] == "Task queue is full"
        assert int(answer.headers["Retry-After"]) > 0
    assert len(listed) == 5


async def test_large_and_deep_bodies_are_refused(idle: Service) -> None:
    large = await idle.http.post("/api/v1/scrape", content=b" " * 1_100_000)
    deep = await idle.http.post("/api/v1/scrape", content=b"[" * 5000)

    assert large.status_code == 413
    assert deep.status_code == 422
    assert large.json()["success"] is deep.json()["success"] is False


# ── keys


async def test_a_key_of_a_workspace_sees_and_asks_for_that_alone(idle: Service) -> None:
    mine = await idle.submit(SHOP.format(1))
    keys = Keys(idle.engine.store)
    _, secret = await keys.create("guest", [Scope.READ, Scope.SCRAPE], workspace_id="guests")
    headers = {"X-Service-Key": secret}

    async def ask(path: str) -> httpx.Response:
        return await idle.http.get(f"/api/v1{path}", headers=headers)

    foreign = await ask(f"/scrape/{mine}")
    unknown = await ask("/scrape/00000000-0000-7000-8000-000000000000")
    listed = await ask("/scrape")
    named = await ask("/scrape?workspace_id=acme")
    refused = await idle.post("/scrape", wanted(SHOP.format(1)), **headers)

    assert foreign.status_code == unknown.status_code == 404
    assert foreign.content == unknown.content
    assert listed.json()["data"] == named.json()["data"] == []
    assert refused.status_code == 403


async def test_a_key_is_good_for_its_scopes_its_time_and_its_rate(
    tmp_path: Path, site: Site
) -> None:
    async with serving(site, tmp_path, works=False, api={"keys_seconds": 0}) as service:
        keys = Keys(service.engine.store)
        reader, read = await keys.create("reader", [Scope.READ])
        _, expired = await keys.create("old", [Scope.READ], lifetime=-1)
        _, slow = await keys.create("slow", [Scope.READ], rate_limit=2)

        async def status(secret: str, method: str = "GET") -> int:
            answer = await service.http.request(
                method,
                "/api/v1/scrape",
                json=wanted(SHOP.format(1)),
                headers={"X-Service-Key": secret},
            )
            return answer.status_code

        assert await status(read) == 200
        assert await status(read, "POST") == 403
        assert await status(expired) == 401
        assert [await status(slow) for _ in range(3)] == [200, 200, 429]
        await keys.revoke(reader.id)
        assert await status(read) == 401


async def test_lists_come_in_parts_newest_first_and_filtered(idle: Service) -> None:
    ids = [await idle.submit(SHOP.format(n), "page") for n in range(5)]
    await claim(idle, ids[:2])

    first = (await idle.get("/scrape", limit=3)).json()
    second = (await idle.get("/scrape", limit=3, cursor=first["meta"]["next_cursor"])).json()
    running = (await idle.get("/scrape", status="running")).json()["data"]

    listed = [task["task_id"] for part in (first, second) for task in part["data"]]
    assert listed == sorted(ids, reverse=True)
    assert second["meta"]["next_cursor"] is None
    assert {task["task_id"] for task in running} == set(ids[:2])


async def test_health_shows_pool_queue_and_proxies(tmp_path: Path, site: Site) -> None:
    proxies = {"endpoints": ["http://jo:secret@proxy.test:3128#de"]}
    async with serving(site, tmp_path, works=False, proxies=proxies) as service:
        ids = [await service.submit(SHOP.format(n), "page") for n in range(3)]
        await claim(service, ids[:1])
        health = (await service.http.get("/health", headers={"X-Service-Key": ""})).json()
        figures = await service.http.get("/metrics", headers={"Accept": "application/json"})
        text = (await service.http.get("/metrics")).text

    data = health["data"]
    assert set(data["pool"]) == {
        "total",
        "available",
        "in_use",
        "pages_processed",
        "recycled_count",
    }
    assert data["queue"] == {"depth": 2, "workers": 1, "avg_duration": None}
    assert data["proxies"][0] == {
        "url": "http://proxy.test:3128",
        "region": "de",
        "healthy": True,
        "success_count": 0,
        "failure_count": 0,
    }
    assert figures.json()["data"]["queue"]["depth"] == 2
    assert "penstock_queue_depth 2.0" in text


async def test_deliveries_of_callbacks_are_in_the_health_of_the_process(idle: Service) -> None:
    engine, platform = idle.engine, idle.platform
    async with open_webhooks(idle.settings, platform, engine.store, engine.heartbeat):
        status = report(
            engine.station,
            platform.supervisors,
            platform.switches,
            platform.metrics,
            platform.clock,
        )

    assert status["duties"]["webhooks"]["state"] == "running"
