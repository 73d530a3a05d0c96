"""One hop over HTTP: what goes out, what comes back, and what it is called when it fails."""

import asyncio
import gzip
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import closing, suppress
from typing import Any

import pytest

from penstock.core.clock import SystemClock
from penstock.core.urls import parse
from penstock.kernel.admission import Admission
from penstock.kernel.fetchers.http import HttpFetcher
from penstock.kernel.fetchers.replies import MAX_WAITING
from penstock.kernel.model import Broken, Failure, Page, Proxy, Redirect, Refused, SiteWide
from penstock.kernel.ports import Hop
from penstock.kernel.settings import AdmissionSettings, HttpSettings
from tests.site import Raw, Reply, Reset, Site
from tests.site.answers import encode_head
from tests.unit.kernel.fetchers.tls import tls_front, trust

HOST = "shop01.test"


async def nowhere(host: str) -> list[str]:
    raise socket.gaierror(socket.EAI_NONAME, "no such name")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest.fixture
async def new_fetcher(site: Site) -> AsyncIterator[HttpFetcher]:
    """One that has contacted nobody yet."""
    admission = Admission(AdmissionSettings(known_hosts=site.known_hosts), nowhere)
    async with HttpFetcher(HttpSettings(), admission, SystemClock()) as fetcher:
        yield fetcher


@pytest.fixture(params=["new", "kept"])
async def fetcher(
    site: Site, new_fetcher: HttpFetcher, request: pytest.FixtureRequest
) -> HttpFetcher:
    """One that has to open a connection, or that goes on with one that it has."""
    if request.param == "kept":
        await get_page(new_fetcher, "/")
        site.hits.clear()
    return new_fetcher


def hop(path: str, timeout: float = 5, **options: Any) -> Hop:
    url = path if "://" in path else f"http://{HOST}{path}"
    return Hop(parse(url), options.pop("headers", {}), timeout, **options)


async def get_page(fetcher: HttpFetcher, path: str, **options: Any) -> Page:
    reply = await fetcher.fetch(hop(path, **options))
    assert isinstance(reply, Page), reply
    return reply


async def get_failure(fetcher: HttpFetcher, path: str, **options: Any) -> tuple[str, str]:
    reply = await fetcher.fetch(hop(path, **options))
    assert isinstance(reply, Failure), reply
    return reply.kind, reply.reason


def in_pieces(body: bytes, size: int, **headers: str) -> Raw:
    """A chunked body that arrives in many small pieces."""

    async def chunks() -> AsyncGenerator[bytes, None]:
        yield encode_head(200, {"Transfer-Encoding": "chunked", **headers})
        for at in range(0, len(body), size):
            piece = body[at : at + size]
            yield b"%x\r\n%b\r\n" % (len(piece), piece)
            await asyncio.sleep(0)
        yield b"0\r\n\r\n"

    return Raw(chunks)


# What goes out


async def test_the_url_goes_out_as_it_was_parsed(site: Site, fetcher: HttpFetcher) -> None:
    await fetcher.fetch(hop("/a%2Fb/%7Ec/é?q=a+b%20c&x=%c3%a9#part"))

    assert site.hits[0].path == "/a%2Fb/%7Ec/%C3%A9?q=a+b%20c&x=%c3%a9"


async def test_only_the_given_headers_go_out(site: Site, fetcher: HttpFetcher) -> None:
    await fetcher.fetch(hop("/", headers={"User-Agent": "Penstock", "X-Own": "yes"}))

    sent = dict(site.hits[0].headers)
    assert sent.pop("Host") == HOST
    assert sent.pop("User-Agent") == "Penstock"
    assert sent.pop("X-Own") == "yes"
    assert set(sent) <= {"Accept", "Accept-Encoding"}


async def test_a_cookie_is_not_kept_between_hops(site: Site, fetcher: HttpFetcher) -> None:
    await fetcher.fetch(hop("http://cookies.test/"))
    await fetcher.fetch(hop("http://cookies.test/echo"))

    assert "Cookie" not in site.hits[-1].headers


async def test_the_environment_chooses_no_proxy(
    site: Site, fetcher: HttpFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{site.canary.port}")

    assert (await get_page(fetcher, "/")).status == 200
    assert site.canary.connections == 0


@pytest.mark.parametrize("answer", [Reset(), Raw.of(b"")], ids=["reset", "closed"])
async def test_a_site_is_contacted_once_and_not_behind_our_back(
    site: Site, new_fetcher: HttpFetcher, answer: Reset | Raw
) -> None:
    site.reply(HOST, "/gone", answer)

    kind, _ = await get_failure(new_fetcher, "/gone")

    assert kind == "site_wide"
    assert len(site.hits_of(HOST, "/gone")) == 1


async def test_a_kept_connection_that_was_closed_is_replaced() -> None:
    """Sites close idle connections without a word; a request may cross that on its way."""
    requests: list[int] = []

    async def answer_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.IncompleteReadError):
            for number in (1, 2):
                await reader.readuntil(b"\r\n\r\n")
                requests.append(number)
                if number == 1:
                    writer.write(Reply(200, "ok").encode("GET"))

    server = await asyncio.start_server(answer_one, "127.0.0.1", 0)
    address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    admission = Admission(AdmissionSettings(known_hosts={HOST: address}), nowhere)
    async with HttpFetcher(HttpSettings(), admission, SystemClock()) as fetcher:
        for _ in range(3):
            assert (await get_page(fetcher, "/")).body == b"ok"
    server.close()
    await server.wait_closed()

    assert requests == [1, 2, 1, 2, 1]


# What comes back


async def test_a_redirect_is_handed_back(site: Site, fetcher: HttpFetcher) -> None:
    headers = [("Location", "/next"), ("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2")]
    site.reply(HOST, "/moved", Reply(302, "moved", headers))

    reply = await fetcher.fetch(hop("/moved"))

    assert reply == Redirect("/next", 302, {"a": "1", "b": "2"})
    assert len(site.hits) == 1


async def test_stray_bytes_of_a_location_are_escaped(site: Site, fetcher: HttpFetcher) -> None:
    site.reply(HOST, "/moved", Reply(302, "", {"Location": "/gr\xf6\xdfe/\xc3\xa9"}))

    reply = await fetcher.fetch(hop("/moved"))

    assert isinstance(reply, Redirect)
    assert reply.location == "/gr%F6%DFe/é"


async def test_stray_bytes_of_a_header_are_read_as_latin_1(
    site: Site, fetcher: HttpFetcher
) -> None:
    headers = [("X-Name", "caf\xe9"), ("X-Name", "caf\xc3\xa9"), ("X-Plain", "cafe")]
    site.reply(HOST, "/stray", Reply(200, "ok", headers))

    page = await get_page(fetcher, "/stray")

    assert [value for name, value in page.headers.items() if name == "X-Name"] == ["café"] * 2
    assert page.headers["x-plain"] == "cafe"


@pytest.mark.parametrize("status", [204, 304])
async def test_a_length_without_a_body_is_no_body(
    site: Site, fetcher: HttpFetcher, status: int
) -> None:
    site.reply(HOST, "/none", Reply(status, "", {"Content-Length": "99999999"}))

    assert (await get_page(fetcher, "/none")).body == b""


async def test_the_head_of_a_large_page_is_a_page(site: Site, fetcher: HttpFetcher) -> None:
    headers = {"Content-Length": "99999999", "Content-Encoding": "gzip"}
    site.reply(HOST, "/large", Reply(200, "", headers))

    page = await get_page(fetcher, "/large", method="HEAD")

    assert (page.status, page.body) == (200, b"")


async def test_the_connection_is_kept_after_a_page_without_a_body(
    site: Site, fetcher: HttpFetcher
) -> None:
    site.reply(HOST, "/none", Reply(304))
    for _ in range(2):
        await get_page(fetcher, "/none")

    assert len({hit.connection for hit in site.hits}) == 1


# Limits


@pytest.mark.parametrize("coding", ["identity", "gzip"])
@pytest.mark.parametrize(("size", "fits"), [(10_000, True), (10_001, False)])
async def test_a_body_may_be_as_large_as_the_limit(
    site: Site, fetcher: HttpFetcher, coding: str, size: int, fits: bool
) -> None:
    body = b"x" * size
    coded = gzip.compress(body) if coding == "gzip" else body
    site.reply(HOST, "/whole", Reply(200, coded, {"Content-Encoding": coding}))
    site.reply(HOST, "/pieces", in_pieces(coded, 999, **{"Content-Encoding": coding}))

    for path in ("/whole", "/pieces"):
        reply = await fetcher.fetch(hop(path, max_bytes=10_000))
        if fits:
            assert isinstance(reply, Page)
            assert reply.body == body
        else:
            assert isinstance(reply, Broken)
            assert reply.reason == "too_large"


@pytest.mark.parametrize("coding", ["identity", "gzip"])
@pytest.mark.parametrize("size", [900, 65_536])
async def test_a_body_is_cut_where_that_is_asked_for(
    site: Site, fetcher: HttpFetcher, coding: str, size: int
) -> None:
    body = b"".join(b"line %d\n" % number for number in range(100_000))
    coded = gzip.compress(body) if coding == "gzip" else body
    site.reply(HOST, "/whole", Reply(200, coded, {"Content-Encoding": coding}))
    site.reply(HOST, "/pieces", in_pieces(coded, size, **{"Content-Encoding": coding}))

    for path in ("/whole", "/pieces"):
        page = await get_page(fetcher, path, max_bytes=512 * 1024, truncate=True)
        assert 512 * 1024 < len(page.body) < len(body)
        assert body.startswith(page.body)


async def test_a_short_body_is_not_cut(site: Site, fetcher: HttpFetcher) -> None:
    site.reply(HOST, "/short", in_pieces(b"x" * 1000, 100))

    page = await get_page(fetcher, "/short", max_bytes=1000, truncate=True)

    assert page.body == b"x" * 1000


@pytest.mark.parametrize("count", [MAX_WAITING - 1, 1000])
async def test_interim_replies_have_an_end(site: Site, fetcher: HttpFetcher, count: int) -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\n\r\n" * count
    site.reply(HOST, "/hints", Raw.of(interim + Reply(200, "ok").encode("GET")))

    reply = await fetcher.fetch(hop("/hints"))

    if count < MAX_WAITING:
        assert isinstance(reply, Page)
    else:
        assert isinstance(reply, Broken)
        assert reply.reason == "bad_http"


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (b"200 fine, thank you\r\n\r\n", ("broken", "bad_http")),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", ("site_wide", "truncated")),
        (b"HTTP/1.1 200 OK\r\nContent-Le", ("site_wide", "disconnected")),
    ],
)
async def test_an_answer_that_breaks_off_or_is_none_is_named(
    site: Site, fetcher: HttpFetcher, answer: bytes, named: tuple[str, str]
) -> None:
    site.reply(HOST, "/broken", Raw.of(answer))

    assert await get_failure(fetcher, "/broken") == named
    assert len(site.hits) == 1, "a site that began to answer is not asked again"


@pytest.mark.parametrize(
    "path",
    [
        "http://slow.test/headers?seconds=60",
        "http://slow.test/body?seconds=60",
        "http://slow.test/drip",
        "http://hostile.test/smuggle?linger=60",
    ],
)
async def test_everything_ends_within_the_time_out(
    site: Site, fetcher: HttpFetcher, path: str
) -> None:
    began = SystemClock.monotonic()

    await get_failure(fetcher, path, timeout=0.05)

    assert SystemClock.monotonic() - began < 1


async def test_a_look_up_counts_in_the_time_out(site: Site) -> None:
    async def hang(host: str) -> list[str]:
        await asyncio.Event().wait()
        return []

    admission = Admission(AdmissionSettings(), hang)
    async with HttpFetcher(HttpSettings(), admission, SystemClock()) as fetcher:
        failure = await get_failure(fetcher, "http://slow.example/", timeout=0.01)

    assert failure == ("site_wide", "timeout")


# Guards


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "169.254.169.254"])
async def test_a_literal_address_passes_the_guard_of_sockets(
    site: Site, fetcher: HttpFetcher, host: str
) -> None:
    reply = await fetcher.fetch(hop(f"http://{host}:{site.canary.port}/"))

    assert isinstance(reply, Refused)
    assert "127" not in reply.detail
    assert site.canary.connections == 0


async def test_a_name_that_does_not_exist_is_the_site_s_fault(
    site: Site, fetcher: HttpFetcher
) -> None:
    assert await get_failure(fetcher, "http://no-such.example/") == ("site_wide", "dns")


async def test_a_name_without_addresses_is_the_site_s_fault(site: Site) -> None:
    async def nothing(host: str) -> list[str]:
        return []

    admission = Admission(AdmissionSettings(), nothing)
    async with HttpFetcher(HttpSettings(), admission, SystemClock()) as fetcher:
        assert await get_failure(fetcher, "http://a.example/") == ("site_wide", "dns")


async def test_a_fetcher_is_used_inside_its_context(site: Site) -> None:
    admission = Admission(AdmissionSettings(known_hosts=site.known_hosts), nowhere)

    with pytest.raises(RuntimeError, match="context"):
        await HttpFetcher(HttpSettings(), admission, SystemClock()).fetch(hop("/"))


# TLS


@pytest.mark.parametrize(("host", "trusted"), [("shop01.test", True), ("shop02.test", False)])
async def test_a_certificate_is_for_one_name(
    site: Site, monkeypatch: pytest.MonkeyPatch, host: str, trusted: bool
) -> None:
    trust(monkeypatch)
    async with tls_front(site) as port:
        settings = AdmissionSettings(known_hosts={"*.test": f"127.0.0.1:{port}"})
        admission = Admission(settings, nowhere)
        async with HttpFetcher(HttpSettings(), admission, SystemClock()) as fetcher:
            reply = await fetcher.fetch(hop(f"https://{host}/"))

    if trusted:
        assert isinstance(reply, Page)
    else:
        assert isinstance(reply, SiteWide)
        assert reply.reason == "tls"
        assert site.hits == []


async def test_a_certificate_of_nobody_is_not_trusted(site: Site) -> None:
    async with tls_front(site) as port:
        settings = AdmissionSettings(known_hosts={"*.test": f"127.0.0.1:{port}"})
        admission = Admission(settings, nowhere)
        async with HttpFetcher(HttpSettings(), admission, SystemClock()) as fetcher:
            assert await get_failure(fetcher, "https://shop01.test/") == ("site_wide", "tls")


# Checks of proxies


async def test_a_proxy_that_accepts_connections_passes_its_check(
    site: Site, fetcher: HttpFetcher
) -> None:
    alive = Proxy("socks5", "127.0.0.1", site.canary.port)
    dead = Proxy("socks5", "127.0.0.1", 1)

    assert await fetcher.test_proxy(alive)
    assert not await fetcher.test_proxy(dead)
