"""The server: uvicorn in our own loop, which leaves signals to us."""

import contextlib
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from penstock.core.errors import SettingsError
from penstock.web.settings import ApiSettings

BACKLOG = 2048
#: Who listens over a WebSocket has little to say.
MOST_HEARD = 64 * 1024


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Server:
    """Serves an application from a socket that is open from the start."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ApiSettings,
        before_stop: Callable[[], None] = lambda: None,
        setting: str = "PENSTOCK_API__PORT",
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
        self._server = _Server(config)

    @property
    def address(self) -> str:
        """Where it can be reached."""
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def run(self) -> None:
        """Serve until stopped."""
        await self._server.serve(sockets=[self._socket])

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
        # Named as TCP, so that the loop lets small answers go at once.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        raise SettingsError(
            f"{setting}: {host}:{port} cannot be listened on: {error.strerror}"
        ) from error
    return listening
