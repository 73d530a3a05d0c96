"""The calls of live pages: what is sent, what is read, and how streams go on after a break."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from penstock.client import (
    LiveEnd,
    LiveGap,
    LiveStanding,
    LiveUpdate,
    NotFound,
    NotReached,
    Unavailable,
)
from tests.site import Reply, Reset
from tests.unit.client.service import MOMENT, Caller, ill, open_caller, well

LIVE = "/api/v1/live"
FEED = {
    "match_id": "final",
    "source_url": "https://score.example/7",
    "adapter": "cricket",
    "options": {},
    "status": "watching",
    "wanted": True,
    "reason": None,
    "retry_at": None,
    "priority": 5,
    "interval": None,
    "state": "in_play",
    "last_sequence": 3,
    "scraper_id": "s",
    "scraper_status": "active",
    "last_scraper_update": MOMENT,
    "data_freshness_seconds": 2,
    "restarts": 0,
    "created_at": MOMENT,
    "updated_at": MOMENT,
    "completed_at": None,
    "something": "that an older client does not know",
}
STANDING = {
    "match_id": "final",
    "status": "watching",
    "scraper_status": "active",
    "source": "scraper",
    "is_stale": False,
    "state": "in_play",
    "sequence": 3,
    "scraped_at": "2026-03-04T12:00:00Z",
    "data_age_seconds": 0,
    "reason": None,
}
END = {"match_id": "final", "status": "completed", "reason": "it has ended", "sequence": 3}
STREAM = {"Content-Type": "text/event-stream"}


def update(number: int) -> dict[str, Any]:
    return {
        "match_id": "final",
        "sequence": number,
        "state": "in_play",
        "payload": {"runs": number},
        "hash": "h",
        "critical": True,
        "final": False,
        "scraped_at": MOMENT,
        "scraper_id": "s",
        "update_latency_ms": 5,
        "data_source": "scraper",
    }


def events(*said: tuple[str, dict[str, Any]], half: str = "") -> Reply:
    """A stream of events; it breaks off after half a one."""
    text = "retry: 2000\n\n"
    for name, data in said:
        number = f"id: {data['sequence']}\n" if name == "update" else ""
        text += f"{number}event: {name}\ndata: {json.dumps(data)}\n\n"
    return Reply(200, text + half, STREAM)


@pytest.fixture(params=["blocking", "asyncio"])
async def caller(request: pytest.FixtureRequest) -> AsyncIterator[Caller]:
    async with open_caller(request.param) as caller:
        yield caller


async def test_a_feed_is_started_with_what_was_said(caller: Caller) -> None:
    caller.plan(f"{LIVE}/feeds", well(FEED, 201))

    feed = await caller.call(
        "live.start", "https://score.example/7", match_id="final", options={"way": "page"}
    )

    assert (feed.match_id, feed.status, feed.data_freshness_seconds) == ("final", "watching", 2)
    assert json.loads(caller.hits[0].body) == {
        "url": "https://score.example/7",
        "match_id": "final",
        "options": {"way": "page"},
    }


async def test_a_feed_that_waits_for_memory_says_why() -> None:
    async with open_caller("asyncio", retries=0) as caller:
        caller.plan(f"{LIVE}/feeds", ill(503, "memory is short", Retry_After="30"))
        with pytest.raises(Unavailable, match="memory is short"):
            await caller.call("live.start", "https://score.example/7")


@pytest.mark.parametrize("what", ["stop", "restart"])
async def test_switches_are_repeated_when_their_answer_is_lost(caller: Caller, what: str) -> None:
    caller.plan(f"{LIVE}/feeds/final/{what}", Reset(), well(FEED))

    assert (await caller.call(f"live.{what}", "final")).match_id == "final"

    assert [hit.method for hit in caller.hits] == ["POST", "POST"]


async def test_a_removal_is_not_repeated_when_its_answer_is_lost(caller: Caller) -> None:
    caller.plan(f"{LIVE}/feeds/final", Reset(), ill(404))

    with pytest.raises(NotReached):
        await caller.call("live.remove", "final")

    assert [hit.method for hit in caller.hits] == ["DELETE"]


async def test_feeds_and_errors_are_gone_through_to_their_end(caller: Caller) -> None:
    caller.plan(f"{LIVE}/feeds?status=watching", well([FEED], meta={"next_cursor": "final"}))
    caller.plan(f"{LIVE}/feeds?status=watching&cursor=final", well([], meta={}))
    error = {
        "id": "e1",
        "scraper_id": "s",
        "timestamp": MOMENT,
        "error_type": "parsing",
        "retry_attempt": 0,
        "resolved": False,
    }
    path = f"{LIVE}/feeds/final/errors?type=parsing&resolved=false"
    caller.plan(path, well([error], meta={}))
    caller.plan(f"{LIVE}/errors", well([error, error], meta={}))

    assert len(await caller.all_of("live.list", status="watching")) == 1
    [found] = await caller.all_of("live.errors.list", "final", error_type="parsing", resolved=False)
    assert (found.error_type, found.has_snapshot) == ("parsing", False)
    assert len(await caller.all_of("live.errors.list")) == 2


async def test_what_a_page_says_comes_with_how_fresh_it_is(caller: Caller) -> None:
    metadata = {
        "scraped_at": "2026-03-04T12:00:00Z",
        "data_age_seconds": 400,
        "scraper_id": "s",
        "source": "cache",
        "scraper_status": "stopped",
        "state": "in_play",
        "sequence": 3,
    }
    caller.plan(f"{LIVE}/final", well({"runs": 12, "_metadata": metadata}), ill(404, "nothing yet"))

    reading = await caller.call("live.read", "final")

    assert reading.payload == {"runs": 12}
    assert (reading.data_age_seconds, reading.is_fresh) == (400, False)
    with pytest.raises(NotFound):
        await caller.call("live.read", "final")


async def test_updates_are_gone_through_by_their_numbers(caller: Caller) -> None:
    path = f"{LIVE}/final/updates"
    first = {"limit": 2, "next_after": 3, "last_sequence": 4}
    caller.plan(f"{path}?after=1&limit=2", well([update(2), update(3)], meta=first))
    last = {"limit": 2, "next_after": 4, "last_sequence": 4}
    caller.plan(f"{path}?after=3&limit=2", well([update(4)], meta=last))

    found = await caller.all_of("live.updates", "final", after=1, at_once=2)

    assert [each.sequence for each in found] == [2, 3, 4]


async def test_updates_end_where_nothing_is_kept(caller: Caller) -> None:
    meta = {"limit": 50, "next_after": 9, "last_sequence": 12}
    caller.plan(f"{LIVE}/final/updates?after=9", well([], meta=meta))

    assert await caller.all_of("live.updates", "final", after=9) == []


async def test_events_are_what_they_say_and_end_with_the_feed(caller: Caller) -> None:
    gap = {"match_id": "final", "after": 0, "next": 3}
    told = events(("status", STANDING), ("gap", gap), ("update", update(3)), ("end", END))
    caller.plan(f"{LIVE}/final/events", told)

    found = await caller.all_of("live.events", "final")

    assert [type(each) for each in found] == [LiveStanding, LiveGap, LiveUpdate, LiveEnd]
    assert found[2].payload == {"runs": 3}
    assert "Last-Event-ID" not in caller.hits[0].headers


async def test_a_stream_that_breaks_goes_on_behind_the_last_whole_update(caller: Caller) -> None:
    caller.plan(
        f"{LIVE}/final/events",
        events(("status", STANDING), ("update", update(2)), half="id: 3\nevent: upd"),
        Reset(),
        ill(503, "shutting down"),
        events(("status", STANDING), ("update", update(3)), ("end", END)),
    )

    found = await caller.all_of("live.events", "final", after=1)

    assert [each.sequence for each in found if isinstance(each, LiveUpdate)] == [2, 3]
    places = [hit.headers.get("Last-Event-ID") for hit in caller.hits]
    assert places == ["1", "2", "2", "2"]
    assert len(caller.slept) == 3


async def test_a_stream_that_only_breaks_is_given_up() -> None:
    async with open_caller("asyncio", retries=2) as caller:
        caller.plan(f"{LIVE}/final/events", Reset())
        with pytest.raises(NotReached):
            await caller.all_of("live.events", "final")
        assert len(caller.hits) == 3


async def test_events_that_are_not_known_yet_are_left_out(caller: Caller) -> None:
    caller.plan(f"{LIVE}/final/events", events(("weather", {"rain": True}), ("end", END)))

    assert [type(each) for each in await caller.all_of("live.events", "final")] == [LiveEnd]


async def test_a_stream_of_a_feed_that_is_not_known_says_so(caller: Caller) -> None:
    caller.plan(f"{LIVE}/final/events", ill(404, "There is no feed 'final'"))

    with pytest.raises(NotFound, match="no feed"):
        await caller.all_of("live.events", "final")


async def test_the_rest_is_asked_for_where_it_is(caller: Caller) -> None:
    entry = {"scraper_id": "s", "timestamp": MOMENT, "health_status": "healthy", "error_count": 0}
    caller.plan(f"{LIVE}/feeds/final/health-log?limit=1", well([{**entry, "memory_mb": "85.50"}]))
    caller.plan(f"{LIVE}/feeds/final", well({**FEED, "scraper": {"uptime_seconds": 9}}))
    caller.plan(f"{LIVE}/health", well({"status": "healthy"}))
    caller.plan(f"{LIVE}/adapters", well([{"id": "cricket", "version": "1", "ways": ["page"]}]))
    caller.plan(f"{LIVE}/errors/e1/snapshot", Reply(200, b"<html>"))

    [row] = await caller.call("live.health_log", "final", limit=1)
    assert row.memory_mb == 85.5
    assert (await caller.call("live.get", "final")).scraper == {"uptime_seconds": 9}
    assert await caller.call("live.health") == {"status": "healthy"}
    assert [each.ways for each in await caller.call("live.adapters")] == [("page",)]
    assert await caller.call("live.errors.snapshot", "e1") == b"<html>"
