"""Coming in and going out with a real browser, and doing something in between."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from penstock.console.sessions import COOKIE
from penstock.store.switches import StoredSwitches
from tests.consoles import RunningConsole, console_on
from tests.services import KEY
from tests.site import Site

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def console(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningConsole]:
    folder = tmp_path_factory.mktemp("console")
    async with Site() as site, console_on(folder, site) as console:
        yield console


async def test_key_leads_in_to_where_one_wanted_to_go_and_out_again(
    console: RunningConsole,
) -> None:
    async with console.browser(allowed=[401]) as page:
        await page.context.clear_cookies()
        await page.goto("/console/domains")
        assert page.url.endswith("/console/sign-in?to=%2Fconsole%2Fdomains")
        await page.fill("#key", "a wrong one")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("[role=alert]")
        await page.fill("#key", KEY)
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/console/domains")
        assert await page.evaluate("() => document.cookie") == ""
        assert [cookie["name"] for cookie in await page.context.cookies()] == [COOKIE]

        await page.click("text=Sign out")
        await page.wait_for_url("**/console/sign-in")
        await page.goto("/console/domains")
        assert "/console/sign-in" in page.url


async def test_dangerous_action_asks_and_is_not_done_after_a_no(console: RunningConsole) -> None:
    switches = StoredSwitches(console.service.engine.store)
    asked: list[str] = []
    async with console.browser() as page:
        await page.goto("/console/domains/shop01.test")
        await page.evaluate("() => { window.confirm = (text) => { window.asked = text; } }")
        await page.fill("#reason", "they asked")
        await page.click("text=Pause contact with shop01.test")
        asked.append(await page.evaluate("() => window.asked"))
    assert "Stop all contact with shop01.test" in asked[0]
    assert await switches.paused() == {}


async def test_action_is_done_and_said_and_undone(console: RunningConsole) -> None:
    switches = StoredSwitches(console.service.engine.store)
    async with console.browser() as page:
        await page.goto("/console/domains/shop01.test")
        await page.fill("#reason", "they asked")
        await page.click("text=Pause contact with shop01.test")
        await page.wait_for_selector("[role=status]")
        assert await switches.paused() == {"shop01.test": "they asked"}
        await page.click("text=Resume contact")
        await page.wait_for_selector("text=Contact with shop01.test goes on.")
    assert await switches.paused() == {}


async def test_question_is_answered_and_the_page_is_not_contacted(console: RunningConsole) -> None:
    site = console.service.site
    async with console.browser() as page:
        await page.goto("/console/domains")
        await page.fill("#url", "http://shop02.test/product/1")
        await page.check("[name=robots]")
        await page.click("text=Ask")
        await page.wait_for_selector("#answer")
        rows = await page.locator("section.card tbody th").all_inner_texts()

    assert rows == ["admission", "pause", "robots", "hours", "breaker", "way out", "pacing"]
    assert [hit.path for hit in site.hits_of("shop02.test")] == ["/robots.txt"]


async def test_reader_cannot_press_what_changes_something(console: RunningConsole) -> None:
    async with console.browser(who=console.reader) as page:
        await page.goto("/console/domains/shop01.test")

        assert await page.locator("button.danger").is_disabled()
        assert "(read only)" in await page.inner_text("header")


async def test_policy_stops_what_somebody_else_puts_into_a_page(console: RunningConsole) -> None:
    async with console.browser(stopped=True) as page:
        await page.goto("/console/audit")
        await page.evaluate(
            """() => {
              window.stopped = [];
              document.addEventListener("securitypolicyviolation",
                (event) => window.stopped.push(event.effectiveDirective));
            }"""
        )
        await page.evaluate(
            """() => {
              const main = document.querySelector("main");
              const script = document.createElement("script");
              script.textContent = "window.ran = true";
              main.append(script);
              main.insertAdjacentHTML("beforeend", "<a id=bad onclick='window.ran = true'>x</a>");
              main.insertAdjacentHTML("beforeend", "<b style='color: red'>x</b>");
              document.getElementById("bad").click();
            }"""
        )
        await page.wait_for_function("() => window.stopped.length >= 3")

        assert await page.evaluate("() => window.ran") is None
