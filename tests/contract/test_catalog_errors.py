"""What went wrong, on both engines: one by one, and as patterns over domains and time."""

from pathlib import Path

import pytest
from sqlalchemy import select

from penstock.kernel.model import SiteWide, UrlSpecific
from penstock.products.tables import domains
from penstock.web.errors import NotFound
from penstock.workloads.catalog.model import Category
from tests.catalog_rows import HOUR, CatalogRows, Site, rows_in
from tests.crawlers import Crawler, failing, open_crawler, saying, shop
from tests.monitors import NEW_SHOP
from tests.stores import Stores


@pytest.fixture
async def crawler(stores: Stores, tmp_path: Path) -> Crawler:
    return await open_crawler(stores, tmp_path)


@pytest.fixture
async def rows(crawler: Crawler) -> CatalogRows:
    return await rows_in(crawler.store)


async def errors_of(rows: CatalogRows, site: Site, *ages: int, **more: str) -> str:
    """A task that failed so long ago, again and again."""
    task = await rows.task(site)
    for age in ages:
        await rows.error(task, at=age, domain_id=site.id, **more)
    return task


async def test_every_failure_is_logged_with_its_kind_and_its_page(crawler: Crawler) -> None:
    turnouts = {
        "1": failing(SiteWide("dns", "no such name")),
        "2": failing(UrlSpecific("http_410", "Gone", 410)),
        "3": saying(NEW_SHOP),
    }
    await crawler.submit(*shop(1, 2, 3))
    await crawler.crawl(lambda claim: turnouts[claim.payload["url"][-1]](claim))

    found = {row["url"][-1]: row for row in await crawler.errors.list()}

    kinds = {number: (row["category"], row["error_type"]) for number, row in found.items()}
    assert kinds == {
        "1": ("network", "dns"),
        "2": ("http", "http_410"),
        "3": ("parse", "TITLE_NOT_FOUND"),
    }
    assert found["1"]["error_message"] == "no such name"
    assert {row["domain_name"] for row in found.values()} == {"shop.test"}


async def test_errors_are_found_by_what_they_are(crawler: Crawler, rows: CatalogRows) -> None:
    shop_site, other = await rows.site("shop"), await rows.site("other")
    old = await errors_of(rows, shop_site, 30 * HOUR, 2 * HOUR, error_type="dns")
    await errors_of(rows, other, HOUR, category="parse", error_type="no_price")

    async def number(**wanted: object) -> int:
        return len(await crawler.errors.list(**wanted))  # type: ignore[arg-type]

    assert await number() == 3
    assert await number(domain="other.example") == 1
    assert await number(task=old) == 2
    assert await number(category=Category.PARSE) == 1
    assert await number(error_type="dns", since=rows.now - 3 * HOUR) == 1
    newest = await crawler.errors.list(limit=1)
    assert await number(after=newest[0]["id"]) == 2
    with pytest.raises(NotFound):
        await number(domain="nobody.test")


async def test_patterns_are_by_domain_category_and_type_the_most_first(
    crawler: Crawler, rows: CatalogRows
) -> None:
    site, other = await rows.site("shop"), await rows.site("other")
    hour = rows.now - rows.now % HOUR
    ago = rows.now - hour
    await errors_of(rows, site, ago, ago + 2 * HOUR, ago + 2 * HOUR - 1, error_message="a")
    await errors_of(rows, site, ago, error_message="b")
    await errors_of(rows, other, ago, category="parse", error_type="no_price")
    await errors_of(rows, other, 100 * HOUR)

    first, second = await crawler.errors.patterns(rows.now - 24 * HOUR)

    assert (first["domain_name"], first["category"], first["error_type"]) == (
        "shop.example",
        "network",
        "dns",
    )
    assert (first["errors"], first["tasks"], first["example"]) == (4, 2, "b")
    assert (first["first_at"], first["last_at"]) == (hour - 2 * HOUR, hour)
    assert first["by_hour"] == {hour: 2, hour - 2 * HOUR: 2}
    assert (second["domain_name"], second["errors"]) == ("other.example", 1)
    [only] = await crawler.errors.patterns(rows.now - 24 * HOUR, "other.example")
    assert only == second
    assert len(await crawler.errors.patterns(0, limit=2)) == 2
    known = await crawler.store.read(lambda unit: list(unit.rows(select(domains))))
    assert {row["id"] for row in known} == {site.id, other.id}
