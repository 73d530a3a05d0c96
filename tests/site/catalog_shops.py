"""goods01 … goods20.test: shops with many goods, pictures and sitemaps, for the catalogue."""

import gzip
import hashlib
from collections.abc import Iterator
from functools import cache

from tests.site.answers import Answer, Handler, Hit, Plan, Reply
from tests.site.catalog_items import (
    SHOPS,
    CatalogItem,
    Picture,
    catalog_item,
    picture_bytes,
)
from tests.site.catalog_markup import item_page
from tests.site.pages import by_path, html, links, not_found, page

SITEMAP_ENTRIES = 40
XML = {"Content-Type": "application/xml"}
XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
LASTMOD = "2025-10-01"


def tagged(content: bytes, content_type: str) -> Handler:
    """An answer that those need not get again who have it."""
    etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    reply = Reply(200, content, {"Content-Type": content_type, "ETag": etag})
    unchanged = Reply(304, headers={"ETag": etag})
    return lambda hit: unchanged if hit.knows(etag) else reply


@cache
def shown(item: CatalogItem, pages: int) -> Handler:
    """The page of a product, as it is or as a test has changed it."""
    return tagged(item_page(item, pages), SHOPS[item.host].content_type)


def _product(hit: Hit) -> Answer:
    number = _number(hit.last_segment, hit)
    if number is None:
        return not_found(hit)
    return shown(catalog_item(_shop_host(hit), number), hit.settings.catalog_pages)(hit)


def _image(hit: Hit) -> Answer:
    number = _number(hit.last_segment.partition("-")[0], hit)
    pictures = catalog_item(_shop_host(hit), number).pictures if number else ()
    url = f"http://{hit.host}{hit.route}"
    found = next((picture for picture in pictures if picture.url == url), None)
    if found is None or found.trouble == "missing":
        return not_found(hit)
    return _photo(found)(hit)


@cache
def _photo(picture: Picture) -> Handler:
    other = "image/png" if picture.format == "jpeg" else "image/jpeg"
    labels = {"other-type": other, "unknown-type": "application/octet-stream"}
    content_type = labels.get(picture.trouble, f"image/{picture.format}")
    return tagged(picture_bytes(picture), content_type)


def _listing(hit: Hit) -> Reply:
    return page(_shop_host(hit), links(_product_paths(hit)))


def _sitemap_index(hit: Hit) -> Reply:
    count = -(-hit.settings.catalog_pages // SITEMAP_ENTRIES)
    files = (f"http://{hit.host}/sitemaps/{file}.xml.gz" for file in range(1, count + 1))
    entries = "".join(f"<sitemap><loc>{file}</loc></sitemap>" for file in files)
    return Reply(200, f"<sitemapindex {XMLNS}>{entries}</sitemapindex>", XML)


def _sitemap(hit: Hit) -> Reply:
    file = int(hit.last_segment.partition(".")[0])
    paths = list(_product_paths(hit))[(file - 1) * SITEMAP_ENTRIES : file * SITEMAP_ENTRIES]
    entries = "".join(
        f"<url><loc>http://{hit.host}{path}</loc><lastmod>{LASTMOD}</lastmod></url>"
        for path in paths
    )
    body = f"<urlset {XMLNS}>{entries}</urlset>".encode()
    return Reply(200, gzip.compress(body, mtime=0), {"Content-Type": "application/gzip"})


def _product_paths(hit: Hit) -> Iterator[str]:
    return (f"/product/{number}" for number in range(1, hit.settings.catalog_pages + 1))


def _number(text: str, hit: Hit) -> int | None:
    if not (text.isascii() and text.isdigit()):
        return None
    return int(text) if 1 <= int(text) <= hit.settings.catalog_pages else None


def _shop_host(hit: Hit) -> str:
    return ".".join(hit.host.split(".")[-2:])


PAGES: dict[str, Plan] = {
    "/": _listing,
    "/product/*": _product,
    "/image/*": _image,
    "/sitemap.xml": _sitemap_index,
    "/sitemaps/*": _sitemap,
    "/cart": Reply(200, html("Cart", "<p>Your cart is empty.</p>")),
}

catalog_pages = by_path(PAGES)
