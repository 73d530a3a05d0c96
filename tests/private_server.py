"""A server of the tests' own: it can be killed and started again on its data and its port."""

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import Popen

import pytest

from tools.provision import programs
from tools.provision.model import Server, Tool
from tools.provision.processes import await_answer, free_port, launch

DEAD_SECONDS = 10.0


class PrivateServer:
    """Keeps its data on disk until it is stopped; `url` stays the same from start to start."""

    def __init__(self, kind: Server, program: str) -> None:
        # Not pytest's folder: a server that runs as another user could not pass through it.
        self._folder = tempfile.TemporaryDirectory(prefix=f"penstock-{kind.name}-")
        self._kind = kind
        self._program = program
        self._port = free_port()
        self._process: Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return self._kind.address.format(port=self._port)

    def start(self) -> None:
        """Start the server and return when it answers."""
        folder = Path(self._folder.name)
        self._process = launch(self._kind, self._program, folder, self._port)
        await_answer(self._kind, self.url, self._process, folder)

    def kill(self) -> None:
        """End every process of the server without a farewell."""
        if self._process is None:
            return
        family = []
        for pid in family_of(self._process.pid):
            _send(pid, signal.SIGSTOP)  # or it could start another while the others are killed
            family.append(pid)
        for pid in family:
            _send(pid, signal.SIGKILL)
        self._process.wait()
        self._process = None
        _await_end(family)  # whoever is still dying holds on to the data

    def processes(self) -> list[int]:
        """The ids of all its processes, the first one first."""
        return list(family_of(self._process.pid)) if self._process else []

    def stop(self) -> None:
        """End the server and throw its data away."""
        self.kill()
        self._folder.cleanup()


@contextmanager
def serving(server: PrivateServer) -> Iterator[str]:
    """The address of a server while it runs; its data are thrown away after it."""
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


def find_program(tool: Tool) -> str:
    """The server's program; without one the test is skipped, in CI it fails."""
    program = os.environ.get(tool.variable) or programs.find(tool)
    if program:
        return program
    reason = f"no {tool.program} on this machine, and {tool.variable} is not set"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def family_of(pid: int) -> Iterator[int]:
    """A process and all below it; whoever stops each one as it comes gets them all."""
    yield pid
    for child in _children(pid):
        yield from family_of(child)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie has let go of everything and only waits to be counted."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def _children(pid: int) -> list[int]:
    with suppress(FileNotFoundError):
        lists = Path(f"/proc/{pid}/task").glob("*/children")
        return [int(child) for file in lists for child in file.read_text().split()]
    return []


def _send(pid: int, signal_number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal_number)


def _await_end(pids: list[int]) -> None:
    deadline = time.monotonic() + DEAD_SECONDS
    while alive := [pid for pid in pids if is_alive(pid)]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"processes {alive} survived SIGKILL")
        time.sleep(0.005)
