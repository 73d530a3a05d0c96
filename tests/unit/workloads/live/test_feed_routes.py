"""Feeds through the API: what people do with them, and what they are told instead."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from penstock.web.keys import Scope
from penstock.workloads.live.health_log import log_health
from tests.live_api import LiveApi, open_live_api
from tests.live_rows import health, look, scraper, update

URL = "https://scores.example.com/match/7"
SELECT = {"select": {"score": [".score"]}}


def new(**more: Any) -> dict[str, Any]:
    return {"url": URL, "match_id": "m", "adapter": "selectors", "options": SELECT, **more}


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[LiveApi]:
    async with open_live_api(tmp_path) as api:
        yield api


async def test_a_feed_is_started_changed_stopped_restarted_and_removed(api: LiveApi) -> None:
    started = await api.data("POST", "/feeds", 201, new())
    assert (started["match_id"], started["status"], started["interval"]) == ("m", "waiting", None)
    assert (started["source_url"], started["scraper_status"]) == (URL, "unknown")
    api.clock.move(1)
    changed = await api.data("POST", "/feeds", 200, new(interval=5.0, priority=1))
    assert (changed["interval"], changed["priority"]) == (5.0, 1)
    assert changed["created_at"] == started["created_at"]
    stopped = await api.data("POST", "/feeds/m/stop")
    assert (stopped["status"], stopped["wanted"]) == ("stopped", False)
    assert stopped["reason"] == "it was stopped by hand"
    restarted = await api.data("POST", "/feeds/m/restart")
    assert (restarted["status"], restarted["wanted"], restarted["reason"]) == (
        "waiting",
        True,
        None,
    )
    assert (await api.data("DELETE", "/feeds/m"))["match_id"] == "m"
    await api.refusal("GET", "/feeds/m", 404)


async def test_a_feed_that_nobody_named_has_the_same_id_each_time(api: LiveApi) -> None:
    unnamed = {"url": URL, "adapter": "cricket-html"}
    first = await api.data("POST", "/feeds", 201, unnamed)
    api.clock.move(1)
    again = await api.data("POST", "/feeds", 200, unnamed)

    assert first["match_id"] == again["match_id"]
    assert first["match_id"].startswith("scores-example-com-match-7-")


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"url": "ftp://scores.example.com/"}, "url", ""),
        ({"url": "http://127.0.0.1/match"}, "url", ""),
        ({"adapter": "nobody"}, "adapter", "there are: cricket"),
        ({"adapter": None, "options": {}}, "adapter", "there are: cricket"),
        ({"options": {"select": {}}}, "options", "adapter selectors"),
        ({"options": {**SELECT, "way": "by hand"}}, "options", "'way' is"),
        ({"interval": 0.5}, "interval", "allows a request every 2 s"),
        ({"interval": 0}, "body.interval", ""),
        ({"interval": "5"}, "body.interval", "must be a number"),
        ({"priority": 11}, "body.priority", ""),
        ({"match_id": "a/b"}, "body.match_id", ""),
        ({"match_id": "feeds"}, "match_id", "none of adapters, errors, feeds, health"),
        ({"match_id": "health"}, "match_id", "cannot be the id of a feed"),
        ({"pace": 5}, "body.pace", ""),
    ],
)
async def test_what_cannot_be_watched_is_refused_with_the_field(
    api: LiveApi, change: dict[str, Any], field: str, said: str
) -> None:
    refused = await api.refusal("POST", "/feeds", 422, new(**change))

    [error] = refused["meta"]["errors"]
    assert error["field"] == field
    assert said in error["message"]
    assert await api.data("GET", "/feeds") == []


async def test_feeds_are_listed_in_parts_and_by_status(api: LiveApi) -> None:
    for name in "abc":
        await api.rows.put(name)
    await api.data("POST", "/feeds/b/stop")

    first = (await api.ask("GET", "/api/v1/live/feeds?limit=2")).json()
    cursor = first["meta"]["next_cursor"]
    rest = (await api.ask("GET", f"/api/v1/live/feeds?limit=2&cursor={cursor}")).json()
    stopped = await api.data("GET", "/feeds?status=stopped")

    assert [feed["match_id"] for feed in first["data"] + rest["data"]] == ["a", "b", "c"]
    assert rest["meta"] == {"limit": 2, "next_cursor": None}
    assert [feed["match_id"] for feed in stopped] == ["b"]
    await api.refusal("GET", "/feeds?status=asleep", 422)


async def test_a_feed_says_how_fresh_it_is_now(api: LiveApi) -> None:
    await api.rows.watch()
    now = await api.rows.now()
    await api.rows.write(update(1, scraped_at=now))
    await api.rows.note(look(at=now))
    api.clock.move(30)

    feed = await api.data("GET", "/feeds/m")

    assert (feed["data_freshness_seconds"], feed["scraper_status"]) == (30, "active")
    assert (feed["status"], feed["scraper_id"]) == ("watching", scraper(1))
    # Its scraper is another process's.
    assert (feed["scraper"], feed["circuit_breaker"]) == (None, None)


async def test_the_log_of_health_is_of_one_feed_and_since_a_time(api: LiveApi) -> None:
    await api.rows.put("m")
    entries = [
        health("m", at=1_000, memory_mb=85.5, polling_interval_seconds=2.5),
        health("m", at=9_000, health_status="failing"),
        health("other", at=9_000),
    ]
    await api.rows.do(lambda unit: log_health(unit, entries))

    every = await api.data("GET", "/feeds/m/health-log")
    late = await api.data("GET", "/feeds/m/health-log?since=1970-01-01T00:00:05Z")

    assert [row["health_status"] for row in every] == ["failing", "healthy"]
    assert (every[1]["memory_mb"], every[1]["timestamp"]) == ("85.50", "1970-01-01T00:00:01.000Z")
    assert [row["health_status"] for row in late] == ["failing"]


async def test_adapters_say_what_they_are_good_for(api: LiveApi) -> None:
    found = {each["id"]: each for each in await api.data("GET", "/adapters")}

    assert found["cricket"]["ways"] == ["page"]
    assert found["cricket-data"]["ways"] == ["http"]
    assert "selectors" in found


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/feeds/nobody"),
        ("DELETE", "/feeds/nobody"),
        ("POST", "/feeds/nobody/stop"),
        ("POST", "/feeds/nobody/restart"),
        ("GET", "/feeds/nobody/health-log"),
        ("GET", "/feeds/nobody/errors"),
        ("GET", "/nobody"),
        ("GET", "/nobody/updates"),
        ("GET", "/nobody/events"),
    ],
)
async def test_a_feed_that_is_unknown_is_answered_alike_everywhere(
    api: LiveApi, method: str, path: str
) -> None:
    assert (await api.refusal(method, path, 404))["error"] == "There is no feed 'nobody'"


async def test_a_key_may_do_what_its_scopes_say(api: LiveApi) -> None:
    await api.rows.put("m")
    calls = {
        "list": ("GET", "/feeds"),
        "look": ("GET", "/feeds/m"),
        "stop": ("POST", "/feeds/m/stop"),
    }
    reader, admin = await api.key(Scope.READ), await api.key(Scope.ADMIN)
    tenant = await api.key(Scope.ADMIN, workspace_id="acme")

    async def statuses(secret: str) -> dict[str, int]:
        return {
            name: (
                await api.http.request(
                    method, f"/api/v1/live{path}", headers={"X-Service-Key": secret}
                )
            ).status_code
            for name, (method, path) in calls.items()
        }

    assert await statuses(reader) == {"list": 200, "look": 200, "stop": 403}
    assert await statuses(admin) == {"list": 200, "look": 200, "stop": 200}
    assert await statuses(tenant) == {"list": 403, "look": 403, "stop": 403}
    assert await statuses("none of ours") == {"list": 401, "look": 401, "stop": 401}
