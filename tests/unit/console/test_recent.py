"""What the console remembers of the last half hour."""

from typing import Any

from penstock.console.kept import Kept
from penstock.console.recent import FAILURE, LANE, PAGES, Recent
from penstock.core.metrics import Metrics
from penstock.kernel.breaker import MemoryBreaker
from penstock.kernel.circuits import Circuits, RuleSet
from penstock.kernel.settings import BreakerSettings
from tests.clocks import HandClock


class Room:
    """A memory with everything that it looks at."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.metrics = Metrics()
        self.breaker = MemoryBreaker(BreakerSettings(), self.clock)
        self.workers: list[dict[str, Any]] = []
        circuits = Circuits(RuleSet("default", self.breaker))
        self.recent = Recent(self.metrics, circuits, self.all_workers, self.clock)

    async def all_workers(self) -> list[dict[str, Any]]:
        return self.workers

    def works(self, name: str, **done: int) -> None:
        self.workers = [each for each in self.workers if each["id"] != name]
        self.workers.append({"id": name, "status": {"done": done}})

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
    for _ in range(24):
        room.metrics.fetched("http", 200, 0.1, 100)
        await room.look()
    room.metrics.failed("url_specific", "http_404")
    room.metrics.failed("site_wide", "timeout")
    await room.look()

    assert room.recent.per_minute(PAGES) == 11
    assert room.recent.per_minute(FAILURE) == 2
    assert room.recent.line(PAGES) == [*[12] * 7, 8]


async def test_failures_are_told_by_kind_and_lately() -> None:
    room = Room()
    for _ in range(3):
        room.metrics.failed("url_specific", "http_404")
    await room.look()
    room.metrics.failed("site_wide", "timeout")
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

    room.workers = []
    await room.look()

    assert room.recent.per_minute(LANE, "scrape") == 60


async def test_an_outage_lasts_from_when_a_circuit_opens_until_it_closes() -> None:
    room = Room()
    rule = BreakerSettings()
    for _ in range(rule.window + rule.threshold):
        leave = await room.breaker.enter("down.test")
        if not isinstance(leave, float):
            await room.breaker.report(leave, well=False)
    await room.look()

    (outage,) = room.recent.open("default")
    assert (outage.domain, outage.state, outage.ended_at) == ("down.test", "open", None)
    assert room.recent.open("stream") == []

    room.clock.move(60)
    room.breaker.close("down.test")
    await room.look()

    assert room.recent.open() == []
    (over,) = room.recent.over()
    assert over.state == "closed"
    assert (over.ended_at or 0) - over.began_at == 65_000


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
