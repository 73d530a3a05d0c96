"""The pool: who waits, who is refused, and what becomes of a browser that is of no more use."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from penstock.core.errors import PoolExhausted
from penstock.kernel.fetchers.browser.means import BrowserLost
from penstock.kernel.fetchers.browser.pool import MIB, BrowserPool, PoolStats
from penstock.kernel.settings import BrowserSettings
from tests.clocks import HandClock


class StandIn:
    """Plays a Chromium."""

    def __init__(self) -> None:
        self.is_alive = True
        self.is_hung = False
        self.size = 100 * MIB

    def memory(self) -> int:
        return self.size

    async def end(self) -> None:
        self.is_alive = False


class Machine:
    """Starts stand-ins and has as much memory as a test says."""

    def __init__(self) -> None:
        self.free = 10_000 * MIB
        self.launched: list[StandIn] = []
        self.clock = HandClock()
        self.before_launch: Callable[[], Awaitable[None]] | None = None

    async def launch(self) -> StandIn:
        if self.before_launch:
            await self.before_launch()
        self.launched.append(StandIn())
        return self.launched[-1]

    def pool(self, **changes: float) -> BrowserPool[StandIn]:
        settings = BrowserSettings.model_validate({"acquire_seconds": 0.05, **changes})
        return BrowserPool(settings, self.launch, self.clock, lambda: self.free)

    @property
    def alive(self) -> list[StandIn]:
        return [browser for browser in self.launched if browser.is_alive]


@pytest.fixture
def machine() -> Machine:
    return Machine()


async def test_nothing_is_started_before_the_first_page(machine: Machine) -> None:
    pool = machine.pool()

    assert pool.stats() == PoolStats(5, 5, 0, 0, 0)
    assert machine.launched == []


async def test_pages_share_a_browser_until_it_is_full(machine: Machine) -> None:
    pool = machine.pool(contexts_per_browser=3)

    await asyncio.gather(*(pool.acquire() for _ in range(7)))

    assert len(machine.launched) == 3
    assert pool.stats() == PoolStats(7, 0, 7, 0, 0)


async def test_more_than_the_size_are_given_up_to_the_maximum(machine: Machine) -> None:
    pool = machine.pool(pool_size=2, pool_max=3)

    seats = [await pool.acquire() for _ in range(3)]
    with pytest.raises(PoolExhausted, match="no browser came free"):
        await pool.acquire()
    for seat in seats:
        await pool.release(seat)

    assert pool.stats() == PoolStats(2, 2, 0, 3, 0)


async def test_who_waits_is_served_in_order(machine: Machine) -> None:
    pool = machine.pool(pool_size=1, pool_max=1, acquire_seconds=5)
    first = await pool.acquire()
    served: list[str] = []

    async def use(name: str) -> None:
        seat = await pool.acquire()
        served.append(name)
        await pool.release(seat)

    tasks = [asyncio.create_task(use(name)) for name in "abc"]
    await asyncio.sleep(0)
    assert pool.is_crowded
    await pool.release(first)
    await asyncio.gather(*tasks)

    assert served == ["a", "b", "c"]
    assert not pool.is_crowded


async def test_who_goes_away_while_waiting_takes_no_seat(machine: Machine) -> None:
    pool = machine.pool(pool_size=1, pool_max=1, acquire_seconds=5)
    first = await pool.acquire()
    waiting = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0)

    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await pool.release(first)

    assert pool.stats().in_use == 0
    assert await pool.acquire()


async def test_who_goes_away_during_a_launch_leaves_the_browser_to_others(
    machine: Machine,
) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        started.set()
        await go_on.wait()

    machine.before_launch = wait
    pool = machine.pool()
    first = asyncio.create_task(pool.acquire(5))
    await started.wait()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    go_on.set()

    await pool.acquire(5)

    assert len(machine.launched) == 1
    assert pool.stats().in_use == 1


async def test_a_browser_that_does_not_start_costs_no_seat(machine: Machine) -> None:
    async def fail() -> None:
        raise BrowserLost("no")

    machine.before_launch = fail
    pool = machine.pool()

    for _ in range(30):
        with pytest.raises(BrowserLost):
            await pool.acquire()

    assert pool.stats() == PoolStats(5, 5, 0, 0, 0)


async def test_a_dead_browser_is_replaced(machine: Machine) -> None:
    pool = machine.pool()
    seat = await pool.acquire()

    seat.browser.is_alive = False
    await pool.release(seat)
    again = await pool.acquire()

    assert again.browser is not seat.browser
    assert pool.stats().recycled_count == 1
    assert pool.browsers == 1


async def test_a_hung_browser_gets_no_more_pages_and_ends_with_its_last(
    machine: Machine,
) -> None:
    pool = machine.pool()
    one, other = await pool.acquire(), await pool.acquire()

    one.browser.is_hung = True
    await pool.release(one)
    newer = await pool.acquire()
    assert other.browser.is_alive
    await pool.release(other)

    assert machine.alive == [newer.browser]


async def test_an_old_browser_ends_with_its_last_page(machine: Machine) -> None:
    pool = machine.pool(max_age_seconds=60)
    one, other = await pool.acquire(), await pool.acquire()

    machine.clock.move(61)
    await pool.release(one)
    newer = await pool.acquire()
    assert other.browser.is_alive
    await pool.release(other)

    assert newer.browser is not other.browser
    assert machine.alive == [newer.browser]
    assert pool.stats().recycled_count == 1


async def test_a_large_browser_gets_no_more_pages_and_a_huge_one_is_ended(
    machine: Machine,
) -> None:
    pool = machine.pool(max_memory_mb=500)
    large = await pool.acquire()
    large.browser.size = 600 * MIB
    await pool.look_after()
    huge = await pool.acquire()
    huge.browser.size = 1100 * MIB
    assert large.browser is not huge.browser
    assert large.browser.is_alive

    await pool.look_after()
    assert not huge.browser.is_alive
    await pool.release(huge)
    await pool.release(large)

    assert machine.alive == []
    assert pool.stats() == PoolStats(5, 5, 0, 2, 2)


@pytest.mark.parametrize(("size", "is_ended"), [(700, False), (701, True)])
async def test_where_a_huge_browser_begins_can_be_said(
    machine: Machine, size: int, is_ended: bool
) -> None:
    pool = machine.pool(max_memory_mb=500, hard_memory_mb=700)
    seat = await pool.acquire()
    seat.browser.size = size * MIB

    await pool.look_after()

    assert seat.is_retired
    assert seat.browser.is_alive is not is_ended


async def test_a_seat_knows_whether_its_browser_is_of_further_use(machine: Machine) -> None:
    pool = machine.pool(contexts_per_browser=1, max_age_seconds=60)
    hung, dead, old = [await pool.acquire() for _ in range(3)]
    assert not any(seat.is_retired for seat in (hung, dead, old))

    hung.browser.is_hung, dead.browser.is_alive = True, False
    assert [seat.is_retired for seat in (hung, dead, old)] == [True, True, False]
    machine.clock.move(61)
    await pool.look_after()

    assert old.is_retired
    assert [(one.seats, one.is_retired) for one in pool.standings()] == [(1, True), (1, True)]


async def test_without_memory_the_first_page_is_tried_unless_told_otherwise(
    machine: Machine,
) -> None:
    machine.free = 100 * MIB
    strict = machine.pool(min_free_memory_mb=512, first_page_always=False)

    with pytest.raises(PoolExhausted, match="too little memory"):
        await strict.acquire()

    assert strict.is_crowded
    assert machine.launched == []
    assert await machine.pool(min_free_memory_mb=512).acquire()


async def test_without_memory_new_work_is_refused_and_the_pool_shrinks(machine: Machine) -> None:
    pool = machine.pool(pool_size=4, pool_max=4, min_free_memory_mb=512, contexts_per_browser=1)
    seats = [await pool.acquire() for _ in range(4)]
    machine.free = 100 * MIB

    with pytest.raises(PoolExhausted, match="too little memory"):
        await pool.acquire()
    await pool.look_after()
    for seat in seats[:3]:
        await pool.release(seat)
    await pool.look_after()

    assert pool.is_crowded
    assert len(machine.alive) == 1
    assert pool.stats().total == 1
    machine.free = 10_000 * MIB
    await pool.look_after()
    await pool.look_after()
    assert pool.stats() == PoolStats(4, 3, 1, 3, 3)


async def test_when_memory_is_back_who_holds_seats_can_get_others_soon(machine: Machine) -> None:
    pool = machine.pool(pool_size=8, pool_max=8, min_free_memory_mb=512)
    for _ in range(4):
        await pool.acquire()
    machine.free = 100 * MIB
    for _ in range(5):
        await pool.look_after()

    machine.free = 10_000 * MIB
    await pool.look_after()

    for _ in range(4):
        await pool.acquire()
    assert pool.stats().in_use == 8


async def test_a_closed_pool_ends_everything_and_starts_nothing(machine: Machine) -> None:
    pool = machine.pool(contexts_per_browser=1)
    await pool.acquire()
    await pool.acquire()

    await pool.close()

    assert machine.alive == []
    with pytest.raises(PoolExhausted):
        await pool.acquire()


async def test_whether_browsers_start_is_known_when_asked(machine: Machine) -> None:
    async def fail() -> None:
        raise BrowserLost("Chromium does not start: no memory")

    pool = machine.pool()
    machine.before_launch = fail
    ill = [await pool.check(), await pool.check()]
    machine.before_launch = None
    too_soon = await pool.check()
    machine.clock.move(60)

    assert ill == ["Chromium does not start: no memory"] * 2
    assert too_soon
    assert await pool.check() is None
    assert len(machine.launched) == 1
    assert await pool.check() is None
    assert len(machine.launched) == 1


async def test_a_launch_under_way_is_waited_for_though_memory_is_short(machine: Machine) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        started.set()
        await go_on.wait()

    pool = machine.pool(min_free_memory_mb=512)
    machine.free, machine.before_launch = 100 * MIB, wait
    said = await pool.check()
    first = asyncio.create_task(pool.acquire(5))
    await started.wait()
    asking = asyncio.create_task(pool.check())
    await asyncio.sleep(0)
    go_on.set()

    assert said is not None
    assert "memory is short" in said
    assert await asking is None
    await first
    assert len(machine.launched) == 1


async def test_a_fault_of_our_own_is_no_answer_to_whether_browsers_start(machine: Machine) -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    machine.before_launch = fail

    with pytest.raises(ZeroDivisionError):
        await machine.pool().check()
