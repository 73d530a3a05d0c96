"""A manifest: many saved pages read over all cores, one line of JSON for each, in order.

Lines travel to worker processes in chunks, of which only a window is under way at a time. When
a worker dies, every line it may have died of is read again, alone, so that only the guilty one
is reported.
"""

import json
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from multiprocessing import forkserver
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from penstock.app import open_reader
from penstock.cli.output import ExitCode, stderr, to_line
from penstock.cli.pages import STDIN, describe_fault, saved_page
from penstock.cli.readings import error_json, reading_json
from penstock.core.errors import PenstockError, SettingsError
from penstock.kernel.model import Page
from penstock.kernel.reader import Reader
from penstock.settings import Settings

CHUNK = 8
#: Chunks under way per process: one that is read, one that waits, and one that was read.
AHEAD = 3


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the command line asked for."""

    place: str
    out: Path | None
    wanted: str
    explain: bool
    jobs: int


class Read(NamedTuple):
    """The JSON line for a line of the manifest, and whether that could be read."""

    line: bytes
    ok: bool


def run_manifest(manifest: Manifest, settings: Settings) -> ExitCode:
    """Read every page of a manifest; trouble if one of its lines could not be read."""
    if manifest.out and manifest.out.resolve() == Path(manifest.place).resolve():
        raise SettingsError(f"{manifest.out} is the manifest itself; write to another file")
    open_reader(settings)  # an adapter that cannot be loaded is one error, not one per line
    with ExitStack() as stack:
        lines = stack.enter_context(_open_lines(manifest.place))
        out = stack.enter_context(_open_output(manifest.out))
        progress = stack.enter_context(_progress())
        bar = progress.add_task("reading", total=_count(lines))
        crew = stack.enter_context(ReadingCrew(manifest, settings))
        well = True
        for read in crew.read(line for line in lines if line.strip()):
            out.write(read.line)
            well &= read.ok
            progress.advance(bar)
    return ExitCode.OK if well else ExitCode.TROUBLE


class ReadingCrew:
    """Worker processes that read lines of a manifest; leaving the block ends them."""

    def __init__(self, manifest: Manifest, settings: Settings) -> None:
        self._manifest = manifest
        self._settings = settings
        self._pool = self._recruit(manifest.jobs)
        self._single: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            # Nobody waits for the pages under way any more.
            for worker in multiprocessing.active_children():
                worker.kill()
        for pool in (self._pool, self._single):
            if pool:
                pool.shutdown(cancel_futures=True)

    def read(self, lines: Iterable[bytes]) -> Iterator[Read]:
        """What was made of each line, in order."""
        window: deque[tuple[list[bytes], Future[list[Read]]]] = deque()
        source = iter(lines)
        while chunk := list(islice(source, CHUNK)):
            window.append((chunk, self._submit(chunk)))
            if len(window) >= self._manifest.jobs * AHEAD:
                yield from self._finish(*window.popleft())
        while window:
            yield from self._finish(*window.popleft())

    def _submit(self, chunk: list[bytes]) -> Future[list[Read]]:
        # Submitting starts processes, and half a one could not be ended.
        with _uninterrupted():
            try:
                return self._pool.submit(_read_chunk, chunk)
            except BrokenProcessPool:
                self._pool = self._recruit(self._manifest.jobs)
                return self._pool.submit(_read_chunk, chunk)

    def _finish(self, chunk: list[bytes], future: Future[list[Read]]) -> Iterator[Read]:
        try:
            yield from future.result()
        except BrokenProcessPool:
            for line in chunk:
                yield self._read_alone(line)

    def _read_alone(self, line: bytes) -> Read:
        try:
            with _uninterrupted():
                self._single = self._single or self._recruit(1)
                future = self._single.submit(_read_chunk, [line])
            return future.result()[0]
        except BrokenProcessPool:
            self._single = None
            return _unread(line, "the process that read this page died of it")

    def _recruit(self, count: int) -> ProcessPoolExecutor:
        # Not by plain fork: this process has threads, of the progress bar and of the pools.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        _start_forkserver()
        begin = (self._settings, self._manifest)
        return ProcessPoolExecutor(count, context, initializer=_begin, initargs=begin)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the block is left."""
    pressed: list[int] = []
    heard = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heard)
    if pressed:
        raise KeyboardInterrupt


def _start_forkserver() -> None:
    """Start what starts the workers, deaf to Ctrl-C as they will be: that is this process's."""
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        forkserver.ensure_running()
    finally:
        signal.signal(signal.SIGINT, heard)


class _Worker(NamedTuple):
    """What a worker process has at hand."""

    reader: Reader
    manifest: Manifest


#: One entry in each worker process, which has no other way to keep it between chunks.
_at_hand: list[_Worker] = []


def _begin(settings: Settings, manifest: Manifest) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _at_hand[:] = [_Worker(open_reader(settings), manifest)]


def _end_with_parent() -> None:
    """Outlive nobody, however the command was ended."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def _read_chunk(chunk: list[bytes]) -> list[Read]:
    [worker] = _at_hand
    return [_read_line(line, worker) for line in chunk]


def _read_line(line: bytes, worker: _Worker) -> Read:
    try:
        entry = Entry.of(line)
        page = _load(entry, worker.manifest.place)
        reading = worker.reader.read(page, entry.wanted or worker.manifest.wanted)
    except PenstockError as error:
        return _unread(line, str(error))
    except Exception as error:  # an adapter may be anybody's, and other lines wait
        return _unread(line, f"the adapter failed: {describe_fault(error)}")
    data = reading_json(reading, entry.url, explain=worker.manifest.explain)
    return Read(to_line({"path": entry.path, **data}), ok=True)


class Entry(NamedTuple):
    """A line of a manifest."""

    path: str
    url: str
    wanted: str = ""

    @classmethod
    def of(cls, line: bytes) -> Self:
        """Read a line; the error says what it should be."""
        fields = _fields(line)
        path, url, wanted = fields.get("path"), fields.get("url"), fields.get("as") or ""
        if not (isinstance(path, str) and isinstance(url, str) and isinstance(wanted, str)):
            raise SettingsError('a line must be {"path": …, "url": …} with "as" if wanted')
        return cls(path, url, wanted)


def _fields(line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"the line is not JSON: {error}") from error
    return fields if isinstance(fields, dict) else {}


def _unread(line: bytes, problem: str) -> Read:
    try:
        fields = _fields(line)
    except SettingsError:
        fields = {}
    path, url = fields.get("path"), fields.get("url")
    return Read(to_line(error_json(path, url, problem)), ok=False)


def _load(entry: Entry, manifest: str) -> Page:
    """The page of an entry, whose path is taken as it is given, else as seen from the manifest."""
    try:
        beside = Path(manifest).parent / entry.path
        is_beside = beside.exists() and not Path(entry.path).exists()
        return saved_page(str(beside) if is_beside else entry.path, entry.url)
    except ValueError as error:
        raise SettingsError(f"{entry.path!r} is no path: {error}") from error


def _open_lines(place: str) -> AbstractContextManager[IO[bytes]]:
    if place == STDIN:
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(place).open("rb")
    except OSError as error:
        raise SettingsError(f"{place} cannot be read: {error.strerror}") from error


def _open_output(out: Path | None) -> AbstractContextManager[IO[bytes]]:
    if out is None:
        return nullcontext(sys.stdout.buffer)
    try:
        return out.open("wb")
    except OSError as error:
        raise SettingsError(f"{out} cannot be written: {error.strerror}") from error


def _count(lines: IO[bytes]) -> int | None:
    """How many pages there will be, if that can be known without waiting for somebody."""
    if not lines.seekable():
        return None
    count = sum(1 for line in lines if line.strip())
    lines.seek(0)
    return count


def _progress() -> Progress:
    """A bar where people look, and only if they do."""
    console = stderr()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
