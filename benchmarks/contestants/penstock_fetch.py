"""Penstock with every gate on, through the crew that `penstock fetch` uses."""

import json
import re
from collections.abc import AsyncIterator, Callable
from html import unescape
from typing import TextIO

import uvloop

from benchmarks.contestants.lap import Course, Lap, read_course
from penstock.app import build
from penstock.core.log import configure
from penstock.core.memory import prepare_memory
from penstock.kernel.model import Outcome, Request
from penstock.queue.worker import Crew, CrewSettings
from penstock.settings import load_settings

TITLE = re.compile(rb"<title>([^<]*)</title>")
PRICE = re.compile(rb'"@type": "Offer", "price": "([^"]+)"')

#: What lets Penstock run unthrottled, and contact the loopback addresses of the site.
POLICY = {
    "pacing": {"requests_per_second": 100_000, "request_delay_ms": 0, "max_concurrent": 8},
    "admission": {"open_ranges": ("127.0.1.0/24",)},
    "policies": {"shipped": False},
}


class Writer:
    """Extracts title and price from each page and writes one line."""

    def __init__(self, out: TextIO) -> None:
        self.lap = Lap()
        self._out = out

    def take(self, outcome: Outcome) -> None:
        if outcome.failure and outcome.failure.reason == "robots_denied":
            return
        page = outcome.page
        title = TITLE.search(page.body) if page else None
        price = PRICE.search(page.body) if page else None
        if not outcome.ok or not title or not price:
            self.lap.errors += 1
            return
        row = {
            "url": outcome.request.url,
            "title": unescape(title[1].decode()),
            "price": price[1].decode(),
        }
        self._out.write(json.dumps(row) + "\n")
        self.lap.pages += 1


async def requests(course: Course) -> AsyncIterator[Request]:
    for url in course.urls:
        yield Request(url)


async def crawl(course: Course, writer_of: Callable[[TextIO], Writer] = Writer) -> Lap:
    async with build(load_settings(**POLICY)) as platform:
        with course.out.open("w") as out:
            writer = writer_of(out)
            settings = CrewSettings(workers=course.concurrency)
            crew = Crew(platform.pipeline, platform.clock, writer.take, settings)
            await crew.work(requests(course))
    return writer.lap


def main() -> None:
    configure()
    prepare_memory()
    uvloop.run(crawl(read_course())).report()


if __name__ == "__main__":
    main()
