"""Where a command gets its URLs: arguments, a file, or a pipe that may never end."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from penstock.core.errors import SettingsError

BREATHE_EVERY = 200
MAX_LINE = 64 * 1024
TOO_LONG = b"(a line that is too long)"


class UrlSource:
    """URLs one by one, without blank lines and comments; a file is opened on entry."""

    def __init__(self, urls: Sequence[str], file: Path | None) -> None:
        self._urls = urls
        self._path = file
        self._file: IO[bytes] | None = None
        self._stopped = asyncio.Event()

    @property
    def label(self) -> str:
        """Names the list: the file it stands in, and the URLs given beside it."""
        file = "" if self._path is None else str(self._path.absolute())
        return "\n".join((file, *self._urls))

    def __enter__(self) -> Self:
        if self._path is not None:
            try:
                self._file = sys.stdin.buffer if str(self._path) == "-" else self._path.open("rb")
            except OSError as error:
                raise SettingsError(f"{self._path} cannot be read: {error.strerror}") from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is not None and self._file is not sys.stdin.buffer:
            self._file.close()

    def stop(self) -> None:
        """Wait no longer for a pipe; what a file still holds is read on."""
        self._stopped.set()

    async def read(self) -> AsyncIterator[str]:
        """All URLs; the loop gets a turn now and then."""
        for url in self._urls:
            yield url.encode("utf-8", "replace").decode()
        if self._file is None:
            return
        lines = self._from_pipe(self._file) if _may_block(self._file) else _from_file(self._file)
        async for line in lines:
            text = line.decode("utf-8", errors="replace").strip("\ufeff \t\r\n")
            if text and not text.startswith("#"):
                yield text

    async def _from_pipe(self, file: IO[bytes]) -> AsyncIterator[bytes]:
        """Lines as they come, without holding up the loop while none does."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MAX_LINE)
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), file
        )
        stopped = asyncio.create_task(self._stopped.wait())
        try:
            while not self._stopped.is_set():
                line = asyncio.create_task(read_line(reader))
                await asyncio.wait({line, stopped}, return_when=asyncio.FIRST_COMPLETED)
                if not line.done():
                    line.cancel()
                    return
                if not line.result():
                    return
                yield line.result()
        finally:
            stopped.cancel()
            transport.close()


def _may_block(file: IO[bytes]) -> bool:
    """Whether a read may wait for somebody: a pipe, a socket or a terminal."""
    mode = os.fstat(file.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or file.isatty()


async def _from_file(file: IO[bytes]) -> AsyncIterator[bytes]:
    for number, line in enumerate(file):
        yield line
        if number % BREATHE_EVERY == 0:
            await asyncio.sleep(0)


async def read_line(reader: asyncio.StreamReader) -> bytes:
    """The next line, b"" at the end; in place of one that is too long, words that are no URL."""
    too_long = False
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            line = error.partial
        except asyncio.LimitOverrunError as error:
            # Never past the end of this line: the next one is somebody's URL.
            too_long = True
            await reader.readexactly(error.consumed)
            continue
        return TOO_LONG if too_long else line
