"""hostile.test: answers meant to exhaust or confuse a client."""

import asyncio
import gzip
from collections.abc import AsyncGenerator
from functools import partial

from tests.site.answers import HTML, Answer, Hit, Plan, Raw, Reply, encode_head
from tests.site.bombs import CONTENT_ENCODINGS, bomb
from tests.site.pages import not_found, page
from tests.site.redirects import to
from tests.site.slow import drip


def bombing(hit: Hit) -> Answer:
    if hit.last_segment not in CONTENT_ENCODINGS:
        return not_found(hit)
    size = int(hit.number("bytes", hit.settings.bomb_bytes))
    return Raw(partial(_bomb, hit.last_segment, size))


async def _bomb(coding: str, size: int) -> AsyncGenerator[bytes, None]:
    # In a thread, because checksums of a GiB would hold up everyone on this loop.
    body = await asyncio.to_thread(bomb, coding, size)
    headers = {
        "Content-Type": HTML,
        "Content-Encoding": CONTENT_ENCODINGS[coding],
        "Content-Length": str(len(body)),
    }
    yield encode_head(200, headers)
    yield body


def stacked_encodings(hit: Hit) -> Reply:
    layers = hit.last_number
    body = page("Under many layers").content
    for _ in range(layers):
        body = gzip.compress(body, mtime=0)
    return Reply(200, body, {"Content-Encoding": ", ".join(["gzip"] * layers)})


async def _endless_headers() -> AsyncGenerator[bytes, None]:
    yield b"HTTP/1.1 200 OK\r\n"
    while True:
        yield b"X-Flood: and another one\r\n" * 1000


async def _endless_continue() -> AsyncGenerator[bytes, None]:
    while True:
        yield b"HTTP/1.1 100 Continue\r\n\r\n" * 1000
        # An endless supply of whole messages must not starve a client on the same loop.
        await asyncio.sleep(0.001)


def huge_header(hit: Hit) -> Reply:
    return Reply(200, "huge", {"X-Huge": "x" * int(hit.number("bytes", 1024 * 1024))})


def many_headers(hit: Hit) -> Reply:
    count = int(hit.number("count", 10_000))
    return Reply(200, "many", [(f"X-Header-{number}", "x") for number in range(count)])


def immense_length(hit: Hit) -> Raw:
    head = encode_head(200, {"Content-Type": HTML, "Content-Length": str(10**13)})
    return Raw(partial(drip, head, hit.number("seconds", hit.settings.drip_seconds)))


def smuggling(hit: Hit) -> Raw:
    """Two lengths, and a second reply that a reused connection would take for its own."""

    async def chunks() -> AsyncGenerator[bytes, None]:
        yield encode_head(200, {"Content-Length": "5", "Transfer-Encoding": "chunked"})
        yield b"0\r\n\r\n" + Reply(200, "smuggled").encode("GET")
        await asyncio.sleep(hit.number("linger", 1))

    return Raw(chunks)


PAGES: dict[str, Plan] = {
    "/bomb/*": bombing,
    "/encodings/*": stacked_encodings,
    "/headers/flood": Raw(_endless_headers),
    "/headers/huge": huge_header,
    "/headers/many": many_headers,
    "/continue": Raw(_endless_continue),
    "/length": immense_length,
    "/chunk": Raw.of(
        encode_head(200, {"Transfer-Encoding": "chunked"}), b"ffffffffffffffff\r\nshort"
    ),
    "/status": Raw.of(b"HTTP/9.9 banana\r\n\r\n"),
    "/redirect-loop": to("/redirect-loop"),
    "/smuggle": smuggling,
}
