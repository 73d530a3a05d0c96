"""The overview in a real browser: live, and with switches that work."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from penstock.kernel.model import Pass
from penstock.store.switches import StoredSwitches
from tests.consoles import XSS, console_on
from tests.site import Site

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUICK = {"refresh_seconds": 0.2}


async def test_overview_keeps_itself_up_to_date(tmp_path: Path, site: Site) -> None:
    async with (
        console_on(tmp_path, site, console=QUICK) as console,
        console.browser() as page,
    ):
        await page.goto("/console")
        await expect(page.get_by_text("Nothing waits and nothing is under way")).to_be_visible()

        await console.service.submit("http://shop01.test/product/1")

        row = page.get_by_role("row", name="scrape")
        await expect(row.first).to_be_visible()
        await page.get_by_role("link", name="scrape", exact=True).click()
        await expect(page.get_by_role("link", name="http://shop01.test/product/1")).to_be_visible()


async def test_everything_and_one_domain_are_paused_and_resumed(tmp_path: Path, site: Site) -> None:
    async with (
        console_on(tmp_path, site, console=QUICK) as console,
        console.browser() as page,
    ):
        switches = StoredSwitches(console.service.engine.store)
        await page.goto("/console")
        await page.get_by_label("Domain").fill("www.shop01.test")
        await page.get_by_role("button", name="Pause this domain").click()
        await expect(page.get_by_text("shop01.test is paused").first).to_be_visible()
        assert await switches.paused() == {"shop01.test": ""}

        await page.get_by_role("button", name="Pause everything").click()
        await expect(page.get_by_text("All contact is paused").first).to_be_visible()
        assert set(await switches.paused()) == {"", "shop01.test"}

        for name in ("everything", "shop01.test"):
            await page.get_by_role("button", name=f"Resume {name}").click()
            await expect(page.get_by_text("goes on")).to_be_visible()
        assert await switches.paused() == {}


async def test_trouble_is_seen_as_it_comes_and_runs_nothing(tmp_path: Path, site: Site) -> None:
    async with (
        console_on(tmp_path, site, console=QUICK) as console,
        console.browser() as page,
    ):
        await page.goto("/console")
        platform = console.service.platform
        for text in XSS:
            await platform.pacing.slow_down(text, 300)
            await StoredSwitches(console.service.engine.store).pause(text, text)
            breaker = platform.circuits.common.breaker
            for _ in range(30):
                leave = await breaker.enter(text)
                if isinstance(leave, Pass):
                    await breaker.report(leave, well=False)

        await expect(page.get_by_text(f"and {len(XSS) - 5} more").first).to_be_visible()
        await page.reload()
        await expect(page.get_by_role("button", name="Resume").first).to_be_visible()
