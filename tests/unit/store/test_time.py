"""The time of an embedded store: durations count, and it does not go back with the machine's."""

from datetime import timedelta
from pathlib import Path

from penstock.store import migrate
from penstock.store.settings import StoreSettings
from penstock.store.store import Store, open_store
from penstock.store.unit import Unit
from tests.clocks import HandClock

HOUR = timedelta(hours=1)


async def now_in(store: Store) -> int:
    return await store.read(lambda unit: unit.now)


async def test_a_clock_that_is_set_while_we_run_changes_nothing(tmp_path: Path) -> None:
    clock = HandClock()
    async with open_store(StoreSettings(folder=tmp_path), clock) as store:
        before = await now_in(store)
        clock.set_date(clock.now() - HOUR)
        clock.move(5.0)
        assert await now_in(store) == before + 5000


async def seen_by(folder: Path, clock: HandClock) -> int:
    """Open the store as a process would that beats once, and tell its time."""

    def look(unit: Unit) -> int:
        unit.remember_time()
        return unit.now

    async with open_store(StoreSettings(folder=folder), clock) as store:
        await migrate.upgrade(store)
        return await store.write(look)


async def test_the_time_does_not_go_back_between_two_processes(tmp_path: Path) -> None:
    ahead, behind = HandClock(), HandClock()
    ahead.set_date(ahead.now() + HOUR)
    first = await seen_by(tmp_path, ahead)
    assert await seen_by(tmp_path, behind) >= first
    later = HandClock()
    later.set_date(later.now() + 2 * HOUR)
    assert await seen_by(tmp_path, later) == first + 3_600_000


async def test_a_date_far_in_the_future_is_a_mistake_and_not_kept(tmp_path: Path) -> None:
    wrong = HandClock()
    wrong.set_date(wrong.now() + timedelta(days=400))
    await seen_by(tmp_path, wrong)
    right = HandClock()
    assert await seen_by(tmp_path, right) == int(right.now().timestamp() * 1000)
