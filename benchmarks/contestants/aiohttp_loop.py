"""A bare aiohttp loop: no frontier, no pacing, no retries. The upper bound, not a crawler."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import TextIO

import aiohttp
import uvloop
from protego import Protego
from yarl import URL

from benchmarks.contestants.lap import Course, Lap, read_course

TITLE = re.compile(rb"<title>([^<]*)</title>")
PRICE = re.compile(rb'"@type": "Offer", "price": "([^"]+)"')
AGENT = "bench"


@dataclass(slots=True)
class Robots:
    """One fetch per origin, however many wait for it."""

    session: aiohttp.ClientSession
    answers: dict[URL, asyncio.Task[Protego]] = field(default_factory=dict)

    async def allow(self, url: URL) -> bool:
        origin = url.origin()
        if origin not in self.answers:
            self.answers[origin] = asyncio.create_task(self.fetch(origin))
        rules = await self.answers[origin]
        return bool(rules.can_fetch(str(url), AGENT))

    async def fetch(self, origin: URL) -> Protego:
        async with self.session.get(origin / "robots.txt") as response:
            return Protego.parse(await response.text())


@dataclass(slots=True)
class Loop:
    """What the workers of one crawl share."""

    session: aiohttp.ClientSession
    robots: Robots
    urls: Iterator[str]
    out: TextIO
    lap: Lap

    async def work(self) -> None:
        for text in self.urls:
            url = URL(text)
            if not await self.robots.allow(url):
                continue
            try:
                await self.fetch(url)
            except aiohttp.ClientError:
                self.lap.errors += 1

    async def fetch(self, url: URL) -> None:
        async with self.session.get(url) as response:
            self.write(str(url), await response.read())

    def write(self, url: str, body: bytes) -> None:
        title, price = TITLE.search(body), PRICE.search(body)
        if not title or not price:
            self.lap.errors += 1
            return
        row = {"url": url, "title": unescape(title[1].decode()), "price": price[1].decode()}
        self.out.write(json.dumps(row) + "\n")
        self.lap.pages += 1


async def crawl(course: Course) -> Lap:
    connector = aiohttp.TCPConnector(limit=0)
    session = aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": AGENT},
    )
    lap = Lap()
    async with session:
        with course.out.open("w") as out:
            loop = Loop(session, Robots(session), iter(course.urls), out, lap)
            await asyncio.gather(*(loop.work() for _ in range(course.concurrency)))
    return lap


def main() -> None:
    uvloop.run(crawl(read_course())).report()


if __name__ == "__main__":
    main()
