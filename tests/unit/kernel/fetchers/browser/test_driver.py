"""The driver starts browsers, with or without a sandbox, and keeps nothing of who uses them."""

import gc
import shlex
import weakref

import pytest
from playwright.async_api import Page

from penstock.core.errors import SettingsError
from penstock.kernel.fetchers.browser import driver
from penstock.kernel.fetchers.browser.driver import Chromium, Driver
from penstock.kernel.fetchers.browser.means import BrowserLost
from penstock.kernel.settings import BrowserSettings
from tests.browsers import Place, command_of, find_chromium
from tests.unit.core.log_lines import captured_logs

#: A Chromium on a machine without namespaces for its user.
WITHOUT_SANDBOX = """#!/bin/sh
case " $* " in
  *" --no-sandbox "*) exec {program} "$@" ;;
esac
echo "FATAL: No usable sandbox!" >&2
exit 1
"""


async def test_without_a_sandbox_the_browser_starts_and_that_is_told(browsers: Place) -> None:
    program = browsers.folder.parent / "chromium"
    program.write_text(WITHOUT_SANDBOX.format(program=shlex.quote(find_chromium())))
    program.chmod(0o755)
    driver = Driver(BrowserSettings.model_validate(browsers.settings(executable=str(program))))
    with captured_logs() as lines:
        try:
            started = [await driver.launch(), await driver.launch()]
            commands = [command_of(each.pid or 0) for each in started]
        finally:
            await driver.close()

    assert all("--no-sandbox" in command for command in commands)
    told = [line["reason"] for line in lines.parsed() if "without its sandbox" in line["event"]]
    assert told == ["this machine does not allow it"]


@pytest.mark.parametrize(
    ("program", "display", "told"),
    [
        ("chromium-headless-shell", ":0", "can never be seen"),
        ("chromium", "", "there is no display"),
    ],
)
async def test_a_browser_that_cannot_be_seen_is_not_started(
    browsers: Place, monkeypatch: pytest.MonkeyPatch, program: str, display: str, told: str
) -> None:
    monkeypatch.setattr(driver, "_where_to_show", lambda: {"DISPLAY": display} if display else {})
    file = browsers.folder.parent / program
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    seen = browsers.settings(executable=str(file), headless=False)

    with pytest.raises(SettingsError, match=told):
        await Driver(BrowserSettings.model_validate(seen)).launch()


async def test_a_browser_that_is_shown_knows_its_display(
    browsers: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":77")
    said = browsers.folder.parent / "said"
    said.touch()
    said.chmod(0o666)
    program = browsers.folder.parent / "chromium"
    program.write_text(f'#!/bin/sh\necho "$DISPLAY $*" >{said}\nexit 1\n')
    program.chmod(0o755)
    shown = Driver(
        BrowserSettings.model_validate(browsers.settings(executable=str(program), headless=False))
    )

    try:
        with pytest.raises(BrowserLost):
            await shown.launch()
    finally:
        await shown.close()

    assert said.read_text().startswith(":77 ")
    assert "--headless" not in said.read_text()


class Known:
    """Something that a caller of the browser knows."""


async def test_what_callers_know_goes_with_them_without_a_search_for_cycles(
    browsers: Place,
) -> None:
    driver = Driver(BrowserSettings.model_validate(browsers.settings()))
    try:
        browser = await driver.launch()
        gc.disable()
        kept = await _use(browser)
        assert kept() is None
    finally:
        gc.enable()
        await driver.close()


async def _use(browser: Chromium) -> "weakref.ref[Known]":
    known = Known()
    context = await browser.new_context({})
    await context.new_page()
    await context.close()
    return weakref.ref(known)


async def test_what_playwright_knew_of_pages_goes_with_their_browser(browsers: Place) -> None:
    driver = Driver(BrowserSettings.model_validate(browsers.settings()))
    try:
        browser = await driver.launch()
        gc.disable()
        known = await _open_page(browser)
        assert known() is not None
        await browser.end()
        assert known() is None
    finally:
        gc.enable()
        await driver.close()


async def _open_page(browser: Chromium) -> "weakref.ref[Page]":
    context = await browser.new_context({})
    page = await context.new_page()
    await context.close()
    return weakref.ref(page)
