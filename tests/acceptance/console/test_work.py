"""Scrape, stream, events and settings in a real browser."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Page, expect
from sqlalchemy import Update, update

from penstock.events.ports import Message
from penstock.events.tables import deliveries
from penstock.queue.ports import Bury, State
from penstock.queue.upkeep import Upkeep
from penstock.workloads.scrape.tables import scrape_jobs, scrape_tasks
from tests.consoles import XSS, RunningConsole, console_on
from tests.services import claim, end, wanted
from tests.site import Site

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUICK = {"refresh_seconds": 0.2}
PAGE = "http://shop01.test/product/1"
EVERYTHING = " ".join(XSS)


async def test_a_page_is_scraped_from_the_form_to_the_download(tmp_path: Path, site: Site) -> None:
    async with (
        console_on(tmp_path, site, works=True, console=QUICK) as console,
        console.browser() as page,
    ):
        await page.goto("/console/scrape/new")
        await page.get_by_label("URLs").fill(PAGE)
        await page.get_by_label("What is wanted").select_option("page")
        await page.get_by_label("markdown").check()
        await page.get_by_role("button", name="Scrape").click()
        await expect(page.get_by_text("The task is taken on")).to_be_visible()

        # Without a reload: the page follows the task.
        await expect(page.get_by_role("heading", name="Result")).to_be_visible()
        async with page.expect_download() as download:
            await page.get_by_role("link", name="markdown").click()
        file = await download.value

        assert file.suggested_filename.endswith(".md")
        await file.save_as(tmp_path / "page.md")
        assert b"Brightwell Lamp" in await asyncio.to_thread((tmp_path / "page.md").read_bytes)


async def test_a_job_is_followed_and_cancelled(tmp_path: Path, site: Site) -> None:
    async with (
        console_on(tmp_path, site, console=QUICK) as console,
        console.browser() as page,
    ):
        await page.goto("/console/scrape/new")
        await page.get_by_label("URLs").fill(f"{PAGE}\n{PAGE}2\n{PAGE}3")
        await page.get_by_label("What is wanted").select_option("page")
        await page.get_by_role("button", name="Scrape").click()
        await expect(page.get_by_text("0 completed, 0 failed, of 3")).to_be_visible()

        first = (await console.service.tasks())[0]["task_id"]
        await end(console.service, await claim(console.service, [first]))
        await expect(page.get_by_text("1 completed, 0 failed, of 3")).to_be_visible()
        await page.get_by_role("button", name="Cancel this job").click()

        await expect(page.get_by_text("1 completed, 2 failed, of 3")).to_be_visible()
        await page.goto("/console/scrape/jobs")
        await expect(page.locator("td .badge", has_text="cancelled")).to_be_visible()


async def test_a_wrong_form_says_so_at_the_field(tmp_path: Path, site: Site) -> None:
    async with (
        console_on(tmp_path, site) as console,
        console.browser(allowed=[422]) as page,
    ):
        await page.goto("/console/scrape/new")
        await page.get_by_label("URLs").fill("ftp://shop01.test/")
        await page.get_by_role("button", name="Scrape").click()

        await expect(page.get_by_label("URLs")).to_have_attribute("aria-invalid", "true")
        await expect(page.get_by_label("URLs")).to_have_value("ftp://shop01.test/")


async def test_parked_webhooks_are_sent_again(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console, console.browser() as page:
        await _park_webhooks(console)
        await page.goto("/console/scrape/webhooks")
        await page.get_by_label("Choose all of this page").check()
        await expect(page.locator("input[name=id]:checked")).to_have_count(2)

        await page.locator("input[name=id]").first.uncheck()
        await page.get_by_role("button", name="Send chosen ones again").click()
        await expect(page.get_by_text("1 will be sent again")).to_be_visible()
        await page.get_by_role("button", name="Send all parked ones again").click()

        await expect(page.get_by_text("No webhook is parked")).to_be_visible()


async def test_urls_are_pushed_and_dead_letters_revived(tmp_path: Path, site: Site) -> None:
    async with (
        console_on(tmp_path, site, console=QUICK) as console,
        console.browser() as page,
    ):
        await page.goto("/console/stream")
        await page.get_by_label("URLs").fill("\n".join(f"{PAGE}{n}" for n in range(4)))
        await page.get_by_role("button", name="Push").click()
        await expect(page.get_by_text("4 URLs wait to be fetched")).to_be_visible()
        await _bury(console, "http_404")

        await page.get_by_role("link", name="Dead letters").click()
        await page.get_by_role("button", name="Revive", exact=True).first.click()
        await expect(page.get_by_text("1 wait again")).to_be_visible()
        await page.locator("input[name=url][type=checkbox]").first.check()
        await page.get_by_role("button", name="Forget chosen ones").click()
        await expect(page.get_by_text("1 are forgotten")).to_be_visible()
        await page.locator("input[name=url][type=checkbox]").first.check()
        await page.get_by_role("button", name="Revive chosen ones").click()
        await expect(page.get_by_text("1 wait again")).to_be_visible()
        await page.get_by_role("button", name="Revive all").click()

        await expect(page.get_by_text("There is no such dead letter")).to_be_visible()
        assert len(await _waiting(console)) == 3


async def test_events_come_as_they_happen(tmp_path: Path, site: Site) -> None:
    async with (
        console_on(tmp_path, site, console=QUICK) as console,
        console.browser() as page,
    ):
        await page.goto("/console/events")
        await expect(page.get_by_text("There is no such event")).to_be_visible()

        await _tell(console, Message("1", "price.changed", "a product", {"price": "9.99"}))

        await page.get_by_role("link", name="1", exact=True).click()
        await expect(page.get_by_text('"price": "9.99"')).to_be_visible()


async def test_settings_are_searched(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console, console.browser() as page:
        await page.goto("/console/settings")
        await page.get_by_label("Search").fill("refresh")
        await page.get_by_role("button", name="Search").click()

        await expect(page.get_by_text("PENSTOCK_CONSOLE__REFRESH_SECONDS")).to_be_visible()


async def test_everything_works_without_scripts(tmp_path: Path, site: Site) -> None:
    async with (
        console_on(tmp_path, site) as console,
        console.browser(scripts=False) as page,
    ):
        task_id = await console.service.submit(PAGE)
        await page.goto(f"/console/scrape/tasks/{task_id}")

        await page.get_by_role("button", name="Cancel this task").click()

        await expect(page.get_by_text("The task is cancelled")).to_be_visible()


async def test_nothing_that_was_written_elsewhere_runs(tmp_path: Path, site: Site) -> None:
    async with (
        console_on(tmp_path, site, console=QUICK) as console,
        console.browser() as page,
    ):
        job_id = await console.service.submit_batch([wanted(PAGE)], callback_url=PAGE)
        task_id = (await console.service.tasks())[0]["task_id"]
        await end(console.service, await claim(console.service, [task_id]))
        text = EVERYTHING
        task = {"target_url": text, "error": text, "result": {text: text}, "workspace_id": text}
        for statement in (
            update(scrape_tasks).values(task),
            update(scrape_jobs).values(workspace_id=text, callback_url=text),
            update(deliveries).values(state="parked", error=text),
        ):
            await _write(console, statement)
        await _tell(console, Message("x", text, text, {"status": text, text: text}, text))
        await console.post("/stream/push", urls="\n".join(f"{PAGE}?{n}" for n in range(2)))
        await _bury(console, text)

        for path in (
            "/scrape",
            "/scrape/jobs",
            f"/scrape/jobs/{job_id}",
            f"/scrape/tasks/{task_id}",
            "/scrape/webhooks",
            "/stream/dead",
            "/events",
            "/events/deliveries",
        ):
            await _look(page, path)
        await page.goto("/console/events")
        await page.locator("tbody th a").first.click()
        await expect(page.locator("pre")).to_contain_text("<script>alert(1)</script>")


async def _look(page: Page, path: str) -> None:
    await page.goto(f"/console{path}")
    await expect(page.get_by_text("<svg onload=alert(1)>").first).to_be_visible()


async def _write(console: RunningConsole, statement: Update) -> None:
    await console.service.engine.store.write(lambda unit: unit.run(statement) and None)


async def _waiting(console: RunningConsole) -> list[str]:
    found = await Upkeep(console.service.engine.store).items(lane="stream", state=State.WAITING)
    return [row["id"] for row in found]


async def _bury(console: RunningConsole, reason: str) -> None:
    failure = {"kind": "url_specific", "reason": reason, "detail": reason, "status": 404}
    claims = await claim(console.service, await _waiting(console))
    await console.service.engine.rows.settle([(each, Bury(failure)) for each in claims])


async def _tell(console: RunningConsole, message: Message) -> None:
    engine = console.service.engine
    await engine.store.write(lambda unit: engine.log.append(unit, [message]))


async def _park_webhooks(console: RunningConsole) -> None:
    for number in range(2):
        task_id = await console.service.submit(f"{PAGE}{number}", callback_url=PAGE)
        await end(console.service, await claim(console.service, [task_id]))
    await _write(console, update(deliveries).values(state="parked", error="no answer"))
