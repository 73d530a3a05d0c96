"""Scrapy as its manual has it: a spider, selectors, a jsonlines feed; tuned by settings only."""

import json
from collections.abc import Iterator

import scrapy
from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import TextResponse

from benchmarks.contestants.lap import Course, Lap, read_course


class ProductSpider(scrapy.Spider):  # type: ignore[misc]
    """Reads one product from every page."""

    name = "products"

    def parse(self, response: TextResponse) -> Iterator[dict[str, str]]:
        for block in response.css('script[type="application/ld+json"]::text').getall():
            data = json.loads(block)
            if data["@type"] == "Product":
                yield {
                    "url": response.url,
                    "title": response.css("title::text").get(),
                    "price": data["offers"]["price"],
                }


def settings(course: Course) -> dict[str, object]:
    return {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": course.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": course.concurrency,
        # The default of 100 starts 100 tasks for every page: an eighth of the CPU here.
        "CONCURRENT_ITEMS": 1,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
        "LOG_LEVEL": "WARNING",
        "REMOTE_CONTROL_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "FEEDS": {str(course.out): {"format": "jsonlines"}},
    }


def start_on_opening(crawler: Crawler, lap: Lap) -> None:
    """Scrapy loads its parts inside `start`: leave that out of its time."""
    # Signals hold weak references, so the receiver must be a bound method that lives on.
    crawler.signals.connect(lap.restart, signal=signals.spider_opened)


def main() -> None:
    course = read_course()
    process = AsyncCrawlerProcess(settings(course))
    crawler = process.create_crawler(ProductSpider)
    lap = Lap()
    start_on_opening(crawler, lap)
    process.crawl(crawler, start_urls=course.urls)
    process.start()
    lap.pages = crawler.stats.get_value("item_scraped_count", 0)
    lap.errors = crawler.stats.get_value("log_count/ERROR", 0)
    lap.report()


if __name__ == "__main__":
    main()
