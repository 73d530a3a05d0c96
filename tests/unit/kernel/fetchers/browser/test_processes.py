"""Processes as /proc shows them, and what browsers are started with."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.core.ids import new_id
from penstock.kernel.fetchers.browser import chromium, keeper, processes

PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""


@contextmanager
def family(mark: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process with a mark, and the id of its child."""
    command = [sys.executable, "-c", PARENT, mark]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:  # noqa: S603
        assert parent.stdout
        try:
            yield parent, int(parent.stdout.readline())
        finally:
            processes.kill_family(parent.pid)


def test_a_process_is_known_by_its_mark() -> None:
    mark = f"--mark={new_id()}"
    with family(mark) as (parent, _):
        assert processes.find_marked(mark) == parent.pid
        assert processes.is_marked(parent.pid, mark)
        assert not processes.is_marked(os.getpid(), mark)

    assert processes.find_marked(mark) is None


def test_memory_is_that_of_the_whole_family() -> None:
    with family("--mark") as (parent, child):
        assert processes.family_of(parent.pid) == [parent.pid, child]
        alone = processes.memory_of(child)
        assert 0 < alone < processes.memory_of(parent.pid)

    assert processes.memory_of(parent.pid) == 0


def test_costs_are_those_of_each_of_a_family() -> None:
    with family("--mark") as (parent, child):
        costs = processes.costs_of(parent.pid)

        assert list(costs) == [parent.pid, child]
        assert all(cost.memory > 0 for cost in costs.values())
    assert processes.costs_of(os.getpid())[os.getpid()].cpu_seconds > 0
    assert processes.costs_of(parent.pid) == {parent.pid: processes.Cost(0, 0.0)}


def test_a_frozen_family_is_killed() -> None:
    with family("--mark") as (parent, child):
        for pid in (parent.pid, child):
            os.kill(pid, signal.SIGSTOP)

        processes.kill_family(parent.pid)

        assert parent.wait(10) == -signal.SIGKILL


def test_a_process_is_told_from_a_later_one_of_the_same_number() -> None:
    with family("--mark") as (parent, child):
        started = processes.started_at(parent.pid)
        assert started.isdigit()
        assert int(processes.started_at(child)) >= int(started)

    assert processes.started_at(parent.pid) == ""


def test_there_is_memory_left() -> None:
    assert processes.free_memory() > 0


def test_browsers_know_no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PENSTOCK_SHARED__URL", "redis://secret")
    monkeypatch.setenv("PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK", "1")

    known = keeper.environment(tmp_path)

    assert "secret" not in str(known)
    assert "PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK" not in known
    assert known["TMPDIR"] == known["HOME"] == str(tmp_path)
    assert known["PATH"] == os.environ["PATH"]


def test_a_named_program_is_the_only_one_taken(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)

    assert chromium.find(str(program)) == str(program)
    assert chromium.find(str(tmp_path / "other")) is None


def test_a_downloaded_browser_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(chromium, "PLACES", ())
    monkeypatch.setenv("HOME", str(tmp_path))
    assert chromium.find() is None
    folder = tmp_path / ".cache/ms-playwright/chromium_headless_shell-1200/chrome-linux"
    folder.mkdir(parents=True)
    (folder / "headless_shell").touch()

    assert chromium.find() == str(folder / "headless_shell")


def test_others_may_run_only_what_they_can_reach(tmp_path: Path) -> None:
    program = tmp_path / "closed" / "program"
    program.parent.mkdir(mode=0o700)
    program.touch()
    program.chmod(0o755)

    assert not chromium.others_may_run(str(program))
    assert not chromium.others_may_run(str(tmp_path / "missing"))
    assert chromium.others_may_run("/bin/sh")
