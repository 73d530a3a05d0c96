"""Readable texts of pages, made outside of this process: bounded in time, and in nobody's way."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Protocol, Self

import orjson

from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.workloads.scrape import readable

#: How long it may take until a process has begun.
START_SECONDS = 10.0
#: How much longer a page may take than its share of a processor, on a machine that is busy.
BUSY = 3
#: What a program needs to know of the machine, by how the names begin; all else may be a secret.
HARMLESS = ("PATH", "LANG", "LC_", "TZ", "PYTHON", "LD_LIBRARY_PATH")


class NoTextMaker(PenstockError):
    """No process can be started that makes texts; it may be possible later."""


class TextTooSlow(Exception):
    """The readable text of a page is not made in time."""


class Texts(Protocol):
    """Makes the readable texts of pages."""

    async def make(self, html: str, url: str, forms: Sequence[str]) -> Mapping[str, str]:
        """The texts by form, as far as there are any; `TextTooSlow` if that takes too long."""
        ...


class NoTexts:
    """Finds nothing to read on any page."""

    async def make(self, html: str, url: str, forms: Sequence[str]) -> Mapping[str, str]:
        del html, url, forms
        return {}


class TextMakers:
    """A few processes, each started when it is needed; use as an async context manager."""

    def __init__(self, seconds: float, processes: int = 2) -> None:
        self._seconds = seconds
        self._running: set[Process] = set()
        self._free: asyncio.LifoQueue[Process | None] = asyncio.LifoQueue()
        for _ in range(processes):
            self._free.put_nowait(None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for process in list(self._running):
            await self._end(process)

    async def make(self, html: str, url: str, forms: Sequence[str]) -> Mapping[str, str]:
        """The texts by form, as far as there are any; `TextTooSlow` if that takes too long."""
        asked = {"html": html, "url": url, "forms": list(forms)}
        try:
            async with self._one() as process:
                async with asyncio.timeout(START_SECONDS + BUSY * self._seconds):
                    answer = await _ask(process, asked)
        except (TimeoutError, EOFError, ConnectionError) as error:
            raise TextTooSlow from error
        if "error" in answer:
            get_logger().warning("a page has no readable text", error=answer["error"])
        texts: Mapping[str, str] = answer["texts"]
        return texts

    @asynccontextmanager
    async def _one(self) -> AsyncIterator[Process]:
        """A process for one page; it goes on to the next only if it came to its end with this."""
        # Not for ever: each of those before has its limits.
        process = await self._free.get()
        kept = None
        try:
            if process and process.returncode is not None:
                await self._end(process)
                process = None
            process = process or await self._start()
            yield process
            kept = process
        finally:
            self._free.put_nowait(kept)
            if process and not kept:
                await self._end(process)

    async def _start(self) -> Process:
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", readable.__name__, str(self._seconds)),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                env={
                    name: value for name, value in os.environ.items() if name.startswith(HARMLESS)
                },
            )
        except OSError as error:
            raise NoTextMaker(f"no process can be started to read pages: {error}") from error
        self._running.add(process)
        return process

    async def _end(self, process: Process) -> None:
        self._running.discard(process)
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _ask(process: Process, asked: Mapping[str, Any]) -> Any:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("a process without pipes")
    process.stdin.write(readable.frame(asked))
    await process.stdin.drain()
    length = await process.stdout.readexactly(readable.LENGTH)
    return orjson.loads(await process.stdout.readexactly(int.from_bytes(length)))
