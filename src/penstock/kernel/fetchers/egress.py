"""The browser's only way out: a local forward proxy that admits each request like any other.

Every page has a port of its own. Plain HTTP is carried one request per connection, so that a
second one cannot pass unseen; everything else is a tunnel to an address that was checked. What
became of a request is told by the record kept here, never by what the page shows.
"""

import asyncio
import base64
import contextlib
import re
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from penstock.core.clock import Clock
from penstock.core.errors import AddressRefused, UrlError
from penstock.core.urls import Url, parse
from penstock.kernel.admission import Admission, refusal
from penstock.kernel.fetchers.allowance import Allowance, EgressLimits
from penstock.kernel.fetchers.http import failure_of
from penstock.kernel.fetchers.tunnel import may_be_proxys_own, reach, turns_us_away
from penstock.kernel.model import Broken, Failure, Proxy, ProxyFailed, SiteWide

LOOPBACK = "127.0.0.1"
MAX_HEAD = 64 * 1024
PIECE = 64 * 1024
#: Interim replies (100, 103) that may come before the reply itself.
MAX_INTERIM = 16
MAX_REMEMBERED = 256
FIRST_FINAL_STATUS, SWITCHING = 200, 101
#: Headers of one connection, not of the message: they end here.
_OF_THE_CONNECTION = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "upgrade",
    }
)
_STATUS_LINE = re.compile(r"HTTP/1\.[01] (\d{3})(?: [^\r\n]*)?")

ESTABLISHED = b"HTTP/1.1 200 OK\r\n\r\n"
FORBIDDEN = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _BadHead(Exception):
    """What came is no head of an HTTP message."""


@dataclass(frozen=True, slots=True)
class _Head:
    """The first line and the headers of a message."""

    first: str
    headers: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")

    def encode(self, first: str, more: Iterable[tuple[str, str]]) -> bytes:
        """The head for the next connection, which carries this one message."""
        named = self.get("connection").lower().replace(" ", "").split(",")
        kept = [
            (name, value)
            for name, value in self.headers
            if name.lower() not in _OF_THE_CONNECTION and name.lower() not in named
        ]
        pairs = [*kept, *more, ("Connection", "close")]
        lines = [first, *(f"{name}: {value}" for name, value in pairs)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


@dataclass(slots=True)
class Traffic:
    """What has passed for one page, what was refused, and how often it had used up its share."""

    requests: int = 0
    bytes: int = 0
    held_back: int = 0
    refused: dict[str, Failure] = field(default_factory=dict)


class Egress:
    """The way out of one page."""

    def __init__(
        self, admission: Admission, proxy: Proxy | None, limits: EgressLimits, clock: Clock
    ) -> None:
        self._admission = admission
        self._proxy = proxy
        self._limits = limits
        self._allowance = Allowance(limits, clock)
        self._failures: dict[tuple[str, int], Failure] = {}
        self._serving: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._server: asyncio.Server | None = None
        self._is_shut = False
        self.traffic = Traffic()
        self.overflow: Broken | None = None
        self.port = 0

    async def listen(self) -> None:
        """Take a free port."""
        self._server = await asyncio.start_server(self._accept, LOOPBACK, 0, limit=MAX_HEAD)
        self.port = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Cut every connection and take no more."""
        self.shut()
        if self._server:
            self._server.close()

    def shut(self) -> None:
        """Let nothing more through; what is under way is cut."""
        self._is_shut = True
        for task, writer in list(self._serving.items()):
            writer.transport.abort()
            task.cancel()

    def verdict(self, url: Url) -> Failure | None:
        """Why the host of a URL was not reached, if it was tried and not reached."""
        return self._failures.get((url.host, url.port))

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer), name="egress")
        self._serving[task] = writer
        task.add_done_callback(lambda done: self._serving.pop(done, None))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._carry_one(reader, writer)
        except (OSError, EOFError, _BadHead):
            # The browser or the site is gone; whoever waits for an answer sees that.
            pass
        finally:
            writer.close()

    async def _carry_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await _read_head(reader)
        self.traffic.requests += 1
        if self._is_shut or not self._allowance.ask():
            self.traffic.held_back += 1
            writer.write(FORBIDDEN)
            return
        method, _, rest = head.first.partition(" ")
        target = rest.rpartition(" ")[0]
        is_tunnel = method == "CONNECT"
        url = self._admit(f"https://{target}/" if is_tunnel else target)
        if url is None:
            writer.write(FORBIDDEN)
            return
        far = await self._reach(url, is_tunnel)
        if far is None:
            writer.write(BAD_GATEWAY)
            return
        try:
            if is_tunnel:
                writer.write(ESTABLISHED)
                await self._pump_both((reader, writer), far)
            else:
                await self._exchange(method, url, head, (reader, writer), far)
        finally:
            far[1].transport.abort()

    def _admit(self, target: str) -> Url | None:
        """The URL of a request, if it may be contacted."""
        try:
            url = parse(target)
        except UrlError as error:
            self._remember_refusal(target[:200], refusal(error))
            return None
        if refused := self._admission.check(url):
            self._note(url, refused)
            return None
        return url

    async def _reach(self, url: Url, is_tunnel: bool) -> Streams | None:
        """A connection to the site, or to the proxy that is asked for the page itself."""
        try:
            async with asyncio.timeout(self._limits.connect_seconds):
                endpoints = await self._admission.endpoints(url.host, url.port)
                if self._is_plain(url, is_tunnel):
                    return await self._reach_proxy()
                return await self._reach_any([(one.address, one.port) for one in endpoints])
        except Exception as error:
            failure = _failure_of(error)
            if failure is None:
                raise
            self._note(url, failure)
            return None

    async def _reach_any(self, endpoints: list[tuple[str, int]]) -> Streams:
        for place, (address, port) in enumerate(endpoints, 1):
            try:
                return await self._reach_one(address, port)
            except OSError:
                if place == len(endpoints):
                    raise
        raise AddressRefused("address")

    async def _reach_one(self, address: str, port: int) -> Streams:
        if self._proxy is None:
            if not self._admission.may_connect(address, port):
                raise AddressRefused("address")
            return await asyncio.open_connection(address, port, limit=MAX_HEAD)
        patience = self._limits.connect_seconds
        stream = await reach(self._proxy, address, port, self._admission.may_connect, patience)
        return stream.reader, stream.writer

    def _is_plain(self, url: Url, is_tunnel: bool) -> bool:
        """Whether a proxy is asked for the page itself; it then looks the name up, too."""
        proxy = self._proxy
        return bool(proxy and proxy.protocol != "socks5" and url.scheme == "http" and not is_tunnel)

    async def _reach_proxy(self) -> Streams:
        proxy = self._proxy
        if proxy is None:
            raise RuntimeError("there is no proxy to ask")
        context = ssl.create_default_context() if proxy.protocol == "https" else None
        try:
            return await asyncio.open_connection(
                proxy.host, proxy.port, ssl=context, limit=MAX_HEAD
            )
        except OSError as error:
            raise _ProxyAway from error

    async def _exchange(
        self, method: str, url: Url, head: _Head, near: Streams, far: Streams
    ) -> None:
        """Carry one request and its reply; nothing that the browser sends afterwards."""
        first, more = f"{method} {url.target} HTTP/1.1", [("Host", url.authority)]
        if self._is_plain(url, is_tunnel=False):
            first = f"{method} {url.href} HTTP/1.1"
            more += _credentials(self._proxy)
        own = _Head(head.first, tuple(pair for pair in head.headers if pair[0].lower() != "host"))
        far[1].write(own.encode(first, more))
        await self._send_body(head, near[0], far[1])
        gone = asyncio.create_task(_gone(near[0]))
        reply = asyncio.create_task(self._bring_reply(url, near[1], far[0]))
        try:
            await asyncio.wait({gone, reply}, return_when=asyncio.FIRST_COMPLETED)
            if reply.done():
                reply.result()
        finally:
            for task in (gone, reply):
                task.cancel()
            await asyncio.gather(gone, reply, return_exceptions=True)

    async def _send_body(
        self, head: _Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if "chunked" in head.get("transfer-encoding").lower():
            await self._send_chunks(reader, writer)
            return
        left = _length_of(head)
        while left > 0:
            data = await reader.read(min(left, PIECE))
            if not data:
                raise EOFError
            left -= len(data)
            await self._pass_on(data, writer)

    async def _send_chunks(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            line = await _until(reader, b"\r\n")
            try:
                size = int(line.partition(b";")[0].strip(), 16)
            except ValueError as error:
                raise _BadHead from error
            if size < 0:
                raise _BadHead
            await self._pass_on(line, writer)
            if size == 0:
                while (line := await _until(reader, b"\r\n")) != b"\r\n":
                    await self._pass_on(line, writer)
                await self._pass_on(line, writer)
                return
            size += 2
            while size:
                data = await reader.read(min(size, PIECE))
                if not data:
                    raise EOFError
                size -= len(data)
                await self._pass_on(data, writer)

    async def _bring_reply(
        self, url: Url, writer: asyncio.StreamWriter, reader: asyncio.StreamReader
    ) -> None:
        try:
            head, status = await _read_reply(reader)
        except EOFError:
            gone = SiteWide("disconnected", "the site closed the connection without an answer")
            self._note(url, gone)
            raise
        except _BadHead:
            self._note(url, Broken("bad_http", "the answer is not HTTP that can be read"))
            raise
        if await self._is_turned_away(url, head, status):
            self._note(url, _PROXY_FAILED)
            writer.write(BAD_GATEWAY)
            return
        await self._pass_on(head.encode(head.first, ()), writer)
        await self._pump(reader, writer)

    async def _is_turned_away(self, url: Url, head: _Head, status: int) -> bool:
        """Whether a plain proxy did not let us through, by its own word."""
        if not self._proxy or not self._is_plain(url, is_tunnel=False):
            return False
        if not may_be_proxys_own(status, head.get("server")):
            return False
        return await turns_us_away(self._proxy, self._limits.connect_seconds)

    async def _pump_both(self, near: Streams, far: Streams) -> None:
        """Let bytes pass both ways until one side has enough."""
        pumps = {
            asyncio.create_task(self._pump(near[0], far[1])),
            asyncio.create_task(self._pump(far[0], near[1])),
        }
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(PIECE):
            await self._pass_on(data, writer)

    async def _pass_on(self, data: bytes, writer: asyncio.StreamWriter) -> None:
        """Write what was read, and count it; past the limit it is cut."""
        self.traffic.bytes += len(data)
        if not self._allowance.carry(len(data)):
            self._cut()
            raise EOFError
        writer.write(data)
        await writer.drain()

    def _cut(self) -> None:
        """The limit is reached: that is the end, unless there is a new allowance later."""
        self.traffic.held_back += 1
        if not self._allowance.is_renewed:
            limit = self._limits.max_bytes
            self.overflow = Broken("too_large", f"page and parts are larger than {limit} bytes")
            self.shut()

    def _note(self, url: Url, failure: Failure) -> None:
        if len(self._failures) < MAX_REMEMBERED:
            self._failures[url.host, url.port] = failure
        if failure.kind == "refused":
            self._remember_refusal(url.origin, failure)

    def _remember_refusal(self, where: str, failure: Failure) -> None:
        if len(self.traffic.refused) < MAX_REMEMBERED:
            self.traffic.refused[where] = failure


class EgressProxy:
    """Opens ways out; all of them pass the same guard as every other request."""

    def __init__(self, admission: Admission, limits: EgressLimits, clock: Clock) -> None:
        self._admission = admission
        self._limits = limits
        self._clock = clock

    @asynccontextmanager
    async def open(self, proxy: Proxy | None) -> AsyncIterator[Egress]:
        """A way out for one page, through a proxy or directly; cut when the block is left."""
        egress = Egress(self._admission, proxy, self._limits, self._clock)
        await egress.listen()
        try:
            yield egress
        finally:
            egress.close()


class _ProxyAway(Exception):
    """The proxy cannot be connected to."""


_PROXY_FAILED = ProxyFailed("proxy", "the proxy refused or did not answer")


def _failure_of(error: Exception) -> Failure | None:
    """What an exception while connecting means; None for one that is our own fault."""
    if isinstance(error, _ProxyAway):
        return _PROXY_FAILED
    if isinstance(error, ConnectionError):
        return SiteWide("connect", "the site refuses connections")
    return failure_of(error)


def _credentials(proxy: Proxy | None) -> list[tuple[str, str]]:
    if proxy is None or not proxy.user:
        return []
    credentials = base64.b64encode(f"{proxy.user}:{proxy.password}".encode()).decode()
    return [("Proxy-Authorization", f"Basic {credentials}")]


async def _gone(reader: asyncio.StreamReader) -> None:
    """Return when the browser closes the connection or sends what was not asked for."""
    with contextlib.suppress(OSError):
        await reader.read(1)


async def _read_reply(reader: asyncio.StreamReader) -> tuple[_Head, int]:
    """The head of the reply itself, after those of interim ones."""
    for _ in range(MAX_INTERIM):
        head = await _read_head(reader)
        line = _STATUS_LINE.fullmatch(head.first)
        if line is None or int(line[1]) == SWITCHING:
            raise _BadHead
        if int(line[1]) >= FIRST_FINAL_STATUS:
            return head, int(line[1])
    raise _BadHead


async def _read_head(reader: asyncio.StreamReader) -> _Head:
    text = (await _until(reader, b"\r\n\r\n")).decode("latin-1")
    first, *lines = text.removesuffix("\r\n\r\n").split("\r\n")
    pairs = [line.partition(":") for line in lines]
    if any(not colon or not name or name != name.strip() for name, colon, _ in pairs):
        raise _BadHead
    return _Head(first, tuple((name, value.strip()) for name, _, value in pairs))


async def _until(reader: asyncio.StreamReader, mark: bytes) -> bytes:
    try:
        return await reader.readuntil(mark)
    except asyncio.LimitOverrunError as error:
        raise _BadHead from error


def _length_of(head: _Head) -> int:
    text = head.get("content-length") or "0"
    if not (text.isascii() and text.isdigit()):
        raise _BadHead
    return int(text)
