"""The clients and live pages: what people do with them, on a real port."""

import asyncio

import pytest

from penstock.client import (
    AsyncClient,
    Client,
    InvalidRequest,
    LiveEnd,
    LiveStanding,
    LiveUpdate,
    NotFound,
)
from tests.live_processes import KEY, PAGE, LiveProcess, quick, running, start_live
from tests.shell import Shell
from tests.site.live_match import ends_at, match_at
from tools.provision.processes import free_port

__all__ = ["quick", "running"]

SHORT = f"{PAGE}?minutes=0.5&speed=10"


async def test_a_match_is_started_followed_read_and_forgotten(running: LiveProcess) -> None:
    async with AsyncClient(running.address, KEY) as penstock:
        live = penstock.live
        feed = await live.start(SHORT, match_id="short", interval=0.2)
        assert (feed.match_id, feed.adapter) == ("short", "cricket-html")
        events = [event async for event in live.events("short", after=0)]
        updates = [event for event in events if isinstance(event, LiveUpdate)]
        assert [each.sequence for each in updates] == list(range(1, len(updates) + 1))
        assert updates[-1].payload == match_at(7, ends_at(7, 0.5), 0.5).as_json()
        assert isinstance(events[0], LiveStanding)
        assert isinstance(events[-1], LiveEnd)
        assert events[-1].status == "completed"

        assert [each async for each in live.updates("short", at_once=3)] == updates
        reading = await live.read("short")
        assert (reading.payload, reading.state) == (updates[-1].payload, "ended")
        assert not reading.is_fresh
        assert [each.match_id async for each in live.list(status="completed")] == ["short"]
        assert (await live.get("short")).last_sequence == len(updates)
        assert (await live.health())["total_matches_scraping"] == 0
        assert "selectors" in {each.id for each in await live.adapters()}
        assert (await live.remove("short")).match_id == "short"
        with pytest.raises(NotFound):
            await live.read("short")


async def test_feeds_are_steered_by_programs_that_block(running: LiveProcess) -> None:
    def work() -> None:
        with Client(running.address, KEY) as penstock:
            live = penstock.live
            live.start(
                PAGE, match_id="odd", options={"select": {"a": [".nowhere"]}}, adapter="selectors"
            )
            with pytest.raises(InvalidRequest, match="interval"):
                live.start("http://live03.test/match/1/plain", interval=1)
            assert live.stop("odd").status == "stopped"
            assert live.restart("odd").wanted
            while not (errors := list(live.errors.list("odd", error_type="parsing"))):
                pass
            live.stop("odd")
            assert live.errors.resolve(errors[-1].id).resolved
            assert b"<title>" in live.errors.snapshot(errors[-1].id)

    async with asyncio.timeout(30):
        await asyncio.to_thread(work)


async def test_a_stream_goes_on_when_the_service_comes_back(shell: Shell) -> None:
    port = free_port()
    first = await start_live(shell, port)
    async with AsyncClient(first.address, KEY) as penstock:
        await penstock.live.start(f"{PAGE}?speed=10", match_id="long", interval=0.2)
        seen: list[int] = []
        second: LiveProcess | None = None
        async with asyncio.timeout(60):
            async for event in penstock.live.events("long", after=0):
                if isinstance(event, LiveUpdate):
                    seen.append(event.sequence)
                if len(seen) == 3 and second is None:
                    assert await first.end() == 0
                    second = await start_live(shell, port)
                if len(seen) == 8:
                    break
    assert seen == list(range(1, 9))
    assert second
    assert await second.end() == 0
