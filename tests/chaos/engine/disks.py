"""Disks that are full, that fail to write, or that lose power."""

import asyncio
import filecmp
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.chaos.engine.arena import RECOVERY_SECONDS, Arena, Place, until
from tests.chaos.engine.checker import Held
from tests.chaos.engine.processes import Running
from tests.chaos.engine.scenarios import Played, Size

# ruff: noqa: S603 - every program run here is the system's own

TMPFS_MIB = 24
IMAGE = "disk"
IMAGE_BYTES = 64 * 1024 * 1024
#: The first so many syncs go well, then every so many-th fails.
FIRST_FAILING, FAILING_EVERY = 20, 9
FULL = "disk is full"
INJECTED = "(INJECTED)"
MOST_TRIES = 20
COMMAND_SECONDS = 30.0


# ── a full disk


async def fill_the_disk(arena: Arena, size: Size) -> Played:
    """Another file takes all the room, until nothing can be written; then it is removed."""
    longest = 0.0
    for _ in range(size.faults):
        worker = await arena.start_worker()
        async with arena.load(arena.submitted + size.items) as load:
            await load.flows()
            filler = arena.place.folder / "filler"
            _fill(filler)
            await until(partial(_has_said, worker, FULL), RECOVERY_SECONDS)
            filler.unlink()
        longest = max(longest, await arena.drained())
        await arena.send_home(worker)
    return Played(size.faults, longest)


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A file system in memory that is soon full."""
    folder.mkdir(parents=True)
    with mounted(folder, "-t", "tmpfs", "-o", f"size={TMPFS_MIB}m", "none"):
        yield


def _fill(file: Path) -> None:
    with file.open("wb", buffering=0) as hole:
        for block in (1024 * 1024, 4096):
            try:
                while True:
                    hole.write(bytes(block))
            except OSError:
                continue


async def _has_said(worker: Running, words: str) -> bool:
    return words in worker.said


# ── a disk that does not sync


async def fail_to_sync(arena: Arena, size: Size) -> Played:
    """`fsync` answers EIO now and then: what was not synced counts as not written."""
    trace = arena.folder / "strace.log"
    calls = "fsync,fdatasync"
    when = f"{FIRST_FAILING}+{FAILING_EVERY}"
    fault = ["-e", f"trace={calls}", "-e", f"inject={calls}:error=EIO:when={when}"]
    worker = await arena.execute("strace", "-D", "-f", "-qq", "-o", trace, *fault)
    async with arena.load(size.items) as load:
        await load.flows()
        # Results share commits, so a fault takes its time to come.
        await until(partial(_has_failed, trace, size.faults), 10 * RECOVERY_SECONDS)
    recovery = await arena.drained()
    await worker.kill()
    return Played(_failures(trace), recovery)


async def _has_failed(trace: Path, times: int) -> bool:
    return _failures(trace) >= times


def _failures(trace: Path) -> int:
    return trace.read_text().count(INJECTED)


# ── a power cut


async def cut_the_power(arena: Arena, size: Size) -> Played:
    """The disk as it is at one moment, without what the system had not yet written to it.

    The copy is the disk of the machine that comes up again. `kill -9` would prove nothing: the
    system writes for the dead.
    """
    for number in range(1, size.faults + 1):
        writers = [await arena.start_worker(), await _submitter(arena, size.items)]
        await until(partial(_some_are_over, arena, number), RECOVERY_SECONDS)
        await asyncio.sleep(arena.chance.uniform(0.0, 0.3))
        for writer in writers:
            writer.send(signal.SIGSTOP)
        before = await arena.held()
        image, folder = arena.folder / f"{IMAGE}-{number}", arena.folder / f"machine-{number}"
        _copy_still(arena.folder / (f"{IMAGE}-{number - 1}" if number > 1 else IMAGE), image)
        for writer in writers:
            await writer.kill()
        arena.undo.enter_context(loop_mounted(image, folder))
        arena.place = Place(folder)
        _compare(before, await arena.held(), arena.journal.read().acknowledged)
    await arena.start_worker()
    return Played(size.faults, await arena.drained())


def _compare(before: Held, after: Held, acknowledged: set[str]) -> None:
    """Nothing that anybody could know of is gone."""
    assert acknowledged <= after.states.keys()
    assert before.outcomes.keys() <= after.outcomes.keys()
    assert before.events.keys() <= after.events.keys()


async def _submitter(arena: Arena, items: int) -> Running:
    command = ["submitter", str(arena.journal.path), "--first", str(arena.reserve(items))]
    return await arena.nursery.fork([*command, "--count", str(items)], arena.environment)


async def _some_are_over(arena: Arena, number: int) -> bool:
    return len((await arena.held()).outcomes) >= 20 * number


def _copy_still(image: Path, copy: Path) -> None:
    """Copy an image; again, if the system wrote to it meanwhile."""
    for _ in range(MOST_TRIES):
        shutil.copyfile(image, copy)
        if filecmp.cmp(image, copy, shallow=False):
            return
    raise AssertionError("the image does not stand still")


@contextmanager
def own_disk(folder: Path) -> Iterator[None]:
    """A file system of the store's own, in an image beside it."""
    image = folder.with_name(IMAGE)
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    _call("mkfs.ext4", "-q", image)
    with loop_mounted(image, folder):
        yield


@contextmanager
def loop_mounted(image: Path, folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True)
    # The file system's own clock must not write what nobody synced.
    with mounted(folder, "-o", "loop,commit=300", image):
        yield


@contextmanager
def mounted(folder: Path, *what: str | Path) -> Iterator[None]:
    _call("mount", *what, folder)
    try:
        yield
    finally:
        _call("umount", folder)


# ── what is needed


def no_mount() -> str:
    """Why nothing can be mounted here; empty if it can."""
    return "" if os.geteuid() == 0 and _has("mount") else "mounting needs root"


def no_loop() -> str:
    """Why no image can be mounted here; empty if it can."""
    if reason := no_mount():
        return reason
    return "" if Path("/dev/loop-control").exists() and _has("mkfs.ext4") else "no loop devices"


def no_strace() -> str:
    """Why no system call can be made to fail here; empty if it can."""
    if not _has("strace"):
        return "no strace on this machine"
    tried = subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], capture_output=True)  # noqa: PLW1510, S607
    return tried.stderr.decode().strip() if tried.returncode else ""


def _has(program: str) -> bool:
    return shutil.which(program) is not None


def _call(*command: str | Path) -> None:
    line: Sequence[str] = [str(part) for part in command]
    subprocess.run(line, check=True, timeout=COMMAND_SECONDS, capture_output=True)
