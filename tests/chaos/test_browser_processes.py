"""Whatever way a worker or a browser ends: no process, no zombie and no file is left."""

import asyncio
import os
import signal
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.app import Platform
from penstock.kernel.model import Outcome, Request
from tests.browsers import Place, chromiums, command_of, named, processes_below, zombies
from tests.platforms import platform_for
from tests.private_server import is_alive
from tests.shell import Shell, eventually
from tests.site import Reply, Site

GONE_SECONDS = 10.0


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        site.reply("slow.test", "/never", Reply(200, "late", delay=60))
        yield site


@asynccontextmanager
async def running(site: Site, place: Place, **changes: Any) -> AsyncIterator[Platform]:
    section = place.settings(**changes)
    async with platform_for(site, browser=section, retry={"max_attempts": 1}) as platform:
        yield platform


async def browse(platform: Platform, url: str, **wishes: Any) -> Outcome:
    return await platform.pipeline.run(Request(url, fetcher="browser", **wishes))


async def start_slow_page(site: Site, platform: Platform) -> asyncio.Task[Outcome]:
    """A page that is being opened, and whose site has been asked for it."""
    task = asyncio.create_task(browse(platform, "http://slow.test/never"))
    await eventually(lambda: bool(site.hits_of("slow.test", "/never")))
    return task


async def start_worker(shell: Shell, place: Place, tmp_path: Path) -> tuple[Process, list[int]]:
    """A worker with a page that it will not come to the end of, and its browser's processes."""
    rules = tmp_path / "policies.yaml"
    rules.write_text("domains: {default: {fetcher: browser, respect_robots_txt: false}}")
    settings = {
        f"PENSTOCK_BROWSER__{name.upper()}": str(value) for name, value in place.settings().items()
    }
    shell.site.reply("slow.test", "/never", Reply(200, "late", delay=60))
    process = await shell.start(
        "fetch", "http://slow.test/never", PENSTOCK_POLICIES__FILES=str(rules), **settings
    )
    await eventually(lambda: bool(shell.site.hits_of("slow.test", "/never")))
    family = processes_below(process.pid)
    assert chromiums(process.pid)
    assert place.files_left()
    return process, family


async def assert_nothing_is_left(family: list[int], place: Place, before: list[int]) -> None:
    await eventually(lambda: not any(map(is_alive, family)), GONE_SECONDS)
    await eventually(lambda: place.files_left() == [], GONE_SECONDS)
    await eventually(lambda: not set(zombies()) - set(before), GONE_SECONDS)


async def test_after_use_nothing_is_left(site: Site, browsers: Place) -> None:
    before, not_ours = zombies(), processes_below(os.getpid())
    async with running(site, browsers) as platform:
        assert (await browse(platform, "http://shop01.test/product/1")).ok
        family = [pid for pid in processes_below(os.getpid()) if pid not in not_ours]
        assert chromiums(os.getpid())

    await assert_nothing_is_left(family, browsers, before)


async def test_a_platform_that_opens_no_page_starts_no_browser(site: Site, browsers: Place) -> None:
    async with running(site, browsers) as platform:
        assert (await platform.pipeline.run(Request("http://shop01.test/product/1"))).ok

        assert chromiums(os.getpid()) == []
        assert browsers.files_left() == []


@pytest.mark.parametrize("victim", ["worker", "worker with a frozen browser", "keeper"])
async def test_killing_the_worker_leaves_nothing(
    shell: Shell, browsers: Place, tmp_path: Path, victim: str
) -> None:
    before = zombies()
    process, family = await start_worker(shell, browsers, tmp_path)
    if victim == "worker with a frozen browser":
        for pid in family:
            if pid not in named(family, "keeper.py"):
                os.kill(pid, signal.SIGSTOP)
    if victim == "keeper":
        os.kill(named(family, "keeper.py")[0], signal.SIGKILL)

    process.kill()

    if victim == "keeper":
        await eventually(lambda: not any(map(is_alive, family)), GONE_SECONDS)
    else:
        await assert_nothing_is_left(family, browsers, before)


async def test_a_stopped_worker_leaves_nothing(
    shell: Shell, browsers: Place, tmp_path: Path
) -> None:
    before = zombies()
    process, family = await start_worker(shell, browsers, tmp_path)

    # The first asks for an end, the second for one at once; two at a time may count as one.
    while process.returncode is None:
        process.send_signal(signal.SIGINT)
        await asyncio.wait({asyncio.create_task(process.wait())}, timeout=1)

    await assert_nothing_is_left(family, browsers, before)


async def test_files_of_a_worker_that_is_gone_are_removed_by_the_next(
    site: Site, browsers: Place
) -> None:
    for name in ("999999999.1-old", f"{os.getpid()}.1-reused", "junk"):
        (browsers.folder / name / "home").mkdir(parents=True)
    browsers.folder.chmod(0o711)

    async with running(site, browsers) as platform:
        assert (await browse(platform, "http://shop01.test/product/1")).ok
        left = browsers.files_left()

    assert len(left) == 1
    assert browsers.files_left() == []


async def test_a_page_over_its_time_leaves_nothing(site: Site, browsers: Place) -> None:
    async with running(site, browsers) as platform:
        assert (await browse(platform, "http://shop01.test/product/1")).ok
        idle = len(processes_below(os.getpid()))
        outcome = await browse(platform, "http://slow.test/never", timeout=0.5)

        assert outcome.failure
        assert outcome.failure.reason == "task_timeout"
        assert platform.browsers.stats().in_use == 0
        await eventually(lambda: len(processes_below(os.getpid())) <= idle)


@pytest.mark.parametrize("part", ["--penstock-browser=", "run-driver"], ids=["browser", "driver"])
async def test_a_killed_browser_or_driver_is_replaced_and_the_page_opened_again(
    site: Site, browsers: Place, part: str
) -> None:
    async with running(site, browsers) as platform, asyncio.timeout(30):
        task = await start_slow_page(site, platform)
        site.reply("slow.test", "/never", Reply(200, "<p>at last</p>"))
        family = processes_below(os.getpid())
        victim = next(pid for pid in named(family, part) if "keeper.py" not in command_of(pid))
        os.kill(victim, signal.SIGKILL)
        outcome = await task

        assert outcome.ok, outcome.failure
        assert outcome.attempts == 1
        assert "browser_crashed" in [said.answer for said in outcome.trace]
        assert platform.browsers.stats().recycled_count == 1
        assert len(chromiums(os.getpid())) == 1


async def test_a_frozen_browser_is_ended_within_the_deadline_of_its_page(
    site: Site, browsers: Place
) -> None:
    async with running(site, browsers, page_seconds=2) as platform, asyncio.timeout(30):
        task = await start_slow_page(site, platform)
        site.reply("slow.test", "/never", Reply(200, "<p>at last</p>"))
        frozen = chromiums(os.getpid())[0]
        os.kill(frozen, signal.SIGSTOP)
        outcome = await task

        assert outcome.ok, outcome.failure
        assert not is_alive(frozen)


async def test_a_caller_who_goes_away_frees_the_browser(site: Site, browsers: Place) -> None:
    async with running(site, browsers) as platform:
        task = await start_slow_page(site, platform)

        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        await eventually(lambda: platform.browsers.stats().in_use == 0)
        assert (await browse(platform, "http://shop01.test/product/1")).ok
        assert platform.browsers.stats().recycled_count == 0


async def test_a_page_that_takes_all_memory_loses_its_browser(site: Site, browsers: Place) -> None:
    changes = {"max_memory_mb": 300, "page_seconds": 30, "settle_seconds": 20}
    async with running(site, browsers, **changes) as platform, asyncio.timeout(60):
        task = asyncio.create_task(browse(platform, "http://scripted.test/grows", wait_for="#no"))
        await eventually(lambda: bool(chromiums(os.getpid())))
        greedy = chromiums(os.getpid())[0]
        while is_alive(greedy):
            await platform.browsers.look_after()
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        assert (await browse(platform, "http://shop01.test/product/1")).ok
