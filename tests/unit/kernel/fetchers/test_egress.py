"""The way out of a browser: what passes, what does not, and what is told about it."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest

from penstock.core.urls import parse
from penstock.kernel.admission import Admission
from penstock.kernel.fetchers.allowance import EgressLimits
from penstock.kernel.fetchers.egress import Egress, EgressProxy
from penstock.kernel.model import Failure, Proxy, ProxyFailed, Refused
from penstock.kernel.settings import AdmissionSettings
from tests.clocks import HandClock
from tests.site import Raw, Reply, Site

HOST = "shop01.test"
LIMITS = EgressLimits(max_bytes=1_000_000, max_requests=5, connect_seconds=2)
STAYING = replace(LIMITS, window_seconds=60)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


async def nowhere(host: str) -> list[str]:
    raise socket.gaierror(socket.EAI_NONAME, "no such name")


@asynccontextmanager
async def egress_to(
    site: Site,
    proxy: Proxy | None = None,
    limits: EgressLimits = LIMITS,
    clock: HandClock | None = None,
    **hosts: str,
) -> AsyncIterator[Egress]:
    known = {**site.known_hosts, **{name.replace("_", "."): to for name, to in hosts.items()}}
    admission = Admission(AdmissionSettings(known_hosts=known), nowhere)
    async with EgressProxy(admission, limits, clock or HandClock()).open(proxy) as egress:
        yield egress


async def say(egress: Egress, *messages: bytes) -> bytes:
    """Send something and read until the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", egress.port)
    try:
        for message in messages:
            writer.write(message)
        async with asyncio.timeout(5):
            return await reader.read()
    finally:
        writer.close()


def get(url: str, *headers: str) -> bytes:
    lines = [f"GET {url} HTTP/1.1", "Host: somewhere.else.test", *headers, "", ""]
    return "\r\n".join(lines).encode()


def verdict(egress: Egress, url: str) -> Failure | None:
    return egress.verdict(parse(url))


async def test_a_request_goes_to_the_host_of_its_url(site: Site) -> None:
    async with egress_to(site) as egress:
        reply = await say(egress, get(f"http://{HOST}/product/1?a=b", "X-Own: yes"))

    assert reply.startswith(b"HTTP/1.1 200")
    assert b"Brightwell Lamp" in reply
    hit = site.hits[0]
    assert (hit.host, hit.path) == (HOST, "/product/1?a=b")
    assert hit.headers["X-Own"] == "yes"
    assert egress.traffic.requests == 1
    assert egress.traffic.bytes >= len(reply)


async def test_headers_of_the_connection_end_here(site: Site) -> None:
    said = [
        "Proxy-Connection: keep-alive",
        "Proxy-Authorization: Basic eHg=",
        "Connection: keep-alive, X-Hop",
        "X-Hop: 1",
        "Upgrade: h2c",
    ]
    async with egress_to(site) as egress:
        reply = await say(egress, get(f"http://{HOST}/", *said))

    sent = site.hits[0].headers
    assert sent.getall("Connection") == ["close"]
    assert {"Proxy-Connection", "Proxy-Authorization", "X-Hop", "Upgrade"}.isdisjoint(sent)
    assert b"Connection: close" in reply


async def test_a_second_request_on_a_connection_is_not_carried(site: Site) -> None:
    async with egress_to(site) as egress:
        first = get(f"http://{HOST}/product/1")
        await say(egress, first + get("http://127.0.0.1:1/secret") + get(f"http://{HOST}/two"))

    assert [hit.path for hit in site.hits] in ([], ["/product/1"])


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (["Content-Length: 5"], b"hello"),
        (["Content-Length: 0"], b""),
    ],
)
async def test_a_body_is_carried_by_its_length(site: Site, headers: list[str], body: bytes) -> None:
    message = get(f"http://{HOST}/_echo", *headers).replace(b"GET", b"POST", 1)
    async with egress_to(site) as egress:
        reply = await say(egress, message, body)

    assert reply.startswith(b"HTTP/1.1 200")
    assert site.hits[0].body == body


async def test_chunks_are_carried_until_the_last_and_no_further(site: Site) -> None:
    """The site does not take chunks, so whatever came after them would be seen as a request."""
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"0\r\n\r\n"))
        seen.append(await reader.read(100))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    message = get("http://chunks.test/", "Transfer-Encoding: chunked").replace(b"GET", b"POST", 1)
    async with egress_to(site, chunks_test=f"127.0.0.1:{port}") as egress:
        await say(egress, message, b"3\r\nabc\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n")
    server.close()

    assert seen[0].endswith(b"3\r\nabc\r\n0\r\n\r\n")
    assert b"smuggled" not in b"".join(seen)


async def test_a_tunnel_leads_to_a_checked_address(site: Site) -> None:
    async with egress_to(site) as egress:
        reader, writer = await asyncio.open_connection("127.0.0.1", egress.port)
        writer.write(b"CONNECT shop01.test:443 HTTP/1.1\r\nHost: x\r\n\r\n")
        established = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET /one HTTP/1.1\r\nHost: a.test\r\n\r\n")
        writer.write(b"GET /two HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()

    assert established == b"HTTP/1.1 200 OK\r\n\r\n"
    assert [hit.path for hit in site.hits] == ["/one", "/two"]
    assert egress.traffic.bytes > len(answer)


@pytest.mark.parametrize(
    "message",
    [
        get("http://127.0.0.1:{port}/"),
        get("http://[::ffff:7f00:1]:{port}/"),
        get("http://2130706433:{port}/"),
        get("http://localhost:{port}/"),
        get("http://shop01.test@127.0.0.1:{port}/"),
        get("ftp://127.0.0.1:{port}/"),
        get("file:///etc/passwd"),
        get("/etc/passwd"),
        get("http://shop01.test:22/"),
        b"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT [::1]:{port} HTTP/1.1\r\n\r\n",
        b"CONNECT shop01.test:25 HTTP/1.1\r\n\r\n",
        b"CONNECT 0x7f.1:{port} HTTP/1.1\r\n\r\n",
    ],
    ids=ascii,
)
async def test_what_admission_refuses_is_not_contacted(site: Site, message: bytes) -> None:
    port = str(site.canary.port).encode()
    async with egress_to(site) as egress:
        reply = await say(egress, message.replace(b"{port}", port))

    assert reply.startswith(b"HTTP/1.1 403")
    assert len(egress.traffic.refused) == 1
    assert all(isinstance(failure, Refused) for failure in egress.traffic.refused.values())
    assert site.canary.connections == 0
    assert site.hits == []


@pytest.mark.parametrize(
    ("url", "reason"),
    [("http://unknown.example/", "dns"), ("http://closed.test/", "connect")],
)
async def test_a_site_that_cannot_be_reached_is_told(site: Site, url: str, reason: str) -> None:
    async with egress_to(site, closed_test="127.0.0.1:1") as egress:
        reply = await say(egress, get(url))
        failure = verdict(egress, url)

    assert reply.startswith(b"HTTP/1.1 502")
    assert failure
    assert failure.reason == reason


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "disconnected"),
        (b"SSH-2.0\r\n\r\n", "bad_http"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "bad_http"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 20, "bad_http"),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "bad_http"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", "bad_http"),
    ],
    ids=["closed", "no-http", "upgrade", "interim", "no-header", "huge-header"],
)
async def test_an_answer_that_is_none_is_told(site: Site, answer: bytes, reason: str) -> None:
    site.reply(HOST, "/odd", Raw.of(answer))
    async with egress_to(site) as egress:
        reply = await say(egress, get(f"http://{HOST}/odd"))
        failure = verdict(egress, f"http://{HOST}/")

    assert reply == b""
    assert failure
    assert failure.reason == reason


async def test_interim_answers_are_left_out(site: Site) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    site.reply(HOST, "/hints", Raw.of(hints, b"HTTP/1.1 200 OK\r\nX-Real: yes\r\n\r\nbody"))
    async with egress_to(site) as egress:
        reply = await say(egress, get(f"http://{HOST}/hints"))

    assert reply.startswith(b"HTTP/1.1 200 OK\r\nX-Real: yes")
    assert reply.endswith(b"body")


async def test_bytes_are_bounded(site: Site) -> None:
    site.reply(HOST, "/large", Reply(200, b"x" * 3_000_000))
    async with egress_to(site) as egress:
        reply = await say(egress, get(f"http://{HOST}/large"))
        after = await say(egress, get(f"http://{HOST}/"))

    assert len(reply) <= LIMITS.max_bytes
    assert egress.overflow
    assert egress.overflow.reason == "too_large"
    assert after.startswith(b"HTTP/1.1 403")


async def test_requests_are_bounded(site: Site) -> None:
    async with egress_to(site) as egress:
        replies = [await say(egress, get(f"http://{HOST}/")) for _ in range(7)]

    assert [reply[9:12] for reply in replies] == [b"200"] * 5 + [b"403"] * 2
    assert len(site.hits) == 5


async def test_requests_of_a_page_that_stays_open_are_bounded_for_a_while(site: Site) -> None:
    clock = HandClock()
    async with egress_to(site, limits=STAYING, clock=clock) as egress:
        first = [await say(egress, get(f"http://{HOST}/")) for _ in range(7)]
        clock.move(59)
        too_soon = await say(egress, get(f"http://{HOST}/"))
        clock.move(1)
        later = await say(egress, get(f"http://{HOST}/"))

    assert [reply[9:12] for reply in first] == [b"200"] * 5 + [b"403"] * 2
    assert too_soon.startswith(b"HTTP/1.1 403")
    assert later.startswith(b"HTTP/1.1 200")
    assert egress.traffic.held_back == 3


async def test_bytes_of_a_page_that_stays_open_are_bounded_for_a_while(site: Site) -> None:
    site.reply(HOST, "/large", Reply(200, b"x" * 3_000_000))
    clock = HandClock()
    async with egress_to(site, limits=STAYING, clock=clock) as egress:
        cut = await say(egress, get(f"http://{HOST}/large"))
        too_soon = await say(egress, get(f"http://{HOST}/"))
        clock.move(60)
        later = await say(egress, get(f"http://{HOST}/"))

    assert len(cut) <= LIMITS.max_bytes
    assert too_soon.startswith(b"HTTP/1.1 403")
    assert later.startswith(b"HTTP/1.1 200")
    assert egress.overflow is None


async def test_a_tunnel_that_carries_too_much_is_cut(site: Site) -> None:
    site.reply(HOST, "/large", Reply(200, b"x" * 3_000_000))
    async with egress_to(site, limits=STAYING) as egress:
        reply = await say(
            egress,
            b"CONNECT shop01.test:443 HTTP/1.1\r\n\r\n",
            b"GET /large HTTP/1.1\r\nHost: shop01.test\r\n\r\n",
        )

    assert reply.startswith(b"HTTP/1.1 200 OK\r\n\r\n")
    assert len(reply) <= LIMITS.max_bytes
    assert egress.traffic.held_back == 1


async def test_after_its_page_nothing_passes(site: Site) -> None:
    async with egress_to(site) as egress:
        reader, writer = await asyncio.open_connection("127.0.0.1", egress.port)
        writer.write(b"GET http://shop01.test/ HTTP/1.1\r\n")
        await writer.drain()

    with suppress(ConnectionResetError):
        assert await reader.read() == b""
    writer.close()
    with pytest.raises(OSError, match="Connect call failed"):
        await asyncio.open_connection("127.0.0.1", egress.port)


@pytest.mark.parametrize("protocol", ["http", "socks5"])
async def test_a_dead_proxy_is_told(site: Site, protocol: str) -> None:
    proxy = Proxy("socks5" if protocol == "socks5" else "http", "127.0.0.1", 1)
    async with egress_to(site, proxy) as egress:
        await say(egress, get(f"http://{HOST}/"))
        await say(egress, b"CONNECT shop02.test:443 HTTP/1.1\r\n\r\n")

        assert isinstance(verdict(egress, f"http://{HOST}/"), ProxyFailed)
        assert isinstance(verdict(egress, "https://shop02.test/"), ProxyFailed)
    assert site.hits == []


@pytest.mark.parametrize(
    ("to_connect", "is_proxys"), [(b"200 OK", False), (b"407 No", True), (b"401 No", True)]
)
async def test_only_a_proxy_s_own_word_is_held_against_it(
    site: Site, to_connect: bytes, is_proxys: bool
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        # What comes back for a page may be the site's word; for a tunnel there is no site yet.
        status = to_connect if asked.startswith(b"CONNECT") else b"407 No"
        writer.write(b"HTTP/1.1 %b\r\nContent-Length: 0\r\n\r\n" % status)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    proxy = Proxy("http", "127.0.0.1", server.sockets[0].getsockname()[1])
    async with server, egress_to(site, proxy) as egress:
        reply = await say(egress, get(f"http://{HOST}/"))

        assert isinstance(verdict(egress, f"http://{HOST}/"), ProxyFailed) is is_proxys
    assert reply.startswith(b"HTTP/1.1 502" if is_proxys else b"HTTP/1.1 407")
