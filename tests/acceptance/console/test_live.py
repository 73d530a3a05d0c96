"""Live pages in a real browser: started with a form, seen to change by themselves, and stopped."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.consoles import XSS, RunningConsole, console_on
from tests.live_rows import LiveRows, look, update
from tests.platforms import policies
from tests.site import Site

pytestmark = pytest.mark.asyncio(loop_scope="module")

URL = "http://live01.test/match/6/plain?every=0.1"
AT_ONCE = {"tokens_per_interval": 100, "interval_seconds": 1, "request_delay_ms": 0}
QUICK = {"polling_interval_seconds": 0.2, "enable_adaptive_polling": False}
PATIENCE_MS = 30_000


@asynccontextmanager
async def watching(folder: Path, site: Site) -> AsyncIterator[RunningConsole]:
    """A console of a process that watches feeds."""
    async with AsyncExitStack() as stack:
        console = await stack.enter_async_context(
            console_on(
                folder,
                site,
                live=QUICK,
                policies=policies(folder, live01_test=AT_ONCE),
                console={"refresh_seconds": 0.2},
            )
        )
        engine = console.service.engine
        supervision = await engine.living.watch(
            lambda: engine.heartbeat.id, engine.supervisor, stack
        )
        stack.push_async_callback(supervision.stop)
        yield console


async def test_feed_is_started_followed_stopped_and_removed(tmp_path: Path, site: Site) -> None:
    async with watching(tmp_path, site) as console, console.browser() as page:
        await page.goto("/console/live/start")
        await page.get_by_label("URL", exact=True).fill(URL)
        await page.get_by_label("Id", exact=True).fill("final")
        await page.get_by_label("Adapter", exact=True).select_option("cricket-html")
        await page.get_by_role("button", name="Watch", exact=True).click()
        await expect(page.get_by_text("Feed final is watched from now on")).to_be_visible()
        # Without a reload: the page is kept up to date.
        second = page.locator("#live td.number", has_text="2").first
        await expect(second).to_be_visible(timeout=PATIENCE_MS)
        await expect(page.locator("#live")).to_contain_text("Circuit breaker")
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Download all of it as JSON").click()
        assert (await download.value).suggested_filename == "final.json"
        await page.goto("/console/live")
        await expect(page.locator("#live")).to_contain_text("1 of 1")
        await page.get_by_role("button", name="Stop").click()
        await expect(page.get_by_role("status")).to_have_text("Feed final is watched no longer")
        await page.get_by_role("button", name="Start again").click()
        await expect(page.get_by_role("status")).to_contain_text("is watched by a new scraper")
        await page.get_by_role("button", name="Remove").click()
        await expect(page.get_by_text("No page is watched yet.")).to_be_visible()


async def test_error_is_settled_and_its_page_downloaded(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = LiveRows(console.service.engine.store)
        await rows.watch()
        snapshot = await console.service.engine.blobs.put(b"<script>alert(1)</script>")
        await rows.error(message="no score", snapshot=snapshot)
        async with console.browser(scripts=False) as page:
            await page.goto("/console/live/errors")
            async with page.expect_download() as download:
                await page.get_by_role("link", name="HTML").click()
            kept = (await (await download.value).path()).read_bytes()
            await page.get_by_role("button", name="Settle").click()
            await expect(page.get_by_role("status")).to_have_text("The error is settled")

    assert kept == b"<script>alert(1)</script>"


async def test_nothing_that_pages_say_runs(tmp_path: Path, site: Site) -> None:
    bad = " ".join(XSS)
    async with console_on(tmp_path, site, console={"refresh_seconds": 0.1}) as console:
        rows = LiveRows(console.service.engine.store)
        await rows.watch()
        now = await rows.now()
        await rows.write(update(1, payload={bad: bad}, state=bad, scraped_at=now))
        await rows.note(look(at=now))
        await rows.error(message=bad, operation=bad[:100])
        await rows.put("other", url="javascript:alert(1)", options={bad: bad})
        async with console.browser() as page:
            for path in ("", "/start", "/errors", "/feeds/other", "/start?feed=other"):
                await page.goto(f"/console/live{path}")
                await expect(page.locator("h1")).to_have_count(1)
            await page.goto("/console/live/feeds/m")
            # What comes over the stream is put into the page as well.
            await rows.write(update(2, payload={bad: f"changed {bad}"}, state=bad, scraped_at=now))
            await expect(page.locator("#live")).to_contain_text("changed <script>")
