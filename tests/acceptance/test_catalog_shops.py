"""The catalogue's shops on the real path: what the generic adapter reads is what they sell."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from penstock.app import Platform
from penstock.extract.sitemap_walk import SitemapWalk
from penstock.kernel.model import Outcome, Request
from penstock.kernel.records import Product
from penstock.quality.links import clean_url
from tests.catalogs import (
    HOSTS,
    PAGES,
    ExpectedProduct,
    all_urls,
    decimal_price,
    expected,
    expected_of,
)
from tests.platforms import VisitClock, page_of, platform_for
from tests.site import Site
from tests.site.shopkeeper import Shopkeeper

#: In stock; sold out without and with a price; to be ordered.
NUMBERS = (1, 7, 14, 11)
FACTS = (
    *("name", "currency", "availability", "brand", "category", "description"),
    *("sku", "gtin", "mpn", "rating", "review_count"),
)


@pytest.fixture
async def platform(site: Site, clock: VisitClock) -> AsyncIterator[Platform]:
    async with platform_for(site, clock=clock) as platform:
        yield platform


async def read(platform: Platform, url: str) -> Outcome:
    return await platform.pipeline.run(Request(url, extract="product"))


def facts_of(outcome: Outcome) -> dict[str, Any]:
    """What was read, in the words of the expectation."""
    assert outcome.reading, outcome.failure
    record = outcome.reading.record
    assert isinstance(record, Product)
    return {
        **{name: getattr(record, name) for name in FACTS},
        "price": decimal_price(record.price_minor, record.currency),
        "images": record.image_urls,
        "reason": outcome.reading.extraction.reason,
    }


def facts_in(product: ExpectedProduct) -> dict[str, Any]:
    return {
        **{name: getattr(product, name) for name in (*FACTS, "price", "reason")},
        # The record has addresses as https, whatever the page has.
        "images": tuple(clean_url(image.url) for image in product.images),
    }


@pytest.mark.parametrize("host", HOSTS)
async def test_adapter_reads_what_a_shop_states(platform: Platform, host: str) -> None:
    for number in NUMBERS:
        product = expected(host, number)
        assert facts_of(await read(platform, product.url)) == facts_in(product)


async def test_changes_of_the_shopkeeper_are_read(site: Site, platform: Platform) -> None:
    keeper = Shopkeeper(site)
    before = expected("goods02.test", 1)
    keeper.change_price("goods02.test", 1, 1_234_56)
    after = expected_of(keeper.set_stock("goods02.test", 1, "OutOfStock"))

    assert after != before
    assert facts_of(await read(platform, before.url)) == facts_in(after)


@pytest.mark.parametrize("host", ["goods01.test", "goods02.test", "goods05.test", "goods09.test"])
async def test_nothing_is_read_after_a_redesign(site: Site, platform: Platform, host: str) -> None:
    keeper = Shopkeeper(site)
    keeper.redesign(host)

    redesigned = facts_of(await read(platform, expected(host, 1).url))
    keeper.undo_redesign(host)
    again = facts_of(await read(platform, expected(host, 1).url))

    assert (redesigned["reason"], redesigned["price"]) == ("PRICE_NOT_FOUND", None)
    assert again == facts_in(expected(host, 1))


async def test_forbidden_goods_are_not_fetched(site: Site, platform: Platform) -> None:
    denied = [
        number for number in range(1, PAGES + 1) if expected("goods07.test", number).is_denied
    ]
    outcomes = [await read(platform, expected("goods07.test", number).url) for number in denied]

    assert denied == [3, 17, 58]
    assert [outcome.failure and outcome.failure.reason for outcome in outcomes] == (
        ["robots_denied"] * 3
    )
    assert [hit.path for hit in site.hits_of("goods07.test")] == ["/robots.txt"]


async def test_crawl_delay_of_a_shop_is_kept(platform: Platform, clock: VisitClock) -> None:
    start = clock.monotonic()
    for number in range(1, 5):
        page_of(await read(platform, expected("goods03.test", number).url))

    assert clock.monotonic() - start >= 3


@pytest.mark.parametrize("host", ["goods01.test", "goods11.test"])
async def test_pictures_are_fetched_from_where_they_stand(platform: Platform, host: str) -> None:
    good = [one for number in range(1, 9) for one in expected(host, number).images if one.is_good]

    for image in good:
        page = page_of(await platform.pipeline.run(Request(image.url)))
        assert page.status == 200
    assert len(good) > 8


async def test_sitemaps_lead_to_all_goods(platform: Platform) -> None:
    walk = SitemapWalk(platform.pipeline, platform.clock, workload="stream")
    found = [entry.url.href async for entry in walk.entries("http://goods01.test/robots.txt")]

    assert found == all_urls(["goods01.test"])
    assert (walk.report.files, walk.report.troubles) == (4, [])
