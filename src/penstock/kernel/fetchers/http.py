"""Fetching over HTTP: one hop, one deadline, everything bounded.

The only module that talks to aiohttp. Names are looked up by admission, redirects are handed
back, and every exception of the client becomes a `Failure` in `failure_of`.
"""

import asyncio
import base64
import contextlib
import re
import socket
import ssl
from collections import OrderedDict
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, cast

import aiohttp
import python_socks
import yarl
from aiohttp._cookie_helpers import parse_set_cookie_headers
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.http_exceptions import HttpProcessingError
from multidict import CIMultiDictProxy

from penstock.core.clock import Clock
from penstock.core.errors import AddressRefused
from penstock.kernel.admission import Admission, refusal
from penstock.kernel.fetchers.decoding import PIECE, BadEncoding, Decoding, codings
from penstock.kernel.fetchers.replies import Connector, Reply, StaleConnection
from penstock.kernel.fetchers.tunnel import TunnelConnector, may_be_proxys_own, turns_us_away
from penstock.kernel.model import (
    NO_HEADERS,
    Broken,
    Failure,
    Page,
    Proxy,
    ProxyFailed,
    Redirect,
    SiteWide,
    UrlSpecific,
)
from penstock.kernel.ports import Hop
from penstock.kernel.settings import HttpSettings

REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: Their headers may tell the length of a body that does not come.
BODILESS = frozenset({204, 304})
MAX_PROXY_SESSIONS = 64
#: Chunks arrive without yielding; give the loop a turn after so many pieces, a MB at most.
BREATHE_EVERY = 16
#: How much of the time-out a proxy may take until the site is reached through it.
PROXY_SHARE = 0.5

_PROXY_FAILED = ProxyFailed("proxy", "the proxy refused or did not answer")
#: aiohttp's stand-ins for bytes of a header that are no UTF-8.
_STRAY_BYTE = re.compile("[\udc80-\udcff]")


class HttpFetcher:
    """Sessions to sites, direct and through proxies; use as an async context manager."""

    name = "http"

    def __init__(
        self,
        settings: HttpSettings,
        admission: Admission,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._admission = admission
        self._clock = clock
        self._limits: dict[str, Any] = {
            "max_line_size": settings.max_header_bytes,
            "max_field_size": settings.max_header_bytes,
            "max_headers": settings.max_headers,
        }
        self._direct: aiohttp.ClientSession | None = None
        self._proxied: OrderedDict[Proxy, aiohttp.ClientSession] = OrderedDict()

    async def __aenter__(self) -> Self:
        self._direct = self._session(self._guarded_connector())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        sessions = [*self._proxied.values()] + ([self._direct] if self._direct else [])
        self._proxied.clear()
        self._direct = None
        for session in sessions:
            await session.close()

    @property
    def patience(self) -> float:
        """Seconds for all hops of one attempt."""
        return self._settings.timeout_seconds

    def look(self) -> float | None:
        """There is always room for one more."""
        return None

    async def fetch(self, hop: Hop) -> Page | Redirect | Failure:
        """Contact the site once; everything, DNS to last byte, within the hop's time-out."""
        try:
            async with asyncio.timeout(hop.timeout):
                while True:
                    with contextlib.suppress(StaleConnection):
                        return await self._exchange(hop)
        except Exception as error:
            if isinstance(error, aiohttp.ClientConnectionError) and _is_plain(hop):
                # There is no connection but the one to the proxy.
                return _PROXY_FAILED
            failure = failure_of(error)
            if failure is None:
                raise
            return failure

    async def test_proxy(self, proxy: Proxy) -> bool:
        """Whether a proxy accepts connections."""
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                _, writer = await asyncio.open_connection(proxy.host, proxy.port)
        except (OSError, TimeoutError):
            return False
        writer.close()
        return True

    async def _exchange(self, hop: Hop) -> Page | Redirect | Failure:
        began = self._clock.monotonic()
        session, options = await self._way_out(hop)
        if hop.body is None and not _is_plain(hop):
            connector = cast("Connector", session.connector)
            if kept := await connector.kept(hop.url, self._limits):
                with kept:
                    reply = await kept.ask(hop.method, hop.url, hop.headers)
                    return await self._answer(hop, reply, began)
        url = yarl.URL(hop.url.href, encoded=True)
        options |= {"data": hop.body, "allow_redirects": False}
        async with session.request(hop.method, url, **options) as response:
            reply = Reply(response.status, response.headers, response.content)
            if _may_be_proxys_own(hop, reply) and await self._is_turned_away(hop.proxy):
                return _PROXY_FAILED
            return await self._answer(hop, reply, began)

    async def _answer(self, hop: Hop, reply: Reply, began: float) -> Page | Redirect | Failure:
        """What a site answered: where to go on, or the page with its whole body."""
        status, headers, _ = reply
        if status in REDIRECTS and (location := headers.get("Location")):
            morsels = parse_set_cookie_headers(headers.getall("Set-Cookie", ()))
            cookies = {name: morsel.coded_value for name, morsel in morsels}
            return Redirect(_escaped(location), status, cookies)
        body = await self._read(reply, hop)
        if isinstance(body, Broken):
            return body
        return Page(
            url=hop.url.href,
            status=status,
            headers=_readable(headers),
            body=body,
            seconds=self._clock.monotonic() - began,
            proxy=str(hop.proxy) if hop.proxy else None,
        )

    async def _way_out(self, hop: Hop) -> tuple[aiohttp.ClientSession, dict[str, Any]]:
        """The session to use: direct, through a tunnel, or a plain proxy for plain HTTP."""
        if self._direct is None:
            raise RuntimeError("the fetcher is used outside its context")
        proxy = hop.proxy
        if proxy is None:
            return self._direct, {"headers": hop.headers}
        if not _is_plain(hop):
            return await self._through(proxy), {"headers": hop.headers}
        # A plain-HTTP proxy looks the name up itself; we can only check what we see.
        await self._admission.endpoints(hop.url.host, hop.url.port)
        way = yarl.URL.build(scheme=proxy.protocol, host=proxy.host, port=proxy.port)
        headers = {**hop.headers, **_proxy_authorization(proxy)}
        return await self._through(proxy, plain=True), {"proxy": way, "headers": headers}

    async def _through(self, proxy: Proxy, *, plain: bool = False) -> aiohttp.ClientSession:
        key = Proxy("http", proxy.host, proxy.port, "plain") if plain else proxy
        session = self._proxied.get(key)
        if session is None:
            if len(self._proxied) >= MAX_PROXY_SESSIONS:
                await self._proxied.popitem(last=False)[1].close()
            # Some plain proxies close a connection after one page without saying so.
            connector = (
                Connector(limit=0, force_close=True) if plain else self._tunnel_connector(proxy)
            )
            session = self._proxied[key] = self._session(connector, self._proxy_patience)
        self._proxied.move_to_end(key)
        return session

    def _session(
        self, connector: Connector, connect_seconds: float | None = None
    ) -> aiohttp.ClientSession:
        session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds),
            auto_decompress=False,
            trust_env=False,
            **self._limits,
        )
        # aiohttp would send a request again when any connection breaks, even a new one: a
        # second contact that no gate has passed.
        session._retry_connection = False
        return session

    async def _is_turned_away(self, proxy: Proxy | None) -> bool:
        return proxy is not None and await turns_us_away(proxy, self._proxy_patience)

    @property
    def _proxy_patience(self) -> float:
        return self._settings.timeout_seconds * PROXY_SHARE

    def _guarded_connector(self) -> Connector:
        return Connector(
            resolver=_AdmittedAddresses(self._admission),
            socket_factory=self._guarded_socket,
            use_dns_cache=False,
            limit=0,
            keepalive_timeout=self._settings.keep_alive_seconds,
        )

    def _tunnel_connector(self, proxy: Proxy) -> Connector:
        return TunnelConnector(
            proxy,
            self._admission.may_connect,
            self._proxy_patience,
            resolver=_AdmittedAddresses(self._admission),
            use_dns_cache=False,
            limit=0,
            keepalive_timeout=self._settings.keep_alive_seconds,
        )

    def _guarded_socket(self, info: Any) -> socket.socket:
        """The one choke point of direct connections: literal addresses pass here as well."""
        family, kind, protocol, _, address = info
        if not self._admission.may_connect(str(address[0]), int(address[1])):
            raise AddressRefused("address")
        return socket.socket(family=family, type=kind, proto=protocol)

    async def _read(self, reply: Reply, hop: Hop) -> bytes | Broken:
        if hop.method == "HEAD" or reply.status in BODILESS:
            return b""
        limit = hop.max_bytes or self._settings.max_bytes
        names = codings(reply.headers.getall("Content-Encoding", ()))
        if len(names) > self._settings.max_encodings:
            return Broken("too_many_encodings", f"{len(names)} content codings on one body")
        length = reply.headers.get("Content-Length")
        declared = None if length is None else int(length)
        if declared is not None and declared > limit and not hop.truncate:
            return Broken("too_large", f"the body is larger than {limit} bytes")
        if not names and declared is not None and declared <= limit:
            return await reply.content.read()
        try:
            # Each layer may pass the limit by a piece, so that truncating sees where it is.
            decoding = Decoding(names, limit + PIECE)
            return await _read_bounded(reply.content, decoding, limit, hop.truncate)
        except OverflowError:
            return Broken("too_large", f"the body is larger than {limit} bytes when decoded")
        except BadEncoding as error:
            return Broken("bad_encoding", str(error))


async def _read_bounded(
    content: aiohttp.StreamReader, decoding: Decoding, limit: int, truncate: bool
) -> bytes:
    """Read and decode, counting; past the limit stop if truncating, else raise OverflowError."""
    body = bytearray()
    raw = pieces = 0
    async for chunk in content.iter_any():
        raw += len(chunk)
        for piece in decoding.feed(chunk):
            body += piece
            if len(body) > limit:
                break
            pieces += 1
            if pieces % BREATHE_EVERY == 0:
                await asyncio.sleep(0)
        if max(raw, len(body)) > limit:
            if truncate:
                return bytes(body)
            raise OverflowError
    decoding.finish()
    return bytes(body)


def _is_plain(hop: Hop) -> bool:
    """Whether a proxy is asked for the page itself, and not for a tunnel to the site."""
    proxy = hop.proxy
    return proxy is not None and proxy.protocol != "socks5" and hop.url.scheme == "http"


def _may_be_proxys_own(hop: Hop, reply: Reply) -> bool:
    """Whether a plain proxy may not have let us through; the site can say the same."""
    return _is_plain(hop) and may_be_proxys_own(reply.status, reply.headers.get("Server", ""))


def _proxy_authorization(proxy: Proxy) -> Mapping[str, str]:
    """What a plain proxy is told in the request itself; a tunnel is told when it is opened."""
    if not proxy.user:
        return NO_HEADERS
    credentials = base64.b64encode(f"{proxy.user}:{proxy.password}".encode())
    return {"Proxy-Authorization": f"Basic {credentials.decode()}"}


def _escaped(location: str) -> str:
    """A Location as browsers take it: bytes that are no UTF-8 are percent-encoded."""
    return _STRAY_BYTE.sub(lambda stray: f"%{ord(stray[0]) - 0xDC00:02X}", location)


def _readable(headers: CIMultiDictProxy[str]) -> Mapping[str, str]:
    """Headers that can be stored: a value that is no UTF-8 is read as ISO-8859-1."""
    if all(value.isascii() for value in headers.values()):
        return headers
    readable = headers.copy()
    readable.clear()
    for name, value in headers.items():
        stray = _STRAY_BYTE.search(value)
        text = value.encode("utf-8", "surrogateescape").decode("latin-1") if stray else value
        readable.add(name, text)
    return readable


class _AdmittedAddresses(AbstractResolver):
    """aiohttp's resolver: admission looks names up and checks where they lead."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        del family
        return [
            ResolveResult(
                hostname=host,
                host=endpoint.address,
                port=endpoint.port,
                family=socket.AF_INET6 if ":" in endpoint.address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for endpoint in await self._admission.endpoints(host, port)
        ]

    async def close(self) -> None:
        """Nothing is held."""


#: Ordered from special to general; the first that fits says what happened.
_MEANINGS: tuple[tuple[tuple[type[Exception], ...], Failure], ...] = (
    (
        (
            aiohttp.ClientHttpProxyError,
            aiohttp.ClientProxyConnectionError,
            python_socks.ProxyError,
            python_socks.ProxyConnectionError,
            python_socks.ProxyTimeoutError,
        ),
        _PROXY_FAILED,
    ),
    ((TimeoutError,), SiteWide("timeout", "no complete answer within the deadline")),
    (
        (aiohttp.ClientConnectorDNSError, socket.gaierror, UnicodeError),
        SiteWide("dns", "the host name cannot be resolved"),
    ),
    (
        (aiohttp.ClientSSLError, aiohttp.ServerFingerprintMismatch, ssl.SSLError),
        SiteWide("tls", "the TLS connection cannot be established or trusted"),
    ),
    ((aiohttp.ClientConnectorError,), SiteWide("connect", "the site refuses connections")),
    (
        (aiohttp.ServerDisconnectedError,),
        SiteWide("disconnected", "the site closed the connection without an answer"),
    ),
    (
        (aiohttp.ClientPayloadError,),
        SiteWide("truncated", "the body ended before it was complete"),
    ),
    (
        (aiohttp.ClientResponseError, HttpProcessingError),
        Broken("bad_http", "the answer is not HTTP that can be read"),
    ),
    (
        (aiohttp.InvalidURL,),
        UrlSpecific("invalid_url", "the HTTP client does not take this URL"),
    ),
    ((aiohttp.ClientError, OSError), SiteWide("transport", "the connection failed")),
)


def failure_of(error: Exception) -> Failure | None:
    """What an exception of the client means; None for one that is our own fault."""
    if isinstance(error, AddressRefused):
        return refusal(error)
    return next((failure for kinds, failure in _MEANINGS if isinstance(error, kinds)), None)
