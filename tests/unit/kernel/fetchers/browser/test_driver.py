"""The driver starts browsers, with or without a sandbox, and keeps nothing of who uses them."""

import gc
import shlex
import weakref

from penstock.kernel.fetchers.browser.driver import Chromium, Driver
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
