"""aiohttp's end of a connection: bounded in what it holds, and clear about how it broke."""

import asyncio
import functools
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError

#: A reply and what interim ones (100, 103) may come before it in one go.
MAX_WAITING = 16


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


class Connector(aiohttp.TCPConnector):
    """aiohttp's connector, with our end on each of its connections."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._factory = functools.partial(ReplyHandler, loop=self._loop)  # type: ignore[assignment]
