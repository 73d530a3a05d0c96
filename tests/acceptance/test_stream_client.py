"""The page fetcher's consumers on one machine: `read_stream` from a service, on a real port."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from penstock.cache.sql import SqlCache
from penstock.client import AsyncClient, Unauthenticated
from penstock.client.groups import Awaited
from penstock.client.stream import Pages, StreamPage, read_stream
from penstock.client.stream_blocking import read_stream_blocking
from penstock.client.stream_calls import Stream
from penstock.client.stream_models import DeadLetter
from tests.services import KEY, listening
from tests.site import Reply, Site
from tests.streams import events, push, streaming

SHOP = "http://shop0{}.test/product/{}"
URLS = [SHOP.format(shop, number) for number in (1, 2) for shop in (1, 2, 3)]
MISSING = "http://shop01.test/missing"


@asynccontextmanager
async def reading(address: str, consumer: str = "indexer", **more: int) -> AsyncIterator[Pages]:
    async with (
        asyncio.timeout(30),
        read_stream(service=address, key=KEY, consumer=consumer, **more) as pages,
    ):
        yield pages


async def take(pages: Pages, number: int) -> list[StreamPage]:
    return [await anext(pages) for _ in range(number)]


def urls_of(pages: Sequence[StreamPage]) -> list[str]:
    return [page.event.url for page in pages]


async def test_pages_come_with_bodies_and_what_was_not_committed_comes_again(
    site: Site, tmp_path: Path
) -> None:
    async with streaming(site, tmp_path) as service, listening(service) as address:
        await push(service, *URLS)
        told = [each["event"]["url"] for each in await events(service, len(URLS))]
        async with reading(address, at_once=2) as pages:
            first = await take(pages, 2)
            bodies = [await page.body() or b"" for page in first]
            await pages.commit()
            unsure = await take(pages, 2)
        async with reading(address) as pages:
            rest = await take(pages, 4)
            await pages.commit(rest[1])
        async with reading(address) as pages:
            last = await take(pages, 2)
        async with reading(address, "another") as pages:
            others = await take(pages, 6)

    assert sorted(told) == sorted(URLS)
    assert urls_of(first) + urls_of(rest) == told
    assert urls_of(unsure) == urls_of(rest[:2])
    assert urls_of(last) == told[4:]
    assert urls_of(others) == told
    assert [len(body) for body in bodies] == [page.event.content_length for page in first]
    assert b"<html" in bodies[0]


async def test_a_page_in_another_charset_survives_byte_for_byte(site: Site, tmp_path: Path) -> None:
    body = "<html><p>größe".encode("latin-1") + bytes(range(256))
    site.reply("odd.test", "/", Reply(200, body, {"Content-Type": "text/html; charset=latin-1"}))
    async with (
        streaming(site, tmp_path) as service,
        listening(service) as address,
        reading(address) as pages,
    ):
        await push(service, "http://odd.test/")
        page = await anext(pages)

        assert await page.body() == body
        assert (page.event.content_type or "").startswith("text/html")


async def test_a_body_that_is_kept_no_more_is_said_so_and_fetched_again(
    site: Site, tmp_path: Path
) -> None:
    async with (
        streaming(site, tmp_path) as service,
        listening(service) as address,
        # Not ahead: or the body would be there before it is erased.
        reading(address, ahead=0) as pages,
    ):
        await push(service, URLS[0])
        page = await anext(pages)
        await SqlCache(service.engine.store).erase([page.event.cache_key])
        assert (await page.is_expired(), await page.body()) == (True, None)
        await pages.requeue(page)
        again = await anext(pages)

        assert again.event.url == page.event.url
        assert again.place.offset > page.place.offset
        assert not await again.is_expired()


async def test_dead_letters_are_listed_revived_and_discarded_by_the_client(
    site: Site, tmp_path: Path
) -> None:
    async with (
        streaming(site, tmp_path) as service,
        listening(service) as address,
        AsyncClient(address, KEY) as client,
    ):
        stream = Stream[Awaited](client)
        pushed = await stream.push([MISSING, "ftp://shop01.test/", URLS[1]])
        await events(service, 1)
        [letter] = await dead_letters(stream)
        site.reply("shop01.test", "/missing", Reply(200, b"<html>found"))
        revived = await stream.revive(domain="shop01.test", reason="http_404")
        told = await events(service, 2)
        site.reply("shop02.test", "/gone", Reply(410))
        await stream.push(["http://shop02.test/gone"])
        [gone] = await dead_letters(stream)
        discarded = [await stream.discard(domain="shop01.test"), await stream.discard()]
        standing = await stream.depth()

    assert (pushed.accepted, pushed.rejected[0].reason) == (2, "admission_scheme")
    assert (letter.url, letter.reason, letter.status_code) == (MISSING, "http_404", 404)
    assert (revived, told[1]["event"]["url"]) == (1, MISSING)
    assert (gone.type, gone.domain) == ("url_specific", "shop02.test")
    assert discarded == [0, 1]
    assert (standing.waiting, standing.under_way, standing.dead) == (0, 0, 0)


async def dead_letters(stream: Stream[Awaited]) -> Sequence[DeadLetter]:
    """The dead letters, as soon as there are some."""
    async with asyncio.timeout(20):
        while not (found := [each async for each in stream.dead_letters(at_once=1)]):
            pass
    return found


async def test_a_program_that_blocks_reads_the_same(site: Site, tmp_path: Path) -> None:
    async with streaming(site, tmp_path) as service, listening(service) as address:
        await push(service, *URLS)
        told = [each["event"]["url"] for each in await events(service, len(URLS))]

        def program(number: int) -> list[str]:
            found = []
            with read_stream_blocking(service=address, key=KEY, consumer="b") as pages:
                for page in pages:
                    assert len(page.body() or b"") == page.event.content_length
                    assert not page.is_expired()
                    found.append(page.event.url)
                    pages.commit(page)
                    if len(found) == number:
                        return found
            return []

        first = await asyncio.to_thread(program, 4)
        rest = await asyncio.to_thread(program, 2)

    assert first + rest == told


async def test_a_wrong_key_is_said_at_once(site: Site, tmp_path: Path) -> None:
    async with streaming(site, tmp_path, works=False) as service, listening(service) as address:
        with pytest.raises(Unauthenticated):
            await read_stream(service=address, key="wrong", consumer="c").__aenter__()
