"""Browsers whose worker is gone are found and ended; those of a worker that lives are not."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.core.ids import new_id
from penstock.kernel.fetchers.browser import processes
from penstock.kernel.fetchers.browser.driver import Driver
from penstock.kernel.settings import BrowserSettings
from tests.browsers import Place, chromiums, named, processes_below
from tests.private_server import is_alive
from tests.shell import eventually

#: Starts a browser, says so, and waits for its end.
WORKER = """
import asyncio, sys
from penstock.kernel.fetchers.browser.driver import Driver
from penstock.kernel.settings import BrowserSettings

async def work():
    browser = await Driver(BrowserSettings(executable=sys.argv[1], folder=sys.argv[2])).launch()
    print(browser.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(work())
"""
#: What a process was started with shows only when it has begun.
SLEEP = "import time; print(flush=True); time.sleep(600)"
GONE = "999999999.1-old"


@contextmanager
def worker(place: Place) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process with a browser, and the id of that."""
    settings = place.settings()
    command = [sys.executable, "-c", WORKER, settings["executable"], str(settings["folder"])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


@contextmanager
def process_with(*arguments: str, folder: Path | None = None) -> Iterator[int]:
    """A process with arguments, in a folder."""
    command = [sys.executable, "-c", SLEEP, *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


async def test_a_browser_that_outlived_its_worker_is_found(browsers: Place) -> None:
    with worker(browsers) as (process, browser):
        family = processes.family_of(browser)
        assert processes.end_orphans(browsers.folder) == 0
        # One that is frozen does not notice that nobody is left to talk to.
        os.kill(browser, signal.SIGSTOP)
        for pid in (*named(processes_below(process.pid), "keeper.py"), process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait()
        assert is_alive(browser)

        assert processes.end_orphans(browsers.folder) == 1

        await eventually(lambda: not any(map(is_alive, family)))
        assert processes.end_orphans(browsers.folder) == 0


async def test_a_browser_of_a_worker_that_lives_is_left_alone(browsers: Place) -> None:
    driver = Driver(BrowserSettings.model_validate(browsers.settings()))
    try:
        await driver.launch()

        assert processes.end_orphans(browsers.folder) == 0
        assert len(chromiums(os.getpid())) == 1
    finally:
        await driver.close()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--penstock-browser=1", "--user-data-dir={folder}/{gone}/home/profile"),
        ("keeper.py", "1", "{folder}/{gone}", "nobody"),
        ("/somewhere/keeper.py", "1", "{folder}/{gone}"),
    ],
    ids=["browser", "keeper", "keeper elsewhere"],
)
async def test_who_belongs_to_a_worker_is_known_by_its_arguments(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    said = [argument.format(folder=tmp_path, gone=GONE) for argument in arguments]
    with process_with(*said) as pid:
        assert processes.end_orphans(tmp_path) == 1

        await eventually(lambda: not is_alive(pid))


def test_a_worker_in_another_container_is_not_taken_for_one_that_is_gone(tmp_path: Path) -> None:
    script = tmp_path / "script"
    folder = tmp_path / "folder"
    script.write_text(f"exec {sys.executable} -c '{SLEEP}' keeper.py 1 {folder}/{GONE}\n")
    command = ["unshare", "--user", "--pid", "--fork", "--kill-child", "sh", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as container:  # noqa: S603
        assert container.stdout
        try:
            if container.stdout.readline() != b"\n":
                pytest.skip("this machine lets nobody make containers")
            inside = named(processes_below(container.pid), "keeper.py")

            assert processes.end_orphans(folder) == 0
            assert len(inside) == 1
            assert is_alive(inside[0])
        finally:
            container.kill()


async def test_a_driver_is_known_by_its_folder(tmp_path: Path) -> None:
    home = tmp_path / GONE / "home"
    home.mkdir(parents=True)
    with process_with("run-driver", folder=home) as pid:
        assert processes.end_orphans(tmp_path) == 1

        await eventually(lambda: not is_alive(pid))


@pytest.mark.parametrize(
    "arguments",
    [
        ("{folder}/{gone}",),
        ("--penstock-browser=1", "--user-data-dir=/elsewhere/{gone}/home"),
        ("--penstock-browser=1", "--user-data-dir={folder}/{ours}/home"),
        ("--penstock-browser=1", "--user-data-dir={folder}/junk/home"),
        ("--penstock-browser=1",),
    ],
    ids=["somebody else", "another folder", "our own", "no worker", "no folder"],
)
def test_nobody_else_is_ended(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ours = f"{os.getpid()}.{processes.started_at(os.getpid())}-{new_id()}"
    said = [argument.format(folder=tmp_path, gone=GONE, ours=ours) for argument in arguments]
    with process_with(*said) as pid:
        assert processes.end_orphans(tmp_path) == 0
        assert is_alive(pid)
