"""Whatever is told to the keeper of browsers, and how often: below it nobody is left."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.kernel.fetchers.browser import keeper
from tests.private_server import is_alive

DRIVER = """
import subprocess, sys, time
browser = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(browser.pid, flush=True)
time.sleep(60)
"""


def start(folder: Path, driver: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own program
        [
            *(sys.executable, keeper.__file__, str(os.getpid()), str(folder), ""),
            *(sys.executable, "-c", driver),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("turn", range(5))
def test_a_worker_that_ends_thread_by_thread_leaves_nothing(tmp_path: Path, turn: int) -> None:
    folder = tmp_path / f"{turn}"
    folder.mkdir()
    with start(folder, DRIVER) as process:
        assert process.stdout
        browser = int(process.stdout.readline())
        os.kill(browser, signal.SIGSTOP)

        while process.poll() is None:
            process.send_signal(signal.SIGTERM)

    assert process.returncode == 1
    assert not is_alive(browser)
    assert not folder.exists()


def test_end_of_the_driver_is_the_end_of_all(tmp_path: Path) -> None:
    folder = tmp_path / "browsers"
    folder.mkdir()
    with start(folder, DRIVER.replace("time.sleep(60)\n", "sys.exit(7)\n")) as process:
        assert process.stdout
        browser = int(process.stdout.readline())

    assert process.returncode == 7
    assert not is_alive(browser)
    assert not folder.exists()


def test_whoever_is_nobodys_keeper_does_nothing(tmp_path: Path) -> None:
    command = [sys.executable, keeper.__file__, "1", str(tmp_path), "", "/bin/false"]

    assert subprocess.run(command, check=False).returncode == 1  # noqa: S603 - our own program
