"""Blobs in a folder survive crashes, full disks and their own sweeps."""

# ruff: noqa: S603 - every program run here is our own
import asyncio
import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.blobs.addresses import address_of
from penstock.blobs.local import LEFTOVER_SECONDS, LocalBlobs
from penstock.blobs.ports import Usage
from penstock.core.errors import BlobError

PAGE = b"<html>a page</html>"
HOUR = 3600.0

PUT_AND_DIE_BEFORE_THE_RENAME = """
import asyncio, os, pathlib, signal, sys
from penstock.blobs.local import LocalBlobs

def die(self, target):
    os.kill(os.getpid(), signal.SIGKILL)

pathlib.Path.replace = die
asyncio.run(LocalBlobs(pathlib.Path(sys.argv[1])).put(b"half"))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture
def blobs(folder: Path) -> LocalBlobs:
    return LocalBlobs(folder)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for 64 KiB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    place = tmp_path / "tiny"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    unmount = ["umount", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield place
    subprocess.run(unmount, check=True)


def path_of(folder: Path, address: str) -> Path:
    return folder / address[:2] / address[2:4] / address


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]


def make_old(path: Path, seconds: float) -> None:
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


@contextmanager
def locked_like_a_sweep(folder: Path) -> Iterator[None]:
    with (folder / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


async def keep_none(_addresses: Sequence[str]) -> Collection[str]:
    return ()


def put_and_die(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PUT_AND_DIE_BEFORE_THE_RENAME, str(folder)], check=False
    )
    assert done.returncode == -signal.SIGKILL


async def test_blobs_are_spread_over_folders(blobs: LocalBlobs, folder: Path) -> None:
    address = await blobs.put(PAGE)

    assert path_of(folder, address).read_bytes() == PAGE


async def test_writer_killed_before_the_rename_leaves_no_blob(
    blobs: LocalBlobs, folder: Path
) -> None:
    put_and_die(folder)

    assert not await blobs.has(address_of(b"half"))
    assert await blobs.usage() == Usage(0, 0)
    assert await blobs.get(await blobs.put(b"half")) == b"half"


async def test_leftovers_of_a_killed_writer_are_swept_once_they_are_old(
    blobs: LocalBlobs, folder: Path
) -> None:
    put_and_die(folder)
    [leftover] = files_in(folder)

    await blobs.sweep(keep_none, older_than_seconds=0)
    assert leftover.exists()
    make_old(leftover, LEFTOVER_SECONDS + 60)
    await blobs.sweep(keep_none, older_than_seconds=30 * 24 * HOUR)

    assert not leftover.exists()


async def test_sweep_deletes_by_age(blobs: LocalBlobs, folder: Path) -> None:
    old, young = await blobs.put(b"old"), await blobs.put(b"young")
    make_old(path_of(folder, old), 2 * HOUR)

    assert await blobs.sweep(keep_none, older_than_seconds=HOUR) == 1
    assert not await blobs.has(old)
    assert await blobs.has(young)


async def test_putting_a_blob_again_makes_it_young(blobs: LocalBlobs, folder: Path) -> None:
    address = await blobs.put(PAGE)
    make_old(path_of(folder, address), 2 * HOUR)

    await blobs.put(PAGE)

    assert await blobs.sweep(keep_none, older_than_seconds=HOUR) == 0


async def test_blob_that_is_put_again_during_a_sweep_survives(
    blobs: LocalBlobs, folder: Path
) -> None:
    address = await blobs.put(PAGE)
    make_old(path_of(folder, address), 2 * HOUR)

    async def put_while_being_asked(_addresses: Sequence[str]) -> Collection[str]:
        await blobs.put(PAGE)
        return ()

    assert await blobs.sweep(put_while_being_asked, older_than_seconds=HOUR) == 0
    assert await blobs.get(address) == PAGE


async def test_blob_that_a_sweep_is_about_to_delete_is_not_taken_for_kept(
    blobs: LocalBlobs, folder: Path
) -> None:
    address = await blobs.put(PAGE)
    with locked_like_a_sweep(folder):
        task = asyncio.create_task(blobs.put(PAGE))
        done, _ = await asyncio.wait([task], timeout=0.1)
        path_of(folder, address).unlink()

    await task

    assert not done
    assert await blobs.get(address) == PAGE


async def test_full_disk_is_told_and_leaves_nothing_half_written(tiny_disk: Path) -> None:
    blobs = LocalBlobs(tiny_disk / "blobs")
    small = await blobs.put(b"small")

    with pytest.raises(BlobError, match="no room is left") as caught:
        await blobs.put(os.urandom(128 * 1024))

    assert "PENSTOCK_BLOBS__RETENTION_DAYS" in str(caught.value)
    assert files_in(tiny_disk) == [path_of(tiny_disk / "blobs", small)]
    assert await blobs.get(small) == b"small"
    assert await blobs.has(await blobs.put(b"small again"))


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.ENOSPC, "free some"),
        (errno.EDQUOT, "free some"),
        (errno.EROFS, "let the user"),
        (errno.EACCES, "let the user"),
        (errno.EIO, "check that disk"),
    ],
    ids=errno.errorcode.get,
)
async def test_disk_that_fails_to_sync_is_an_error_that_says_what_to_do(
    blobs: LocalBlobs, folder: Path, monkeypatch: pytest.MonkeyPatch, code: int, advice: str
) -> None:
    await blobs.put(b"makes the folders")

    def fail(_descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(BlobError, match=advice) as caught:
        await blobs.put(PAGE)

    assert str(folder) in str(caught.value)
    assert not await blobs.has(address_of(PAGE))


async def test_file_in_the_way_of_the_folder_is_an_error(blobs: LocalBlobs, folder: Path) -> None:
    address = await blobs.put(PAGE)
    in_the_way = path_of(folder, address)

    with pytest.raises(BlobError, match=str(in_the_way)):
        await LocalBlobs(in_the_way).put(PAGE)


async def test_slow_disk_does_not_block_the_loop(
    blobs: LocalBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()
    monkeypatch.setattr(os, "fsync", lambda _descriptor: released.wait(10))
    task = asyncio.create_task(blobs.put(PAGE))
    for _ in range(5):
        await asyncio.sleep(0)

    assert not task.done()
    released.set()
    assert await task == address_of(PAGE)


async def test_blob_and_its_folders_are_synced_before_put_returns(
    blobs: LocalBlobs, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(
        os, "fsync", lambda number: synced.append(Path(f"/proc/self/fd/{number}").readlink())
    )

    path = path_of(folder, await blobs.put(PAGE))

    *before, data, shelf = synced
    assert {folder.parent, folder, path.parent.parent} <= set(before)
    assert data.parent == path.parent
    assert shelf == path.parent
