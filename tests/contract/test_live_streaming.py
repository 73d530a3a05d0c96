"""Streams of feeds: whoever is slow, leaves or comes back is told everything once, in order."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from penstock.blobs.local import LocalBlobs
from penstock.core.clock import SystemClock
from penstock.core.errors import StoreError, StoreLost
from penstock.web.errors import ShuttingDown, Unavailable
from penstock.workloads.live import streaming
from penstock.workloads.live.feeds import complete_feed, remove_feed, stop_feed
from penstock.workloads.live.model import ScraperStatus
from penstock.workloads.live.service import LiveService
from penstock.workloads.live.streaming import AT_ONCE, FeedStreams, Message
from penstock.workloads.live.tables import live_match_data
from tests.clocks import HandClock
from tests.live_api import service_on
from tests.live_rows import LiveRows, look, scraper, update
from tests.stores import Stores


class Ground:
    """A feed that is watched elsewhere, and those who follow it here."""

    def __init__(self, rows: LiveRows, service: LiveService, clock: HandClock) -> None:
        self.rows = rows
        self.service = service
        self.clock = clock
        self.is_stopping = False
        self.streams = FeedStreams(service, lambda: self.is_stopping)
        self.written = 0

    async def score(self, number: int = 1, *, wakes: bool = False) -> None:
        """Let some updates be written, by a process that wakes those who wait or does not."""
        first, self.written = self.written + 1, self.written + number
        now = self.milliseconds()
        new = [update(each, scraped_at=now) for each in range(first, self.written + 1)]
        assert await self.rows.write(*new) == []
        if wakes:
            self.service.waiters.wake(["m"])

    async def look(self, **more: Any) -> None:
        await self.rows.note(look(**{"at": self.milliseconds(), **more}))

    def milliseconds(self) -> int:
        return int(self.clock.now().timestamp() * 1000)

    async def follow(self, after: int | None = None) -> list[Message]:
        """All that is said until the end."""
        async with asyncio.timeout(20):
            return [each async for each in self.streams.follow("m", after) if each]

    async def stop(self) -> None:
        await self.rows.do(lambda unit: stop_feed(unit, "m", "enough"))


@pytest.fixture
async def ground(stores: Stores, tmp_path: Path) -> Ground:
    clock = HandClock()
    rows = LiveRows(await stores.open())
    service = service_on(await stores.open(), LocalBlobs(tmp_path / "blobs"), clock)
    await rows.watch("m")
    made = Ground(rows, service, clock)
    await made.look()
    return made


def events(messages: list[Message]) -> list[str]:
    return [each.event for each in messages]


def numbers(messages: list[Message]) -> list[int | None]:
    return [each.sequence for each in messages if each.event == "update"]


async def until(
    messages: AsyncIterator[Message | None], wanted: Callable[[Message], bool]
) -> Message:
    async with asyncio.timeout(20):
        while True:
            if (message := await anext(messages)) and wanted(message):
                return message


async def test_a_stream_begins_with_the_last_update_and_ends_with_the_feed(ground: Ground) -> None:
    await ground.score(3)
    await ground.stop()

    told = await ground.follow()

    assert events(told) == ["status", "update", "end"]
    assert told[1].sequence == 3
    assert told[1].data["payload"] == {"score": 3}
    assert told[2].data == {"match_id": "m", "status": "stopped", "reason": "enough", "sequence": 3}


async def test_a_stream_goes_on_behind_a_number(ground: Ground) -> None:
    await ground.score(3 * AT_ONCE)
    await ground.rows.do(lambda unit: complete_feed(unit, "m", scraper(1), "the match has ended"))

    told = await ground.follow(after=5)

    assert numbers(told) == list(range(6, 3 * AT_ONCE + 1))
    assert "gap" not in events(told)
    assert told[-1].data["status"] == "completed"


async def test_a_feed_without_updates_is_waited_for(ground: Ground) -> None:
    stream = ground.streams.follow("m", None)
    first = await until(stream, lambda _message: True)
    await ground.score(1)
    news = await until(stream, lambda message: message.event == "update")
    await stream.aclose()

    assert (first.event, first.data["sequence"]) == ("status", 0)
    assert news.sequence == 1


async def test_nothing_is_missed_or_told_twice_while_updates_come(ground: Ground) -> None:
    chance, seen = random.Random(4), []
    await ground.score(1)

    async def play() -> None:
        for _ in range(30):
            await ground.score(chance.randint(1, 2 * AT_ONCE), wakes=chance.random() < 0.5)
        await ground.stop()

    async def consume() -> None:
        """Leave and come back all the time."""
        last = 0
        while True:
            stream, patience = ground.streams.follow("m", last), chance.randint(1, 60)
            async for message in stream:
                if message and message.event == "end":
                    return
                if message and message.event == "update":
                    seen.append(message.sequence)
                    last = message.sequence or 0
                    patience -= 1
                if patience == 0:
                    break
            await stream.aclose()

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(play())
        tasks.create_task(consume())

    assert seen == list(range(1, ground.written + 1))


async def test_updates_that_are_not_kept_any_more_are_a_gap(ground: Ground) -> None:
    await ground.score(5)
    its = live_match_data.c
    await ground.rows.do(
        lambda unit: unit.run(delete(live_match_data).where(its.sequence.in_([1, 2, 4]))) and None
    )
    await ground.stop()

    from_start, from_end = await ground.follow(after=0), await ground.follow(after=4)

    assert events(from_start) == ["status", "gap", "update", "gap", "update", "end"]
    assert [each.data for each in from_start if each.event == "gap"] == [
        {"match_id": "m", "after": 0, "next": 3},
        {"match_id": "m", "after": 3, "next": 5},
    ]
    assert "gap" not in events(from_end)


async def test_a_feed_that_began_anew_is_told_from_its_beginning(ground: Ground) -> None:
    await ground.score(2)
    await ground.stop()

    told = await ground.follow(after=500)

    assert events(told) == ["status", "gap", "update", "update", "end"]
    assert told[1].data == {"match_id": "m", "after": 500, "next": 1}


async def test_a_feed_that_is_removed_ends_its_streams(ground: Ground) -> None:
    await ground.score(1)
    stream = ground.streams.follow("m", None)
    await until(stream, lambda message: message.event == "update")
    await ground.rows.do(lambda unit: remove_feed(unit, "m") and None)

    end = await until(stream, lambda message: message.event == "end")

    assert end.data["status"] == "removed"
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_a_change_of_status_is_told_once(ground: Ground) -> None:
    await ground.score(1)
    stream = ground.streams.follow("m", None)
    await until(stream, lambda message: message.event == "update")
    await ground.look(scraper_status=ScraperStatus.ERROR)
    trouble = await until(stream, lambda _message: True)
    await ground.look()
    recovery = await until(stream, lambda _message: True)
    await ground.score(1)
    news = await until(stream, lambda _message: True)
    await stream.aclose()

    assert (trouble.event, trouble.data["scraper_status"]) == ("status", "error")
    assert (trouble.data["source"], trouble.data["is_stale"]) == ("cache", True)
    assert (recovery.data["scraper_status"], recovery.data["is_stale"]) == ("active", False)
    assert news.event == "update"


async def test_data_that_grows_old_is_told_and_silence_is_broken(ground: Ground) -> None:
    await ground.score(1)
    stream, silences = ground.streams.follow("m", None), 0
    await until(stream, lambda message: message.event == "update")
    async with asyncio.timeout(20):
        while (message := await anext(stream)) is None:
            silences += 1
    await stream.aclose()

    assert (message.event, message.data["is_stale"]) == ("status", True)
    assert 120 < message.data["data_age_seconds"] <= 123
    assert silences == 120 // streaming.KEEP_ALIVE_SECONDS


async def test_a_slow_consumer_has_little_in_hand(ground: Ground) -> None:
    await ground.score(10 * AT_ONCE)
    stream = ground.streams.follow("m", 0)
    await until(stream, lambda message: message.event == "update")
    in_hand = [len(look.found.result()[1]) for look in ground.streams._looks._latest.values()]
    await stream.aclose()

    assert in_hand == [AT_ONCE]
    assert ground.streams._looks._latest == {}


async def test_streams_at_the_same_place_share_their_looks(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int | None] = []
    progress = ground.service.progress

    async def count(match_id: str, after: int | None, limit: int) -> Any:
        asked.append(after)
        return await progress(match_id, after, limit)

    await ground.score(1)
    monkeypatch.setattr(ground.service, "progress", count)
    ground.streams._clock = SystemClock()
    ground.service.clock = SystemClock()
    streams = [ground.streams.follow("m", 0) for _ in range(50)]
    await asyncio.gather(*(until(each, lambda m: m.event == "update") for each in streams))
    waiting = [
        asyncio.ensure_future(until(each, lambda m: m.event == "update")) for each in streams
    ]
    await asyncio.sleep(0)
    await ground.score(1, wakes=True)
    await asyncio.gather(*waiting)
    for each in streams:
        await each.aclose()

    # Once before there was news of the second, in case that came early.
    assert asked[0] == 0
    assert len(asked) <= 4


async def test_a_store_that_is_away_ends_no_stream(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ground.score(1)
    stream, progress = ground.streams.follow("m", None), ground.service.progress
    await until(stream, lambda message: message.event == "update")

    async def away(*_: Any) -> Any:
        raise StoreLost("the store is away")

    monkeypatch.setattr(ground.service, "progress", away)
    old = await until(stream, lambda message: message.event == "status")
    with pytest.raises(StoreError):
        await ground.follow()
    monkeypatch.setattr(ground.service, "progress", progress)
    await ground.score(1)
    news = await until(stream, lambda message: message.event == "update")
    await stream.aclose()

    assert old.data["is_stale"]
    assert news.sequence == 2


async def test_streams_end_at_once_when_the_service_stops(ground: Ground) -> None:
    await ground.score(1)
    stream = ground.streams.follow("m", None)
    await until(stream, lambda message: message.event == "update")
    ground.is_stopping = True

    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    with pytest.raises(ShuttingDown):
        ground.streams.refuse_if_full()


async def test_there_are_only_so_many_streams(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "MOST_STREAMS", 2)
    streams = [ground.streams.follow("m", None) for _ in range(2)]
    for each in streams:
        ground.streams.refuse_if_full()
        await anext(each)
    with pytest.raises(Unavailable, match="2 streams are open"):
        ground.streams.refuse_if_full()
    await streams[0].aclose()

    ground.streams.refuse_if_full()
    await streams[1].aclose()
