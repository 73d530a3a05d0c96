"""Sitemaps: whatever a file holds, reading it ends, and never beyond the bounds."""

import gzip

from hypothesis import given
from hypothesis import strategies as st

from penstock.core.urls import parse
from penstock.extract.page.sitemap import read_sitemap, sitemaps_in_robots

BASE = parse("https://shop.test/sitemap.xml")
PIECES = st.sampled_from(
    [
        *("<urlset>", "</urlset>", "<sitemapindex>", "</sitemapindex>", "<rss><channel>", "<feed>"),
        *("<url>", "</url>", "<loc>", "</loc>", "<item>", "</item>", "<link>", "</link>"),
        *("<lastmod>", "</lastmod>", "2026-02-03", "<!--", "-->", "<![CDATA[", "]]>", "<?xml ?>"),
        *("https://shop.test/a", "/b", "&", "&amp;", "&#x10ffff;", "<!DOCTYPE a [", "\n", "\x00"),
        *("<image:loc xmlns:image='i'>", "<entry>", "<link href='/c'/>", "</entry>", "x" * 9000),
    ]
)
FILES = st.one_of(
    st.binary(max_size=2000), st.lists(PIECES).map(lambda some: "".join(some).encode())
)
WELL_FORMED = st.lists(st.integers(0, 10**9), max_size=60).map(
    lambda numbers: (
        "<urlset>"
        + "".join(f"<url><loc>https://shop.test/{number}</loc></url>" for number in numbers)
        + "</urlset>"
    ).encode()
)


@given(
    body=st.one_of(FILES, WELL_FORMED),
    packed=st.booleans(),
    max_bytes=st.integers(0, 3000),
    max_entries=st.integers(0, 40),
)
def test_no_file_is_read_beyond_its_bounds(
    body: bytes, packed: bool, max_bytes: int, max_entries: int
) -> None:
    sitemap = read_sitemap(
        gzip.compress(body) if packed else body, BASE, max_bytes=max_bytes, max_entries=max_entries
    )

    assert sitemap.bytes_read <= max_bytes
    assert len(sitemap.entries) + len(sitemap.children) <= max_entries
    assert all(entry.url.scheme in ("http", "https") for entry in sitemap.entries)


@given(body=WELL_FORMED, packed=st.booleans())
def test_every_url_of_a_good_file_is_found(body: bytes, packed: bool) -> None:
    sitemap = read_sitemap(gzip.compress(body) if packed else body, BASE)

    assert sitemap.failure is None
    assert len(sitemap.entries) == body.count(b"<loc>")


@given(text=st.text(alphabet="Sitemap: /#\r\nhtps.x", max_size=500))
def test_any_robots_file_names_only_urls(text: str) -> None:
    assert all(url.scheme in ("http", "https") for url in sitemaps_in_robots(text, BASE))
