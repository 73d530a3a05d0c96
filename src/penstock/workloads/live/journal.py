"""Updates on the local disk that must outlive this process: one line each, with a checksum.

    3f0a91c2 {"match_id":"…","sequence":7,…}

What `append` has returned from is safe, also from a power cut. A line that a crash left unfinished
was never promised to anybody, and is cut off before the next one is written.
"""

import errno
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import orjson

from penstock.core.errors import JournalFailed, SettingsError
from penstock.core.lock import only_process
from penstock.core.log import get_logger
from penstock.workloads.live.model import Update

MOST_BYTES = 100 * 1024 * 1024
#: The file is made anew if so much of what it may have can be gained by that.
WORTHWHILE = 0.25
#: Processes of one machine that may watch feeds on one store.
MOST_PROCESSES = 64
NAME, LOCK = "updates.journal", "lock"
#: Hexadecimal digits of a checksum, and the space after it.
CHECKSUM = 8
_JSON = CHECKSUM + 1


class Place(NamedTuple):
    """Where the line of an update stands in the file."""

    offset: int
    length: int


class Entry(NamedTuple):
    """An update that waits in the journal: its number here, which it is, and its size."""

    number: int
    match_id: str
    sequence: int
    size: int


class Journal:
    """A file that one process at a time holds open: `with Journal(folder) as journal`.

    An update stays until it is settled; the file shrinks when all are, or when it is full.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._path = folder / NAME
        self._most = most_bytes
        self._stack = ExitStack()
        self._file = -1
        self._size = 0
        self._next = 0
        self._is_placed = False
        self._places: dict[int, Place] = {}
        #: What was found when it was opened.
        self.entries: tuple[Entry, ...] = ()

    def __enter__(self) -> Self:
        try:
            _make_folder(self._folder)
            self._stack.enter_context(only_process(self._folder / LOCK, self._in_use()))
            self._open()
        except OSError as error:
            self.close()
            raise self._failed(error) from error
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; what waits in it is there for the next who opens it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._stack.close()

    def __len__(self) -> int:
        return len(self._places)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._size

    def append(self, updates: Sequence[Update]) -> list[int]:
        """Keep updates, all or none; their numbers, once they are safe."""
        lines = [_line(update) for update in updates]
        length = sum(map(len, lines))
        try:
            if self._size + length > self._most:
                self._shrink()
            if self._size + length > self._most:
                raise JournalFailed(self._full())
            self._write_at_end(b"".join(lines))
        except OSError as error:
            raise self._failed(error) from error
        return [self._add(len(line)) for line in lines]

    def read(self, number: int) -> Update:
        """An update that waits."""
        offset, length = self._places[number]
        try:
            line = os.pread(self._file, length, offset)
        except OSError as error:
            raise self._failed(error) from error
        update = _update(line)
        if update is None:
            raise JournalFailed(
                f"{self._path} is damaged at byte {offset}: check that disk; a new start goes on "
                f"without that update"
            )
        return update

    def replay(self) -> list[Update]:
        """All that wait, in the order in which they came."""
        return [self.read(number) for number in self._places]

    def adopt(self, other: "Journal") -> None:
        """Take over all that waits in a journal that nobody else holds."""
        updates = other.replay()
        numbers = self.append(updates) if updates else []
        self.entries += tuple(
            Entry(number, update.match_id, update.sequence, self._places[number].length)
            for number, update in zip(numbers, updates, strict=True)
        )
        other.settle(list(other._places))

    def settle(self, numbers: Iterable[int]) -> None:
        """Forget updates that are safe elsewhere."""
        for number in numbers:
            self._places.pop(number, None)
        if self._places or not self._size:
            return
        try:
            os.ftruncate(self._file, 0)
            self._size = 0
            os.fsync(self._file)
        except OSError as error:
            # They may be replayed once more, which does no harm.
            get_logger().warning("live: the journal stays as it is", error=str(error))

    def _open(self) -> None:
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._place()
        entries, damaged = [], 0
        with self._path.open("rb") as lines:
            for line in lines:
                update = _update(line)
                if update is not None:
                    number = self._add(len(line))
                    entries.append(Entry(number, update.match_id, update.sequence, len(line)))
                elif line.endswith(b"\n"):
                    damaged += 1
                    self._size += len(line)
        self.entries = tuple(entries)
        if damaged:
            get_logger().error("live: lines are damaged", path=str(self._path), lines=damaged)

    def _add(self, length: int) -> int:
        number, self._next = self._next, self._next + 1
        self._places[number] = Place(self._size, length)
        self._size += length
        return number

    def _write_at_end(self, data: bytes) -> None:
        """Write and sync; what failed half way is cut off, at the latest before the next try."""
        if not self._is_placed:
            self._place()
        os.ftruncate(self._file, self._size)
        try:
            _write(self._file, data, self._size)
            os.fsync(self._file)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise

    def _place(self) -> None:
        """See to it that the file is found under its name after a power cut."""
        self._is_placed = False
        _sync_folder(self._folder)
        self._is_placed = True

    def _shrink(self) -> None:
        """Make room if enough of it is settled: the rest becomes a new file."""
        waiting = sum(place.length for place in self._places.values())
        if self._size - waiting < self._most * WORTHWHILE:
            return
        part = self._path.with_suffix(".part")
        file = os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            places = self._copy_waiting(file)
            os.fsync(file)
            part.replace(self._path)
        except OSError:
            os.close(file)
            raise
        os.close(self._file)
        self._file, self._size, self._places = file, waiting, places
        self._place()

    def _copy_waiting(self, file: int) -> dict[int, Place]:
        places, end = {}, 0
        for number, (offset, length) in self._places.items():
            _write(file, os.pread(self._file, length, offset), end)
            places[number] = Place(end, length)
            end += length
        return places

    def _failed(self, error: OSError) -> JournalFailed:
        match error.errno:
            case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
                todo = "free some room on that disk"
            case errno.EACCES | errno.EPERM | errno.EROFS:
                todo = "let the user that Penstock runs as write there"
            case _:
                todo = "check that disk"
        why = error.strerror or str(error)
        return JournalFailed(f"updates cannot be kept in {self._path} ({why}): {todo}")

    def _full(self) -> str:
        return (
            f"{self._path} is full: {len(self)} updates wait in {self._size} of {self._most} "
            f"bytes; see to it that the store is back"
        )

    def _in_use(self) -> str:
        return (
            f"another process keeps updates in {self._folder}: one at a time can; give this one "
            f"another folder"
        )


@contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """A journal of this process's own; what processes that are gone left in theirs is taken over.

    Several processes may keep theirs in one folder.
    """
    with ExitStack() as stack:
        own: Journal | None = None
        for place in (folder / str(number) for number in range(MOST_PROCESSES)):
            if own is not None and not place.exists():
                continue
            try:
                journal = stack.enter_context(Journal(place))
            except SettingsError:
                continue
            if own is None:
                own = journal
            else:
                own.adopt(journal)
                journal.close()
        if own is None:
            raise SettingsError(f"{MOST_PROCESSES} processes keep updates in {folder} already")
        yield own


def _line(update: Update) -> bytes:
    text = update.as_json()
    return b"%0*x %s\n" % (CHECKSUM, zlib.crc32(text), text)


def _update(line: bytes) -> Update | None:
    """The update of a line; None if it is not as it was written."""
    text = line[_JSON:-1]
    if not line.endswith(b"\n") or line[:_JSON] != b"%0*x " % (CHECKSUM, zlib.crc32(text)):
        return None
    try:
        return Update.from_json(text)
    except (orjson.JSONDecodeError, TypeError):
        return None


def _write(file: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, offset)
        view, offset = view[written:], offset + written


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
