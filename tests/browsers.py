"""Browsers for tests: where Chromium is, which of its processes run, and what is left behind."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from penstock.kernel.model import Request
from tests.private_server import family_of, is_alive
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
