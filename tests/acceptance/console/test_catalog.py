"""The catalogue in a real browser: pages are handed in, crawled, looked at and steered."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from penstock.app.engine import start_services
from tests.catalog_rows import rows_in
from tests.consoles import XSS, RunningConsole, console_on
from tests.crawling import QUICK
from tests.site import Site

pytestmark = pytest.mark.asyncio(loop_scope="module")

URLS = "http://goods01.test/product/1\nhttp://goods01.test/product/2"
PATIENCE_MS = 30_000
PAGES = (
    *("/catalog", "/catalog/tasks", "/catalog/submit", "/catalog/submissions"),
    *("/catalog/errors", "/catalog/dead", "/catalog/domains"),
    *("/proxies", "/proxies/new", "/proxies/import"),
)


@asynccontextmanager
async def crawling(folder: Path, site: Site) -> AsyncIterator[RunningConsole]:
    """A console beside a crawler that works."""
    catalog: dict[str, Any] = {**QUICK, "retry_seconds": 0.1}
    async with (
        console_on(
            folder, site, works=True, catalog=catalog, console={"refresh_seconds": 0.2}
        ) as console,
        AsyncExitStack() as stack,
    ):
        service = console.service
        await start_services(service.settings, service.platform, service.engine, stack)
        yield console


async def submit(page: Page) -> None:
    """Hand two pages in, and look on until both are over."""
    await page.goto("/console/catalog/submit")
    await page.get_by_label("URLs, one a line").fill(URLS)
    await page.get_by_role("button", name="Submit", exact=True).click()
    await expect(page.get_by_text("2 pages were taken on")).to_be_visible()
    over = page.get_by_text("2 of 2 tasks are over").first
    await expect(over).to_be_visible(timeout=PATIENCE_MS)


async def test_pages_are_submitted_crawled_and_found(tmp_path: Path, site: Site) -> None:
    async with crawling(tmp_path, site) as console, console.browser() as page:
        await submit(page)
        await page.goto("/console/catalog")
        await expect(page.locator("img.thumb").first).to_have_js_property("complete", value=True)
        await page.locator("tbody a").first.click()

        await expect(page.get_by_role("heading", name="Price history")).to_be_visible()
        await expect(page.locator("svg.chart")).to_be_visible()
        picture = page.locator("ul.pictures img").first
        await picture.scroll_into_view_if_needed()
        await expect(picture).to_have_js_property("complete", value=True)
        assert await picture.evaluate("(img) => img.naturalWidth") > 0
        await page.get_by_role("link", name="goods01.test", exact=True).click()
        await page.get_by_label("Seconds between two requests").fill("3")
        await page.get_by_role("button", name="Change").click()
        await expect(page.get_by_text("is crawled as you said")).to_be_visible()
        await page.get_by_role("button", name="Crawl it no more").click()
        await expect(page.get_by_role("status")).to_contain_text("is crawled no more")
        await page.get_by_role("button", name="Crawl it", exact=True).click()
        await expect(page.get_by_role("status")).to_contain_text("is crawled again")


async def test_tasks_are_steered_and_their_pages_downloaded(tmp_path: Path, site: Site) -> None:
    async with crawling(tmp_path, site) as console, console.browser() as page:
        await submit(page)
        await page.goto("/console/catalog/tasks")
        await page.get_by_label("Tick all of this page").check()
        await page.get_by_role("button", name="Pause").click()
        await expect(page.get_by_role("status")).to_have_text("2 tasks were paused")
        await page.locator("tbody a").first.click()
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Download").click()
        kept = (await (await download.value).path()).read_bytes()
        await page.get_by_role("button", name="Resume").click()
        await expect(page.get_by_role("status")).to_have_text("1 task was resumed")
        await page.get_by_role("button", name="Stop").click()
        await expect(page.get_by_role("status")).to_have_text("1 task was stopped")

    assert b"<html" in kept.lower()


async def test_dead_letter_is_revived_without_scripts(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_in(console.service.engine.store)
        failure = {"category": "http", "error_type": "http_500", "message": "?"}
        await rows.task(await rows.site(), status="failed", failure=failure)
        async with console.browser(scripts=False) as page:
            await page.goto("/console/catalog/dead")
            await page.locator('tbody input[name="ids"]').check()
            await page.get_by_role("button", name="Revive what is ticked").click()
            await expect(page.get_by_role("status")).to_have_text("1 dead letter is crawled again")


async def test_proxies_are_added_imported_switched_and_removed(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console, console.browser() as page:
        await page.goto("/console/proxies/new")
        await page.get_by_label("Host").fill("one.example")
        await page.get_by_role("button", name="Add").click()
        await expect(page.get_by_role("status")).to_contain_text("was added")
        await page.get_by_role("button", name="Disable").click()
        await expect(page.get_by_role("status")).to_contain_text("is chosen no more")
        await page.get_by_role("button", name="Remove").click()
        await expect(page.get_by_text("There are no proxies")).to_be_visible()
        await page.goto("/console/proxies/import")
        await page.get_by_label("Proxies, one a line").fill("http://two.example:3128")
        await page.get_by_role("button", name="Import", exact=True).click()
        await expect(page.get_by_role("status")).to_contain_text("1 proxies were added")


async def test_nothing_that_was_scraped_runs(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_in(console.service.engine.store)
        bad, shop = " ".join(XSS), await rows.site()
        failure = {"category": "http", "error_type": bad, "message": bad}
        said: dict[str, Any] = {"error_message": bad, "failure": failure, "created_by": bad}
        task = await rows.task(shop, status="failed", url=f"https://shop.example/{bad}", **said)
        product = await rows.product(
            shop, task, title=bad, brand=bad, description=bad, url="javascript:alert(1)"
        )
        await rows.attempt(task, error_type=bad, error_message=bad)
        await rows.error(task, domain_id=shop.id, error_type=bad, error_message=bad)
        submission = await rows.submission(task, origin_name=bad, error=bad)
        ones = (f"products/{product}", f"tasks/{task}", f"submissions/{submission}")
        async with console.browser() as page:
            for path in (*PAGES, *(f"/catalog/{each}" for each in ones)):
                await page.goto(f"/console{path}")
                await expect(page.locator("h1")).to_have_count(1)
