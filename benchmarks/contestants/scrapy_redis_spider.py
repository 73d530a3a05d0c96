"""Scrapy fed by scrapy-redis: its spider and settings as their manuals have them, and a pipeline.

The last word of the manner says where requests wait: `redis` is the scheduler of scrapy-redis, as
its manual begins; `memory` is that of Scrapy, which forgets what it has when it is killed.
"""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import redis.asyncio
import scrapy
from aiokafka import AIOKafkaProducer
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import Response
from scrapy_redis.spiders import RedisSpider

from benchmarks.contestants import scrapy_spider
from benchmarks.contestants.lap import Course, Lap, read_course

QUEUE = "crawler_queue"
LIFETIME = 3600
Item = dict[str, Any]


class PageSpider(RedisSpider):  # type: ignore[misc]
    """Yields every page as it came."""

    name = "pages"
    redis_key = QUEUE
    # It asks for more only when it has nothing at all to do: not after every 32 pages, please.
    redis_batch_size = 2000

    def make_request_from_data(self, data: bytes) -> scrapy.Request:
        # Its own takes plain URLs, too, but logs a warning for each.
        return scrapy.Request(data.decode(), dont_filter=True)

    def spider_idle(self) -> None:
        """Go on while there is something in the list; its own would wait for more."""
        if self.count_size(self.redis_key):
            super().spider_idle()

    def parse(self, response: Response) -> Iterator[Item]:
        yield {
            "url": response.url,
            "body": response.body,
            "status_code": response.status,
            "content_type": response.headers.get("Content-Type", b"").decode(),
        }


class DeliveryPipeline:
    """Keeps the body, then publishes the event and waits until it is confirmed."""

    def __init__(self, address: str, servers: str, topic: str) -> None:
        self._redis: Any = redis.asyncio.Redis.from_url(address)
        self._servers = servers
        self._topic = topic
        self._producer: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "DeliveryPipeline":
        return cls(*(crawler.settings[name] for name in ("REDIS_URL", "KAFKA", "TOPIC")))

    async def open_spider(self) -> None:
        self._producer = AIOKafkaProducer(
            bootstrap_servers=self._servers, acks="all", enable_idempotence=True, linger_ms=5
        )
        await self._producer.start()

    async def close_spider(self) -> None:
        await self._producer.stop()
        await self._redis.aclose()

    async def process_item(self, item: Item) -> Item:
        body, name = item.pop("body"), hashlib.sha256(item["url"].encode()).hexdigest()
        await self._redis.set(f"webpage:{name}", body, ex=LIFETIME)
        event = {
            "type": "webpage_fetched",
            **item,
            "cache_key": f"webpage:{name}",
            "content_length": len(body),
            "content_hash": hashlib.sha256(body).hexdigest(),
            "fetched_at": datetime.now(UTC).isoformat(),
        }
        await self._producer.send_and_wait(self._topic, json.dumps(event).encode(), name.encode())
        return item


def settings(course: Course) -> dict[str, object]:
    address, kafka, topic, scheduler = course.manner.split()
    in_redis = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.FifoQueue",
        "SCHEDULER_PERSIST": True,
    }
    return {
        **scrapy_spider.settings(course),
        **(in_redis if scheduler == "redis" else {}),
        "FEEDS": {},
        "ITEM_PIPELINES": {DeliveryPipeline: 300},
        "REDIS_URL": address,
        "KAFKA": kafka,
        "TOPIC": topic,
    }


def main() -> None:
    course, lap = read_course(), Lap()
    process = AsyncCrawlerProcess(settings(course))
    crawler = process.create_crawler(PageSpider)
    scrapy_spider.start_on_opening(crawler, lap)
    process.crawl(crawler)
    process.start()
    lap.pages = crawler.stats.get_value("item_scraped_count", 0)
    lap.errors = crawler.stats.get_value("log_count/ERROR", 0)
    lap.report()


if __name__ == "__main__":
    main()
