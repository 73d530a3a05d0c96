"""A queue for tests that can be full or out of reach, and a sitemap that is only told of."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from penstock.core.errors import StoreLost
from penstock.core.urls import parse
from penstock.extract.page.sitemap import Entry
from penstock.extract.sitemap_walk import WalkReport
from penstock.kernel.model import Failure


class ShortQueue:
    """Takes as many URLs as there is room for; `away` is how often it does not answer first."""

    def __init__(self, room: int = 1_000_000) -> None:
        self.urls: list[str] = []
        self.room = room
        self.away = 0
        self._grown = asyncio.Condition()

    async def push(self, urls: Sequence[str]) -> int:
        if self.away:
            self.away -= 1
            raise StoreLost("it is away")
        taken = min(len(urls), self.room)
        self.room -= taken
        self.urls += urls[:taken]
        async with self._grown:
            self._grown.notify_all()
        return taken

    async def holds(self, number: int) -> None:
        """Return when there are so many URLs in it."""
        async with self._grown:
            await self._grown.wait_for(lambda: len(self.urls) >= number)


class ToldWalk:
    """A walk that finds what it is told, then meets the failures it is told."""

    def __init__(
        self,
        urls: Sequence[str],
        failures: Sequence[Failure] = (),
        on_the_way: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.report = WalkReport()
        self._urls = urls
        self._failures = failures
        self._on_the_way = on_the_way

    async def entries(self, start: str) -> AsyncGenerator[Entry, None]:
        for number, url in enumerate(self._urls):
            self._on_the_way(number)
            yield Entry(parse(url))
        for failure in self._failures:
            self.report.note(start, failure)
