"""Browsers for tests: where Chromium is, which of its processes run, and what is left behind."""

import os
import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from penstock.core.clock import Clock, SystemClock
from penstock.core.urls import parse
from penstock.kernel.admission import Admission
from penstock.kernel.fetchers.browser.kept import KeptPages
from penstock.kernel.fetchers.browser.means import Means
from penstock.kernel.identity import Identities
from penstock.kernel.model import NO_HEADERS, Request
from penstock.kernel.ports import Browsing, Hop
from penstock.kernel.settings import AdmissionSettings, BrowserSettings, IdentitySettings
from tests.private_server import family_of, is_alive
from tests.site import Site
from tools.provision.programs import find
from tools.provision.requirements import CHROMIUM


def find_chromium() -> str:
    """Chromium's program; without one the test is skipped, in CI it fails."""
    found = os.environ.get(CHROMIUM.variable) or find(CHROMIUM)
    if found:
        return found
    reason = f"no Chromium on this machine, and {CHROMIUM.variable} is not set"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def browse(url: str, **wishes: Any) -> Request:
    """A request for a page as a browser shows it."""
    return Request(url, fetcher="browser", **wishes)


def keep(url: str, name: str = "page", timeout: float = 15, **wishes: Any) -> Hop:
    """A hop to a page that shall stay open."""
    browsing = Browsing(NO_HEADERS, NO_HEADERS, (0, 0), keep=name, **wishes)
    return Hop(parse(url), NO_HEADERS, timeout, browsing=browsing)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the browsers of a test keep their files."""

    folder: Path

    def settings(self, **changes: Any) -> dict[str, Any]:
        """The section of settings for browsers."""
        return {"executable": find_chromium(), "folder": self.folder, **changes}

    def files_left(self) -> list[str]:
        """What was not cleared away."""
        return [path.name for path in self.folder.iterdir()] if self.folder.exists() else []


def kept_pages(
    site: Site,
    place: Place,
    max_bytes: int = 100_000,
    clock: Clock | None = None,
    **changes: Any,
) -> KeptPages:
    """What keeps pages of a site open, in browsers of its own."""
    chance = random.Random(1)
    means = Means(
        BrowserSettings(**place.settings(page_limit=1_000_000, **changes)),
        Identities(IdentitySettings(), chance),
        clock or SystemClock(),
        chance,
        max_bytes,
    )
    return KeptPages(means, Admission(AdmissionSettings(known_hosts=site.known_hosts), nowhere))


async def nowhere(host: str) -> list[str]:
    """Knows no name."""
    raise socket.gaierror(socket.EAI_NONAME, "no such name")


@contextmanager
def new_place() -> Iterator[Place]:
    find_chromium()
    # Not pytest's folder: Chromium runs as another user, who could not pass through it.
    with tempfile.TemporaryDirectory(prefix="penstock-browsers-") as folder:
        Path(folder).chmod(0o711)
        yield Place(Path(folder) / "browsers")


@pytest.fixture
def browsers() -> Iterator[Place]:
    """A place of the test's own."""
    with new_place() as place:
        yield place


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A place that the tests of a module share."""
    with new_place() as shared:
        yield shared


def processes_below(pid: int) -> list[int]:
    """The ids of everything that a process started and that runs."""
    return [one for one in family_of(pid) if one != pid and is_alive(one)]


def named(pids: list[int], part: str) -> list[int]:
    """Those processes whose command has a part in it."""
    return [pid for pid in pids if part in command_of(pid)]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def chromiums(pid: int) -> list[int]:
    """The first processes of the browsers below a process."""
    return named(processes_below(pid), "--penstock-browser=")


def zombies() -> list[int]:
    """Processes that ended and that nobody has noticed; of tests beside ours we know nothing."""
    others = set()
    if "PYTEST_XDIST_WORKER" in os.environ:
        others = set(family_of(os.getppid())) - set(family_of(os.getpid()))
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) not in others:
            try:
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if state == "Z":
                found.append(int(folder.name))
    return found
