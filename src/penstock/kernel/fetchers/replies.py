"""aiohttp's end of a connection, kept from piling up replies that nobody asked for."""

import functools
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError

#: A reply and what interim ones (100, 103) may come before it in one go.
MAX_WAITING = 16


class ReplyHandler(ResponseHandler):
    """Ends the connection when more replies wait to be read than one request can have."""

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if len(self._buffer) > MAX_WAITING and self.transport is not None:
            self._buffer.clear()
            self.set_exception(HttpProcessingError(message="replies without end"))
            self.transport.abort()


class Connector(aiohttp.TCPConnector):
    """aiohttp's connector, with our end on each of its connections."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._factory = functools.partial(ReplyHandler, loop=self._loop)  # type: ignore[assignment]
