"""A Redis server of the tests' own: it can be killed, frozen and started again on its port."""

import signal
import subprocess
import time
from pathlib import Path

from tests import private_server
from tools.provision.processes import free_port
from tools.provision.redis import REDIS_SERVER, redis_answers, redis_arguments

READY_SECONDS = 10.0


class PrivateRedis:
    """Keeps nothing on disk: what is killed has forgotten everything when it is started again."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        """Start the server and return when it answers."""
        arguments = redis_arguments(self._program, self._folder, self._port)
        self._process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)  # noqa: S603 - ours
        deadline = time.monotonic() + READY_SECONDS
        while not redis_answers(self.url):
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


def find_program() -> str:
    """The path of `redis-server`; without one the test is skipped, in CI it fails."""
    return private_server.find_program(REDIS_SERVER)
