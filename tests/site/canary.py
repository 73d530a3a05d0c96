"""A port that nobody may touch: it counts who does."""

import asyncio
from types import TracebackType
from typing import Self


class Canary:
    """Stands for a private service on the crawler's own machine."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self.connections = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._notice, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        await self._server.wait_closed()

    def _notice(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret")
        writer.close()
