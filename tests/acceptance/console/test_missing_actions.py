"""What people do now and then in a real browser, and what they see when something is broken."""

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Locator, Page, expect
from sqlalchemy import insert

from penstock.app.engine import start_services
from penstock.app.webhooks import open_webhooks
from penstock.events.ports import Message
from penstock.events.tables import deliveries
from penstock.workloads.live.service import LiveService
from tests.browsers import Place
from tests.catalog_rows import rows_in
from tests.consoles import RunningConsole, console_on
from tests.crawling import QUICK
from tests.lamps import PAGE
from tests.monitor_pages import lamp_console
from tests.platforms import policies
from tests.shell import eventually
from tests.site import Hit, Reply, Site

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE_MS = 30_000
SOON = {"refresh_seconds": 0.2}
SHOP, PRODUCT = "goods01.test", "/product/1"
RECEIVER, HOOK = "backend.test", "/hooks"
FEED = "http://live01.test/match/6/plain?every=0.1"
DETAIL = "the password is hunter2"


@asynccontextmanager
async def at_work(
    folder: Path, site: Site, **sections: Mapping[str, Any]
) -> AsyncIterator[RunningConsole]:
    """A console of a process that does everything: crawls, schedules, delivers."""
    catalog = {**QUICK, "retry_seconds": 0.1}
    async with (
        console_on(folder, site, works=True, catalog=catalog, console=SOON, **sections) as console,
        AsyncExitStack() as stack,
    ):
        service, engine = console.service, console.service.engine
        await start_services(service.settings, service.platform, engine, stack)
        await stack.enter_async_context(
            open_webhooks(service.settings, service.platform, engine.store, engine.heartbeat)
        )
        yield console


async def press(page: Page, name: str) -> None:
    """Press the button of a name, and wait for the page that follows."""
    async with page.expect_navigation():
        await page.get_by_role("button", name=name, exact=True).click()


async def downloaded(page: Page, link: Locator) -> bytes:
    """What a link leads to, kept as a file."""
    async with page.expect_download() as begun:
        await link.click()
    return (await (await begun.value).path()).read_bytes()


def said(page: Page) -> Locator:
    """The note of a page."""
    return page.get_by_role("status")


# ── webhooks and deliveries


async def test_the_one_webhook_that_was_chosen_is_received_again(
    tmp_path: Path, site: Site
) -> None:
    site.reply(RECEIVER, HOOK, Reply(503))
    hook = f"http://{RECEIVER}{HOOK}"
    async with (
        at_work(tmp_path, site, notify={"retries": 0}) as console,
        console.browser() as page,
    ):
        ids = [
            await console.service.submit(f"http://shop01.test/product/{n}", callback_url=hook)
            for n in (1, 2)
        ]
        await eventually(lambda: len(site.hits_of(RECEIVER)) == 2)
        await _parked(page, 2)
        site.reply(RECEIVER, HOOK, Reply(200))

        await page.get_by_label(f"Choose {ids[0]}").check()
        await press(page, "Send chosen ones again")

        await expect(said(page)).to_have_text("1 will be sent again")
        await eventually(lambda: len(site.hits_of(RECEIVER)) == 3)
        await _parked(page, 1)
        again = [hit.headers["X-Webhook-Id"] for hit in site.hits_of(RECEIVER)]
        assert again.count(again[-1]) == 2
        await expect(page.get_by_label(f"Choose {ids[1]}")).to_be_visible()


async def test_events_of_one_sink_are_delivered_again_and_others_stay_parked(
    tmp_path: Path, site: Site
) -> None:
    async with console_on(tmp_path, site, console=SOON) as console, console.browser() as page:
        engine = console.service.engine
        message = Message("1", "price.changed", "a product", {"price": "9.99"})
        await engine.store.write(lambda unit: engine.log.append(unit, [message]))
        for sink in ("kafka", "file"):
            row = {"sink": sink, "seq": 1, "key": "a product", "state": "parked"}
            await _write(console, row | {"attempts": 9, "next_at": 0, "error": "no answer"})
        await page.goto("/console/events/deliveries")

        await press(page, "Deliver again to kafka")

        await expect(said(page)).to_have_text("1 events will be delivered again")
        await expect(page.get_by_role("row", name="kafka waiting")).to_be_visible()
        await expect(page.get_by_role("button", name="Deliver again to file")).to_be_visible()
        await page.goto("/console/audit")
        await expect(page.get_by_role("row", name="retry deliveries")).to_contain_text("kafka")


async def _parked(page: Page, number: int) -> None:
    async def are_shown() -> bool:
        await page.goto("/console/scrape/webhooks?state=parked")
        return await page.locator("input[name=id]").count() == number

    await eventually(are_shown)


async def _write(console: RunningConsole, row: Mapping[str, Any]) -> None:
    await console.service.engine.store.write(
        lambda unit: unit.run(insert(deliveries), row) and None
    )


# ── downloads


async def test_screenshot_of_a_task_is_downloaded(
    tmp_path: Path, site: Site, browsers: Place
) -> None:
    async with (
        console_on(tmp_path, site, works=True, browser=browsers.settings()) as console,
        console.browser() as page,
    ):
        task_id = await console.service.submit(
            "http://lazy.test/product/1", "page", formats=["screenshot"]
        )
        await console.service.finished(task_id)
        await page.goto(f"/console/scrape/tasks/{task_id}")

        picture = await downloaded(page, page.get_by_role("link", name="screenshot"))

        assert picture.startswith(b"\x89PNG")
        assert page.url.endswith(task_id)


async def test_stored_page_of_a_target_is_downloaded(tmp_path: Path, site: Site) -> None:
    async with lamp_console(tmp_path, site) as shop, shop.console.browser() as page:
        await page.goto(f"/console/monitor/targets/{shop.lamp}")
        result = page.get_by_role("table", name="The newest 1 results")

        kept = await downloaded(page, result.get_by_role("link", name="download"))

        assert kept.decode() == PAGE.format(1, "price", 1)


# ── proxies


async def test_proxy_that_answers_is_tested_disabled_enabled_and_removed(
    tmp_path: Path, site: Site
) -> None:
    async with console_on(tmp_path, site) as console, console.browser() as page:
        with socket.create_server(("127.0.0.1", 0)) as proxy:
            port = proxy.getsockname()[1]
            name = f"http://127.0.0.1:{port}"
            await page.goto("/console/proxies/new")
            await page.get_by_label("Host").fill("127.0.0.1")
            await page.get_by_label("Port").fill(str(port))
            await press(page, "Add")
            await press(page, "Test")
            await expect(said(page)).to_have_text(f"{name} accepts connections")
            proxy.settimeout(1)
            proxy.accept()[0].close()
        await press(page, "Test")
        await expect(said(page)).to_contain_text("does not accept connections")
        await expect(page.locator("td .badge", has_text="failing")).to_be_visible()
        await press(page, "Disable")
        await expect(page.locator("td .badge", has_text="disabled")).to_be_visible()
        await press(page, "Enable")
        await expect(said(page)).to_have_text(f"{name} is chosen again, within seconds")
        await expect(page.locator("td .badge", has_text="enabled")).to_be_visible()
        await press(page, "Remove")
        await expect(said(page)).to_have_text(f"{name} was removed")
        await expect(page.get_by_text("There are no proxies")).to_be_visible()


# ── crawl tasks


async def test_crawl_task_is_retried_and_crawled_again(tmp_path: Path, site: Site) -> None:
    good = await _page_of(site)
    site.reply(SHOP, PRODUCT, Reply(404), Reply(200, good))
    async with at_work(tmp_path, site) as console, console.browser() as page:
        await _open_task(page, "failed")
        await press(page, "Retry")
        await expect(said(page)).to_have_text("1 task was tried again")
        # Without a reload: the page follows the task.
        await _is_shown(page, "completed")
        assert len(_crawls(site)) == 2

        await press(page, "Retry")
        await expect(said(page)).to_contain_text("No task that was meant is one for this")
        await press(page, "Crawl again now")
        await expect(said(page)).to_have_text("1 task was crawled again")
        await eventually(lambda: len(_crawls(site)) == 3)
        await _is_shown(page, "completed")


async def test_crawl_task_waits_while_it_is_paused_and_is_crawled_when_resumed(
    tmp_path: Path, site: Site
) -> None:
    async with at_work(tmp_path, site) as console, console.browser() as page:
        await _open_task(page, "completed")
        await press(page, "Pause")
        await expect(said(page)).to_have_text("1 task was paused")
        await press(page, "Crawl again now")
        await _is_shown(page, "pending")
        await expect(page.locator("#live .badge", has_text="paused")).to_be_visible()
        assert len(_crawls(site)) == 1

        await press(page, "Resume")
        await expect(said(page)).to_have_text("1 task was resumed")
        await _is_shown(page, "completed")
        assert len(_crawls(site)) == 2


async def test_crawl_tasks_are_given_another_priority(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console, console.browser() as page:
        rows = await rows_in(console.service.engine.store)
        shop = await rows.site()
        first, other = [await rows.task(shop, status="pending") for _ in range(2)]
        await page.goto("/console/catalog/tasks")
        await page.locator(f'input[name="ids"][value="{first}"]').check()
        await page.get_by_label("New priority").select_option("1")

        await press(page, "Set the priority")

        await expect(said(page)).to_have_text("1 task was given another priority")
        for task, priority in ((first, 1), (other, 5)):
            await page.goto(f"/console/catalog/tasks/{task}")
            await expect(page.locator("#live")).to_contain_text(f"{priority} (1 goes first")


async def _open_task(page: Page, status: str) -> None:
    """Hand one page in, and look at its task until it has come to a status."""
    await page.goto("/console/catalog/submit")
    await page.get_by_label("URLs, one a line").fill(f"http://{SHOP}{PRODUCT}")
    await press(page, "Submit")
    await page.goto("/console/catalog/tasks")
    await page.locator("tbody a").first.click()
    await _is_shown(page, status)


async def _is_shown(page: Page, status: str) -> None:
    badge = page.locator("#live > p .badge").first
    await expect(badge).to_have_text(status, timeout=PATIENCE_MS)


async def _page_of(site: Site) -> str:
    async with httpx.AsyncClient() as http:
        page = await http.get(f"http://{site.address}{PRODUCT}", headers={"Host": SHOP})
    site.hits.clear()
    return page.text


def _crawls(site: Site) -> list[Hit]:
    return site.hits_of(SHOP, PRODUCT)


# ── when something is broken


async def test_search_that_is_lost_is_said_and_products_are_still_listed(
    tmp_path: Path, site: Site
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
    async with (
        console_on(tmp_path, site, search={"url": nobody}) as console,
        console.browser() as page,
    ):
        rows = await rows_in(console.service.engine.store)
        shop = await rows.site()
        await rows.product(shop, await rows.task(shop), title="Brass lamp")
        await page.goto("/console/catalog")
        await expect(page.locator("tbody")).to_contain_text("Brass lamp")
        await page.get_by_label("Search", exact=True).fill("brass")
        await press(page, "Search")

        await expect(page.get_by_role("alert")).to_contain_text("The search does not answer")
        await expect(page.get_by_label("Search", exact=True)).to_have_value("brass")
        assert "No product fits" not in await page.content()


async def test_feed_that_has_no_memory_is_kept_and_that_is_said(tmp_path: Path, site: Site) -> None:
    async with AsyncExitStack() as stack:
        console = await stack.enter_async_context(
            console_on(
                tmp_path,
                site,
                live={"min_free_memory_mb": 10**9},
                policies=policies(tmp_path, live01_test={"request_delay_ms": 0}),
            )
        )
        engine = console.service.engine
        supervision = await engine.living.watch(
            lambda: engine.heartbeat.id, engine.supervisor, stack
        )
        stack.push_async_callback(supervision.stop)
        async with console.browser() as page:
            await page.goto("/console/live/start")
            await page.get_by_label("URL", exact=True).fill(FEED)
            await page.get_by_label("Id", exact=True).fill("final")
            await page.get_by_label("Adapter", exact=True).select_option("cricket-html")
            await press(page, "Watch")

            await expect(said(page)).to_contain_text("memory is short")
            await expect(said(page)).to_contain_text("feed final is kept and started later")
            await expect(page.get_by_role("row", name="final")).to_contain_text("waiting")


async def test_fault_of_ours_is_a_page_that_tells_nothing_but_that(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_given: object, **_more: object) -> None:
        raise RuntimeError(DETAIL)

    monkeypatch.setattr(LiveService, "ages", fail)
    async with (
        console_on(tmp_path, site) as console,
        console.browser(allowed=[500]) as page,
    ):
        answer = await page.goto("/console/live")
        assert answer is not None
        assert answer.status == 500
        await expect(page.get_by_role("heading")).to_have_text(
            "Something went wrong on our side: the log says what"
        )
        assert DETAIL not in await page.content()
        assert "RuntimeError" not in await page.content()
        await page.get_by_role("link", name="Go to the overview").click()
        await expect(page.get_by_role("heading", name="Overview")).to_be_visible()
