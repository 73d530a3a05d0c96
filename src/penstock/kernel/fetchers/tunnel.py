"""Connections through a proxy's tunnel, to addresses that we looked up ourselves."""

import asyncio
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import aiohttp
import python_socks
from aiohttp.client_proto import ResponseHandler
from python_socks.async_.asyncio.v2 import Proxy as Tunnel

from penstock.core.errors import AddressRefused
from penstock.kernel.fetchers.replies import Connector, ReplyHandler
from penstock.kernel.model import Proxy

if TYPE_CHECKING:
    from python_socks.async_.asyncio.v2._stream import AsyncioSocketStream as Stream

#: A proxy's ways to say that it works and the site does not answer: of SOCKS, then of HTTP.
SITE_UNREACHED = frozenset({3, 4, 5, 6, 500, 502, 504})
#: Its ways to ask for a name and password; tinyproxy answers a wrong one by 401.
UNAUTHORIZED, PROXY_AUTHENTICATION_REQUIRED = 401, 407
TURNED_AWAY = frozenset({UNAUTHORIZED, PROXY_AUTHENTICATION_REQUIRED})


class TunnelConnector(Connector):
    """Connections through a SOCKS or CONNECT tunnel to an address that we checked.

    The tunnel is asked for the address, and TLS inside it for the name: so the far side of
    the proxy cannot resolve the name to somewhere else. The proxy has `patience` seconds.
    """

    def __init__(
        self,
        proxy: Proxy,
        may_connect: Callable[[str, int], bool],
        patience: float,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._proxy = proxy
        self._may_connect = may_connect
        self._patience = patience

    async def _wrap_create_connection(  # type: ignore[override]
        self,
        *args: Any,
        addr_infos: list[Any],
        req: aiohttp.ClientRequest,
        **options: Any,
    ) -> tuple[asyncio.BaseTransport, ResponseHandler]:
        del args
        stream = await self._reach_any(addr_infos, req)
        transport = stream.writer.transport
        context: ssl.SSLContext | None = options.get("ssl")
        try:
            if context is not None:
                name = options.get("server_hostname") or str(req.host)
                stream = await stream.start_tls(hostname=name, ssl_context=context)
        except ssl.SSLError as error:
            transport.abort()
            raise aiohttp.ClientConnectorSSLError(req.connection_key, error) from error
        except BaseException:
            transport.abort()
            raise
        handler = _TunnelledHandler(self._loop, stream)
        transport = stream.writer.transport
        transport.set_protocol(handler)
        handler.connection_made(transport)
        return transport, handler

    async def _reach_any(self, addr_infos: list[Any], req: aiohttp.ClientRequest) -> "Stream":
        """The first address that the proxy reaches; those that were tried leave the list."""
        while True:
            address, port = addr_infos.pop(0)[4][:2]
            try:
                return await reach(
                    self._proxy, str(address), int(port), self._may_connect, self._patience
                )
            except ConnectionRefusedError as error:
                if not addr_infos:
                    raise aiohttp.ClientConnectorError(req.connection_key, error) from error


async def reach(
    proxy: Proxy, address: str, port: int, may_connect: Callable[[str, int], bool], patience: float
) -> "Stream":
    """Ask a proxy for an address; what it does wrong is a `ProxyError`, never an OSError, which
    would be taken for the site's. `ConnectionRefusedError` says that the site is not there.
    """
    if not may_connect(address, port):
        raise AddressRefused("address")
    try:
        return await _tunnel(proxy).connect(address, port, timeout=patience)
    except python_socks.ProxyError as error:
        if error.error_code in SITE_UNREACHED:
            raise ConnectionRefusedError(str(error)) from error
        raise
    except (OSError, EOFError, ValueError) as error:
        raise python_socks.ProxyError(error) from error


def may_be_proxys_own(status: int, server: str) -> bool:
    """Whether a plain proxy may not have let us through; the site can say the same."""
    if status == UNAUTHORIZED:
        return server.startswith("tinyproxy")
    return status == PROXY_AUTHENTICATION_REQUIRED


async def turns_us_away(proxy: Proxy, patience: float) -> bool:
    """Whether a proxy does not take our name and password.

    Asked for a tunnel to itself, only the proxy can answer: what comes back for a page may be
    the site's word.
    """
    try:
        stream = await reach(proxy, proxy.host, proxy.port, lambda _host, _port: True, patience)
    except python_socks.ProxyError as error:
        return error.error_code in TURNED_AWAY
    except (OSError, python_socks.ProxyTimeoutError, python_socks.ProxyConnectionError):
        return False
    stream.writer.transport.abort()
    return False


def _tunnel(proxy: Proxy) -> Tunnel:
    kind = {
        "socks5": python_socks.ProxyType.SOCKS5,
        "http": python_socks.ProxyType.HTTP,
        "https": python_socks.ProxyType.HTTP,
    }[proxy.protocol]
    return Tunnel(
        proxy_type=kind,
        host=proxy.host,
        port=proxy.port,
        username=proxy.user or None,
        password=proxy.password or None,
        rdns=False,
        proxy_ssl=ssl.create_default_context() if proxy.protocol == "https" else None,
    )


class _TunnelledHandler(ReplyHandler):
    """Keeps the tunnel's stream alive as long as the connection; it closes when collected."""

    def __init__(self, loop: asyncio.AbstractEventLoop, stream: object) -> None:
        super().__init__(loop)
        self._stream = stream
