"""Scrapy as its manual has it: a spider, and a pipeline that writes products to PostgreSQL.

`manner` is the address of the database, and a folder for pictures if they are wanted. Products are
written a hundred at a time, in one transaction: what it has not written is lost with it.
"""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import psycopg
import scrapy
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import TextResponse

from benchmarks.contestants import scrapy_spider
from benchmarks.contestants.lap import Course, Lap, read_course

AT_ONCE = 100
COLUMNS = ("url", "name", "price", "currency", "availability", "brand", "sku", "rating", "reviews")
INSERT = (
    f"INSERT INTO scraped ({', '.join(COLUMNS)}) VALUES ({', '.join(['%s'] * len(COLUMNS))}) "
    "ON CONFLICT (url) DO NOTHING"
)
Item = dict[str, Any]


class ProductSpider(scrapy.Spider):  # type: ignore[misc]
    """Reads one product from every page."""

    name = "products"

    def parse(self, response: TextResponse) -> Iterator[Item]:
        for block in response.css('script[type="application/ld+json"]::text').getall():
            data = json.loads(block)
            if data["@type"] == "Product":
                offer, rated = data["offers"], data["aggregateRating"]
                yield {
                    "url": response.url,
                    "name": data["name"],
                    "price": offer["price"],
                    "currency": offer["priceCurrency"],
                    "availability": offer["availability"].rpartition("/")[2],
                    "brand": data["brand"]["name"],
                    "sku": data["sku"],
                    "rating": rated["ratingValue"],
                    "reviews": rated["reviewCount"],
                    "file_urls": data.get("image", []),
                }


class DatabasePipeline:
    """Writes items, many at a time."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._waiting: list[Item] = []
        self._turn = asyncio.Lock()
        self._connection: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "DatabasePipeline":
        return cls(crawler.settings["DATABASE"])

    async def open_spider(self) -> None:
        self._connection = await psycopg.AsyncConnection.connect(self._address)

    async def close_spider(self) -> None:
        await self._write()
        await self._connection.close()

    async def process_item(self, item: Item) -> Item:
        self._waiting.append(item)
        if len(self._waiting) >= AT_ONCE:
            await self._write()
        return item

    async def _write(self) -> None:
        some, self._waiting = self._waiting, []
        async with self._turn, self._connection.transaction(), self._connection.cursor() as cursor:
            await cursor.executemany(INSERT, [[item[name] for name in COLUMNS] for item in some])


def settings(course: Course) -> dict[str, object]:
    address, _, folder = course.manner.partition(" ")
    pipelines: dict[object, int] = {DatabasePipeline: 300}
    if folder:
        pipelines["scrapy.pipelines.files.FilesPipeline"] = 200
    return {
        **scrapy_spider.settings(course),
        "FEEDS": {},
        "ITEM_PIPELINES": pipelines,
        "FILES_STORE": folder,
        "MEDIA_ALLOW_REDIRECTS": True,
        # A picture is got while its page's item waits: one at a time would stop at each.
        "CONCURRENT_ITEMS": 100 if folder else 1,
        "DATABASE": address,
    }


def main() -> None:
    course, lap = read_course(), Lap()
    process = AsyncCrawlerProcess(settings(course))
    crawler = process.create_crawler(ProductSpider)
    scrapy_spider.start_on_opening(crawler, lap)
    process.crawl(crawler, start_urls=course.urls)
    process.start()
    lap.pages = crawler.stats.get_value("item_scraped_count", 0)
    lap.errors = crawler.stats.get_value("log_count/ERROR", 0)
    lap.report()


if __name__ == "__main__":
    main()
