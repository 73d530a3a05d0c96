"""aiohttp's end of a connection: bounded in what it holds, and clear about how it broke."""

import asyncio
import functools
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_writer import _serialize_headers
from multidict import CIMultiDict, CIMultiDictProxy

from penstock.core.urls import Url

#: A reply and what interim ones (100, 103) may come before it in one go.
MAX_WAITING = 16
SWITCHING_PROTOCOLS = 101


class Reply(NamedTuple):
    """The head of an answer, and its body as it comes."""

    status: int
    headers: CIMultiDictProxy[str]
    content: aiohttp.StreamReader


class StaleConnection(aiohttp.ServerDisconnectedError):
    """A kept connection was closed before it carried an answer: another one may be tried."""


class ReplyHandler(ResponseHandler):
    """Ends the connection when more replies wait to be read than one request can have."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._requests = 0
        self._answered = False

    def set_response_params(self, **parameters: Any) -> None:
        """Called by aiohttp once for each request on this connection."""
        self._requests += 1
        self._answered = False
        super().set_response_params(**parameters)

    def data_received(self, data: bytes) -> None:
        self._answered = True
        super().data_received(data)
        if len(self._buffer) > MAX_WAITING and self.transport is not None:
            self._buffer.clear()
            self.set_exception(HttpProcessingError(message="replies without end"))
            self.transport.abort()

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        if self._requests > 1 and not self._answered and isinstance(exc, _CLOSED):
            exc = StaleConnection()
        super().set_exception(exc, *cause)


_CLOSED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


class KeptConnection:
    """A connection that is open and idle: what goes over it needs nothing else of a session.

    Asking a session for the same costs more than twice the time.
    """

    def __init__(self, connection: Connection, limits: Mapping[str, Any]) -> None:
        self._connection = connection
        self._limits = limits

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Keep it for the next one, unless there was trouble or more may come."""
        if kind is None:
            self._connection.release()
        else:
            self._connection.close()

    async def ask(self, method: str, url: Url, headers: Mapping[str, str]) -> Reply:
        """Send a request without a body, and wait for the head of its answer."""
        protocol = self._connection.protocol
        if protocol is None or protocol.transport is None:
            raise StaleConnection
        protocol.set_response_params(
            skip_payload=method == "HEAD",
            read_until_eof=True,
            auto_decompress=False,
            **self._limits,
        )
        lines = CIMultiDict({"Host": url.authority, **headers})
        head = _serialize_headers(f"{method} {url.target} HTTP/1.1", lines)
        protocol.transport.write(head)
        while True:
            message, content = await protocol.read()
            if not _is_interim(message.code):
                return Reply(message.code, message.headers, content)


def _is_interim(status: int) -> bool:
    return status in range(100, 200) and status != SWITCHING_PROTOCOLS


class Connector(aiohttp.TCPConnector):
    """aiohttp's connector, with our end on each of its connections."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._factory = functools.partial(ReplyHandler, loop=self._loop)  # type: ignore[assignment]

    async def kept(self, url: Url, limits: Mapping[str, Any]) -> KeptConnection | None:
        """An idle connection to where a URL leads, if there is one; no plain proxy's."""
        host, is_tls = url.host, url.scheme == "https"
        key = ConnectionKey(host, url.port, is_tls, True, None, None, None)
        connection = await self._get(key, [])
        return None if connection is None else KeptConnection(connection, limits)
