"""Connections through a proxy's tunnel, to addresses that we looked up ourselves."""

import asyncio
import ssl
from typing import Any

import aiohttp
import python_socks
from aiohttp.client_proto import ResponseHandler
from python_socks.async_.asyncio.v2 import Proxy as Tunnel

from penstock.kernel.model import Proxy


class TunnelConnector(aiohttp.TCPConnector):
    """Connections through a SOCKS or CONNECT tunnel to an address that we checked.

    The tunnel is asked for the address, and TLS inside it for the name: so the far side of
    the proxy cannot resolve the name to somewhere else.
    """

    def __init__(self, proxy: Proxy, **options: Any) -> None:
        super().__init__(**options)
        self._proxy = proxy

    async def _wrap_create_connection(  # type: ignore[override]
        self,
        *args: Any,
        addr_infos: list[Any],
        req: aiohttp.ClientRequest,
        **options: Any,
    ) -> tuple[asyncio.BaseTransport, ResponseHandler]:
        del args
        address, port = addr_infos[0][4][:2]
        stream = await self._tunnel().connect(str(address), int(port))
        context: ssl.SSLContext | None = options.get("ssl")
        if context is not None:
            stream = await stream.start_tls(
                hostname=req.server_hostname or str(req.host), ssl_context=context
            )
        handler = _TunnelledHandler(self._loop, stream)
        transport = stream.writer.transport
        transport.set_protocol(handler)
        handler.connection_made(transport)
        return transport, handler

    def _tunnel(self) -> Tunnel:
        kind = {
            "socks5": python_socks.ProxyType.SOCKS5,
            "http": python_socks.ProxyType.HTTP,
            "https": python_socks.ProxyType.HTTP,
        }[self._proxy.protocol]
        return Tunnel(
            proxy_type=kind,
            host=self._proxy.host,
            port=self._proxy.port,
            username=self._proxy.user or None,
            password=self._proxy.password or None,
            rdns=False,
            proxy_ssl=ssl.create_default_context() if self._proxy.protocol == "https" else None,
        )


class _TunnelledHandler(ResponseHandler):
    """Keeps the tunnel's stream alive as long as the connection; it closes when collected."""

    def __init__(self, loop: asyncio.AbstractEventLoop, stream: object) -> None:
        super().__init__(loop)
        self._stream = stream
