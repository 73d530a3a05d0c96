"""goods01 … goods20.test sell what they say, and their keeper can change it."""

from collections import Counter
from collections.abc import AsyncIterator

import aiohttp
import pytest

from penstock.core.urls import registrable_domain
from penstock.extract.values.gtin import read_gtin
from tests.catalogs import HOSTS, PAGES, all_urls, expected
from tests.site import Site, SiteSettings
from tests.site.catalog_items import LARGE_PICTURE, SHOPS, Picture, catalog_item, picture_bytes
from tests.site.catalog_words import BRANDS, CATEGORIES
from tests.site.shopkeeper import Shopkeeper

ITEMS = [catalog_item(host, number) for host in HOSTS for number in range(1, PAGES + 1)]
PICTURES = [picture for item in ITEMS for picture in item.pictures]


class Browser:
    """Asks the site for URLs."""

    def __init__(self, site: Site, session: aiohttp.ClientSession) -> None:
        self._site = site
        self._session = session

    async def get(self, url: str, **headers: str) -> tuple[int, bytes, str]:
        """Status, body and tag."""
        host, _, path = url.removeprefix("http://").partition("/")
        address = f"http://{self._site.address}/{path}"
        async with self._session.get(address, headers={"Host": host, **headers}) as reply:
            return reply.status, await reply.read(), reply.headers.get("ETag", "")

    async def status(self, url: str) -> int:
        return (await self.get(url))[0]


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site(settings=SiteSettings(catalog_pages=12)) as site:
        yield site


@pytest.fixture
def keeper(site: Site) -> Shopkeeper:
    return Shopkeeper(site)


@pytest.fixture
async def browser(site: Site) -> AsyncIterator[Browser]:
    async with aiohttp.ClientSession() as session:
        yield Browser(site, session)


def test_twenty_shops_are_domains_of_their_own() -> None:
    assert len({registrable_domain(host) for host in HOSTS}) == 20
    assert len(all_urls()) == len(set(all_urls())) == 2_000


def test_goods_differ_and_have_all_brands_and_categories() -> None:
    assert len({item.title for item in ITEMS}) == len({item.gtin for item in ITEMS}) == 2_000
    assert {item.brand for item in ITEMS} == set(BRANDS)
    assert {item.category for item in ITEMS} == set(CATEGORIES)
    assert all(read_gtin(item.gtin) for item in ITEMS)
    assert all(30 <= len(item.description.split()) <= 80 for item in ITEMS)


def test_some_are_sold_out_and_some_of_them_without_a_price() -> None:
    stocks = Counter((item.availability, item.price_minor is None) for item in ITEMS)

    assert set(stocks) == {
        *(("InStock", False), ("BackOrder", False)),
        *(("OutOfStock", False), ("OutOfStock", True)),
    }


def test_pictures_differ_but_for_logos() -> None:
    sound = [picture for picture in PICTURES if picture.trouble == ""]
    photos = [picture for picture in sound if "logo" not in picture.alt]
    logos = [picture for picture in sound if "logo" in picture.alt]

    assert len({picture.url for picture in PICTURES}) == len(PICTURES)
    assert len({picture_bytes(photo) for photo in photos}) == len(photos)
    assert len({picture_bytes(logo) for logo in logos}) == len(BRANDS) < len(logos)


def test_every_trouble_of_a_picture_is_there() -> None:
    troubled: dict[str, Picture] = {picture.trouble: picture for picture in PICTURES}

    assert set(troubled) == {
        *("", "missing", "page", "half", "stub", "bomb", "large"),
        *("other-type", "unknown-type"),
    }
    assert len(picture_bytes(troubled["large"])) > LARGE_PICTURE
    assert picture_bytes(troubled["page"]).startswith(b"<!doctype html>")
    assert len(picture_bytes(troubled["bomb"])) < 100


@pytest.mark.parametrize("host", HOSTS)
async def test_shop_shows_its_goods_and_no_others(browser: Browser, host: str) -> None:
    status, body, _ = await browser.get(f"http://{host}/product/12")

    assert (status, await browser.status(f"http://{host}/product/13")) == (200, 404)
    assert 17_000 < len(body) < 20_000
    assert catalog_item(host, 12).title in body.decode(SHOPS[host].charset)


async def test_pictures_are_served_as_they_are(browser: Browser) -> None:
    images = [one for host in HOSTS for number in (1, 12) for one in expected(host, number).images]
    for image in images:
        assert await browser.status(image.url) == (404 if image.trouble == "missing" else 200)
    assert await browser.status("http://goods01.test/image/1-9.png") == 404


async def test_unchanged_page_is_answered_by_304(browser: Browser, keeper: Shopkeeper) -> None:
    url = "http://goods01.test/product/1"
    _, _, etag = await browser.get(url)
    known = {"If-None-Match": etag}

    assert (await browser.get(url, **known))[0] == 304
    keeper.change_price("goods01.test", 1, 12_345)
    assert (await browser.get(url, **known))[0] == 200


async def test_changed_prices_are_shown_and_told(browser: Browser, keeper: Shopkeeper) -> None:
    changed = keeper.change_price("goods10.test", 2, 1_234_56)
    sold_out = keeper.set_stock("goods10.test", 2, "OutOfStock")
    _, body, _ = await browser.get(changed.url)

    assert (sold_out.price_minor, keeper.item("goods10.test", 2)) == (1_234_56, sold_out)
    assert "1.234,56 €" in body.decode()
    assert "Ausverkauft" in body.decode()


async def test_removed_goods_are_gone_until_put_back(browser: Browser, keeper: Shopkeeper) -> None:
    keeper.remove("goods01.test", 3)
    keeper.redesign("goods01.test")
    assert await browser.status("http://goods01.test/product/3") == 404
    keeper.put_back("goods01.test", 3)
    assert b"signed in" in (await browser.get("http://goods01.test/product/3"))[1]
    keeper.undo_redesign("goods01.test")
    assert b"signed in" not in (await browser.get("http://goods01.test/product/3"))[1]


async def test_shop_is_down_with_its_pictures(browser: Browser, keeper: Shopkeeper) -> None:
    urls = ["http://goods11.test/product/1", expected("goods11.test", 1).images[0].url]

    keeper.take_down("goods11.test")
    assert [await browser.status(url) for url in urls] == [503, 503]
    keeper.bring_up("goods11.test")
    assert [await browser.status(url) for url in urls] == [200, 200]


async def test_keeper_tells_what_was_asked_and_when(browser: Browser, keeper: Shopkeeper) -> None:
    image = expected("goods11.test", 1).images[0].url
    for url in ("http://goods11.test/product/1", image, image, "http://goods12.test/product/1"):
        await browser.get(url)

    asked, times = keeper.asked(), [hit.started for hit in keeper.hits("goods11.test")]

    assert asked == {
        "http://goods11.test/product/1": 1,
        image: 2,
        "http://goods12.test/product/1": 1,
    }
    assert (len(times), times) == (3, sorted(times))
