"""What the console remembers of the last half hour."""

from typing import Any

from penstock.console.kept import Kept
from penstock.console.recent import FAILURE, LANE, PAGES, Recent
from tests.clocks import HandClock


class Room:
    """A memory with everything that it looks at."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.workers: dict[str, dict[str, Any]] = {}
        self.recent = Recent(self.all_workers, self.clock)

    async def all_workers(self) -> list[dict[str, Any]]:
        return [{"id": name, "status": status} for name, status in self.workers.items()]

    def works(self, name: str, **done: int) -> None:
        self.workers[name] = {"done": done}

    def fetches(self, pages: int, *failures: list[Any], name: str = "w") -> None:
        self.workers[name] = {"pages": pages, "failures": failures}

    async def look(self, times: int = 1) -> None:
        for _ in range(times):
            await self.recent.look()
            self.clock.move(5)


async def test_nothing_is_said_before_there_is_something_to_compare() -> None:
    room = Room()
    assert room.recent.per_minute(PAGES) is None
    assert room.recent.failures() == []

    await room.look()

    assert room.recent.per_minute(PAGES) is None
    assert room.recent.line(PAGES) == []


async def test_pages_and_failures_are_counted_by_the_minute() -> None:
    room = Room()
    await room.look()
    for number in range(1, 25):
        room.fetches(number)
        await room.look()
    room.fetches(24, ["url_specific", "http_404", 1], ["site_wide", "timeout", 1])
    await room.look()

    assert room.recent.per_minute(PAGES) == 11
    assert room.recent.per_minute(FAILURE) == 2
    assert room.recent.line(PAGES) == [*[12] * 7, 8]


async def test_pages_of_all_processes_are_counted_together() -> None:
    room = Room()
    room.fetches(1000, name="one")
    room.fetches(500, name="two")
    await room.look()
    room.fetches(1004, name="one")
    room.fetches(506, name="two")
    await room.look()

    assert room.recent.per_minute(PAGES) == 120


async def test_failures_are_told_by_kind_and_lately() -> None:
    room = Room()
    room.fetches(0, ["url_specific", "http_404", 3])
    await room.look()
    room.fetches(0, ["url_specific", "http_404", 3], ["site_wide", "timeout", 1])
    await room.look()

    assert room.recent.failures() == [
        ("site_wide", "timeout", 1, 1),
        ("url_specific", "http_404", 0, 3),
    ]


async def test_lanes_count_what_all_workers_did_since_the_first_look() -> None:
    room = Room()
    room.works("old", scrape=100)
    await room.look()
    room.works("old", scrape=106)
    room.works("new", scrape=4, stream=3)
    await room.look()
    assert room.recent.per_minute(LANE, "scrape") == 120
    assert room.recent.per_minute(LANE, "stream") == 36

    room.workers = {}
    await room.look()

    assert room.recent.per_minute(LANE, "scrape") == 60


async def test_a_look_is_kept_the_longer_the_more_it_costs() -> None:
    clock, looks = HandClock(), []

    async def look() -> int:
        clock.move(0.5)
        looks.append(clock.monotonic())
        return len(looks)

    kept = Kept(look, clock)

    assert [await kept.get(), await kept.get()] == [1, 1]
    clock.move(9)
    assert await kept.get() == 1
    clock.move(2)
    assert await kept.get() == 2
