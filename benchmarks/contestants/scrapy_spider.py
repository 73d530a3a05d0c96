"""Scrapy as its manual has it: a spider, selectors, a jsonlines feed; tuned by settings only."""

import json
import os
from collections.abc import AsyncIterator, Iterator

import scrapy
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import TextResponse

from benchmarks.contestants.lap import Course, Lap, read_course


class ProductSpider(scrapy.Spider):  # type: ignore[misc]  # Any where scrapy is not installed
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
    s = {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": course.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": int(os.environ.get("PER", "8")),
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "ASYNCIO_EVENT_LOOP": "uvloop.Loop" if os.environ.get("UV", "1") == "1" else None,
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "FEEDS": {str(course.out): {"format": "jsonlines"}},
    }
    s.update(json.loads(os.environ.get("S", "{}")))
    if os.environ.get("H"):
        s["DOWNLOAD_HANDLERS"] = {"http": os.environ["H"]}
    return s


def main() -> None:
    course = read_course()
    process = AsyncCrawlerProcess(settings(course))
    crawler = process.create_crawler(ProductSpider)
    process.crawl(crawler, start_urls=course.urls)
    if os.environ.get("LOGW"):
        import logging
        logging.getLogger("scrapy").setLevel(logging.WARNING)
    lap = Lap()
    process.start()
    lap.pages = crawler.stats.get_value("item_scraped_count", 0)
    lap.errors = crawler.stats.get_value("log_count/ERROR", 0)
    lap.report()


if __name__ == "__main__":
    main()
