"""The catalogue through its API: pages handed in, crawled, found; tasks steered; errors mended."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.products.search.ports import SearchLost
from penstock.products.search.sql import SqlSearch
from penstock.web.keys import Keys, Scope
from tests.catalog_services import (
    cataloguing,
    get,
    over,
    patch,
    post,
    submitted,
    task_of,
    until_status,
)
from tests.catalogs import all_urls, expected
from tests.services import URL, Service, serving
from tests.site import Reply, Site
from tests.site.settings import SiteSettings
from tests.site.shopkeeper import Shopkeeper

SHOPS = ("goods01.test", "goods02.test", "goods03.test")
PAGE = "http://goods01.test/product/1"
OTHER = "http://goods02.test/product/{}"
UNKNOWN = "0" * 32


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    """A service that crawls."""
    async with Site() as site, cataloguing(site, tmp_path) as service:
        yield service


@pytest.fixture
async def idle(tmp_path: Path) -> AsyncIterator[Service]:
    """A service in which nobody works."""
    async with Site() as site, serving(site, tmp_path, works=False) as service:
        yield service


async def searched(service: Service, words: str, **filters: Any) -> list[dict[str, Any]]:
    """What a search finds, once it finds anything: the index is fed a moment later."""
    async with asyncio.timeout(20):
        while not (found := await get(service, "/products/search", q=words, **filters)):
            pass
        return list(found)


async def test_pages_are_handed_in_watched_and_found(service: Service) -> None:
    urls = all_urls(SHOPS, 4)
    accepted = await post(service, "/admin/tasks", {"urls": [*urls, "ftp://x.test/"]}, 202)
    assert (accepted["accepted"], accepted["refused"]) == (12, 1)
    assert accepted["refusals"][0]["url"] == "ftp://x.test/"

    events = (await service.get(f"/admin/submissions/{accepted['submission_id']}/events")).text
    assert events.startswith("event: progress\n")
    assert events.split("\n\n")[-2].startswith("event: end\n")
    assert accepted["submission_id"] in events.split("\n\n")[-2]
    progress = await get(service, f"/admin/submissions/{accepted['submission_id']}")
    assert (progress["tasks"]["completed"], progress["total"]) == (12, 12)
    assert progress["is_over"]

    listed = await get(service, "/products")
    assert {each["url"] for each in listed} == set(urls)
    wanted = expected("goods01.test", 1)
    [product] = [each for each in listed if each["url"] == PAGE]
    assert product["product_name"] == wanted.name
    assert product["price"] == f"{wanted.price:f}"
    assert product["availability"] == wanted.availability.lower()
    assert product["created_at"].endswith("Z")
    assert product["metadata"]["confidence"]["price"] > 0
    [rate, *_] = await get(service, "/admin/parsers", domain="goods01.test")
    assert (rate["parsed"], rate["rate"]) == (4, 1.0)


async def test_products_are_filtered_sorted_and_searched(service: Service) -> None:
    urls = all_urls(SHOPS, 4)
    await submitted(service, *urls)
    pages = [expected(host, number) for host in SHOPS for number in range(1, 5)]
    costs = sorted(page.price for page in pages if page.price is not None)

    shown: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await service.get("/products", sort="price_asc", limit=5, **cursor)
        shown += [each["price"] for each in answer.json()["data"]]
        if not (place := answer.json()["meta"]["next_cursor"]):
            break
        cursor = {"cursor": place}
    priced = [Decimal(price) for price in shown if price is not None]
    assert priced == costs
    assert len(shown) == len(pages)

    bounds = {"price_min": f"{costs[2]:f}", "price_max": f"{costs[5]:f}"}
    found = await get(service, "/products", **bounds)
    assert sorted(Decimal(each["price"]) for each in found) == costs[2:6]
    of_two = await get(service, "/products", domain=SHOPS[:2], availability="in_stock")
    in_stock = [each for each in pages[:8] if each.availability == "IN_STOCK"]
    assert {each["url"] for each in of_two} == {each.url for each in in_stock}

    name = pages[0].name
    [first, *_] = await searched(service, name)
    assert first["url"] == PAGE
    assert "<em>" in first["highlights"]["product_name"]
    filtered = await searched(service, name, domain="goods01.test", brand=pages[0].brand)
    assert [each["url"] for each in filtered] == [PAGE]
    stock = pages[0].availability.lower()
    assert await searched(service, name, availability=stock)
    answer = await service.get("/products/search", q=name)
    assert answer.json()["meta"]["total_is_exact"]


async def test_what_makes_no_sense_to_readers_is_refused(idle: Service) -> None:
    assert await get(idle, "/products") == []
    for wrong in (
        {"price_min": "-1"},
        {"price_max": "NaN"},
        {"availability": "IN_STOCK"},
        {"currency": "eur"},
        {"sort": "dearest"},
        {"cursor": "bm9uc2Vuc2U"},
        {"created_since": "5"},
        {"limit": 0},
    ):
        await get(idle, "/products", 422, **wrong)
    await get(idle, "/products/search", 422, q="lamp", cursor="bm9uc2Vuc2U")
    for path in ("", "/prices", "/images", f"/images/{UNKNOWN}"):
        await get(idle, f"/products/{UNKNOWN}{path}", 404)


async def test_a_cursor_of_another_order_is_refused(service: Service) -> None:
    await submitted(service, *all_urls(SHOPS[:1], 3))
    for sort in ("newest", "updated", "price_asc", "price_desc", "rating", "name"):
        answer = (await service.get("/products", sort=sort, limit=1)).json()
        cursor = answer["meta"]["next_cursor"]
        [second] = await get(service, "/products", sort=sort, limit=1, cursor=cursor)
        assert second["id"] != answer["data"][0]["id"]
        other = "name" if sort != "name" else "price_asc"
        await get(service, "/products", 422, sort=other, cursor=cursor)


async def test_images_come_with_their_true_type_and_cannot_do_harm(service: Service) -> None:
    await submitted(service, *all_urls(SHOPS[:1], 4))
    products = await get(service, "/products")
    async with asyncio.timeout(20):
        while True:
            images = [
                (product, image)
                for product in products
                for image in await get(service, f"/products/{product['id']}/images")
            ]
            if all(image["status"] != "pending" for _, image in images):
                break
    known = {
        each.url: each for number in range(1, 5) for each in expected("goods01.test", number).images
    }
    assert images
    for product, image in images:
        wanted = known[image["image_url"]]
        assert (image["status"] == "kept") == wanted.is_good
        if not wanted.is_good:
            await get(service, f"/products/{product['id']}/images/{image['id']}", 404)
            continue
        answer = await service.http.get(image["href"])
        assert answer.status_code == 200
        assert answer.headers["content-type"] == image["content_type"] == wanted.content_type
        assert len(answer.content) == image["file_size"]
        assert "sandbox" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        again = await service.http.get(
            image["href"], headers={"If-None-Match": answer.headers["etag"]}
        )
        assert (again.status_code, again.content) == (304, b"")


async def test_a_price_that_changes_is_in_the_history(service: Service) -> None:
    keeper = Shopkeeper(service.site)
    await submitted(service, PAGE)
    [before] = await get(service, "/products")
    minor = int(Decimal(before["price"]) * 100)
    keeper.change_price("goods01.test", 1, minor + 100)
    task = await task_of(service, PAGE)
    await post(service, f"/admin/tasks/{task['id']}/recrawl")
    await until_status(service, PAGE, "completed")
    history = await get(service, f"/products/{before['id']}/prices")
    assert [each["price"] for each in history] == [
        before["price"],
        f"{Decimal(minor + 100) / 100:.2f}",
    ]
    assert {each["ingestion_run_type"] for each in history} == {"CRAWL"}
    newest = await get(
        service, f"/products/{before['id']}/prices", since=history[-1]["observed_at"]
    )
    assert newest == history[1:]


async def test_a_sitemap_is_handed_in_whole(tmp_path: Path) -> None:
    async with (
        Site(settings=SiteSettings(catalog_pages=6)) as site,
        cataloguing(site, tmp_path) as service,
    ):
        body = {"sitemap_url": "http://goods02.test/sitemap.xml", "priority": 2}
        accepted = await post(service, "/admin/tasks", body, 202)
        assert (accepted["origin"], accepted["status"]) == ("sitemap", "reading")
        progress = await over(service, accepted["submission_id"])
    assert (progress["accepted"], progress["tasks"]["completed"]) == (6, 6)


async def test_tasks_are_steered_one_by_one(idle: Service) -> None:
    urls = all_urls(SHOPS[:1], 3)
    await post(idle, "/admin/tasks", {"urls": urls, "priority": 7}, 202)
    task = await task_of(idle, PAGE)
    path = f"/admin/tasks/{task['id']}"
    assert (task["status"], task["priority"]) == ("pending", 7)
    assert (await post(idle, f"{path}/pause"))["is_paused"]
    assert [each["id"] for each in await get(idle, "/admin/tasks", paused=True)] == [task["id"]]
    assert not (await post(idle, f"{path}/resume"))["is_paused"]
    changed = await patch(idle, path, {"priority": 1, "crawl_frequency": 3600})
    assert (changed["priority"], changed["crawl_frequency"]) == (1, 3600)
    assert (await patch(idle, path, {"crawl_frequency": None}))["crawl_frequency"] is None
    await patch(idle, path, {"priority": None}, 422)
    await patch(idle, path, {"parser": "nothing"}, 422)
    for action in ("retry", "recrawl", "reparse"):
        answer = await idle.post(f"{path}/{action}", None)
        assert answer.status_code == 409
        assert "pending" in answer.json()["error"]
    stopped = await post(idle, f"{path}/stop")
    assert (stopped["status"], stopped["failure"]["error_type"]) == ("failed", "stopped")
    assert (await get(idle, "/admin/tasks/counts"))["failed"] == 1
    assert (await post(idle, f"{path}/retry"))["status"] == "pending"
    await get(idle, f"{path}/page", 404)


async def test_many_tasks_are_steered_by_a_filter(idle: Service) -> None:
    accepted = await post(idle, "/admin/tasks", {"urls": all_urls(SHOPS, 3)}, 202)

    async def act(action: str, chosen: dict[str, Any], **more: Any) -> int:
        body = {"action": action, "filter": chosen, **more}
        number: int = (await post(idle, "/admin/tasks/actions", body))["changed"]
        return number

    assert await act("pause", {"domain": "goods02.test"}) == 3
    assert await act("prioritise", {"submission": accepted["submission_id"]}, priority=2) == 9
    assert await act("resume", {"paused": True}) == 3
    assert await act("stop", {"url": "goods03.test/"}) == 3
    assert await act("retry", {"status": "failed"}) == 3
    for wrong in (
        {"action": "pause", "filter": {}},
        {"action": "pause", "filter": {"domain": None}},
        {"action": "prioritise", "filter": {"status": "pending"}},
        {"action": "pause", "filter": {"status": "pending"}, "priority": 1},
        {"action": "stop", "filter": {"status": "pending"}, "accept": True},
    ):
        await post(idle, "/admin/tasks/actions", wrong, 422)
    unknown = {"action": "pause", "filter": {"domain": "nowhere.test"}}
    await post(idle, "/admin/tasks/actions", unknown, 404)


async def test_what_cannot_be_crawled_is_refused_by_field(idle: Service) -> None:
    answer = await idle.post("/admin/tasks", {"urls": ["nonsense", "http://127.0.0.1/"]})
    assert answer.status_code == 422
    fields = [each["field"] for each in answer.json()["meta"]["errors"]]
    assert fields == ["urls.0", "urls.1"]
    assert await get(idle, "/admin/submissions") == []
    wrong: dict[str, Any]
    for wrong in (
        {},
        {"urls": []},
        {"urls": [PAGE], "sitemap_url": PAGE},
        {"urls": [PAGE], "priority": 11},
        {"urls": [PAGE], "parser": "nothing"},
        {"urls": [PAGE], "scheduled_at": 5},
        {"urls": [PAGE], "colour": "red"},
        {"sitemap_url": "http://127.0.0.1/sitemap.xml"},
    ):
        await post(idle, "/admin/tasks", wrong, 422)


async def test_a_page_is_crawled_when_its_time_has_come(idle: Service) -> None:
    at = "2031-03-04T12:00:00.000Z"
    body = {"urls": [PAGE], "scheduled_at": at, "max_retries": 1, "crawl_frequency": 0}
    accepted = await post(idle, "/admin/tasks", body, 202)
    assert accepted["options"]["scheduled_at"] == at
    task = await task_of(idle, PAGE)
    assert (task["scheduled_at"], task["max_retries"]) == (at, 1)
    again = await post(idle, "/admin/tasks", {"urls": [f"{PAGE}?utm_source=x"]}, 202)
    assert (again["accepted"], again["duplicates"]) == (0, 1)


async def test_errors_show_patterns_and_dead_letters_are_revived(service: Service) -> None:
    site, gone = service.site, [OTHER.format(number) for number in (1, 2)]
    for url in gone:
        site.reply("goods02.test", url.removeprefix("http://goods02.test"), Reply(404, "gone"))
    site.reply("goods01.test", "/product/1", Reply(200, "<title>We moved</title>" + "word " * 200))
    progress = await submitted(service, *gone, PAGE)
    assert progress["tasks"]["failed"] == 3

    errors = await get(service, "/admin/errors", domain="goods02.test")
    assert {(each["category"], each["url"]) for each in errors} == {("http", url) for url in gone}
    task = await task_of(service, gone[0])
    [error] = await get(service, "/admin/errors", task_id=task["id"])
    [pattern] = await get(service, "/admin/errors/patterns", domain="goods02.test")
    assert (pattern["errors"], pattern["tasks"]) == (2, 2)
    assert pattern["error_type"] == error["error_type"]
    assert sum(pattern["by_hour"].values()) == 2
    [attempt] = await get(service, f"/admin/tasks/{task['id']}/attempts")
    assert (attempt["kind"], attempt["http_status"]) == ("download", 404)

    dead = await get(service, "/admin/dlq", category="http")
    assert {each["url"] for each in dead} == set(gone)
    assert dead[0]["failure"]["error_type"] == error["error_type"]
    assert await get(service, "/admin/dlq", category="network") == []
    # A page that cannot be read is no dead letter: it may be mended until its next crawl.
    [unread] = await get(service, "/admin/tasks", category="parse", status="failed")
    assert (unread["url"], unread["next_crawl_at"] is not None) == (PAGE, True)
    page = await service.get(f"/admin/tasks/{unread['id']}/page")
    assert b"We moved" in page.content
    assert page.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in page.headers["content-security-policy"]

    await post(service, "/admin/dlq/revive", {}, 422)
    for url in gone:
        Shopkeeper(site).put_back("goods02.test", int(url[-1]))
    revived = await post(service, "/admin/dlq/revive", {"category": "http"})
    assert revived == {"revived": 2}
    for url in gone:
        await until_status(service, url, "completed")
    assert await get(service, "/admin/dlq") == []


async def test_a_kept_page_is_parsed_again_without_being_fetched(service: Service) -> None:
    await submitted(service, PAGE)
    task = await task_of(service, PAGE)
    asked = len(service.site.hits_of("goods01.test", "/product/1"))
    await post(service, f"/admin/tasks/{task['id']}/reparse", {"accept": True})
    await until_status(service, PAGE, "completed")
    attempts = await get(service, f"/admin/tasks/{task['id']}/attempts")
    assert [each["kind"] for each in attempts] == ["parse", "parse", "download"]
    assert len(service.site.hits_of("goods01.test", "/product/1")) == asked
    assert await get(service, "/admin/parsers/shadow", parser="product") == []


async def test_a_frequency_that_is_changed_moves_the_next_crawl(service: Service) -> None:
    await submitted(service, PAGE, crawl_frequency=0)
    task = await task_of(service, PAGE)
    assert task["next_crawl_at"] is None
    edited = await patch(service, f"/admin/tasks/{task['id']}", {"crawl_frequency": 7200})
    assert edited["next_crawl_at"][:10] >= task["completed_at"][:10]
    stopped = await post(service, f"/admin/tasks/{task['id']}/stop")
    assert (stopped["status"], stopped["next_crawl_at"]) == ("completed", None)


async def test_domains_are_added_changed_and_switched(idle: Service) -> None:
    body = {"domain": "http://www.goods01.test/a", "crawl_delay_seconds": 3, "parser": "product"}
    domain = await post(idle, "/admin/domains", body, 201)
    assert (domain["domain_name"], domain["crawl_delay_seconds"]) == ("goods01.test", 3)
    await post(idle, "/admin/domains", body, 409)
    for odd in ("no domain", "*.goods01.test", "goods01.test#here", "http://!/"):
        await post(idle, "/admin/domains", {"domain": odd}, 422)
    edited = await patch(idle, "/admin/domains/goods01.test", {"max_concurrent_requests": 2})
    assert edited["max_concurrent_requests"] == 2
    await patch(idle, "/admin/domains/goods01.test", {"crawl_delay_seconds": None}, 422)
    off = await post(idle, f"/admin/domains/{domain['id']}/deactivate")
    assert not off["is_active"]
    assert await get(idle, "/admin/domains", active=True) == []
    assert (await post(idle, "/admin/domains/goods01.test/activate"))["is_active"]
    await post(idle, "/admin/tasks", {"urls": [PAGE, OTHER.format(1)]}, 202)
    detail = await get(idle, "/admin/domains/goods01.test")
    assert detail["tasks"]["pending"] == 1
    answer = (await idle.get("/admin/domains", limit=1)).json()
    [second] = await get(idle, "/admin/domains", cursor=answer["meta"]["next_cursor"])
    assert second["domain_name"] == "goods02.test"
    await get(idle, "/admin/domains/nowhere.test", 404)


async def test_an_address_is_a_domain_of_its_own(idle: Service) -> None:
    made = await post(idle, "/admin/domains", {"domain": "[2001:db8::7]"}, 201)
    assert (made["domain_name"], made["base_url"]) == ("2001:db8::7", "https://[2001:db8::7]")
    assert (await get(idle, "/admin/domains/2001:db8::7"))["id"] == made["id"]


async def test_lists_come_in_parts(idle: Service) -> None:
    for number in range(1, 4):
        await post(idle, "/admin/tasks", {"urls": [OTHER.format(number)]}, 202)
    for path in ("/admin/tasks", "/admin/submissions"):
        seen: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            answer = (await idle.get(path, limit=2, **cursor)).json()
            seen += [each["id"] for each in answer["data"]]
            if not (place := answer["meta"]["next_cursor"]):
                break
            cursor = {"cursor": place}
        assert len(seen) == len(set(seen)) == 3


async def test_a_search_server_that_is_gone_is_said_to_be(
    idle: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_given: Any) -> None:
        raise SearchLost("nobody answers")

    monkeypatch.setattr(SqlSearch, "search", lost)
    answer = await idle.get("/products/search", q="lamp")
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1


async def test_admins_alone_steer_and_readers_read(idle: Service) -> None:
    keys = Keys(idle.engine.store)
    _, reader = await keys.create("reader", [Scope.READ])
    _, theirs = await keys.create("theirs", [Scope.ADMIN], workspace_id="acme")
    transport = httpx.ASGITransport(idle.api.application)
    async with httpx.AsyncClient(transport=transport, base_url=URL) as http:

        async def status(path: str, key: str) -> int:
            answer = await http.get(f"/api/v1{path}", headers={"X-Service-Key": key})
            return answer.status_code

        for path in ("/admin/tasks", "/admin/domains", "/admin/errors", "/admin/proxies"):
            assert await status(path, reader) == 403
            assert await status(path, theirs) == 403
            assert await status(path, "nobody's") == 401
        assert await status("/products", reader) == 200
        assert await status("/products/search", theirs) == 200
