"""Reading a stream: bodies ahead and within bounds, pages of lost partitions, servers that fail."""

import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from penstock.client import ClientError, NotReached
from penstock.client.stream import Pages, read_stream
from penstock.client.stream_models import WebpageEvent
from penstock.client.stream_service import PAUSE, ServiceSource
from penstock.client.stream_sources import Arrival, PartitionLost, Place
from penstock.workloads.stream import model
from tests.unit.client.service import ill, open_caller, well

MOMENT = datetime(2026, 3, 4, tzinfo=UTC)
PREFIX = "/api/v1/stream"


def event(number: int, size: int = 10) -> WebpageEvent:
    return WebpageEvent(
        url=f"http://shop.example/{number}",
        cache_key=f"webpage:{number}",
        status_code=200,
        content_type="text/html",
        content_length=size,
        content_hash="",
        fetched_at=MOMENT,
    )


class Planted:
    """Events in partitions, bodies that come when they are let, and partitions that get lost."""

    def __init__(self, *arrivals: Arrival) -> None:
        self.arrivals = list(arrivals)
        self.assignment = 0
        self.asked: list[str] = []
        self.trouble: Exception | None = None
        self.committed: list[Place] = []
        self.release = asyncio.Event()
        self.release.set()

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def more(self, most: int) -> Sequence[Arrival]:
        some, self.arrivals = self.arrivals[:most], self.arrivals[most:]
        return some

    def is_current(self, arrival: Arrival) -> bool:
        return arrival.assignment == self.assignment

    async def commit(self, arrivals: Sequence[Arrival]) -> None:
        if self.trouble:
            raise self.trouble
        self.committed += [arrival.place for arrival in arrivals]

    async def body(self, event: WebpageEvent) -> bytes | None:
        self.asked.append(event.cache_key)
        await self.release.wait()
        if self.trouble:
            raise self.trouble
        return event.cache_key.encode()

    async def push(self, url: str) -> None: ...


def arrivals(number: int, *, partitions: int = 1, size: int = 10) -> list[Arrival]:
    return [
        Arrival(Place("t", place % partitions, place), event(place, size))
        for place in range(number)
    ]


async def turn() -> None:
    """Let all others go as far as they can."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("size", "ahead", "expected"),
    [(10, 4, 4), (10, 0, 0), (40 * 1024 * 1024, 4, 1), (100 * 1024 * 1024, 4, 1)],
)
async def test_bodies_are_fetched_ahead_within_bounds(size: int, ahead: int, expected: int) -> None:
    source = Planted(*arrivals(20, size=size))
    async with Pages(source, ahead=ahead) as pages:
        first = await anext(pages)
        await turn()

        assert len(source.asked) == expected
        assert await first.body() == b"webpage:0"
        assert source.asked.count("webpage:0") == 1


async def test_a_body_that_could_not_be_fetched_is_asked_for_again() -> None:
    source = Planted(*arrivals(1))
    source.trouble = NotReached("away")
    async with Pages(source) as pages:
        page = await anext(pages)
        with pytest.raises(NotReached):
            await page.body()
        source.trouble = None

        assert await page.body() == b"webpage:0"
        assert not await page.is_expired()


async def test_who_gives_up_waiting_for_a_body_takes_it_from_nobody() -> None:
    source = Planted(*arrivals(1))
    source.release.clear()
    async with Pages(source) as pages:
        page = await anext(pages)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await page.body()
        source.release.set()

        assert await page.body() == b"webpage:0"
        assert len(source.asked) == 1


async def test_bodies_that_nobody_waits_for_end_with_the_reading() -> None:
    source = Planted(*arrivals(3))
    source.release.clear()
    async with Pages(source) as pages:
        await anext(pages)
        await turn()
        before = asyncio.all_tasks()
    await turn()

    assert len(before) > len(asyncio.all_tasks())


async def test_a_commit_names_the_last_page_of_each_partition() -> None:
    source = Planted(*arrivals(5, partitions=2))
    async with Pages(source) as pages:
        handed = [await anext(pages) for _ in range(4)]
        await pages.commit()
        await pages.commit()
        await anext(pages)
        await pages.commit(handed[1])

    assert [(place.partition, place.offset) for place in source.committed] == [
        (0, 2),
        (1, 3),
        (1, 1),
    ]


async def test_a_commit_that_failed_is_made_by_the_next() -> None:
    source = Planted(*arrivals(1))
    async with Pages(source, ahead=0) as pages:
        await anext(pages)
        source.trouble = NotReached("away")
        with pytest.raises(NotReached):
            await pages.commit()
        source.trouble = None
        await pages.commit()

    assert [place.offset for place in source.committed] == [0]


async def test_pages_of_a_lost_partition_are_said_once_and_not_handed_out() -> None:
    source = Planted(*arrivals(3))
    async with Pages(source, ahead=0) as pages:
        await anext(pages)
        source.assignment = 1
        source.arrivals = [Arrival(Place("t", 1, 7), event(7), assignment=1)]
        source.trouble = PartitionLost("lost")
        with pytest.raises(PartitionLost):
            await pages.commit()
        source.trouble = None
        page = await anext(pages)
        await pages.commit()

    assert page.event.url.endswith("/7")
    assert source.committed == [Place("t", 1, 7)]


async def test_a_service_that_is_away_is_waited_for() -> None:
    async with open_caller("asyncio", retries=0) as caller:
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        data = [{"seq": 9, "key": "k", "event": event(1).model_dump(mode="json")}]
        found = {"name": "c", "seq": 4, "updated_at": None}
        caller.plan(f"{PREFIX}/consumers/c", well(found))
        caller.plan(
            f"{PREFIX}/events", ill(503), ill(429), well(data, meta={"next_after": 11}), ill(401)
        )
        source = ServiceSource(caller.asyncio, "c", sleep=sleep)
        async with Pages(source, ahead=0) as pages:
            page = await anext(pages)
            with pytest.raises(ClientError):
                await anext(pages)
        asked = [hit.path for hit in caller.hits if "/events" in hit.path]

    assert (page.place.offset, slept) == (9, [PAUSE, PAUSE])
    assert ["after=4" in asked[2], "after=11" in asked[3]] == [True, True]


@pytest.mark.parametrize("missing", ["aiokafka", "redis"])
def test_what_is_not_installed_is_said_with_what_to_do(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [each for each in sys.modules if each.startswith("penstock.client.stream_")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [each for each in sys.modules if each.partition(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(ClientError, match=r"penstock\[kafka,redis\]"):
        read_stream(kafka="127.0.0.1:9", redis="redis://127.0.0.1:9", group="g")


def test_the_client_has_the_wire_form_of_events() -> None:
    theirs = model.WebpageEvent.model_validate_json(event(1).model_dump_json())

    assert WebpageEvent.model_validate_json(theirs.model_dump_json()) == event(1)
    assert WebpageEvent.model_fields.keys() == model.WebpageEvent.model_fields.keys()
