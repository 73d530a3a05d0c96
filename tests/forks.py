"""`penstock` in forks of a process that has imported it: a start costs no second of loading.

That process is sent orders, each with four open files: the three that a command has, and one for
the code that it ends with. It answers with a process id. What it forks ends like any Python
program, by itself or by a signal, and at the latest when it does; only that it takes nothing down
that it has loaded, for what it shares with the others would have to be copied first.
"""

import asyncio
import atexit
import ctypes
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from asyncio import StreamReader, StreamReaderProtocol, StreamWriter
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from penstock.cli import COMMANDS
from penstock.core.urls import registrable_domain

ROOT = Path(__file__).resolve().parents[1]
LARGEST_ORDER = 1024 * 1024
MOST_FILES = 1024
PR_SET_PDEATHSIG = 1
#: What commands load when they are at it, beside their own modules.
LOADED_LATER = (
    *("penstock.app.service", "penstock.cli.durable", "penstock.store.proxy_keeper"),
    *("uvicorn.protocols.http.auto", "uvicorn.protocols.websockets.auto"),
)


# ── where the commands are wanted


class Command(Process):
    """A running command, with pipes to it."""

    stdin: StreamWriter
    stdout: StreamReader
    stderr: StreamReader

    def __init__(
        self,
        pid: int,
        stdin: StreamWriter,
        stdout: StreamReader,
        stderr: StreamReader,
        code: StreamReader,
    ) -> None:
        self.pid = pid
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self._code: int | None = None
        self._end = asyncio.create_task(self._hear(code))

    @classmethod
    async def start(
        cls, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> Self:
        """Start `penstock` with arguments, in a folder."""
        (inside, stdin), *readers = os.pipe(), os.pipe(), os.pipe(), os.pipe()
        theirs = [inside, *(end for _, end in readers)]
        pid = fork(arguments, folder, environment, theirs)
        return cls(pid, await _writing(stdin), *[await _reading(end) for end, _ in readers])

    @property
    def returncode(self) -> int | None:
        return self._code

    async def communicate(
        self,
        input: bytes | bytearray | memoryview | None = None,  # noqa: A002 - asyncio's name
    ) -> tuple[bytes, bytes]:
        """Send it an input and wait for its end; what it wrote."""
        said = asyncio.gather(self.stdout.read(), self.stderr.read())
        with suppress(BrokenPipeError, ConnectionResetError):
            self.stdin.write(input or b"")
            await self.stdin.drain()
        self.stdin.close()
        out, err = await said
        await self.wait()
        return out, err

    async def wait(self) -> int:
        """Wait for its end; the code, or the number of the signal below zero."""
        return await asyncio.shield(self._end)

    def send_signal(self, number: int) -> None:
        if self.returncode is not None:
            raise ProcessLookupError
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def _hear(self, code: StreamReader) -> int:
        # Whoever forked it and is gone took it along.
        self._code = int(await code.read() or -signal.SIGKILL)
        return self._code


async def _reading(number: int) -> StreamReader:
    reader = StreamReader()
    protocol = StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(number, "rb"))
    return reader


async def _writing(number: int) -> StreamWriter:
    loop = asyncio.get_running_loop()
    protocol = StreamReaderProtocol(StreamReader())
    transport, _ = await loop.connect_write_pipe(lambda: protocol, os.fdopen(number, "wb"))
    return StreamWriter(transport, protocol, None, loop)


def fork(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    files: Sequence[int],
    run: str = "penstock.cli:main",
) -> int:
    """The id of a new process that runs a function; our side of the files is closed."""
    order = {
        "arguments": arguments,
        "folder": str(folder),
        "environment": dict(environment),
        "run": run,
    }
    pid = _forking().send(order, files)
    for number in set(files):
        os.close(number)
    return pid


class Forking:
    """The process that forks, and our end of its socket."""

    def __init__(self) -> None:
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(  # noqa: S603 - our own function
            # Not as a module, by which it would call itself.
            [sys.executable, "-c", f"from tests import forks; forks.main({theirs.fileno()})"],
            cwd=ROOT,
            # Never used: pipes, as commands have them, for Python looks at them only once.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # a Ctrl-C is meant for the tests
        )
        theirs.close()

    def send(self, order: Mapping[str, Any], files: Sequence[int]) -> int:
        """The id of the process that was forked for it."""
        socket.send_fds(self._orders, [json.dumps(order).encode()], files)
        return int(self._orders.recv(LARGEST_ORDER))

    def end(self) -> None:
        with self._process:
            self._orders.close()


@cache
def _forking() -> Forking:
    """One for all commands of this process."""
    forking = Forking()
    atexit.register(forking.end)
    return forking


# ── where they are forked


def serve(orders: socket.socket) -> str:
    """Fork for every order until there are no more; in each of the forks, what is to be run."""
    running: dict[int, tuple[int, int]] = {}
    while True:
        ready, _, _ = select.select([orders.fileno(), *running], [], [])
        for pidfd in running.keys() & set(ready):
            _tell_end(*running.pop(pidfd))
            os.close(pidfd)
        if orders.fileno() not in ready:
            continue
        message, files, _, _ = socket.recv_fds(orders, LARGEST_ORDER, 4)
        if not message:
            return ""
        pid = os.fork()
        if not pid:
            order = json.loads(message)
            _become(order, files[:3])
            return str(order["run"])
        for number in files[:3]:
            os.close(number)
        running[os.pidfd_open(pid)] = pid, files[3]
        orders.send(str(pid).encode())


def _tell_end(pid: int, where: int) -> None:
    _, status = os.waitpid(pid, 0)
    with suppress(BrokenPipeError):
        os.write(where, str(os.waitstatus_to_exitcode(status)).encode())
    os.close(where)


def _become(order: dict[str, Any], files: Sequence[int]) -> None:
    """Take over what the order says, and let go of everything else."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for target, number in enumerate(files):
        os.dup2(number, target)
    os.closerange(3, MOST_FILES)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = ["penstock", *order["arguments"]]


def main(number: int) -> None:
    """Load everything and serve a socket; in a fork, run what it is for."""
    for name in (*(f"penstock.cli.{place.module}" for place in COMMANDS.values()), *LOADED_LATER):
        import_module(name)
    registrable_domain("the.list.of.suffixes.is.read.now")
    gc.freeze()
    orders = socket.socket(fileno=number)
    if run := serve(orders):
        orders.detach()
        module, name = run.split(":")
        try:
            getattr(import_module(module), name)()
        except SystemExit as end:
            if not isinstance(end.code, int | None):
                raise
            _end(end.code or 0)
        _end(0)


def _end(code: int) -> None:
    """End with a code, after all that Python does at the end but to take down what is loaded."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        # Nobody reads, or it was closed: Python has its own way to say so.
        sys.exit(code)
    os._exit(code)
