"""The clients and the catalogue: what people do with it, on a real port."""

import asyncio
from decimal import Decimal
from pathlib import Path

import pytest

from penstock.client import AsyncClient, Client, Conflict, InvalidRequest, NotFound
from tests.catalog_services import cataloguing
from tests.catalogs import all_urls, expected
from tests.services import KEY, listening, serving
from tests.site import Reply, Site

PAGE = "http://goods01.test/product/1"
GONE = "http://goods02.test/product/1"


async def test_pages_are_submitted_watched_and_found(tmp_path: Path) -> None:
    async with (
        Site() as site,
        cataloguing(site, tmp_path) as service,
        listening(service) as address,
        AsyncClient(address, KEY) as penstock,
    ):
        site.reply("goods02.test", "/product/1", Reply(404, "gone"))
        catalog = penstock.catalog
        urls = all_urls(["goods01.test"], 3)
        accepted = await catalog.submit([*urls, GONE, "ftp://x.test/"], priority=2)
        assert (accepted.accepted, accepted.refusals[0]["url"]) == (4, "ftp://x.test/")
        events = [event async for event in catalog.watch(accepted.id)]
        assert [events[0].name, events[-1].name] == ["progress", "end"]
        progress = await catalog.submission(accepted.id)
        assert (progress.is_over, progress.tasks["failed"]) == (True, 1)
        assert [each.id async for each in catalog.submissions()] == [accepted.id]

        products = [each async for each in catalog.products.list(sort="price_asc", at_once=2)]
        assert {each.url for each in products} == set(urls)
        wanted = expected("goods01.test", 1)
        [first] = [each for each in products if each.url == PAGE]
        assert (first.product_name, first.price) == (wanted.name, wanted.price)
        top = max(each.price for each in products if each.price is not None)
        dear = [each async for each in catalog.products.list(price_min=top)]
        assert {each.price for each in dear} == {top}
        [point] = await catalog.products.prices(first.id)
        assert (point.price, point.ingestion_run_type) == (wanted.price, "CRAWL")
        await _search_finds(penstock, wanted.name)
        await _images_are_there(penstock, first.id)

        [dead] = [each async for each in catalog.dead_letters.list(category="http")]
        [error] = [each async for each in catalog.errors.list(domain="goods02.test")]
        [pattern] = await catalog.errors.patterns(domain="goods02.test")
        assert dead["url"] == error["url"] == GONE
        assert pattern["error_type"] == error["error_type"]
        [rate] = await catalog.parsers.rates()
        assert rate["parsed"] == 3
        assert await catalog.parsers.shadow("product") == []
        task = await catalog.tasks.get(first_task := (await _task(penstock, PAGE)))
        assert task.url == PAGE
        assert b"<html" in await catalog.tasks.page(first_task)
        attempts = [each async for each in catalog.tasks.attempts(first_task, at_once=1)]
        assert [each["kind"] for each in attempts] == ["parse", "download"]
        assert (await catalog.tasks.reparse(first_task)).status == "downloaded"
        assert await catalog.dead_letters.revive([dead["id"]]) == 1


async def _task(penstock: AsyncClient, url: str) -> str:
    [found] = [each.id async for each in penstock.catalog.tasks.list(url=url)]
    return found


async def _search_finds(penstock: AsyncClient, name: str) -> None:
    products = penstock.catalog.products
    async with asyncio.timeout(20):
        while not (page := await products.search_page(name, limit=1)).items:
            pass
    assert page.items[0].product_name == name
    assert "<em>" in page.items[0].highlights["product_name"]
    assert page.total_is_exact
    found = [each.id async for each in products.search(name, domain=["goods01.test"], at_once=1)]
    assert found[0] == page.items[0].id


async def _images_are_there(penstock: AsyncClient, product_id: str) -> None:
    products = penstock.catalog.products
    async with asyncio.timeout(20):
        while any(each.status == "pending" for each in await products.images(product_id)):
            pass
    [first, *_] = (await products.get(product_id)).images
    assert first.image_type == "primary"
    assert len(await products.image(product_id, first.id)) == first.file_size


async def test_tasks_domains_and_proxies_are_steered(tmp_path: Path) -> None:
    async with (
        Site() as site,
        serving(site, tmp_path, works=False) as service,
        listening(service) as address,
        AsyncClient(address, KEY) as penstock,
    ):
        catalog = penstock.catalog
        domain = await catalog.domains.add("goods01.test", crawl_delay_seconds=2)
        assert (await catalog.domains.edit("goods01.test", parser="product"))["parser"] == "product"
        assert not (await catalog.domains.deactivate(domain["id"]))["is_active"]
        assert [each["is_active"] async for each in catalog.domains.list(active=False)] == [False]
        assert (await catalog.domains.activate("goods01.test"))["is_active"]
        await catalog.submit(all_urls(["goods01.test"], 3), crawl_frequency=3600)
        assert (await catalog.domains.get("goods01.test"))["tasks"]["pending"] == 3
        identity = await _task(penstock, PAGE)
        tasks = catalog.tasks
        assert (await tasks.pause(identity)).is_paused
        assert not (await tasks.resume(identity)).is_paused
        assert (await tasks.edit(identity, priority=1, crawl_frequency=None)).priority == 1
        with pytest.raises(Conflict, match="pending"):
            await tasks.recrawl(identity)
        assert (await tasks.stop(identity)).status == "failed"
        assert (await tasks.retry(identity)).status == "pending"
        assert await tasks.act("prioritise", priority=9, domain="goods01.test") == 3
        assert await tasks.act("pause", ids=[identity]) == 1
        with pytest.raises(InvalidRequest):
            await tasks.act("pause")
        assert (await tasks.counts("goods01.test"))["pending"] == 3
        with pytest.raises(NotFound):
            await tasks.get("0" * 32)

        proxies = catalog.proxies
        proxy = await proxies.add("127.0.0.1", 3128, region="de")
        assert [each["id"] async for each in proxies.list(active=True)] == [proxy["id"]]
        assert (await proxies.edit(proxy["id"], region="fr"))["region"] == "fr"
        assert not (await proxies.disable(proxy["id"]))["is_active"]
        assert (await proxies.enable(proxy["id"]))["is_active"]
        report = await proxies.import_text("http://127.0.0.1:3129", dry_run=True)
        assert report["added"] == 1
        assert (await proxies.remove(proxy["id"]))["id"] == proxy["id"]


async def test_a_program_that_blocks_does_the_same(tmp_path: Path) -> None:
    def use(address: str) -> tuple[str, Decimal | None, bytes]:
        with Client(address, KEY) as penstock:
            catalog = penstock.catalog
            accepted = catalog.submit_sitemap("http://goods03.test/sitemap.xml", priority=1)
            events = [event.name for event in catalog.watch(accepted.id)]
            assert catalog.submission(accepted.id).tasks["completed"] == 1
            [product] = catalog.products.list(availability=["in_stock"])
            [task] = catalog.tasks.list(submission=accepted.id)
            return events[-1], product.price, catalog.tasks.page(task.id)

    async with (
        Site() as site,
        cataloguing(site, tmp_path) as service,
        listening(service) as address,
    ):
        site.reply("goods03.test", "/sitemap.xml", _sitemap("http://goods03.test/product/1"))
        last, price, page = await asyncio.to_thread(use, address)
    assert (last, price) == ("end", expected("goods03.test", 1).price)
    assert b"<" in page


def _sitemap(url: str) -> Reply:
    text = (
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
        f"<url><loc>{url}</loc></url></urlset>"
    )
    return Reply(200, text, {"Content-Type": "application/xml"})
