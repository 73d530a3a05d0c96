"""A worker that fell silent is struck off, by what was observed and not by what a clock says."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from penstock.queue.heartbeat import Heartbeat, Pulse, is_gone, this_process
from penstock.queue.sql import SqlQueue
from penstock.queue.tables import workers
from penstock.store.store import Store
from tests.clocks import HandClock
from tests.stores import (
    Stores,
    all_of,
    lose_next_commit,
    make_items,
    rows_of,
    sqlite_stores,
    states_of,
)

PULSE = Pulse(every=5.0, silence=20.0)


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with sqlite_stores(tmp_path) as stores:
        yield stores


@pytest.fixture
async def store(stores: Stores) -> Store:
    return await stores.open()


@pytest.fixture
def queue(store: Store) -> SqlQueue:
    return SqlQueue(store, {})


@pytest.fixture
def clock() -> HandClock:
    """The clock of the process that watches; the store has another."""
    return HandClock()


async def enter(store: Store, queue: SqlQueue, clock: HandClock) -> Heartbeat:
    heart = Heartbeat(store, queue, clock, kind="worker", lanes=["fetch"], pulse=PULSE)
    await heart.register()
    return heart


@pytest.fixture
async def watcher(store: Store, queue: SqlQueue, clock: HandClock) -> Heartbeat:
    return await enter(store, queue, clock)


@pytest.fixture
async def other(store: Store, queue: SqlQueue) -> Heartbeat:
    return await enter(store, queue, HandClock())


async def known(store: Store) -> set[str]:
    return {row["id"] for row in await rows_of(store, workers)}


async def watch_for(watcher: Heartbeat, clock: HandClock, seconds: float) -> int:
    """Watch every five seconds; how many items were taken back."""
    rescued = await watcher.watch()
    for _ in range(int(seconds / PULSE.every)):
        clock.move(PULSE.every)
        rescued += await watcher.watch()
    return rescued


async def pretend_process(store: Store, worker: str, process: str) -> None:
    statement = update(workers).where(workers.c.id == worker).values(process=process)
    await store.write(lambda unit: unit.run(statement) and None)


async def test_silent_worker_is_struck_off_and_its_claims_are_taken_back(
    watcher: Heartbeat, other: Heartbeat, store: Store, queue: SqlQueue, clock: HandClock
) -> None:
    await queue.put(make_items(3))
    await queue.claim(other.id, ["fetch"], 3, all_of)

    assert await watch_for(watcher, clock, 20) == 3
    assert await known(store) == {watcher.id}
    assert set((await states_of(store)).values()) == {"waiting"}


async def test_worker_is_not_struck_off_before_its_silence_was_long_enough(
    watcher: Heartbeat, other: Heartbeat, store: Store, clock: HandClock
) -> None:
    await watch_for(watcher, clock, 15)

    assert other.id in await known(store)


async def test_worker_that_beats_is_left_alone(
    watcher: Heartbeat, other: Heartbeat, store: Store, clock: HandClock
) -> None:
    for _ in range(10):
        await watch_for(watcher, clock, 15)
        await other.beat({})

    assert other.id in await known(store)


async def test_watcher_never_strikes_itself_off(
    watcher: Heartbeat, store: Store, clock: HandClock
) -> None:
    await watch_for(watcher, clock, 100)

    assert await known(store) == {watcher.id}


@pytest.mark.parametrize("hours", [-1, 1])
async def test_jump_of_the_watchers_date_accuses_nobody(
    watcher: Heartbeat, other: Heartbeat, store: Store, clock: HandClock, hours: int
) -> None:
    await watcher.watch()
    clock.set_date(clock.now() + timedelta(hours=hours))
    await watch_for(watcher, clock, 15)

    assert other.id in await known(store)


@pytest.mark.parametrize("hours", [-1, 1])
async def test_jump_of_the_watchers_date_saves_nobody(
    watcher: Heartbeat, other: Heartbeat, store: Store, clock: HandClock, hours: int
) -> None:
    await watcher.watch()
    clock.set_date(clock.now() + timedelta(hours=hours))
    await watch_for(watcher, clock, 20)

    assert other.id not in await known(store)


@pytest.mark.parametrize("hours", [-1, 1])
async def test_jump_of_the_stores_time_accuses_nobody(
    watcher: Heartbeat, other: Heartbeat, clock: HandClock, stores: Stores, hours: int
) -> None:
    await watcher.watch()
    await stores.later(hours * 3600)
    await watch_for(watcher, clock, 15)

    assert other.id in await known(await stores.open())


async def test_watcher_that_was_away_accuses_nobody(
    watcher: Heartbeat, other: Heartbeat, store: Store, clock: HandClock
) -> None:
    await watcher.watch()
    clock.move(3600)

    await watch_for(watcher, clock, 15)

    assert other.id in await known(store)


async def test_watcher_that_was_away_begins_to_watch_anew(
    watcher: Heartbeat, other: Heartbeat, store: Store, clock: HandClock
) -> None:
    await watcher.watch()
    clock.move(3600)

    await watch_for(watcher, clock, 20)

    assert other.id not in await known(store)


async def test_worker_that_beats_at_the_last_moment_is_not_struck_off(
    watcher: Heartbeat, other: Heartbeat, store: Store, clock: HandClock
) -> None:
    await watch_for(watcher, clock, 15)
    clock.move(5)
    await other.beat({})
    await watcher.watch()

    assert other.id in await known(store)


async def test_worker_that_was_taken_for_dead_learns_it(
    watcher: Heartbeat, other: Heartbeat, clock: HandClock
) -> None:
    assert await other.beat({})
    await watch_for(watcher, clock, 20)

    assert not await other.beat({})


async def test_worker_that_enters_anew_has_another_id(
    watcher: Heartbeat, other: Heartbeat, store: Store, clock: HandClock
) -> None:
    before = other.id
    await watch_for(watcher, clock, 20)
    await other.register()

    assert other.id != before
    assert await other.beat({})


async def test_worker_whose_entry_was_not_heard_of_is_entered_once(
    store: Store, queue: SqlQueue, clock: HandClock
) -> None:
    lose_next_commit(store)

    heart = await enter(store, queue, clock)

    assert await known(store) == {heart.id}


async def test_worker_that_leaves_gives_back_what_it_had(
    other: Heartbeat, store: Store, queue: SqlQueue
) -> None:
    await queue.put(make_items(2))
    await queue.claim(other.id, ["fetch"], 2, all_of)

    await other.leave()

    assert await known(store) == set()
    assert set((await states_of(store)).values()) == {"waiting"}


async def test_process_of_this_machine_that_is_gone_is_noticed_at_once(
    watcher: Heartbeat, other: Heartbeat, store: Store
) -> None:
    await pretend_process(store, other.id, process_that_ended())

    await watcher.watch()

    assert await known(store) == {watcher.id}


async def test_process_of_another_machine_is_given_its_time(
    watcher: Heartbeat, other: Heartbeat, store: Store
) -> None:
    machine, pid, started = process_that_ended().rsplit("/", 2)
    await pretend_process(store, other.id, f"another{machine}/{pid}/{started}")

    await watcher.watch()

    assert other.id in await known(store)


def process_that_ended() -> str:
    """The name of a process of this machine that ran and is no more."""
    program = "from penstock.queue.heartbeat import this_process; print(this_process())"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_running_process_is_not_gone() -> None:
    assert this_process()
    assert not is_gone(this_process())


def test_process_whose_number_was_given_to_another_is_gone() -> None:
    machine, pid, started = this_process().rsplit("/", 2)

    assert is_gone(f"{machine}/{pid}/{int(started) - 1}")


def test_process_that_ended_but_was_not_waited_for_is_gone() -> None:
    machine = this_process().rsplit("/", 2)[0]
    with subprocess.Popen(["/bin/sleep", "0"]) as child:
        stat = Path(f"/proc/{child.pid}/stat").read_text()
        started = stat.rpartition(")")[2].split()[19]
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

        assert is_gone(f"{machine}/{child.pid}/{started}")


@pytest.mark.parametrize("process", ["", "x", "a/b", "a/b/c", "a/b/c/d"])
def test_nothing_is_known_of_a_process_without_a_proper_name(process: str) -> None:
    assert not is_gone(process)
