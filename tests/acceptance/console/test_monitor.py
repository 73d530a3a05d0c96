"""The monitor in a real browser: its pages load, its buttons work, and nothing foreign runs."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.consoles import XSS, assert_harmless, text_of
from tests.lamps import HOST, show
from tests.monitor_pages import LAMP, Shop, lamp_console, odd_places
from tests.site import Site

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = "/console/monitor"
#: A page says several of them: so many pages are not needed.
AT_ONCE = 6


@pytest_asyncio.fixture(loop_scope="module")
async def shop(tmp_path: Path, site: Site) -> AsyncIterator[Shop]:
    async with lamp_console(tmp_path, site) as shop:
        yield shop


async def places(shop: Shop) -> list[str]:
    """Every page of the monitor, with something to show on each."""
    offer = await shop.offer()
    [price, *_] = await shop.ask("/prices", target_id=shop.lamp)
    [run, *_] = await shop.ask("/runs")
    why = await shop.ask(f"/targets/{shop.lamp}/why")
    names = ("targets", "targets/new", "import", "runs", "runs/new", "adapters", "quarantine")
    return [
        ROOT,
        *(f"{ROOT}/{name}" for name in (*names, "sources", "sources/new")),
        f"{ROOT}/targets/{shop.lamp}",
        f"{ROOT}/results/{why['last']['id']}",
        f"{ROOT}/runs/{run['id']}",
        f"{ROOT}/adapters/one?id=lamps",
        f"{ROOT}/quarantine/{offer}",
        f"{ROOT}/sources/{shop.source}",
        f"{ROOT}/prices/{price['price_id']}",
    ]


async def press(page: Page, name: str) -> None:
    """Press the first button of a name, and wait for the page that follows."""
    async with page.expect_navigation():
        await page.get_by_role("button", name=name, exact=True).first.click()


async def test_every_page_loads_without_a_complaint(shop: Shop) -> None:
    paths = await places(shop)
    async with shop.console.browser() as page:
        for path in paths:
            answer = await page.goto(path)
            assert answer is not None
            assert answer.status == 200
            await expect(page.locator("h1")).to_have_count(1)
    async with shop.console.browser(scripts=False, width=390) as page:
        for path in paths:
            await page.goto(path)
            await expect(page.locator("h1")).to_have_count(1)


async def test_a_shop_is_set_up_read_and_judged_by_hand(shop: Shop) -> None:
    async with shop.console.browser() as page:
        await page.goto(f"{ROOT}/sources/new")
        await page.get_by_label("Name").fill("Second")
        await page.get_by_label("Domain").fill(HOST)
        await page.get_by_label("Retailer").fill("Somebody")
        await press(page, "Add the source")
        await press(page, "Approve the terms")
        await expect(page.locator("main")).to_contain_text("accepted by service")
        await page.goto(f"{ROOT}/targets/new")
        await page.get_by_label("Address").fill(LAMP)
        await page.get_by_label("Source").fill("Second")
        await press(page, "Add the target")
        await page.get_by_label("Notes").fill("looked at by hand")
        await press(page, "Save")
        await expect(page.locator("#live")).to_contain_text("looked at by hand")
        await press(page, "Read it now")
        await expect(page.locator("#live")).to_contain_text("success")
        await press(page, "Block")
        await expect(page.locator("#live")).to_contain_text("blocked")
        await press(page, "Take the block back")
        await press(page, "Remove")
        await expect(page.locator("main")).to_contain_text("disabled, and kept")


async def test_targets_are_ticked_and_changed_together(shop: Shop) -> None:
    async with shop.console.browser() as page:
        await page.goto(f"{ROOT}/targets?order=oldest")
        await page.get_by_label("Tick all on this page").check()
        await press(page, "Pause")
        await expect(page.get_by_role("status")).to_contain_text("3 of 3 targets: paused")
        assert page.url.endswith("order=oldest")
    assert {row["status"] for row in await shop.ask("/targets")} == {"PAUSED"}


async def test_a_file_is_uploaded_looked_at_and_imported(shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "more.csv"
    file.write_text(f"url,notes\nhttp://{HOST}/product/7,seven\nodd,eight\n")
    async with shop.console.browser(allowed=[422]) as page:
        await page.goto(f"{ROOT}/import")
        await page.get_by_label("A file in UTF-8").set_input_files(file)
        await press(page, "Preview")
        await expect(page.locator("main")).to_contain_text("not an absolute URL")
        text = page.get_by_label("Or its text")
        await text.fill((await text.input_value()).replace("odd", f"http://{HOST}/product/8"))
        await press(page, "Preview")
        await press(page, "Import 2 targets")
        await expect(page.get_by_role("status")).to_contain_text("2 targets were added")
        await page.goto(f"{ROOT}/targets")
        async with page.expect_download() as begun:
            await page.get_by_role("link", name="CSV").click()
        saved = await (await begun.value).path()
        assert saved.read_text().count(HOST) == 5


async def test_runs_are_started_and_tried_again(shop: Shop) -> None:
    async with shop.console.browser() as page:
        await page.goto(f"{ROOT}/runs/new")
        await page.get_by_label("Source").fill("Lamps")
        await press(page, "Start the run")
        await expect(page.locator("#live")).to_contain_text("3 of 3")
        show(shop.site, "amount")
        run = await shop.read()
        await page.goto(f"{ROOT}/runs/{run['id']}?ended=failed")
        await expect(page.locator("#live")).to_contain_text("selector not found")
        await press(page, "Read again what failed")
        await expect(page.locator("#live")).to_contain_text("retry")


async def test_an_adapter_is_stopped_and_let_go_on(shop: Shop) -> None:
    async with shop.console.browser() as page:
        await page.goto(f"{ROOT}/adapters")
        await page.get_by_role("link", name="lamps", exact=True).click()
        await page.get_by_label("Reason").select_option("ToS_VIOLATION")
        await press(page, "Disable")
        await expect(page.locator("main")).to_contain_text("tos violation")
        await press(page, "Enable with a canary")
        await expect(page.locator("main")).to_contain_text("canary next")


async def test_an_offer_is_released_and_its_price_corrected(shop: Shop) -> None:
    await shop.offer()
    async with shop.console.browser() as page:
        await page.goto(f"{ROOT}/quarantine")
        await page.get_by_role("link", name="Lamp 1").click()
        await page.get_by_label("Reason").fill("it is a better lamp")
        await press(page, "Release it as a price")
        await expect(page.locator("main")).to_contain_text("released by service")
        await page.get_by_role("link", name="the price").click()
        await page.get_by_label("Reason").fill("no, it is not")
        await press(page, "Hide the price")
        await press(page, "Revoke")
        await expect(page.get_by_role("status")).to_contain_text("counts again")


async def test_a_stored_page_is_a_download_and_never_shown(shop: Shop) -> None:
    async with shop.console.browser() as page:
        await page.goto(f"{ROOT}/targets/{shop.lamp}")
        async with page.expect_download() as begun:
            await page.get_by_role("link", name="download").first.click()
        assert "Lamp 1" in (await (await begun.value).path()).read_text()


async def test_strings_of_pages_and_people_are_text(shop: Shop) -> None:
    texts = ["\n".join(XSS[start : start + AT_ONCE]) for start in range(0, len(XSS), AT_ONCE)]
    paths = await odd_places(shop, texts)
    for path in paths:
        answer = await shop.console.get(path)
        assert answer.status_code == 200
        assert_harmless(answer)
    async with shop.console.browser() as page:
        for path in paths:
            await page.goto(path)
            await expect(page.locator("h1")).to_have_count(1)
    shown = await shop.console.get(paths[6])
    assert texts[0].split("\n")[0] in text_of(shown)
