"""slow.test: bodies and headers that come late, in drips, not whole or without end."""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial

from tests.site.answers import HTML, Hit, Plan, Raw, Reply, encode_head
from tests.site.pages import page

CHUNK = b"<p>and so on</p>" * 4096


async def drip(head: bytes, seconds: float) -> AsyncGenerator[bytes, None]:
    yield head
    while True:
        yield b"."
        await asyncio.sleep(seconds)


async def _endless() -> AsyncGenerator[bytes, None]:
    yield encode_head(200, {"Content-Type": HTML, "Transfer-Encoding": "chunked"})
    while True:
        yield b"%x\r\n%b\r\n" % (len(CHUNK), CHUNK)


def late_headers(hit: Hit) -> Reply:
    return Reply(200, page("Late, but here").body, delay=hit.number("seconds", 1))


def late_body(hit: Hit) -> Raw:
    head, _, body = page("Late, but here").encode("GET").partition(b"\r\n\r\n")

    async def chunks() -> AsyncGenerator[bytes, None]:
        yield head + b"\r\n\r\n"
        await asyncio.sleep(hit.number("seconds", 1))
        yield body

    return Raw(chunks)


def dripping(hit: Hit) -> Raw:
    head = encode_head(200, {"Content-Type": HTML, "Connection": "close"})
    return Raw(partial(drip, head, hit.number("seconds", hit.settings.drip_seconds)))


PAGES: dict[str, Plan] = {
    "/headers": late_headers,
    "/body": late_body,
    "/drip": dripping,
    "/truncated": Raw.of(
        encode_head(200, {"Content-Type": HTML, "Content-Length": "10000"}),
        b"<title>Cut</title><p>This page ends too ea",
    ),
    "/endless": Raw(_endless),
}
