"""Crawlee."""

import asyncio
import json
import os

import uvloop
from parsel import Selector
from crawlee import ConcurrencySettings
from crawlee.configuration import Configuration
from crawlee.crawlers import HttpCrawler, ParselCrawler, ParselCrawlingContext
from crawlee.http_clients import ImpitHttpClient
from crawlee.storage_clients import MemoryStorageClient

from benchmarks.contestants.lap import Course, Lap, read_course


async def crawl(course: Course) -> Lap:
    n = course.concurrency
    out = course.out.open("w")
    lap = None
    M = os.environ.get("MODE", "")

    async def handle_http(context) -> None:
        selector = Selector(body=await context.http_response.read())
        for block in selector.css('script[type="application/ld+json"]::text').getall():
            data = json.loads(block)
            if data["@type"] == "Product":
                row = {"url": context.request.url, "title": selector.css("title::text").get(), "price": data["offers"]["price"]}
                out.write(json.dumps(row) + "\n")
                lap.pages += 1

    async def handle(context: ParselCrawlingContext) -> None:
        for block in context.selector.css('script[type="application/ld+json"]::text').getall():
            data = json.loads(block)
            if data["@type"] == "Product":
                row = {"url": context.request.url, "title": context.selector.css("title::text").get(), "price": data["offers"]["price"]}
                if "push" in M:
                    await context.push_data(row)
                else:
                    out.write(json.dumps(row) + "\n")
                lap.pages += 1
    if "httpx" in M:
        from crawlee.http_clients import HttpxHttpClient
        client = HttpxHttpClient()
    elif "curl" in M:
        from crawlee.http_clients import CurlImpersonateHttpClient
        client = CurlImpersonateHttpClient()
    elif "nobrowser" in M:
        client = ImpitHttpClient(browser=None, persist_cookies_per_session=False)
    else:
        client = ImpitHttpClient()
    crawler = (HttpCrawler if 'http,' in M else ParselCrawler)(
        request_handler=handle_http if 'http,' in M else handle,
        statistics_log_format='inline',configure_logging=False,
        http_client=client,
        storage_client=MemoryStorageClient(),
        configuration=Configuration(log_level="WARNING"),
        concurrency_settings=ConcurrencySettings(min_concurrency=n, desired_concurrency=n, max_concurrency=n),
        respect_robots_txt_file=True,
        use_session_pool="nosess" not in M,
    )
    lap = Lap()
    if "list" in M:
        await crawler.run(course.urls)
    else:
        await crawler.add_requests(course.urls, batch_size=len(course.urls))
        await crawler.run()
    if "push" in M:
        await crawler.export_data(str(course.out))
    out.close()
    return lap


def main() -> None:
    r = asyncio.run if "noloop" in os.environ.get("MODE", "") else uvloop.run
    r(crawl(read_course())).report()


if __name__ == "__main__":
    main()
