"""Through a proxy: whose failure it is, what the proxy is told, and that nothing is left open."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from ipaddress import IPv4Address
from typing import Literal

import pytest

from penstock.core.clock import SystemClock
from penstock.core.urls import parse
from penstock.kernel.admission import Admission, Lookup
from penstock.kernel.fetchers.http import HttpFetcher
from penstock.kernel.model import Failure, Page, Proxy, ProxyFailed, Redirect, Refused, SiteWide
from penstock.kernel.ports import Hop
from penstock.kernel.settings import AdmissionSettings, HttpSettings

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
#: A proxy's protocol, and the scheme of what is fetched through it.
Way = tuple[Literal["http", "socks5"], str]

TIMEOUT = 1.0
#: Loopback addresses that play public ones, so that nothing leaves the machine.
FIRST, SECOND = "127.0.0.2", "127.0.0.3"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
PLAIN: Way = ("http", "http")
SOCKS: Way = ("socks5", "http")
CONNECT: Way = ("http", "https")
TUNNELS: list[Way] = [SOCKS, ("socks5", "https"), CONNECT]


class FakeProxy:
    """The far side of a network fault: a proxy that behaves as it is told."""

    def __init__(self, behave: Behaviour) -> None:
        self._behave = behave
        self.port = 0
        self.connections = 0
        self.left = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await self._behave(reader, writer)
            await writer.drain()
        writer.close()
        self.left.set()


@asynccontextmanager
async def fake_proxy(behave: Behaviour) -> AsyncIterator[FakeProxy]:
    proxy = FakeProxy(behave)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    yield proxy
    server.close()
    await server.wait_closed()


async def public(host: str) -> list[str]:
    return [FIRST, SECOND]


async def fetch(url: str, proxy: Proxy, lookup: Lookup = public) -> Page | Redirect | Failure:
    opened = AdmissionSettings.model_validate({"open_ranges": [FIRST, SECOND]})
    settings = HttpSettings(timeout_seconds=TIMEOUT)
    async with HttpFetcher(settings, Admission(opened, lookup), SystemClock()) as fetcher:
        return await fetcher.fetch(Hop(parse(url), {}, TIMEOUT, proxy=proxy))


async def fetch_through(way: Way, behave: Behaviour) -> Page | Redirect | Failure:
    protocol, scheme = way
    async with fake_proxy(behave) as proxy:
        account = Proxy(protocol, "127.0.0.1", proxy.port, "user", "secret")
        return await fetch(f"{scheme}://shop.example/page", account)


# Misbehaviour


async def close_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def close_after_hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(3)


async def close_halfway(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await greet(reader, writer)
    await reader.read(1000)
    writer.write(b"\x05")


async def talk_nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1000)
    writer.write(b"\x05\x00\xff\xff nonsense \xff\xff")
    await reader.read()


async def name_a_stray_host(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await greet(reader, writer)
    await reader.read(1000)
    writer.write(b"\x05\x00\x00\x03\x02\xff\xff\x00\x00")
    await reader.read()


async def want_another_password(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.read(1000)
    wrong = b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"
    writer.write(b"\x05\xff" if head.startswith(b"\x05") else wrong)
    await reader.read()


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Agree with a SOCKS client that it needs no password."""
    count = (await reader.readexactly(2))[1]
    await reader.readexactly(count)
    writer.write(b"\x05\x00")


MISBEHAVIOUR = [
    close_at_once,
    close_after_hello,
    close_halfway,
    talk_nonsense,
    name_a_stray_host,
    want_another_password,
    hang,
]


@pytest.mark.parametrize("behave", MISBEHAVIOUR, ids=lambda behave: behave.__name__)
@pytest.mark.parametrize("way", TUNNELS)
async def test_what_a_tunnel_does_wrong_is_the_proxy_s_failure(way: Way, behave: Behaviour) -> None:
    assert isinstance(await fetch_through(way, behave), ProxyFailed)


@pytest.mark.parametrize(
    "behave",
    [close_at_once, close_after_hello, want_another_password],
    ids=lambda behave: behave.__name__,
)
async def test_what_a_plain_proxy_does_wrong_is_the_proxy_s_failure(behave: Behaviour) -> None:
    assert isinstance(await fetch_through(PLAIN, behave), ProxyFailed)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("way", [*TUNNELS, PLAIN])
async def test_a_proxy_that_is_not_there_is_the_proxy_s_failure(way: Way, host: str) -> None:
    protocol, scheme = way

    answer = await fetch(f"{scheme}://shop.example/", Proxy(protocol, host, 1))

    assert isinstance(answer, ProxyFailed)


async def test_a_name_that_does_not_exist_is_not_the_proxy_s_failure() -> None:
    async def nowhere(host: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    async with fake_proxy(hang) as proxy:
        for protocol in ("http", "socks5"):
            way_out = Proxy(protocol, "127.0.0.1", proxy.port)
            answer = await fetch("http://no-such.example/", way_out, nowhere)
            assert isinstance(answer, SiteWide)
            assert answer.reason == "dns"

        assert proxy.connections == 0


# A site that the proxy cannot reach


@pytest.mark.parametrize("code", [3, 4, 5, 6])
async def test_a_site_that_socks_does_not_reach_is_the_site_s_failure(code: int) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await greet(reader, writer)
        await reader.readexactly(10)
        writer.write(bytes([5, code, 0, 1, 0, 0, 0, 0, 0, 0]))

    answer = await fetch_through(SOCKS, refuse)

    assert isinstance(answer, SiteWide)
    assert answer.reason == "connect"


@pytest.mark.parametrize(
    ("status", "kind"), [(500, SiteWide), (502, SiteWide), (504, SiteWide), (403, ProxyFailed)]
)
async def test_a_site_that_connect_does_not_reach_is_the_site_s_failure(
    status: int, kind: type[Failure]
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %d Sorry\r\n\r\n" % status)

    assert isinstance(await fetch_through(CONNECT, refuse), kind)


async def test_the_next_address_is_tried_when_one_is_not_reached() -> None:
    asked: list[str] = []

    async def reach_the_second(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await greet(reader, writer)
        request = await reader.readexactly(10)
        asked.append(str(IPv4Address(request[4:8])))
        writer.write(bytes([5, 5 if len(asked) == 1 else 0, 0, 1, 0, 0, 0, 0, 0, 0]))
        if len(asked) > 1:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(OK)

    answer = await fetch_through(SOCKS, reach_the_second)

    assert isinstance(answer, Page)
    assert asked == [FIRST, SECOND]


async def test_a_site_without_tls_in_its_tunnel_is_the_site_s_failure() -> None:
    async def speak_no_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 Established\r\n\r\n")
        await reader.read(1000)
        writer.write(b"this is no TLS at all" * 10)
        await reader.read()

    answer = await fetch_through(CONNECT, speak_no_tls)

    assert isinstance(answer, SiteWide)
    assert answer.reason == "tls"


# What the proxy is told


async def test_a_tunnel_is_asked_for_an_address_and_never_for_a_name() -> None:
    heard: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 403 No\r\n\r\n")

    await fetch_through(CONNECT, listen)

    assert heard[0].startswith(f"CONNECT {FIRST}:443 HTTP/1.1\r\n".encode())
    assert b"shop.example" not in heard[0]
    assert b"Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n" in heard[0]


async def test_a_tunnel_is_asked_for_the_address_that_the_name_has_now() -> None:
    asked: list[str] = []
    addresses = iter([FIRST, SECOND])

    async def moving(host: str) -> list[str]:
        return [next(addresses)]

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await greet(reader, writer)
        asked.append(str(IPv4Address((await reader.readexactly(10))[4:8])))
        writer.write(bytes([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))

    opened = AdmissionSettings.model_validate({"open_ranges": [FIRST, SECOND]})
    admission = Admission(opened, moving)
    async with (
        fake_proxy(answer_once) as proxy,
        HttpFetcher(HttpSettings(), admission, SystemClock()) as fetcher,
    ):
        way_out = Proxy("socks5", "127.0.0.1", proxy.port)
        for _ in range(2):
            await fetcher.fetch(Hop(parse("http://moved.example/"), {}, 5.0, proxy=way_out))

    assert asked == [FIRST, SECOND]


async def test_a_plain_proxy_is_asked_for_the_whole_url() -> None:
    heard: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(OK)

    answer = await fetch_through(PLAIN, listen)

    assert isinstance(answer, Page)
    assert heard[0].startswith(b"GET http://shop.example/page HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n" in heard[0]


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::ffff:7f00:1]"])
@pytest.mark.parametrize("way", [*TUNNELS, PLAIN])
async def test_no_proxy_is_asked_for_a_literal_private_address(way: Way, host: str) -> None:
    protocol, scheme = way
    async with fake_proxy(hang) as proxy:
        way_out = Proxy(protocol, "127.0.0.1", proxy.port)
        answer = await fetch(f"{scheme}://{host}/", way_out)

        assert isinstance(answer, Refused)
        assert answer.gate == "admission"
        assert proxy.connections == 0


# What is left behind


async def establish_and_hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 Established\r\n\r\n")
    await reader.read()


@pytest.mark.parametrize("behave", [hang, establish_and_hang], ids=["proxy", "tls"])
async def test_a_tunnel_that_hangs_is_closed(behave: Behaviour) -> None:
    async with fake_proxy(behave) as proxy:
        await fetch("https://shop.example/", Proxy("http", "127.0.0.1", proxy.port))

        async with asyncio.timeout(1):
            await proxy.left.wait()
