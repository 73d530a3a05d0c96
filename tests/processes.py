"""`penstock up` as a process of its own, which can be killed and started again on its store."""

import asyncio
import signal
from asyncio.subprocess import Process
from collections.abc import Mapping

from tests.browsers import processes_below
from tests.private_server import is_alive
from tests.shell import Shell, eventually
from tools.provision.processes import free_port

#: No process may outlive the service for longer, browsers included.
GONE_SECONDS = 10.0


class ServiceProcess:
    """One service; its port stays the same from start to start."""

    def __init__(self, shell: Shell, settings: Mapping[str, str]) -> None:
        self._shell = shell
        self._settings = settings
        self._port = free_port()
        self._process: Process | None = None
        self._said: asyncio.Task[tuple[bytes, bytes]] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    async def start(self) -> None:
        """Start it; it answers soon."""
        self._process = await self._shell.start("up", "--port", str(self._port), **self._settings)
        # Whoever does not read what it says stops it in the end.
        self._said = asyncio.create_task(self._process.communicate())

    async def end(self, how: signal.Signals) -> int:
        """End it by a signal and see that nothing of it goes on; its exit code."""
        assert self._process
        assert self._said
        family = processes_below(self.pid)
        self._process.send_signal(how)
        await self._said
        await eventually(lambda: not any(map(is_alive, family)), GONE_SECONDS)
        assert self._process.returncode is not None
        return self._process.returncode
