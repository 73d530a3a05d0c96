"""The embedded store: one file, durable, shared by processes, patient with a full disk."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, text

from penstock.core.clock import SystemClock
from penstock.core.errors import SettingsError, StoreError, StoreLost
from penstock.store import migrate
from penstock.store.settings import FILE_NAME, StoreSettings
from penstock.store.store import Store, open_store
from penstock.store.switches import switches
from penstock.store.unit import Unit
from tests.clocks import HandClock
from tests.stores import sqlite_stores

DISK_BYTES = 3 * 1024 * 1024


def switch(name: str, reason: str = "") -> Callable[[Unit], None]:
    """A unit of work that writes one row."""

    def work(unit: Unit) -> None:
        row = {"domain": name, "reason": reason, "at": unit.now}
        unit.run(unit.insert(switches).on_conflict_do_nothing(), row)

    return work


async def names(store: Store) -> list[str]:
    query = select(switches.c.domain).order_by(switches.c.domain)
    return await store.read(lambda unit: list(unit.run(query).scalars()))


async def pragma(store: Store, name: str) -> object:
    return await store.write(lambda unit: unit.run(text(f"PRAGMA {name}")).scalar_one())


@pytest.mark.parametrize(
    ("name", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)]
)
async def test_commit_is_on_the_disk_before_it_is_acknowledged(
    tmp_path: Path, name: str, value: object
) -> None:
    async with sqlite_stores(tmp_path) as stores:
        assert await pragma(await stores.open(), name) == value


async def test_readers_are_not_held_up_by_a_writer(tmp_path: Path) -> None:
    async with sqlite_stores(tmp_path) as stores:
        writer, reader = await stores.open(), await stores.open()
        entered, left = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def work(unit: Unit) -> None:
            switch("a")(unit)
            loop.call_soon_threadsafe(entered.set)
            unit.run(
                text(
                    "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s "
                    "WHERE i < 200000) SELECT count(*) FROM s"
                )
            )

        writing = asyncio.create_task(writer.write(work))
        await entered.wait()
        seen = await names(reader)
        await writing
        left.set()

        assert seen == []


async def test_two_processes_write_to_one_file_at_once(tmp_path: Path) -> None:
    async with sqlite_stores(tmp_path) as stores:
        opened = [await stores.open(SystemClock()) for _ in range(2)]

        await asyncio.gather(*(opened[n % 2].write(switch(f"{n:03}")) for n in range(200)))

        assert await names(opened[0]) == [f"{n:03}" for n in range(200)]


async def test_two_processes_may_make_the_same_file_ready_at_once(tmp_path: Path) -> None:
    settings = StoreSettings(folder=tmp_path / "new")

    async def start(name: str) -> list[str]:
        async with open_store(settings, SystemClock()) as store:
            await migrate.make_ready(store)
            await store.write(switch(name))
            return await names(store)

    seen = await asyncio.gather(start("a"), start("b"), start("c"))

    assert max(map(len, seen)) == 3


async def test_time_does_not_jump_with_the_clock_of_the_machine(tmp_path: Path) -> None:
    clock = HandClock()
    async with sqlite_stores(tmp_path) as stores:
        store = await stores.open(clock)
        before = await store.read(lambda unit: unit.now)

        clock.set_date(clock.now() - timedelta(hours=1))
        clock.move(2)

        assert await store.read(lambda unit: unit.now) == before + 2000


async def test_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(SettingsError, match="PENSTOCK_STORE__FOLDER"):
        async with open_store(StoreSettings(folder=tmp_path / "file"), HandClock()):
            pass


async def test_file_that_is_no_database_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("not a database, but long enough to be looked at" * 100)
    clock = HandClock()

    async with open_store(StoreSettings(folder=tmp_path), clock) as store:
        with pytest.raises(StoreError, match="not a database"):
            await names(store)

    assert clock.slept == []


async def test_file_that_another_process_keeps_busy_is_waited_for(tmp_path: Path) -> None:
    async with sqlite_stores(tmp_path) as stores:
        store = await stores.open(SystemClock(), busy_seconds=0.05)
        other = await stores.open()
        connection = other._dialect.writing.connect()
        connection.execute(text("SELECT 1"))
        waiting = asyncio.create_task(store.write(switch("a")))
        await asyncio.sleep(0.3)
        was_done = waiting.done()

        connection.close()
        await waiting

        assert (was_done, await names(store)) == (False, ["a"])


# ── a full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of three megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if subprocess.run(command, check=False, capture_output=True).returncode:  # noqa: S603
        pytest.skip("this machine does not allow to mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S603, S607


def fill(folder: Path) -> Path:
    """Leave no room on a disk."""
    ballast = folder / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(b"x" * 1024):
            pass
    return ballast


async def test_full_disk_rejects_clearly_and_goes_on_when_there_is_room(small_disk: Path) -> None:
    async with sqlite_stores(small_disk) as stores:
        store = await stores.open(HandClock(), ride_out_seconds=5)
        await store.write(switch("before"))
        ballast = fill(small_disk)
        with pytest.raises(StoreLost, match="full"):
            await store.write(switch("full", "x" * 100_000))
        seen = await names(store)

        ballast.unlink()
        await store.write(switch("after", "x" * 100_000))

        assert (seen, await names(store)) == (["before"], ["after", "before"])


async def test_full_disk_is_ridden_out(small_disk: Path) -> None:
    async with sqlite_stores(small_disk) as stores:
        store = await stores.open(SystemClock())
        ballast = fill(small_disk)
        writing = asyncio.gather(*(store.write(switch(f"{n}", "x" * 10_000)) for n in range(10)))
        await asyncio.sleep(0.2)
        was_done = writing.done()

        ballast.unlink()
        await writing

        assert (was_done, len(await names(store))) == (False, 10)
