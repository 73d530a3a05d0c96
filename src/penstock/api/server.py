"""The server: uvicorn in our own loop, which leaves signals to us."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from penstock.api.door import Door, Signs
from penstock.core.errors import SettingsError
from penstock.web.settings import ApiSettings

BACKLOG = 2048
#: Who listens over a WebSocket has little to say.
MOST_HEARD = 64 * 1024


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, door: Door | None) -> None:
        super().__init__(config)
        self._door = door
        self._taking: set[asyncio.Task[object]] = set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._door:
            self._door.open(self._take)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._door:
            await self._door.close()
        await super().shutdown(sockets)

    def _take(self, connection: socket.socket) -> None:
        """Serve a connection that was accepted elsewhere, as if it had been here."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(loop.connect_accepted_socket(self._protocol, connection))
        self._taking.add(task)
        task.add_done_callback(self._taking.discard)

    def _protocol(self) -> asyncio.Protocol:
        return self.config.http_protocol_class(  # type: ignore[call-arg]  # as uvicorn does
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )


class Server:
    """Serves an application from a socket that is open from the start.

    With `signs` a porter takes the connections, who says how the process does however busy it is.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: ApiSettings,
        before_stop: Callable[[], None] = lambda: None,
        setting: str = "PENSTOCK_API__PORT",
        signs: Signs | None = None,
    ) -> None:
        self._before_stop = before_stop
        self._socket = _listen(settings.host, settings.port, setting)
        config = uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            ws_max_size=MOST_HEARD,
            # Messages are small and many: what it saves is less than what it takes.
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=max(1, round(settings.drain_seconds)),
        )
        self._door = Door(self._socket, signs) if signs else None
        self._server = _Server(config, self._door)

    @property
    def address(self) -> str:
        """Where it can be reached."""
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def run(self) -> None:
        """Serve until stopped."""
        if self._door is None:
            await self._server.serve(sockets=[self._socket])
            return
        try:
            await self._server.serve(sockets=[])
        finally:
            await self._door.close()

    def stop(self) -> None:
        """Take no more connections; those that are open may come to their end."""
        self._before_stop()
        self._server.should_exit = True

    def close(self) -> None:
        """Give the port back, whether it was served or not."""
        self._socket.close()


def _listen(host: str, port: int, setting: str) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Its connections inherit it, whoever takes them: small answers go at once.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        raise SettingsError(
            f"{setting}: {host}:{port} cannot be listened on: {error.strerror}"
        ) from error
    return listening
