"""Crawlee as its documentation has it for HTML: `ParselCrawler`, all in memory."""

import json
from dataclasses import dataclass
from typing import TextIO

import uvloop
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

from benchmarks.contestants.crawlee_http import concurrency
from benchmarks.contestants.lap import Course, Lap, read_course


@dataclass(slots=True)
class Handler:
    """Reads one product from every page."""

    out: TextIO
    lap: Lap

    async def handle(self, context: ParselCrawlingContext) -> None:
        selector = context.selector
        for block in selector.css('script[type="application/ld+json"]::text').getall():
            data = json.loads(block)
            if data["@type"] == "Product":
                title, price = selector.css("title::text").get(), data["offers"]["price"]
                row = {"url": context.request.url, "title": title, "price": price}
                self.out.write(json.dumps(row) + "\n")
                self.lap.pages += 1


async def crawl(course: Course) -> Lap:
    with course.out.open("w") as out:
        handler = Handler(out, Lap())
        crawler = ParselCrawler(
            request_handler=handler.handle,
            storage_client=MemoryStorageClient(),
            concurrency_settings=concurrency(course),
            respect_robots_txt_file=True,
            configure_logging=False,
        )
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
