"""Blobs as files of a local folder: `ab/cd/abcd…`, each written whole or not at all."""

import asyncio
import errno
import fcntl
import math
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ParamSpec, TypeVar
from uuid import uuid4

from penstock.blobs.addresses import address_of, is_address, require_address, require_intact
from penstock.blobs.ports import Keep, Usage
from penstock.core.errors import BlobError

#: A file that is still being written after so many seconds was left behind by a crash.
LEFTOVER_SECONDS = 3600.0
UNFINISHED = ".part"
LOCK = ".lock"
BATCH = 1000

P = ParamSpec("P")
R = TypeVar("R")


class LocalBlobs:
    """Several processes of one machine may use the same folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, data: bytes) -> str:
        return await self._in_thread(self._put, data)

    async def get(self, address: str) -> bytes | None:
        return await self._in_thread(self._get, require_address(address))

    async def has(self, address: str) -> bool:
        return await self._in_thread(self._path(address).is_file)

    async def delete(self, address: str) -> None:
        await self._in_thread(self._path(address).unlink, missing_ok=True)

    async def sweep(self, keep: Keep, older_than_seconds: float) -> int:
        now = await self._in_thread(self._now)
        swept = 0
        for shard in await self._in_thread(self._shards):
            await self._in_thread(_remove_leftovers, shard, now - LEFTOVER_SECONDS)
            old = await self._in_thread(_old_addresses, shard, now - older_than_seconds)
            for start in range(0, len(old), BATCH):
                batch = old[start : start + BATCH]
                kept = set(await keep(batch))
                unkept = [address for address in batch if address not in kept]
                swept += await self._in_thread(self._remove_old, unkept, now - older_than_seconds)
        return swept

    async def addresses(self) -> AsyncIterator[str]:
        for shard in await self._in_thread(self._shards):
            for address in await self._in_thread(_old_addresses, shard, math.inf):
                yield address

    async def usage(self) -> Usage:
        return await self._in_thread(self._usage)

    async def _in_thread(self, work: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:
        try:
            return await asyncio.to_thread(work, *arguments, **options)
        except OSError as error:
            raise BlobError(_advice(error, self._folder)) from error

    def _put(self, data: bytes) -> str:
        address = address_of(data)
        path = self._path(address)
        if not self._refresh(path, data):
            _make_folder(path.parent)
            _write_whole(path, data)
        # Also for a blob of another writer, who may not have come to it yet.
        _sync_folder(path.parent)
        return address

    def _refresh(self, path: Path, data: bytes) -> bool:
        """Make a blob young if it is there and sound."""
        with suppress(FileNotFoundError), self._locked(fcntl.LOCK_SH):
            if path.read_bytes() == data:
                os.utime(path)
                return True
        return False

    def _get(self, address: str) -> bytes | None:
        try:
            data = self._path(address).read_bytes()
        except FileNotFoundError:
            return None
        return require_intact(address, data)

    def _remove_old(self, addresses: Sequence[str], before: float) -> int:
        """Remove those that nobody has made young in the meantime; nobody can while it runs."""
        removed = 0
        with self._locked(fcntl.LOCK_EX):
            for path in map(self._path, addresses):
                with suppress(FileNotFoundError):
                    if path.stat().st_mtime <= before:
                        path.unlink()
                        removed += 1
        return removed

    def _usage(self) -> Usage:
        sizes = [
            path.stat().st_size
            for shard in self._shards()
            for path in shard.glob("*/*")
            if is_address(path.name)
        ]
        return Usage(len(sizes), sum(sizes))

    def _shards(self) -> list[Path]:
        return sorted(self._folder.glob("[0-9a-f][0-9a-f]"))

    def _path(self, address: str) -> Path:
        require_address(address)
        return self._folder / address[:2] / address[2:4] / address

    def _now(self) -> float:
        """The time by the clock that also stamps the files."""
        with self._locked(fcntl.LOCK_SH) as lock:
            os.utime(lock)
            return os.fstat(lock).st_mtime

    @contextmanager
    def _locked(self, how: int) -> Iterator[int]:
        """Keep a sweep from deleting what is just being made young; ends with the process."""
        _make_folder(self._folder)
        lock = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(lock, how)
            yield lock
        finally:
            os.close(lock)


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)


def _write_whole(path: Path, data: bytes) -> None:
    unfinished = path.with_name(uuid4().hex + UNFINISHED)
    try:
        with unfinished.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _old_addresses(shard: Path, before: float) -> list[str]:
    return [path.name for path in _files_until(shard, before) if is_address(path.name)]


def _remove_leftovers(shard: Path, before: float) -> None:
    for path in _files_until(shard, before):
        if path.name.endswith(UNFINISHED):
            path.unlink(missing_ok=True)


def _files_until(shard: Path, before: float) -> Iterator[Path]:
    for path in shard.glob("*/*"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime <= before:
                yield path


def _advice(error: OSError, folder: Path) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return (
                f"no room is left for blobs in {folder}: free some, or sweep sooner with "
                f"PENSTOCK_BLOBS__RETENTION_DAYS"
            )
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return (
                f"blobs cannot be kept in {folder} ({error.strerror}): let the user that Penstock "
                f"runs as write there"
            )
        case _:
            return f"blobs cannot be kept in {folder}: {error.strerror or error}; check that disk"
