"""The driver starts browsers also where the kernel lets them build no sandbox, and says so."""

import shlex

from penstock.kernel.fetchers.browser.driver import Driver
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
