"""Playwright's driver and the browsers that it starts, all below one keeper."""

import asyncio
import gc
import os
import shlex
import shutil
import signal
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright._impl._driver import compute_driver_executable
from playwright.async_api import Browser, BrowserContext, Page, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from penstock.core.errors import SettingsError
from penstock.core.ids import new_id
from penstock.core.log import get_logger
from penstock.kernel.fetchers.browser import chromium, keeper, processes
from penstock.kernel.fetchers.browser.means import BrowserLost
from penstock.kernel.settings import BrowserSettings

START_SECONDS = 20.0
CLOSE_SECONDS = 3.0
#: The keeper kills what does not end by itself.
KEEPER_SECONDS = 5.0
UNPRIVILEGED = "nobody"
NODE_VARIABLE = "PLAYWRIGHT_NODEJS_PATH"
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR")
HEADLESS = "headless"
CALLS, CALLERS = "playwright._impl.channel_owner", "capture_library_stack_trace"
#: Contexts have a proxy of their own; whatever has none leads nowhere.
NOWHERE = "http://127.0.0.1:9"
#: What Chromium says where the kernel lets it build no sandbox.
_NO_SANDBOX = ("sandbox", "namespace", "operation not permitted")


class Chromium:
    """A Chromium that runs; `mark` is the argument by which its process is known.

    Who finds that it does not answer in time says that it `is_hung`.
    """

    def __init__(self, browser: Browser, mark: str) -> None:
        self._browser = browser
        self._mark = mark
        self._opening = asyncio.Lock()
        self.pid = processes.find_marked(mark)
        self.is_hung = False
        #: What its processes took when that was looked at last.
        self.costs: Mapping[int, processes.Cost] = {}
        self.major = int(browser.version.partition(".")[0])

    @property
    def is_alive(self) -> bool:
        """Whether it is connected; a frozen one is, too."""
        return self._browser.is_connected()

    def memory(self) -> int:
        """Bytes that it takes with all its processes."""
        self.costs = processes.costs_of(self.pid) if self.pid else {}
        return sum(cost.memory for cost in self.costs.values())

    async def new_context(self, options: dict[str, Any]) -> BrowserContext:
        """A context with nothing in it."""
        return await self._browser.new_context(**options)

    async def new_page(self, context: BrowserContext) -> tuple[Page, frozenset[int]]:
        """An empty page in a context, and the processes that were started to show it."""
        async with self._opening:
            before = self._renderers()
            page = await context.new_page()
            return page, self._renderers() - before

    def _renderers(self) -> frozenset[int]:
        return processes.renderers_of(self.pid) if self.pid else frozenset()

    async def end(self) -> None:
        """End it in good order, or else by force."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._browser.close()
        except (PlaywrightError, TimeoutError):
            pass
        finally:
            if self.pid and processes.is_marked(self.pid, self._mark):
                processes.kill_family(self.pid)
            # Playwright's objects hold each other, and were too long there to be found soon:
            # what hundreds of pages leave behind would only go in one large search.
            gc.collect()


class Driver:
    """Starts browsers; begun with the first one, and anew if it dies."""

    def __init__(self, settings: BrowserSettings) -> None:
        self._settings = settings
        self._playwright: Playwright | None = None
        self._folder: Path | None = None
        self._has_sandbox = True
        self._lock = asyncio.Lock()

    async def launch(self) -> Chromium:
        """A new browser; `BrowserLost` if there is none to be had."""
        async with self._lock:
            program = self._program()
            try:
                async with asyncio.timeout(START_SECONDS):
                    playwright = await self._start(program)
                    return await self._launch(playwright, program)
            except (PlaywrightError, TimeoutError) as error:
                if isinstance(error, TimeoutError) or not self._has_keeper():
                    await self._stop()
                raise BrowserLost(f"Chromium does not start: {str(error)[:500]}") from error

    async def close(self) -> None:
        """End the driver and everything below it."""
        async with self._lock:
            await self._stop()

    def _program(self) -> str:
        program = chromium.find(self._settings.executable)
        if program is None:
            named = self._settings.executable
            raise SettingsError(
                f"PENSTOCK_BROWSER__EXECUTABLE: {named} is no program"
                if named
                else "no Chromium is found: apt-get install chromium-headless-shell, or name one "
                "in PENSTOCK_BROWSER__EXECUTABLE"
            )
        if not self._settings.headless:
            _check_that_it_can_be_shown(program)
        return program

    async def _start(self, program: str) -> Playwright:
        if self._playwright is None:
            self._folder = _make_folder(self._settings.folder)
            node = compute_driver_executable()[0]
            user = _user_for(self._folder, node, program)
            self._has_sandbox = self._has_sandbox and (bool(user) or not chromium.is_root())
            if not self._has_sandbox:
                _warn_of_no_sandbox("it has to run as root")
            with _in_place_of_node(_write_script(self._folder, user, node)):
                _note_no_callers()
                manager = async_playwright()
                self._playwright = await manager.start()
            if manager._client:
                # Nobody awaits it, and a driver that is killed is noticed in other ways.
                ended = manager._client._transport.on_error_future
                ended.add_done_callback(lambda future: future.cancelled() or future.exception())
        return self._playwright

    async def _launch(self, playwright: Playwright, program: str) -> Chromium:
        try:
            return await self._launch_one(playwright, program)
        except PlaywrightError as error:
            text = str(error).lower()
            if not self._has_sandbox or not any(sign in text for sign in _NO_SANDBOX):
                raise
            self._has_sandbox = False
            _warn_of_no_sandbox("this machine does not allow it")
            return await self._launch_one(playwright, program)

    async def _launch_one(self, playwright: Playwright, program: str) -> Chromium:
        mark = f"{processes.BROWSER_MARK}{new_id()}"
        browser = await playwright.chromium.launch(
            executable_path=program,
            headless=self._settings.headless,
            env=self._display(),
            args=[*chromium.ARGUMENTS, mark, *self._settings.arguments],
            chromium_sandbox=self._has_sandbox,
            proxy={"server": NOWHERE},
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=START_SECONDS * 1000,
        )
        return Chromium(browser, mark)

    def _display(self) -> dict[str, str | float | bool] | None:
        """What a browser that is shown has to know more than others."""
        if self._settings.headless or self._folder is None:
            return None
        return {**keeper.environment(self._folder / "home"), **_where_to_show()}

    def _has_keeper(self) -> bool:
        return self._folder is not None and _keeper_of(self._folder) is not None

    async def _stop(self) -> None:
        """Ask the driver to end, and see to it that its keeper does."""
        playwright, self._playwright = self._playwright, None
        folder, self._folder = self._folder, None
        stopping = asyncio.create_task(playwright.stop()) if playwright else None
        if folder:
            await _end_keeper(folder, stopping)
        if stopping:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(KEEPER_SECONDS):
                    await stopping


async def _end_keeper(folder: Path, stopping: "asyncio.Task[None] | None") -> None:
    """Wait until the keeper has cleared its folder away; ask it to if it does not by itself."""
    if stopping:
        await asyncio.wait({stopping}, timeout=CLOSE_SECONDS)
    pid = _keeper_of(folder)
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    with suppress(TimeoutError):
        async with asyncio.timeout(KEEPER_SECONDS):
            while _keeper_of(folder):  # noqa: ASYNC110 - a process tells nobody that it ended
                await asyncio.sleep(0.01)
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _keeper_of(folder: Path) -> int | None:
    return processes.find_marked(str(folder))


def _make_folder(base: Path) -> Path:
    """A folder of this worker's own; those of workers that are gone are removed."""
    base.mkdir(mode=0o711, parents=True, exist_ok=True)
    state = base.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid() or state.st_mode & 0o022:
        raise SettingsError(
            f"PENSTOCK_BROWSER__FOLDER: {base} must be a folder of ours that no other user can "
            "write to"
        )
    for folder in base.iterdir():
        pid, _, rest = folder.name.partition(".")
        started = rest.partition("-")[0]
        if not pid.isdigit() or not started or processes.started_at(int(pid)) != started:
            shutil.rmtree(folder, ignore_errors=True)
    ours = os.getpid()
    folder = base / f"{ours}.{processes.started_at(ours)}-{new_id()}"
    folder.mkdir(mode=0o700)
    return folder


def _write_script(folder: Path, user: str, node: str) -> str:
    """The keeper as a program that can stand in the place of node."""
    command = [sys.executable, "-I", "-S", keeper.__file__, os.getpid(), folder, user, node]
    script = folder / "driver"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} "$@"\n', encoding="utf-8")
    script.chmod(0o700)
    return str(script)


@contextmanager
def _in_place_of_node(program: str) -> Iterator[None]:
    """Playwright takes its driver's program from the environment only."""
    before = os.environ.get(NODE_VARIABLE)
    os.environ[NODE_VARIABLE] = program
    try:
        yield
    finally:
        if before is None:
            del os.environ[NODE_VARIABLE]
        else:
            os.environ[NODE_VARIABLE] = before


def _note_no_callers() -> None:
    """Spare Playwright its look at who calls it.

    With every call it ties the frames of all callers in a ring, and whatever they know of a page
    then stays until a search for cycles. Other versions of it may not do so.
    """
    calls = sys.modules.get(CALLS)
    if calls and CALLERS in vars(calls):
        vars(calls)[CALLERS] = lambda: {"frames": [], "apiName": ""}


def _user_for(folder: Path, *programs: str) -> str:
    """Who runs the browsers instead of root; nobody else if that user could not."""
    if not chromium.is_root() or not chromium.others_may_pass(folder):
        return ""
    return UNPRIVILEGED if all(map(chromium.others_may_run, programs)) else ""


def _where_to_show() -> dict[str, str]:
    return {name: os.environ[name] for name in DISPLAYS if name in os.environ}


def _check_that_it_can_be_shown(program: str) -> None:
    if HEADLESS in Path(program).resolve().name:
        raise SettingsError(
            f"PENSTOCK_BROWSER__HEADLESS=false: {program} can never be seen; apt-get install "
            "chromium, and name it in PENSTOCK_BROWSER__EXECUTABLE"
        )
    if not _where_to_show():
        raise SettingsError(
            "PENSTOCK_BROWSER__HEADLESS=false: there is no display; set DISPLAY or "
            "WAYLAND_DISPLAY, or leave the browser headless"
        )


def _warn_of_no_sandbox(why: str) -> None:
    get_logger().warning("Chromium runs without its sandbox", reason=why)
