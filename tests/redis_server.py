"""A Redis server of the tests' own: it can be killed, frozen and started again on its port."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

READY_SECONDS = 10.0


class PrivateRedis:
    """Keeps nothing on disk: what is killed has forgotten everything when it is started again."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        """Start the server and return when it answers."""
        listen = ["--port", str(self._port), "--bind", "127.0.0.1"]
        keep_nothing = ["--save", "", "--appendonly", "no", "--dir", str(self._folder)]
        self._process = subprocess.Popen(  # noqa: S603 - our own server
            [self._program, *listen, *keep_nothing], stdout=subprocess.DEVNULL
        )
        deadline = time.monotonic() + READY_SECONDS
        while not self._answers():
            if time.monotonic() > deadline:
                raise TimeoutError("redis-server does not answer")
            time.sleep(0.005)

    def kill(self) -> None:
        """End the server without a farewell."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Let the server keep its connections and answer nobody."""
        if self._process:
            self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        if self._process:
            self._process.send_signal(signal.SIGCONT)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def find_program() -> str:
    """The server's program; without one the test is skipped, in CI it fails."""
    program = os.environ.get("PENSTOCK_TEST_REDIS_BINARY") or shutil.which("redis-server")
    if program:
        return program
    reason = "no redis-server on the PATH, and neither PENSTOCK_TEST_REDIS_BINARY nor _URL is set"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
