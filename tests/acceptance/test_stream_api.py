"""The page fetcher's API on the store: URLs in, events and bodies out, at each one's pace."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from penstock.events.ports import Message
from penstock.queue.ports import LaneLimit
from penstock.queue.sql import SqlQueue
from penstock.web.keys import Keys, Scope
from penstock.workloads.stream.desk import QUEUE_FULL
from penstock.workloads.stream.model import NAME, key_of
from tests.services import Service
from tests.site import Site
from tests.streams import events, push, streaming

URL = "http://shop01.test/product/1"


async def test_who_waits_for_an_event_is_told_when_it_is_there(site: Site, tmp_path: Path) -> None:
    async with streaming(site, tmp_path) as service:
        waiting = asyncio.create_task(service.get("/stream/events", wait=20))
        await push(service, URL)
        answer = (await waiting).json()
        seq = answer["data"][0]["seq"]
        later = (await service.get("/stream/events", after=seq)).json()

    assert answer["data"][0]["event"]["url"] == URL
    assert answer["data"][0]["key"] == key_of(URL)
    assert answer["meta"]["next_after"] >= seq
    assert later["data"] == []


async def test_who_waits_is_let_go_when_the_service_stops(site: Site, tmp_path: Path) -> None:
    async with streaming(site, tmp_path, works=False) as service:
        service.api.stop()
        async with asyncio.timeout(5):
            answer = await service.get("/stream/events", wait=30)

    assert (answer.status_code, answer.json()["data"]) == (200, [])


async def test_events_of_others_are_passed_over_for_good(site: Site, tmp_path: Path) -> None:
    async with streaming(site, tmp_path, works=False) as service:
        log, other = service.engine.log, Message("id", "another.topic", "key", {})
        await service.engine.store.write(lambda unit: log.append(unit, [other]))
        last = await log.last()
        part = (await service.get("/stream/events")).json()

    assert last > 0
    assert (part["data"], part["meta"]["next_after"]) == ([], last)


async def test_parts_join_without_a_gap(site: Site, tmp_path: Path) -> None:
    urls = [f"http://shop0{shop}.test/product/1" for shop in range(1, 6)]
    async with streaming(site, tmp_path) as service:
        await push(service, *urls)
        await events(service, 5)
        found: list[str] = []
        after = 0
        while part := (await service.get("/stream/events", after=after, limit=2)).json():
            found += [each["event"]["url"] for each in part["data"]]
            after = part["meta"]["next_after"]
            if not part["data"]:
                break

    assert sorted(found) == urls


async def test_a_body_cannot_run_in_the_origin_of_the_api(site: Site, tmp_path: Path) -> None:
    async with streaming(site, tmp_path) as service:
        await push(service, URL)
        [event] = await events(service, 1)
        page = await service.get(f"/stream/pages/{event['key']}")
        missing = await service.get(f"/stream/pages/{'0' * 64}")

    assert len(page.content) == event["event"]["content_length"]
    assert page.headers["content-type"] == "application/octet-stream"
    assert page.headers["content-disposition"].startswith("attachment")
    assert page.headers["content-security-policy"].startswith("sandbox")
    assert page.headers["x-content-type-options"] == "nosniff"
    assert missing.status_code == 404
    assert "its time is over" in missing.json()["error"]


async def test_a_consumer_is_found_where_it_committed(site: Site, tmp_path: Path) -> None:
    async with streaming(site, tmp_path, works=False) as service:
        new = (await service.get("/stream/consumers/indexer")).json()["data"]
        for seq in (7, 12, 3):
            await service.http.put("/api/v1/stream/consumers/indexer", json={"seq": seq})
        kept = (await service.get("/stream/consumers/indexer")).json()["data"]
        other = (await service.get("/stream/consumers/other")).json()["data"]
        wrong = await service.http.put("/api/v1/stream/consumers/indexer", json={"seq": -1})

    assert new == {"name": "indexer", "seq": 0, "updated_at": None}
    assert (kept["seq"], kept["updated_at"] is None, other["seq"]) == (3, False, 0)
    assert wrong.status_code == 422


async def test_a_full_queue_says_when_to_come_back(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = {NAME: LaneLimit(2, retry_after=7)}
    monkeypatch.setattr(
        "penstock.app.engine.open_queue", lambda _settings, store: SqlQueue(store, limit)
    )
    async with streaming(site, tmp_path, works=False) as service:
        urls = [f"{URL}{number}" for number in range(3)]
        some = await service.post("/stream/urls", {"urls": urls})
        none = await service.post("/stream/urls", {"urls": urls[2:]})

    assert (some.status_code, some.json()["data"]["accepted"]) == (202, 2)
    [rejected] = some.json()["data"]["rejected"]
    assert (rejected["index"], rejected["reason"]) == (2, QUEUE_FULL)
    assert (none.status_code, some.headers["retry-after"], none.headers["retry-after"]) == (
        503,
        "7",
        "7",
    )


async def call(service: Service, secret: str) -> dict[str, int]:
    """What a key may do, by the statuses of the answers."""
    calls: dict[str, tuple[str, str, Any]] = {
        "read": ("GET", "events", None),
        "body": ("GET", f"pages/{'0' * 64}", None),
        "commit": ("PUT", "consumers/me", {"seq": 1}),
        "push": ("POST", "urls", {"urls": [URL]}),
        "list": ("GET", "dlq", None),
        "revive": ("POST", "dlq/revive", {}),
        "discard": ("DELETE", "dlq?all=true", None),
    }
    return {
        name: (
            await service.http.request(
                method,
                f"/api/v1/stream/{path}",
                json=body,
                headers={"X-Service-Key": secret},
            )
        ).status_code
        for name, (method, path, body) in calls.items()
    }


async def test_a_key_may_do_what_its_scopes_say(site: Site, tmp_path: Path) -> None:
    async with streaming(site, tmp_path, works=False) as service:
        keys = Keys(service.engine.store)
        _, reader = await keys.create("reader", [Scope.READ])
        _, producer = await keys.create("producer", [Scope.SCRAPE])
        _, tenant = await keys.create("tenant", [Scope.ADMIN], workspace_id="acme")
        reads, pushes, nothing = [await call(service, key) for key in (reader, producer, tenant)]

    allowed = {name for name, status in reads.items() if status != 403}
    assert allowed == {"read", "body", "commit", "list"}
    assert pushes["push"] == 202
    assert (pushes["revive"], pushes["discard"]) == (403, 403)
    assert set(nothing.values()) == {403}


async def test_nothing_is_discarded_by_mistake(site: Site, tmp_path: Path) -> None:
    async with streaming(site, tmp_path, works=False) as service:
        answer = await service.http.delete("/api/v1/stream/dlq")

    assert answer.status_code == 409
    assert "all=true" in answer.json()["error"]
