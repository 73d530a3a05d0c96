"""The catalogue as Parquet files in a folder, each with what changed in a span of time.

A file is written beside its place, synced, and put there as a whole; the watermark is put beside
the files after that. Whoever is interrupted between the two writes the same rows again.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import IO

from penstock.core.errors import SettingsError
from penstock.products.export import ParquetParts
from penstock.products.exporting import COLUMNS, ExportLost, Row, Span, Subject

STATE = "watermarks.json"
#: A file of more rows is awkward to handle.
ROWS_OF_A_FILE = 1_000_000


class ParquetFolder:
    """A receiver of exports."""

    def __init__(self, folder: Path, rows_of_a_file: int = ROWS_OF_A_FILE) -> None:
        self._folder = folder
        self._rows_of_a_file = rows_of_a_file

    async def watermark(self, subject: Subject) -> int:
        """Everything before this time is there; 0 if nothing is."""
        return (await asyncio.to_thread(self._state)).get(subject, 0)

    async def receive(
        self, subject: Subject, span: Span, pages: AsyncIterator[Sequence[Row]]
    ) -> int:
        """Write rows to files and, once they are safe, the watermark; how many there were."""
        try:
            number = await self._write(subject, span, pages)
            await asyncio.to_thread(self._remember, subject, span.watermark)
        except OSError as error:
            raise ExportLost(
                f"{self._folder}: {error.strerror}: see to it, and export again"
            ) from error
        return number

    async def _write(
        self, subject: Subject, span: Span, pages: AsyncIterator[Sequence[Row]]
    ) -> int:
        await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
        total, number = 0, 1
        file = _File(self._folder / name_of(subject, span, number), subject)
        try:
            async for rows in pages:
                if file.rows >= self._rows_of_a_file:
                    await asyncio.to_thread(file.keep)
                    number += 1
                    file = _File(self._folder / name_of(subject, span, number), subject)
                await asyncio.to_thread(file.add, rows)
                total += len(rows)
            await asyncio.to_thread(file.keep)
        finally:
            file.give_up()
        return total

    def _state(self) -> dict[str, int]:
        path = self._folder / STATE
        try:
            found = json.loads(path.read_text())
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise SettingsError(f"{path} is damaged: correct it, or say --since") from error
        return {name: int(at) for name, at in found.items()}

    def _remember(self, subject: Subject, watermark: int) -> None:
        state = self._state() | {subject.value: watermark}
        path = self._folder / STATE
        part = path.with_name(f"{STATE}.part")
        with part.open("w") as file:
            file.write(json.dumps(state, indent=2) + "\n")
            _sync(file)
        _put(part, path)


class _File:
    """A Parquet file on its way to its place; without rows there is none."""

    def __init__(self, path: Path, subject: Subject) -> None:
        self.rows = 0
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._made = ParquetParts(COLUMNS[subject])
        self._file: IO[bytes] | None = None

    def add(self, rows: Sequence[Row]) -> None:
        if self._file is None:
            self._file = self._part.open("wb")
        self._file.write(self._made.add(rows))
        self.rows += len(rows)

    def keep(self) -> None:
        """Let it be found, now that it is whole and safe."""
        if self._file is not None:
            self._file.write(self._made.end())
            _sync(self._file)
            self._file.close()
            _put(self._part, self._path)

    def give_up(self) -> None:
        """Leave nothing of it that is not in its place."""
        if self._file is not None:
            self._file.close()
            self._part.unlink(missing_ok=True)


def name_of(subject: Subject, span: Span, number: int) -> str:
    """The name of a file: sorted by name, files are in the order in which they were made."""
    return f"{subject}-{span.until:015}-since-{span.since:015}-{number:04}.parquet"


def _sync(file: IO[bytes] | IO[str]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _put(part: Path, path: Path) -> None:
    """Put a file in its place, and see to it that it is found there after a power cut."""
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
