"""Crawlee's `PlaywrightCrawler`, all in memory.

Manners: `same` blocks what Penstock blocks and puts on no fingerprint; `fresh` has a new context
for each page besides, as Penstock does; `defaults` changes nothing but what every contestant must
do. The program of the browser stands after a colon.
"""

import json
from dataclasses import dataclass
from typing import Any, TextIO

import uvloop
from crawlee.crawlers import (
    PlaywrightCrawler,
    PlaywrightCrawlingContext,
    PlaywrightPreNavCrawlingContext,
)
from crawlee.storage_clients import MemoryStorageClient

from benchmarks.contestants.crawlee_http import concurrency
from benchmarks.contestants.lap import Course, Lap, read_course
from benchmarks.contestants.shown import PRICE_SHOWN, read_shown

#: Pictures, fonts and media of the site, by how their names end.
BLOCKED = [".png", ".jpg", ".webp", ".gif", ".svg", ".woff", ".woff2", ".mp4"]


@dataclass(slots=True)
class Handler:
    """Waits for the price and writes one line."""

    out: TextIO
    lap: Lap

    async def handle(self, context: PlaywrightCrawlingContext) -> None:
        await context.page.wait_for_selector(PRICE_SHOWN, state="attached")
        found = read_shown(await context.page.content())
        if found is None:
            raise ValueError("the page is not filled")
        self.out.write(json.dumps({"url": context.request.url, **found}) + "\n")
        self.lap.pages += 1


async def block(context: PlaywrightPreNavCrawlingContext) -> None:
    await context.block_requests(url_patterns=BLOCKED)


def build(course: Course, handler: Handler) -> PlaywrightCrawler:
    manner, _, program = course.manner.partition(":")
    options: dict[str, Any] = {}
    if manner != "defaults":
        options["fingerprint_generator"] = None
    if manner == "fresh":
        options["use_incognito_pages"] = True
    crawler = PlaywrightCrawler(
        request_handler=handler.handle,
        storage_client=MemoryStorageClient(),
        concurrency_settings=concurrency(course),
        respect_robots_txt_file=True,
        configure_logging=False,
        browser_launch_options={"executable_path": program, "chromium_sandbox": False},
        **options,
    )
    if manner != "defaults":
        crawler.pre_navigation_hook(block)
    return crawler


async def crawl(course: Course) -> Lap:
    with course.out.open("w") as out:
        handler = Handler(out, Lap())
        crawler = build(course, handler)
        handler.lap.restart()
        # One batch: between batches of the default size it sleeps a second.
        await crawler.add_requests(course.urls, batch_size=len(course.urls))
        statistics = await crawler.run()
        handler.lap.errors = statistics.requests_failed
    return handler.lap


def main() -> None:
    uvloop.run(crawl(read_course())).report()


if __name__ == "__main__":
    main()
