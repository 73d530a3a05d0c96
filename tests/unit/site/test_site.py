"""The test site does what it says, so that tests which lean on it can be believed."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import aiohttp
import brotli
import pytest
from backports import zstd

from penstock.kernel.robots import RobotsFile
from tests.site import DEMO_HOSTS, HOSTS, Hit, Raw, Reply, Reset, Site, SiteSettings
from tests.site.bombs import bomb
from tests.site.encodings import CHARSET_TEXTS, encoded_page
from tests.site.robots_files import SIZE_THAT_MUST_BE_READ
from tests.site.shops import SHOPS, product

MIB = 1024 * 1024
NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


class Client:
    """Asks the site for a URL's page the way a crawler with known hosts would."""

    def __init__(self, site: Site, session: aiohttp.ClientSession) -> None:
        self._site = site
        self._session = session

    def get(self, host: str, path: str, **options: Any) -> Any:
        headers = {"Host": host, **options.pop("headers", {})}
        url = f"http://{self._site.address}{path}"
        return self._session.get(url, headers=headers, allow_redirects=False, **options)

    async def status(self, host: str, path: str, **options: Any) -> int:
        async with self.get(host, path, **options) as reply:
            status: int = reply.status
            return status

    async def text(self, host: str, path: str, **options: Any) -> str:
        async with self.get(host, path, **options) as reply:
            text: str = await reply.text()
            return text


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    settings = SiteSettings(
        retry_after_seconds=7, bomb_bytes=64 * MIB, drip_seconds=0.001, now=lambda: NOON
    )
    async with Site(settings=settings) as site:
        yield site


@pytest.fixture
async def client(site: Site) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        yield Client(site, session)


async def test_each_host_has_its_own_robots(site: Site, client: Client) -> None:
    assert "Disallow: /cart" in await client.text("shop01.test", "/robots.txt")
    assert "Crawl-delay: 1" in await client.text("shop03.test", "/robots.txt")
    assert "Disallow: /\n" in await client.text("private.test", "/robots.txt")
    assert await client.status("robots-404.test", "/robots.txt") == 404
    assert await client.status("robots-500.test", "/robots.txt") == 500
    assert "<html" in await client.text("robots-html.test", "/robots.txt")


async def test_a_test_may_replace_the_robots_of_a_host(site: Site, client: Client) -> None:
    site.robots["shop01.test"] = "User-agent: *\nDisallow: /x"
    site.robots["shop02.test"] = Reply(403)
    site.robots["shop04.test"] = lambda hit: Reply(200, f"# for {hit.headers['User-Agent']}")

    assert await client.text("shop01.test", "/robots.txt") == "User-agent: *\nDisallow: /x"
    assert await client.status("shop02.test", "/robots.txt") == 403
    assert "# for Python" in await client.text("shop04.test", "/robots.txt")


async def test_big_robots_has_its_rule_just_before_the_limit(client: Client) -> None:
    robots = await client.text("robots-big.test", "/robots.txt")

    assert len(robots) > SIZE_THAT_MUST_BE_READ
    assert robots[:SIZE_THAT_MUST_BE_READ].endswith("\nDisallow: /hidden\nDisallow: /")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", True),
        ("/private/x", False),
        ("/private/open/x", True),
        ("/a.pdf", False),
        ("/a.pdf?x=1", True),
        ("/exact", False),
        ("/exactly", True),
        ("/tie", True),
        ("/second-group/", False),
    ],
)
async def test_partly_open_robots_treat_penstock_apart(
    client: Client, path: str, allowed: bool
) -> None:
    robots = RobotsFile(await client.text("partly.test", "/robots.txt"))

    assert robots.allows(path, "Penstock") is allowed
    assert not robots.allows(path, "Unheard-of")


async def test_redirected_robots_end_after_five_hops(client: Client) -> None:
    path, hops = "/robots.txt", 0
    while True:
        async with client.get("robots-redirect.test", path) as reply:
            if reply.status == 200:
                break
            path, hops = (
                reply.headers["Location"].removeprefix("http://robots-redirect.test"),
                hops + 1,
            )

    assert hops == 5


async def test_product_pages_are_deterministic_and_of_realistic_size(client: Client) -> None:
    for host in SHOPS:
        page = await client.text(host, "/product/3")
        assert 17_000 < len(page.encode()) < 19_000
        assert f'"gtin13": "{product(host, 3).gtin}"' in page
        assert product(host, 3).price_text in page
    assert await client.status("shop01.test", "/product/21") == 404


async def test_unchanged_product_is_answered_by_304(client: Client) -> None:
    async with client.get("shop01.test", "/product/1") as reply:
        etag, modified = reply.headers["ETag"], reply.headers["Last-Modified"]

    async def status(**headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await client.status("shop01.test", "/product/1", headers=named)

    assert await status(If_None_Match=etag) == 304
    assert await status(If_None_Match=f'"other", W/{etag}') == 304
    assert await status(If_Modified_Since=modified) == 304
    assert await status(If_None_Match='"other"', If_Modified_Since=modified) == 200


async def test_rate_limited_hosts_recover_after_two_pages(client: Client) -> None:
    for host, retry_after in (
        ("ratelimited.test", "7"),
        ("ratelimited-date.test", "Thu, 01 Jan 2026 12:00:07 GMT"),
    ):
        assert await client.status(host, "/robots.txt") == 200
        for _ in range(2):
            async with client.get(host, "/") as reply:
                assert (reply.status, reply.headers["Retry-After"]) == (429, retry_after)
        assert await client.status(host, "/") == 200


async def test_outage_and_flaky_hosts_recover(client: Client) -> None:
    assert [await client.status("outage.test", "/") for _ in range(7)] == [503] * 6 + [200]
    assert [await client.status("flaky.test", "/") for _ in range(2)] == [500, 200]


async def test_down_host_resets_connections(client: Client) -> None:
    with pytest.raises(aiohttp.ClientOSError, match="reset by peer"):
        await client.status("down.test", "/")


async def test_host_can_be_taken_down_and_brought_up(site: Site, client: Client) -> None:
    site.take_down("shop01.test")
    assert await client.status("shop01.test", "/robots.txt") == 503
    site.take_down("shop01.test", Reset())
    with pytest.raises(aiohttp.ClientOSError):
        await client.status("shop01.test", "/")
    site.bring_up("shop01.test")
    assert await client.status("shop01.test", "/") == 200


async def test_planted_replies_come_in_turn_and_the_last_stays(site: Site, client: Client) -> None:
    site.reply("shop01.test", "/planted", Reply(500), Reply(200, "second"), Reply(200, "last"))
    site.reply("any.name.test", "/raw", Raw.of(b"HTTP/1.1 200 OK\r\n\r\nto the end"))

    statuses = [await client.status("shop01.test", "/planted?x=1") for _ in range(2)]
    assert statuses == [500, 200]
    assert {await client.text("shop01.test", "/planted") for _ in range(3)} == {"last"}
    assert await client.text("any.name.test", "/raw") == "to the end"
    assert await client.status("any.name.test", "/") == 404


async def test_redirects_point_where_they_say(site: Site, client: Client) -> None:
    async def location(path: str) -> str:
        async with client.get("moved.test", path) as reply:
            target: str = reply.headers["Location"]
            return target

    assert await location("/to-private") == f"http://127.0.0.1:{site.canary.port}/"
    assert await location("/chain/3") == "/chain/2"
    assert await location("/redirect?to=http://[::1]:1/?a=b%26c") == "http://[::1]:1/?a=b&c"
    assert await client.status("moved.test", "/redirect/308?to=/new") == 308


async def test_canary_notices_who_touches_it(site: Site) -> None:
    assert site.canary.connections == 0
    async with aiohttp.ClientSession() as session:
        await session.get(f"http://127.0.0.1:{site.canary.port}/")
    assert site.canary.connections == 1


async def test_hits_tell_who_asked_what_and_over_which_connection(
    site: Site, client: Client
) -> None:
    for path in ("/product/1?ref=x", "/product/2"):
        await client.text("shop01.test", path, headers={"X-Mine": "yes"})
    await client.text("www.shop02.test", "/product/1")

    first, second = site.hits_of("shop01.test")
    assert (first.method, first.path, first.headers["x-mine"]) == ("GET", "/product/1?ref=x", "yes")
    assert first.connection == second.connection
    assert first.started < second.started
    assert site.hits_of("shop01.test", "/product/1") == [first]
    assert [hit.host for hit in site.hits][-1] == "www.shop02.test"


async def test_peak_counts_requests_in_hand_at_once(site: Site, client: Client) -> None:
    site.reply("shop01.test", "/", Reply(200, delay=0.05))

    await asyncio.gather(*(client.status("shop01.test", "/") for _ in range(3)))

    assert site.peak["shop01.test"] == 3


async def test_echo_tells_the_headers_received(client: Client) -> None:
    async with client.get("shop05.test", "/_echo", headers={"X-Mine": "yes"}) as reply:
        seen = await reply.json()

    assert (seen["host"], seen["headers"]["X-Mine"]) == ("shop05.test", "yes")


async def test_every_spelling_decodes_to_the_same_page(client: Client) -> None:
    decoders = {
        "/identity": bytes,
        "/gzip": gzip.decompress,
        "/deflate": zlib.decompress,
        "/rawdeflate": lambda body: zlib.decompress(body, wbits=-zlib.MAX_WBITS),
        "/br": brotli.decompress,
        "/zstd": zstd.decompress,
        "/gzip-gzip": lambda body: gzip.decompress(gzip.decompress(body)),
    }
    for path, decode in decoders.items():
        async with client.get("encodings.test", path) as reply:
            assert decode(await reply.read()) == encoded_page()


async def test_charsets_are_what_the_pages_say_or_hide(client: Client) -> None:
    for path, charset in (("/header", "cp1251"), ("/bom", "utf-8-sig"), ("/meta", "shift_jis")):
        async with client.get("charset.test", path) as reply:
            assert CHARSET_TEXTS[path] in (await reply.read()).decode(charset)


@pytest.mark.parametrize(
    ("coding", "decode"),
    [
        ("gzip", gzip.decompress),
        ("deflate", zlib.decompress),
        ("br", brotli.decompress),
        ("zstd", zstd.decompress),
        ("nested", lambda body: gzip.decompress(gzip.decompress(body))),
    ],
)
async def test_bombs_are_small_on_the_wire(client: Client, coding: str, decode: Any) -> None:
    async with client.get("hostile.test", f"/bomb/{coding}") as reply:
        body = await reply.read()

    assert len(body) < 64 * MIB / 900
    assert decode(body) == bytes(64 * MIB)


def test_whole_gzip_bomb_takes_about_a_megabyte() -> None:
    assert 0.9 * MIB < len(bomb("gzip", 1024 * MIB)) < 1.2 * MIB


@pytest.mark.parametrize(
    ("host", "path"),
    [
        ("slow.test", "/drip"),
        ("slow.test", "/endless"),
        ("slow.test", "/headers?seconds=50"),
        ("hostile.test", "/headers/flood"),
        ("hostile.test", "/continue"),
        ("hostile.test", "/length"),
    ],
)
async def test_endless_answers_stop_when_the_client_leaves(
    site: Site, host: str, path: str
) -> None:
    reader, writer = await asyncio.open_connection(*site.address.split(":"))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    if "headers?" not in path:
        await reader.readexactly(10)
    writer.close()
    await writer.wait_closed()

    async with asyncio.timeout(2):
        await site.left_alone()
    assert site.open_connections == 0


async def test_endless_answers_have_a_hard_cap() -> None:
    async with (
        Site(settings=SiteSettings(endless_bytes=MIB)) as site,
        aiohttp.ClientSession() as session,
    ):
        with pytest.raises(aiohttp.ClientPayloadError):
            await Client(site, session).text("slow.test", "/endless")


async def test_what_the_site_cannot_read_is_answered_by_400(client: Client) -> None:
    assert await client.status("moved.test", "/chain/x") == 400
    assert await client.status("slow.test", "/headers?seconds=soon") == 400


async def test_a_bug_in_a_planted_handler_is_raised_when_the_site_closes() -> None:
    def buggy(hit: Hit) -> Reply:
        raise LookupError("a bug of the test")

    async def visit() -> None:
        async with aiohttp.ClientSession() as session, Site() as site:
            site.reply("shop01.test", "/", buggy)
            with suppress(aiohttp.ClientError):
                await Client(site, session).status("shop01.test", "/")

    with pytest.raises(LookupError):
        await visit()


async def test_score_changes_with_every_request(client: Client) -> None:
    assert await client.text("live.test", "/score") != await client.text("live.test", "/score")


async def test_every_demo_host_answers_its_front_page(site: Site, client: Client) -> None:
    assert len(DEMO_HOSTS) >= 20
    assert set(DEMO_HOSTS) <= set(HOSTS)
    for host in set(DEMO_HOSTS) - {"down.test"}:
        assert await client.status(host, "/") in {200, 429, 500, 503}
