"""How the console looks: to everybody, in light and dark, on a phone, and with the keyboard alone.

PENSTOCK_TEST_PICTURES names a folder in which pictures of all pages are left.
"""

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest
import pytest_asyncio
from playwright.async_api import Page

from tests.consoles import VisitedConsole, walk
from tools.provision.axe import axe_script
from tools.provision.model import UnavailableError

pytestmark = pytest.mark.asyncio(loop_scope="module")
Look = Literal["light", "dark"]
PHONE = 390
AXE = """async (asked) =>
  (await axe.run(document, {resultTypes: ["violations"], ...asked})).violations
  .filter((each) => each.impact === "serious" || each.impact === "critical")
  .map((each) => `${each.id}: ${each.nodes.map((node) => node.target.join(" ")).slice(0, 3)}`)"""
#: What is asked of a page in each look: in the last one all, before that what a look can change.
ASKED: dict[Look, dict[str, Any]] = {"dark": {"runOnly": ["color-contrast"]}, "light": {}}
FOCUSED = """() => {
  const focused = document.activeElement, box = focused.getBoundingClientRect();
  const style = getComputedStyle(focused);
  return {
    name: focused.tagName + " " + (focused.getAttribute("href") || focused.name || focused.id),
    is_body: focused === document.body, is_seen: box.width > 0 && box.height > 0,
    outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
  };
}"""
CONTROLS = """() => [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary"
  )].filter((each) => !each.disabled && each.type !== "hidden" && each.checkVisibility()
    && !each.closest("details:not([open]) > :not(summary)")).length"""
SPOIL = """() => document.querySelector("main").insertAdjacentHTML(
  "beforeend", "<button></button><input><img src='/console/static/icon.svg'>")"""


@pytest.fixture(scope="module")
def axe() -> Path:
    """The script that finds what keeps people from using a page."""
    try:
        return axe_script()
    except UnavailableError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def paths(demo: VisitedConsole) -> AsyncIterator[list[str]]:
    """One page of each kind."""
    yield [*await walk(demo), "/console/sign-in", "/console/no/such/page"]


async def test_everybody_can_use_every_page(
    demo: VisitedConsole, paths: list[str], axe: Path
) -> None:
    found = {}
    async with demo.browser(allowed=[404]) as page:
        await page.add_init_script(path=axe)
        for path in paths:
            await page.goto(path)
            for look, asked in ASKED.items():
                await page.emulate_media(color_scheme=look)
                if problems := await page.evaluate(AXE, asked):
                    found[path, look] = problems
                await picture(page, path, look)

    assert found == {}


async def test_what_not_everybody_can_use_is_found(demo: VisitedConsole, axe: Path) -> None:
    async with demo.browser() as page:
        await page.add_init_script(path=axe)
        await page.goto("/console/audit")
        await page.evaluate(SPOIL)
        found = " ".join(await page.evaluate(AXE, {}))

    assert all(rule in found for rule in ("button-name", "label", "image-alt"))


async def test_phone_shows_every_page_without_scrolling_sideways(
    demo: VisitedConsole, paths: list[str]
) -> None:
    found = {}
    async with demo.browser(width=PHONE, height=844, allowed=[404]) as page:
        for path in paths:
            await page.goto(path)
            width = await page.evaluate("() => document.documentElement.scrollWidth")
            if width > PHONE:
                found[path] = width
            await picture(page, path, "phone")

    assert found == {}


async def test_keyboard_reaches_everything_and_shows_where_it_is(
    demo: VisitedConsole, paths: list[str]
) -> None:
    found = {}
    async with demo.browser(allowed=[404]) as page:
        for path in paths:
            await page.goto(path)
            # What has the focus from the start is not where the way begins.
            await page.evaluate("() => document.querySelector('a.skip').focus()")
            if problem := await tab_through(page):
                found[path] = problem

    assert found == {}


async def tab_through(page: Page) -> str:
    """What is wrong with the way of the keyboard through a page."""
    expected = min(await page.evaluate(CONTROLS), 60)
    for seen in range(1, expected):
        await page.keyboard.press("Tab")
        focused: dict[str, Any] = await page.evaluate(FOCUSED)
        if focused["is_body"]:
            return f"after {seen} of {expected} there is nothing more"
        if not (focused["is_seen"] and focused["outline"]):
            return f"{focused['name']} does not show that it has the focus"
    return ""


async def test_keyboard_skips_to_the_content(demo: VisitedConsole) -> None:
    async with demo.browser() as page:
        await page.goto("/console/domains")
        await page.keyboard.press("Tab")
        assert await page.evaluate("() => document.activeElement.textContent") == "Skip to content"
        await page.keyboard.press("Enter")

        assert await page.evaluate("() => document.activeElement.id") == "main"


async def test_first_page_is_there_within_a_second(demo: VisitedConsole) -> None:
    async with demo.browser() as page:
        await page.goto("/console/audit")
        await page.goto("/console")
        timing: float = await page.evaluate(
            "() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
        )

    assert timing < 1000


async def test_pages_work_without_scripts(demo: VisitedConsole, paths: list[str]) -> None:
    async with demo.browser(scripts=False, allowed=[404]) as page:
        for path in paths:
            await page.goto(path)
            assert await page.locator("h1").count() == 1, path
        await page.goto("/console/domains")
        await page.fill("#url", "http://shop01.test/cart")
        await page.check("[name=robots]")
        await page.click("text=Ask")
        assert await page.locator("text=Disallow: /cart").count() >= 1


async def test_live_part_changes_by_itself(demo: VisitedConsole) -> None:
    async with demo.browser() as page:
        await page.goto("/console")
        await page.evaluate("() => { document.getElementById('live').dataset.old = '1'; }")
        before = await page.inner_text("#live")
        await page.wait_for_function(
            "(before) => document.getElementById('live').innerText !== before", arg=before
        )

        assert await page.get_attribute("#live", "data-old") == "1"


async def test_live_part_leaves_the_focus_on_a_link(demo: VisitedConsole) -> None:
    async with demo.browser() as page:
        await page.goto("/console")
        # In one go: the part may be renewed between two.
        name = await page.evaluate(
            "() => { window.old = document.querySelector('#live a[href]');"
            " window.old.focus(); return window.old.href; }"
        )
        await page.wait_for_function("() => !window.old.isConnected")

        assert await page.evaluate("() => document.activeElement.href") == name


async def picture(page: Page, path: str, look: str) -> None:
    """Leave a picture of a page where somebody wants to look at it."""
    if folder := os.environ.get("PENSTOCK_TEST_PICTURES"):
        name = re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-")[:60]
        await page.screenshot(path=Path(folder) / f"{name}.{look}.png", full_page=True)
