"""Events appended to a file, one line of JSON each."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import orjson

from penstock.events.ports import Event, Message


class EventFile:
    """A sink that anything can follow with `tail -F`; a line may come twice, with the same id."""

    name = "file"

    def __init__(self, path: Path) -> None:
        self._path = path

    def wants(self, topic: str) -> bool:
        del topic
        return True

    def line_of(self, message: Message) -> str:
        return message.key

    async def deliver(self, events: Sequence[Event]) -> None:
        lines = b"".join(
            orjson.dumps(event.as_json(), option=orjson.OPT_APPEND_NEWLINE) for event in events
        )
        await asyncio.to_thread(self._append, lines)

    def _append(self, lines: bytes) -> None:
        with self._path.open("ab") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
