"""The product crawler on the local shops, whole: downloaded, kept, parsed, crawled again."""

from collections import Counter
from pathlib import Path

from penstock.products.tables import images, prices, source_products
from penstock.workloads.catalog.model import Status
from penstock.workloads.catalog.tables import crawl_attempts, error_logs
from tests.catalogs import HOSTS, all_urls, expected, expected_of
from tests.crawling import crawling
from tests.site import Site
from tests.site.shopkeeper import Shopkeeper
from tests.stores import rows_of

FIRST = "http://goods01.test/product/1"


async def test_pages_of_all_shops_become_products_with_prices_and_images(
    site: Site, tmp_path: Path
) -> None:
    site.robots["goods03.test"] = ""
    urls = [url for url in all_urls(HOSTS, 4) if "goods07.test/product/3" not in url]
    async with crawling(site, tmp_path) as crawl:
        tasks = await crawl.crawl(*urls)
        products = {row["url"]: row for row in await rows_of(crawl.store, source_products)}
        kept = await rows_of(crawl.store, images)
        seen = await rows_of(crawl.store, prices)

    assert Counter(task["status"] for task in tasks) == {Status.COMPLETED.value: len(urls)}
    for url, row in products.items():
        host, number = url.removeprefix("http://").split("/product/")
        wanted = expected(host, int(number))
        assert (row["product_name"], row["price"]) == (wanted.name, wanted.price), url
    assert len(products) == len(urls)
    assert len(seen) == sum(row["price"] is not None for row in products.values())
    assert {row["status"] for row in kept} <= {"kept", "failed"}
