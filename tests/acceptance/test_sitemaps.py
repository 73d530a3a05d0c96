"""Walks through sitemaps, on the local site: nested, packed, hostile, and always polite."""

import gzip
import random
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.app import Platform
from penstock.extract.sitemap_walk import SitemapWalk, WalkLimits
from penstock.workloads.stream.memory import SeedsInMemory
from penstock.workloads.stream.seed_file import read_seeds
from penstock.workloads.stream.seeds import Seeds, walks_through
from tests.platforms import platform_for
from tests.site import Site
from tests.site.answers import Reply
from tests.unit.workloads.stream.feeds import ShortQueue

SHOP = "http://shop01.test"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest.fixture
async def platform(site: Site) -> AsyncIterator[Platform]:
    async with platform_for(site, stream={"rate_limit_per_second": 1000}) as platform:
        yield platform


def walk_with(platform: Platform, since: datetime | None = None, **limits: Any) -> SitemapWalk:
    return SitemapWalk(
        platform.pipeline,
        platform.clock,
        workload="stream",
        limits=WalkLimits(**limits),
        since=since,
    )


async def found(walk: SitemapWalk, start: str) -> list[str]:
    return [entry.url.href async for entry in walk.entries(start)]


def plant(site: Site, path: str, body: bytes | str, host: str = "shop01.test") -> None:
    site.reply(host, path, Reply(200, body, {"Content-Type": "application/xml"}))


def index(*files: str) -> str:
    entries = "".join(f"<sitemap><loc>{file}</loc></sitemap>" for file in files)
    return f"<sitemapindex>{entries}</sitemapindex>"


def urlset(*urls: str) -> str:
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>"


def reasons(walk: SitemapWalk) -> list[str]:
    return [trouble.failure.reason for trouble in walk.report.troubles]


DAYS = ("01", "02", "03")
PRODUCTS = [f"{SHOP}/product/{number}" for number in range(1, 21)]


@pytest.mark.parametrize("start", ["/sitemap.xml", "/robots.txt"])
async def test_pages_of_a_shop_are_found(platform: Platform, start: str) -> None:
    walk = walk_with(platform)

    assert sorted(await found(walk, f"{SHOP}{start}")) == sorted(PRODUCTS)
    assert (walk.report.files, walk.report.troubles) == (1, [])


async def test_robots_without_sitemaps_means_the_usual_place(
    site: Site, platform: Platform
) -> None:
    site.robots["shop01.test"] = "User-agent: *\nDisallow: /cart\n"

    assert len(await found(walk_with(platform), f"{SHOP}/robots.txt")) == 20


async def test_nested_and_packed_files_are_read_once_each(site: Site, platform: Platform) -> None:
    plant(site, "/i.xml", index(f"{SHOP}/j.xml", f"{SHOP}/p.xml.gz", f"{SHOP}/i.xml"))
    plant(site, "/j.xml", index(f"{SHOP}/p.xml.gz", f"{SHOP}/t.txt"))
    plant(site, "/p.xml.gz", gzip.compress(urlset("/a", "/b").encode()))
    plant(site, "/t.txt", f"{SHOP}/c\n")

    urls = await found(walk_with(platform), f"{SHOP}/i.xml")

    assert urls == [f"{SHOP}/a", f"{SHOP}/b", f"{SHOP}/c"]
    assert all(len(site.hits_of("shop01.test", path)) == 1 for path in ("/i.xml", "/p.xml.gz"))


async def test_robots_are_obeyed_for_sitemaps_too(site: Site, platform: Platform) -> None:
    site.robots["shop01.test"] = "User-agent: *\nDisallow: /secret\n"
    plant(site, "/i.xml", index(f"{SHOP}/secret.xml", f"{SHOP}/p.xml"))
    plant(site, "/p.xml", urlset("/a"))
    walk = walk_with(platform)

    assert await found(walk, f"{SHOP}/i.xml") == [f"{SHOP}/a"]
    assert reasons(walk) == ["robots_denied"]
    assert site.hits_of("shop01.test", "/secret.xml") == []


async def test_other_sites_are_neither_asked_nor_given(site: Site, platform: Platform) -> None:
    plant(site, "/i.xml", index("http://shop02.test/sitemap.xml", f"{SHOP}/p.xml"))
    plant(site, "/p.xml", urlset("http://shop02.test/a", "http://m.shop01.test/b"))
    walk = walk_with(platform)

    assert await found(walk, f"{SHOP}/i.xml") == ["http://m.shop01.test/b"]
    assert walk.report.elsewhere == 2
    assert site.hits_of("shop02.test") == []


async def test_inner_address_is_refused(site: Site, platform: Platform) -> None:
    plant(site, "/i.xml", index(f"http://127.0.0.1:{site.canary.port}/s.xml"))
    walk = SitemapWalk(platform.pipeline, platform.clock, workload="stream", any_site=True)

    assert await found(walk, f"{SHOP}/i.xml") == []
    assert reasons(walk)[0].startswith("admission_")
    assert site.canary.connections == 0


async def test_what_cannot_be_had_is_told_and_the_rest_is_found(
    site: Site, platform: Platform
) -> None:
    plant(site, "/i.xml", index(f"{SHOP}/none.xml", f"{SHOP}/html", f"{SHOP}/p.xml"))
    site.reply("shop01.test", "/html", Reply(200, "<html><p>Hello, this is no sitemap.</html>"))
    plant(site, "/p.xml", urlset("/a"))
    walk = walk_with(platform)

    assert await found(walk, f"{SHOP}/i.xml") == [f"{SHOP}/a"]
    assert reasons(walk) == ["http_404", "not_a_sitemap"]
    assert not any(trouble.may_pass for trouble in walk.report.troubles)


@pytest.mark.parametrize("start", ["/sitemap.xml", "/robots.txt"])
async def test_site_that_is_down_may_be_asked_again_soon(
    site: Site, platform: Platform, start: str
) -> None:
    site.take_down("shop01.test")
    walk = walk_with(platform)

    assert await found(walk, f"{SHOP}{start}") == []
    assert [trouble.may_pass for trouble in walk.report.troubles] == [True]


async def test_bomb_is_not_unpacked(site: Site, platform: Platform) -> None:
    plant(site, "/bomb.xml.gz", gzip.compress(b"<urlset>" + b" " * 30_000_000))
    walk = walk_with(platform, file_bytes=1_000_000)

    assert await found(walk, f"{SHOP}/bomb.xml.gz") == []
    assert reasons(walk) == ["too_large"]
    assert walk.report.bytes_read <= 1_000_000


@pytest.mark.parametrize(
    ("limits", "cut", "urls"),
    [
        ({"files": 3}, "files", ["/a1", "/a2"]),
        ({"urls": 3}, "urls", ["/a1", "/a2", "/a3"]),
        ({"all_bytes": 260}, "bytes", ["/a1", "/a2"]),
        ({"all_bytes": 257}, "bytes", ["/a1", "/a2"]),
        ({}, "", ["/a1", "/a2", "/a3", "/a4"]),
    ],
)
async def test_walk_ends_at_its_limits(
    site: Site, platform: Platform, limits: dict[str, Any], cut: str, urls: Sequence[str]
) -> None:
    plant(site, "/i.xml", index(*(f"/{number}.xml" for number in range(1, 5))))
    for number in range(1, 5):
        plant(site, f"/{number}.xml", urlset(f"/a{number}"))
    walk = walk_with(platform, **limits)

    assert await found(walk, f"{SHOP}/i.xml") == [f"{SHOP}{url}" for url in urls]
    assert walk.report.cut == cut


async def test_walk_goes_no_deeper_than_allowed(site: Site, platform: Platform) -> None:
    for depth in range(4):
        plant(site, f"/{depth}.xml", index(f"/{depth + 1}.xml"))
    walk = walk_with(platform, depth=2)

    assert await found(walk, f"{SHOP}/0.xml") == []
    assert reasons(walk) == ["too_deep"]
    assert site.hits_of("shop01.test", "/3.xml") == []


async def test_walk_does_not_wait_longer_than_it_may_take(site: Site) -> None:
    plant(site, "/i.xml", index("/1.xml"))
    async with platform_for(site, stream={"rate_limit_per_second": 0.001}) as platform:
        walk = walk_with(platform, seconds=60.0)

        assert await found(walk, f"{SHOP}/i.xml") == []

    # The turn after robots.txt is a quarter of an hour away.
    assert [trouble.may_pass for trouble in walk.report.troubles] == [True]


async def test_only_what_may_have_changed_is_given(site: Site, platform: Platform) -> None:
    dated = "".join(f"<url><loc>/{day}</loc><lastmod>2026-02-{day}</lastmod></url>" for day in DAYS)
    old = "<sitemap><loc>/old.xml</loc><lastmod>2026-02-01</lastmod></sitemap>"
    plant(site, "/i.xml", f"<sitemapindex>{old}<sitemap><loc>/p.xml</loc></sitemap></sitemapindex>")
    plant(site, "/p.xml", f"<urlset>{dated}<url><loc>/undated</loc></url></urlset>")
    walk = walk_with(platform, since=datetime(2026, 2, 2, 12, tzinfo=UTC))

    assert await found(walk, f"{SHOP}/i.xml") == [f"{SHOP}/02", f"{SHOP}/03"]
    assert (walk.report.old, walk.report.undated) == (2, 1)
    assert site.hits_of("shop01.test", "/old.xml") == []


async def test_seed_pushes_the_pages_of_a_shop(platform: Platform) -> None:
    queue = ShortQueue()
    text = f"- sitemap: {SHOP}/robots.txt\n  every: 1d\n  include: /product/1\n"
    seeds = Seeds(
        read_seeds(text, "seeds.yaml"),
        walks=walks_through(platform.pipeline, platform.clock, WalkLimits()),
        pusher=queue,
        memory=SeedsInMemory(platform.clock),
        clock=platform.clock,
        chance=random.Random(1),
        who="a",
    )

    (done,) = await seeds.once()

    assert sorted(queue.urls) == sorted(url for url in PRODUCTS if "/product/1" in url)
    assert done.as_json()["files"] == 1
    assert await seeds.once() == []
