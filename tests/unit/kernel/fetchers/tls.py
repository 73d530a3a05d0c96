"""TLS in front of the test site, with a certificate for shop01.test that only tests trust."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.site import Site

CERTIFICATE = Path(__file__).with_name("shop01.pem")


def trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the HTTP client trust the certificate, as if an authority had signed it."""
    context = ssl.create_default_context(cafile=str(CERTIFICATE))
    monkeypatch.setattr(aiohttp.connector, "_SSL_CONTEXT_VERIFIED", context)


@asynccontextmanager
async def tls_front(site: Site) -> AsyncIterator[int]:
    """A port that speaks TLS and hands on to the site."""
    host, _, port = site.address.rpartition(":")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    pumps: set[asyncio.Task[None]] = set()

    async def hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back_reader, back_writer = await asyncio.open_connection(host, int(port))
        for source, sink in ((reader, back_writer), (back_reader, writer)):
            pumps.add(asyncio.create_task(_pump(source, sink)))

    server = await asyncio.start_server(hand_on, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1]
    server.close()
    for pump in pumps:
        pump.cancel()
    await asyncio.gather(*pumps, return_exceptions=True)
    await server.wait_closed()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    finally:
        sink.transport.abort()
