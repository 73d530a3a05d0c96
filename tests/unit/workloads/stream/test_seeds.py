"""Seeds: pushed when they are due, nothing twice in an interval, nothing dropped."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import datetime, timedelta

import pytest

from penstock.extract.page.sitemap import Entry
from penstock.kernel.model import Failure, SiteWide, UrlSpecific
from penstock.workloads.stream.memory import LinksInMemory, SeedsInMemory
from penstock.workloads.stream.seed_file import Seed, read_seeds
from penstock.workloads.stream.seeds import BATCH, HOLD_SECONDS, SOON, Round, Seeds
from tests.clocks import HandClock
from tests.unit.workloads.stream.feeds import ShortQueue, ToldWalk

HOUR = 3600.0
HOME = "- url: https://shop.test/\n  every: 1h\n"
MAP = "- sitemap: https://shop.test/s.xml\n  every: 1d\n"
DOWN = SiteWide("unavailable", "the site answered 503", 503)


class WatchedClock(HandClock):
    """Tells of every sleep before it takes it."""

    def __init__(self) -> None:
        super().__init__()
        self.at_sleep: Callable[[float], None] = lambda _: None

    async def sleep(self, seconds: float) -> None:
        self.at_sleep(seconds)
        await super().sleep(seconds)


class StuckWalk(ToldWalk):
    """Finds nothing, and is never done."""

    async def entries(self, start: str) -> AsyncGenerator[Entry, None]:
        await asyncio.Event().wait()
        async for entry in super().entries(start):
            yield entry


class SlowToHold(SeedsInMemory):
    """Lets others go first, as whoever asks a server does."""

    async def hold(self, who: str, seconds: float) -> bool:
        await asyncio.sleep(0)
        return await super().hold(who, seconds)


class Scene:
    """Seeds over one memory and queue; `seeds` made twice are those of a process that restarted."""

    def __init__(self) -> None:
        self.clock = WatchedClock()
        self.memory = SeedsInMemory(self.clock)
        self.queue = ShortQueue()
        self.links = LinksInMemory(self.clock)
        self.walks: list[tuple[Seed, datetime | None]] = []
        self.listed: Sequence[str] = [f"https://shop.test/{number}" for number in range(3)]
        self.failures: Sequence[Failure] = ()
        self.meanwhile: Callable[[int], None] = lambda _: None
        self.is_stuck = False

    def seeds(self, text: str, who: str = "a") -> Seeds:
        return Seeds(
            read_seeds(text, "seeds.yaml"),
            walks=self._walk,
            pusher=self.queue,
            memory=self.memory,
            links=self.links,
            clock=self.clock,
            chance=random.Random(1),
            who=who,
        )

    async def push(self, text: str, who: str = "a") -> list[Round]:
        return await self.seeds(text, who).once()

    def _walk(self, seed: Seed, since: datetime | None) -> ToldWalk:
        self.walks.append((seed, since))
        kind = StuckWalk if self.is_stuck else ToldWalk
        return kind(self.listed, self.failures, self.meanwhile)


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def test_seed_is_pushed_at_once_and_then_every_interval(scene: Scene) -> None:
    for minutes in (0, 30, 29, 1, 59, 1):
        scene.clock.move(minutes * 60)
        await scene.push(HOME)

    assert scene.queue.urls == ["https://shop.test/"] * 3


async def test_sitemap_is_pushed_whole_each_time_it_is_due(scene: Scene) -> None:
    scene.listed = [f"https://shop.test/{number}" for number in range(2 * BATCH + 1)]

    (first,) = await scene.push(MAP)
    assert await scene.push(MAP) == []
    scene.clock.move(24 * HOUR)
    (second,) = await scene.push(MAP)

    assert scene.queue.urls == [*scene.listed, *scene.listed]
    assert (first.found, first.pushed, first.known) == (len(scene.listed), len(scene.listed), 0)
    assert second.pushed == len(scene.listed)


async def test_long_walk_does_not_make_the_next_round_skip(scene: Scene) -> None:
    """What is pushed an hour after the round began is due with the next round nevertheless."""
    scene.meanwhile = lambda _: scene.clock.move(HOUR)
    (first,) = await scene.push(MAP)
    scene.clock.set_date(first.next_at)

    (second,) = await scene.push(MAP)

    assert second.pushed == 3


async def test_page_in_several_spellings_is_pushed_once(scene: Scene) -> None:
    scene.listed = ["https://shop.test/a", "http://shop.test/a/", "https://shop.test/a?utm_x=1"]

    await scene.push(MAP)

    assert scene.queue.urls == ["https://shop.test/a"]


async def test_url_of_two_seeds_is_pushed_by_the_one_that_is_due(scene: Scene) -> None:
    scene.listed = ["https://shop.test/"]
    await scene.push(MAP)
    await scene.push(HOME)
    assert scene.queue.urls == ["https://shop.test/"]

    scene.clock.move(HOUR)
    await scene.push(HOME)

    # It comes every hour, though the sitemap pushed it for a day.
    assert scene.queue.urls == ["https://shop.test/"] * 2


async def test_round_that_was_broken_off_is_begun_anew_and_pushes_the_rest(scene: Scene) -> None:
    scene.listed = [f"https://shop.test/{number}" for number in range(BATCH + 10)]

    def die(number: int) -> None:
        if number == BATCH + 5:
            raise RuntimeError("killed")

    scene.meanwhile = die
    with pytest.raises(RuntimeError):
        await scene.push(MAP)
    assert len(scene.queue.urls) == BATCH
    scene.meanwhile = lambda _: None

    (again,) = await scene.push(MAP)

    assert (again.known, again.pushed) == (BATCH, 10)
    assert scene.queue.urls == scene.listed


async def test_full_queue_is_waited_for(scene: Scene) -> None:
    scene.queue.room = 2
    seen: list[int] = []

    def make_room(pause: float) -> None:
        seen.append(len(scene.queue.urls))
        scene.queue.room = 1_000 if pause == 8 else 0

    scene.clock.at_sleep = make_room
    await scene.push(MAP)

    assert scene.queue.urls == scene.listed
    assert scene.clock.slept == [1, 2, 4, 8]
    assert seen == [2, 2, 2, 2]


async def test_queue_that_is_away_is_waited_for(scene: Scene) -> None:
    scene.queue.away = 3

    await scene.push(MAP)

    assert scene.queue.urls == scene.listed
    assert scene.clock.slept == [1, 2, 4]


async def test_limit_and_patterns_choose_what_is_pushed(scene: Scene) -> None:
    scene.listed = [f"https://shop.test/{kind}/{n}" for n in range(5) for kind in ("a", "b")]

    (done,) = await scene.push(f"{MAP}  include: /b/\n  exclude: /b/0\n  limit: 2")

    assert scene.queue.urls == ["https://shop.test/b/1", "https://shop.test/b/2"]
    assert done.found == 2


async def test_since_the_last_round_is_when_that_began(scene: Scene) -> None:
    began = scene.clock.now()
    for _ in range(2):
        await scene.push(f"{MAP}  since: last")
        scene.clock.move(24 * HOUR)

    assert [since for _, since in scene.walks] == [None, began]


async def test_round_with_passing_trouble_is_repeated_soon_and_later_each_time(
    scene: Scene,
) -> None:
    scene.failures = [DOWN]
    pauses = []
    for _ in range(3):
        (done,) = await scene.push(f"{MAP}  since: last")
        pauses.append((done.next_at - scene.clock.now()).total_seconds())
        scene.clock.set_date(done.next_at)

    assert pauses == [SOON, 2 * SOON, 4 * SOON]
    # What could be had was pushed once, and no round counts as the last one.
    assert scene.queue.urls == scene.listed
    assert [since for _, since in scene.walks] == [None, None, None]


async def test_trouble_after_good_rounds_is_not_repeated_at_once(scene: Scene) -> None:
    await scene.push(MAP)
    scene.clock.move(24 * HOUR)
    scene.failures = [DOWN]
    await scene.push(MAP)

    assert await scene.push(MAP) == []
    scene.clock.move(SOON)
    assert len(await scene.push(MAP)) == 1


async def test_trouble_never_makes_a_seed_come_later_than_its_interval(scene: Scene) -> None:
    scene.failures = [DOWN]

    for _ in range(12):
        (done,) = await scene.push(MAP)
        assert done.next_at - done.begun <= timedelta(days=1)
        scene.clock.set_date(done.next_at)


async def test_trouble_that_will_not_pass_waits_for_the_next_interval(scene: Scene) -> None:
    scene.failures = [UrlSpecific("http_404", "the site answered 404", 404)]

    (done,) = await scene.push(MAP)

    assert done.next_at == scene.clock.now() + timedelta(days=1)


async def test_interval_that_was_made_shorter_counts_at_once(scene: Scene) -> None:
    await scene.push("- url: https://shop.test/\n  every: 7d")
    scene.clock.move(2 * HOUR)

    await scene.push(HOME)

    assert len(scene.queue.urls) == 2


async def test_second_process_stands_by_until_the_first_is_silent(scene: Scene) -> None:
    first, second = scene.seeds(HOME, "first"), scene.seeds(HOME, "second")
    await first._hold(HOLD_SECONDS)

    assert await second.once() == []
    scene.clock.move(HOLD_SECONDS)
    assert len(await second.once()) == 1


async def test_process_that_is_done_makes_room_for_the_next(scene: Scene) -> None:
    await scene.push(HOME, "first")
    scene.clock.move(HOUR)

    assert len(await scene.push(HOME, "second")) == 1


async def test_pushed_pages_are_where_links_begin(scene: Scene) -> None:
    await scene.push(MAP)

    assert sorted((await scene.links.depths(list(scene.links._depths))).values()) == [0, 0, 0]


async def test_first_round_waits_for_nothing_but_the_hold(scene: Scene) -> None:
    """A back end answers later than at once; no seed sleeps because it has not yet."""
    scene.memory = SlowToHold(scene.clock)
    pushed_at_sleep: list[int] = []
    scene.clock.at_sleep = lambda _: pushed_at_sleep.append(len(scene.queue.urls))
    task = asyncio.create_task(scene.seeds(HOME).run())

    await scene.queue.holds(1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert 0 not in pushed_at_sleep


async def test_seeds_keep_running_side_by_side(scene: Scene) -> None:
    """A sitemap that is never done does not keep single URLs from their rounds."""
    scene.is_stuck = True
    task = asyncio.create_task(scene.seeds(HOME + MAP).run())

    await scene.queue.holds(3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert set(scene.queue.urls) == {"https://shop.test/"}
    assert len(scene.walks) == 1
