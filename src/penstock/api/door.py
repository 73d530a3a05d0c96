"""The door of an API: a porter beside this process takes its connections; see `porter`."""

import asyncio
import os
import socket
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import NamedTuple

import orjson
from starlette.responses import Response

from penstock.api import porter
from penstock.core.log import get_logger

TELL_SECONDS = 1.0
#: Until another porter is started, if one ends that should not.
AGAIN_SECONDS = 1.0
#: Connections that are taken over before others have their turn.
AT_ONCE = 16
#: An open file in a message.
FILE_BYTES = 4
ONE_FILE = socket.CMSG_LEN(FILE_BYTES)
#: All that the porter has to know of the machine; the rest may be a secret.
NEEDED = ("PATH", "LD_LIBRARY_PATH")
SILENT = f"the process has said nothing for {porter.SILENT_SECONDS:g} s: it hangs"


class Said(NamedTuple):
    """What the porter answers at a path: now, and if it has heard nothing for too long."""

    now: Response
    silent: Response


#: What is to be said at which path; the porter hands on who asks for another.
Signs = Callable[[], Awaitable[Mapping[str, Said]]]


class Door:
    """Has a porter at a socket that listens, until it is closed."""

    def __init__(self, listening: socket.socket, signs: Signs) -> None:
        self._listening = listening
        self._signs = signs
        self._keeping: asyncio.Task[None] | None = None

    def open(self, take: Callable[[socket.socket], None]) -> None:
        """Let people in; `take` gets the connections that are not for the porter."""
        self._keeping = asyncio.create_task(self._keep(take), name="door of the API")

    async def close(self) -> None:
        """Let nobody in any more."""
        if self._keeping:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        self._listening.close()

    async def _keep(self, take: Callable[[socket.socket], None]) -> None:
        while True:
            try:
                async with _porter(self._listening) as channel:
                    await self._attend(channel, take)
                get_logger().warning("the porter of the API has ended; another is started")
            except OSError as error:
                get_logger().error("no porter of the API can be started", error=str(error))
            await asyncio.sleep(AGAIN_SECONDS)

    async def _attend(self, channel: socket.socket, take: Callable[[socket.socket], None]) -> None:
        """Tell the porter what to say and take what it hands on, until it is gone."""
        loop, gone = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(channel, _receive, channel, take, gone.set)
        telling = asyncio.create_task(self._keep_telling(channel), name="health for the porter")
        try:
            await gone.wait()
        finally:
            loop.remove_reader(channel)
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    async def _keep_telling(self, channel: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                line = _line(await self._signs())
            except Exception:
                # Then the porter hears nothing, and says so.
                get_logger().exception("it cannot be said how the process does")
            else:
                with suppress(ConnectionError):
                    await loop.sock_sendall(channel, line)
            await asyncio.sleep(TELL_SECONDS)


def _receive(
    channel: socket.socket, take: Callable[[socket.socket], None], gone: Callable[[], None]
) -> None:
    """Take over some of the connections that were handed on."""
    for _ in range(AT_ONCE):
        try:
            # Not `recv_fds`, which leaves its flags out: a browser would inherit the connection.
            said, found, *_ = channel.recvmsg(1, ONE_FILE, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        except ConnectionError:
            said, found = b"", []
        for _, _, files in found:
            take(socket.socket(fileno=int.from_bytes(files[:FILE_BYTES], sys.byteorder)))
        if not said:
            gone()
            return


@asynccontextmanager
async def _porter(listening: socket.socket) -> AsyncIterator[socket.socket]:
    """A porter that works until the block is left, and a channel to it."""
    ours, theirs = socket.socketpair()
    with ours:
        ours.setblocking(False)
        with theirs:
            open_files = [listening.fileno(), theirs.fileno()]
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", porter.__file__, *map(str, open_files)),
                stdin=DEVNULL,
                stdout=DEVNULL,
                pass_fds=open_files,
                env={name: os.environ[name] for name in NEEDED if name in os.environ},
            )
        try:
            yield ours
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _line(signs: Mapping[str, Said]) -> bytes:
    told = {path: [_as_text(each) for each in said] for path, said in signs.items()}
    return orjson.dumps(told) + b"\n"


def _as_text(response: Response) -> porter.Answer:
    phrase = HTTPStatus(response.status_code).phrase
    head = f"HTTP/1.1 {response.status_code} {phrase}\r\n"
    for name, value in response.raw_headers:
        head += f"{name.decode('latin-1')}: {value.decode('latin-1')}\r\n"
    return head, bytes(response.body).decode()
