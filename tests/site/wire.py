"""HTTP/1.1 on a socket: requests read, answers written, over as soon as the client is gone."""

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import assert_never

from multidict import CIMultiDict

from tests.site.answers import Answer, MalformedRequestError, Raw, Reply, Reset, as_number
from tests.site.settings import SiteSettings

REQUEST_HEAD_LIMIT = 256 * 1024
LINGER_ZERO = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    path: str
    version: str
    headers: CIMultiDict[str]
    body: bytes

    @property
    def host(self) -> str:
        return self.headers.get("Host", "").partition(":")[0].lower()

    @property
    def keeps_alive(self) -> bool:
        wish = self.headers.get("Connection", "").lower()
        return self.version == "HTTP/1.1" and wish != "close"


class Connection(asyncio.StreamReaderProtocol):
    """Streams whose serving task ends with the client instead of at its next write."""

    def __init__(
        self, serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], asyncio.Task[None]]
    ) -> None:
        super().__init__(asyncio.StreamReader(limit=REQUEST_HEAD_LIMIT), self._begin)
        self._serve = serve

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._serving = self._serve(reader, writer)

    def eof_received(self) -> bool:
        super().eof_received()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._serving.cancel()


async def read_request(reader: asyncio.StreamReader) -> Received:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise MalformedRequestError("the request head is too large") from error
    request_line, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    match request_line.split(" "):
        case [method, path, version] if path.startswith("/"):
            headers = CIMultiDict(_header(line) for line in lines)
            body = await reader.readexactly(_body_length(headers))
            return Received(method, path, version, headers, body)
        case _:
            raise MalformedRequestError(f"not a request line: {request_line}")


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise MalformedRequestError(f"not a header: {line}")
    return name, value.strip()


def _body_length(headers: CIMultiDict[str]) -> int:
    if "Transfer-Encoding" in headers:
        raise MalformedRequestError("send a Content-Length")
    return int(as_number(headers.get("Content-Length", "0")))


async def send(
    writer: asyncio.StreamWriter, answer: Answer, method: str, settings: SiteSettings
) -> None:
    match answer:
        case Reply():
            if answer.delay:
                await asyncio.sleep(answer.delay)
            writer.write(answer.encode(method))
            await writer.drain()
        case Raw():
            await _pour(writer, answer, settings)
        case Reset():
            reset(writer)
        case _:
            assert_never(answer)


async def _pour(writer: asyncio.StreamWriter, raw: Raw, settings: SiteSettings) -> None:
    written = 0
    try:
        async with asyncio.timeout(settings.endless_seconds), aclosing(raw.chunks()) as chunks:
            async for chunk in chunks:
                if writer.is_closing() or written >= settings.endless_bytes:
                    break
                writer.write(chunk)
                await writer.drain()
                written += len(chunk)
    except TimeoutError:
        writer.transport.abort()
    writer.close()


def reset(writer: asyncio.StreamWriter) -> None:
    """Cut the connection so that the client sees a reset, not an orderly end."""
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_ZERO)
    writer.transport.abort()
