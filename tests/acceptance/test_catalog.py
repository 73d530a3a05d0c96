"""The product crawler on the local shops, whole: downloaded, kept, parsed, crawled again."""

import asyncio
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock.core.clock import SystemClock
from penstock.products.tables import images, prices, source_products
from penstock.workloads.catalog import submitting
from penstock.workloads.catalog.model import OVER, Status
from penstock.workloads.catalog.submitting import Options
from penstock.workloads.catalog.tables import crawl_attempts, error_logs
from penstock.workloads.catalog.tasks import Filter
from tests.catalogs import HOSTS, all_urls, expected
from tests.crawling import WHO, Crawl, crawling
from tests.monitors import product_page
from tests.platforms import policies
from tests.shell import eventually
from tests.site import Reply, Site
from tests.site.catalog_items import SHOPS, catalog_item
from tests.site.catalog_shops import catalog_pages
from tests.site.settings import SiteSettings
from tests.site.shopkeeper import Shopkeeper
from tests.stores import rows_of

GOODS = "goods01.test"
FIRST = f"http://{GOODS}/product/1"
#: What failed is due again soon.
SOON = {"retry_seconds": 0.05, "max_retry_seconds": 0.1}


async def kinds_of(crawl: Crawl) -> list[tuple[str, str]]:
    """What was tried and how it fared, in order."""
    rows = sorted(await rows_of(crawl.store, crawl_attempts), key=lambda row: str(row["id"]))
    return [(row["kind"], row["status"]) for row in rows]


async def progress_of(crawl: Crawl, submission: str) -> Any:
    return await crawl.service.submissions.progress(submission)


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


async def test_a_broken_picture_of_any_kind_fails_no_product(site: Site, tmp_path: Path) -> None:
    troubled: dict[str, str] = {}
    for host in (host for host, shop in SHOPS.items() if shop.markup in ("json-ld", "graph")):
        for number in range(1, 41):
            for picture in catalog_item(host, number).pictures:
                troubled.setdefault(picture.trouble, f"http://{host}/product/{number}")
    troubled.pop("", None)
    async with crawling(site, tmp_path) as crawl:
        tasks = await crawl.crawl(*troubled.values())
        found = {row["image_url"]: row for row in await rows_of(crawl.store, images)}

    assert {"missing", "page", "half", "stub", "bomb", "large", "other-type"} <= set(troubled)
    assert {task["status"] for task in tasks} == {"completed"}
    for url in troubled.values():
        host, _, last = url.removeprefix("http://").partition("/product/")
        for image in expected(host, int(last)).images:
            row = found.pop(image.url)
            assert row["status"] == ("kept" if image.is_good else "failed"), (url, image.trouble)
            assert (row["alt_text"], row["position"]) == (image.alt, image.position)
            if image.is_good:
                facts = (row["content_type"], row["width"], row["height"])
                assert facts == (image.content_type, image.width, image.height)
    assert found == {}


async def test_a_page_is_got_again_only_if_it_has_changed(site: Site, tmp_path: Path) -> None:
    shopkeeper = Shopkeeper(site)
    before = expected(GOODS, 1).price
    assert before
    async with crawling(site, tmp_path) as crawl:
        await crawl.crawl(FIRST)
        await crawl.again()
        assert await kinds_of(crawl) == [
            ("download", "ok"),
            ("parse", "ok"),
            ("download", "unchanged"),
        ]
        shopkeeper.change_price(GOODS, 1, int(before * 100) + 100)
        await crawl.again()
        seen = [row["price"] for row in await rows_of(crawl.store, prices)]
        [product] = await rows_of(crawl.store, source_products)
        task = await crawl.task(FIRST)

    assert site.hits_of(GOODS, "/product/1")[1].headers["If-None-Match"]
    assert sorted(seen) == [before, before + 1]
    assert product["price"] == before + 1
    assert task["crawl_interval"] == 43_200


async def test_a_page_that_says_nothing_of_its_version_is_known_by_its_content(
    site: Site, tmp_path: Path
) -> None:
    site.reply(GOODS, "/product/1", Reply(200, product_page(FIRST)))
    async with crawling(site, tmp_path) as crawl:
        await crawl.crawl(FIRST)
        await crawl.again()
        kinds = await kinds_of(crawl)
    assert kinds == [("download", "ok"), ("parse", "ok"), ("download", "unchanged")]


async def test_a_redesign_is_noticed_and_read_when_it_is_undone(site: Site, tmp_path: Path) -> None:
    shopkeeper = Shopkeeper(site)
    async with crawling(site, tmp_path) as crawl:
        await crawl.crawl(FIRST)
        shopkeeper.redesign(GOODS)
        await crawl.again()
        broken = await crawl.task(FIRST)
        await crawl.again()
        shopkeeper.undo_redesign(GOODS)
        await crawl.again()
        task = await crawl.task(FIRST)
        kinds = await kinds_of(crawl)
        [product] = await rows_of(crawl.store, source_products)

    assert (broken["status"], broken["failure"]["category"]) == ("failed", "parse")
    # What could not be read is read again, although it has not changed.
    assert kinds[2:6] == [("download", "ok"), ("parse", "failed")] * 2
    assert task["status"] == "completed"
    assert product["product_name"] == expected(GOODS, 1).name


async def test_what_robots_forbid_has_failed_and_what_is_gone_is_dead_until_revived(
    site: Site, tmp_path: Path
) -> None:
    shopkeeper = Shopkeeper(site)
    shopkeeper.remove(GOODS, 2)
    forbidden, gone = "http://goods07.test/product/3", f"http://{GOODS}/product/2"
    async with crawling(site, tmp_path) as crawl:
        await crawl.crawl(forbidden, gone)
        denied, dead = await crawl.task(forbidden), await crawl.task(gone)
        logged = {row["error_type"]: row for row in await rows_of(crawl.store, error_logs)}
        shopkeeper.put_back(GOODS, 2)
        assert await crawl.service.tasks.retry(Filter(dead=True)) == 1
        await crawl.over()
        revived = await crawl.task(gone)

    assert (denied["status"], denied["next_crawl_at"] is None) == ("failed", False)
    assert site.hits_of("goods07.test", "/product/3") == []
    assert (dead["status"], dead["next_crawl_at"]) == ("failed", None)
    assert {row["category"] for row in logged.values()} == {"refused", "http"}
    assert (revived["status"], revived["failure"]) == ("completed", None)


async def test_a_site_that_is_down_costs_its_tasks_no_retries_once_its_circuit_is_open(
    site: Site, tmp_path: Path
) -> None:
    shopkeeper = Shopkeeper(site)
    urls = all_urls([GOODS], 20)
    async with crawling(
        site, tmp_path, catalog=SOON, breaker={"cooldown_seconds": 0.2, "max_cooldown_seconds": 0.2}
    ) as crawl:
        await crawl.crawl(urls[0])
        shopkeeper.take_down(GOODS)
        await crawl.submit(*urls)
        # All are tried once; then one at a time, as the circuit lets them.
        async with asyncio.timeout(30):
            while len(await rows_of(crawl.store, error_logs)) < len(urls) + 4:
                await crawl.tick()
            while_down = Counter(task["status"] for task in await crawl.tasks())
            shopkeeper.bring_up(GOODS)
            while any(task["status"] not in OVER for task in await crawl.tasks()):
                await crawl.tick()
        tasks = await crawl.tasks()

    assert "failed" not in while_down
    assert Counter(task["status"] for task in tasks) == {"completed": len(urls)}
    assert all(task["retry_count"] == 0 for task in tasks)


async def test_a_site_that_is_closed_moves_the_time_of_its_tasks(
    site: Site, tmp_path: Path
) -> None:
    hour = SystemClock().now().hour
    closed = {"allowed_hours": {"start": (hour + 2) % 24, "end": (hour + 3) % 24}}
    rules = policies(tmp_path, goods01_test=closed)
    async with crawling(site, tmp_path, policies=rules) as crawl:
        tasks = await crawl.crawl(FIRST, "http://goods02.test/product/1")
        now = await crawl.service.now()

    first, second = tasks
    assert (first["status"], first["retry_count"], first["attempts"]) == ("pending", 0, 0)
    assert 3_500_000 < first["scheduled_at"] - now < 7_300_000
    assert second["status"] == "completed"
    assert site.hits_of(GOODS, "/product/1") == []


async def test_a_page_is_parsed_again_without_a_visit(site: Site, tmp_path: Path) -> None:
    async with crawling(site, tmp_path) as crawl:
        await crawl.crawl(FIRST)
        asked = len(site.hits)
        assert await crawl.service.tasks.reparse(Filter(domain=GOODS)) == 1
        await crawl.over()
        task = await crawl.task(FIRST)
        body = await crawl.service.page(FIRST)
    assert task["status"] == "completed"
    assert len(site.hits) == asked
    assert catalog_item(GOODS, 1).title.encode() in body


# ── sitemaps


@pytest.mark.parametrize("start", ["/sitemap.xml", "/robots.txt"])
async def test_all_pages_of_a_sitemap_are_submitted(tmp_path: Path, start: str) -> None:
    async with (
        Site(settings=SiteSettings(catalog_pages=90)) as site,
        crawling(site, tmp_path, only=["catalog_sitemaps"]) as crawl,
    ):
        which = await crawl.service.submissions.submit_sitemap(
            f"http://{GOODS}{start}", Options(priority=3), WHO
        )
        await crawl.settled.wait()
        progress = await progress_of(crawl, which)
        tasks = await crawl.tasks()

    numbers = [progress.submission[name] for name in ("submitted", "accepted", "duplicates")]
    assert (numbers, progress.submission["status"]) == ([90, 90, 0], "accepted")
    assert progress.tasks["pending"] == progress.total == 90
    assert {task["priority"] for task in tasks} == {3}
    assert {task["url"] for task in tasks} == set(all_urls([GOODS], 90))


async def test_a_sitemap_that_is_not_there_is_said_so(site: Site, tmp_path: Path) -> None:
    async with crawling(site, tmp_path) as crawl:
        which = await crawl.service.submissions.submit_sitemap(
            f"http://{GOODS}/nothing.xml", Options(), WHO
        )
        await crawl.settled.wait()
        progress = await progress_of(crawl, which)
    assert (progress.submission["status"], progress.is_over) == ("failed", True)
    assert "404" in progress.submission["error"]


async def test_a_sitemap_that_was_interrupted_is_read_to_its_end_and_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.workloads.catalog.sitemaps.AT_ONCE", 10)
    monkeypatch.setattr(submitting, "AT_ONCE", 10)
    async with Site(settings=SiteSettings(catalog_pages=90)) as site:
        second = "/sitemaps/2.xml.gz"
        site.reply(GOODS, second, Reply(200, b"", delay=60), catalog_pages)
        quick = {"grace_seconds": 0}
        async with crawling(site, tmp_path, queue=quick) as crawl:
            which = await crawl.service.submissions.submit_sitemap(
                f"http://{GOODS}/sitemap.xml", Options(scheduled_at=2**50), WHO
            )
            await eventually(lambda: bool(site.hits_of(GOODS, second)))
            half = await progress_of(crawl, which)
        async with crawling(site, tmp_path, queue=quick) as crawl:
            await crawl.settled.wait()
            whole = await progress_of(crawl, which)

    assert (half.submission["status"], half.total) == ("reading", 40)
    names = ("submitted", "accepted", "duplicates", "refused")
    assert [whole.submission[name] for name in names] == [90, 90, 0, 0]
    assert (whole.submission["status"], whole.total) == ("accepted", 90)


async def test_prices_are_kept_exactly(site: Site, tmp_path: Path) -> None:
    async with crawling(site, tmp_path) as crawl:
        await crawl.crawl(*all_urls(["goods15.test"], 3))
        found = [row["price"] for row in await rows_of(crawl.store, prices)]
    assert all(isinstance(price, Decimal) for price in found)
    assert sorted(found) == sorted(
        price for number in (1, 2, 3) if (price := expected("goods15.test", number).price)
    )
