"""Nudgers for tests: the far side of the broker."""

import asyncio
from collections.abc import Sequence

from penstock.queue.broker import Nudge


class Ear:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.is_ready = True
        self.heard: list[Nudge] = []
        self.times = 0
        self.told = asyncio.Event()

    @property
    def ids(self) -> list[str]:
        return [nudge.item for nudge in self.heard]

    def forget(self) -> None:
        self.heard.clear()

    async def send(self, nudges: Sequence[Nudge]) -> None:
        self.times += 1
        self.told.set()
        self.heard.extend(nudges)
