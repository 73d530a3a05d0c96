"""Pages that are kept become products on both engines, as often as somebody wants it."""

from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import delete

from penstock.kernel.model import SiteWide, UrlSpecific
from penstock.products.tables import images
from penstock.queue.tables import items
from penstock.workloads.catalog.model import IMAGES, PARSES, Status
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.tasks import Filter
from tests.crawlers import (
    WHO,
    WORKER,
    Crawler,
    failing,
    open_crawler,
    page_at,
    saying,
    shop,
    showing,
    unchanged,
)
from tests.monitors import NEW_SHOP, product_page
from tests.site.pictures import Colour, bomb, png
from tests.stores import Stores, enter_worker, lose_worker, rows_of

DAY = 86_400
ALL = Filter(url="product")
DOWN = SiteWide("timeout", "nothing came")
GONE = UrlSpecific("http_404", "Not Found", 404)


@pytest.fixture
async def crawler(stores: Stores, tmp_path: Path) -> Crawler:
    crawler = await open_crawler(stores, tmp_path)
    await crawler.submit(*shop(1))
    return crawler


async def again(crawler: Crawler, **traits: str) -> None:
    """Crawl everything anew, with something else on the pages."""
    await crawler.later(40 * DAY)
    await crawler.crawl(showing(**traits))


async def test_a_page_becomes_a_product_with_a_price_and_images_to_get(crawler: Crawler) -> None:
    await crawler.crawl()

    task, [product], [price] = (
        await crawler.task(),
        await crawler.products(),
        await crawler.all_prices(),
    )
    assert task["status"] == Status.COMPLETED
    assert task["parser_version"] == f"product@{product['adapter_version']}"
    assert task["next_crawl_at"] == task["completed_at"] + DAY * 1000
    assert (product["product_name"], product["price"]) == ("Kettle 1", Decimal("19.99"))
    assert (product["crawl_task_id"], product["url_hash"]) == (task["id"], task["url_hash"])
    assert (price["ingestion_run_type"], price["target_id"]) == ("CRAWL", task["id"])
    assert price["observed_at"] == task["html_at"] == product["last_seen_at"]
    download, parse = await crawler.attempts()
    assert (download["kind"], parse["kind"], parse["status"]) == ("download", "parse", "ok")
    assert (parse["parser_version"], parse["changed"]) == (task["parser_version"], True)
    assert parse["document"]["confidence"]
    [claim] = await crawler.claims(IMAGES)
    assert claim.payload["url"] == "http://shop.test/image/1.png"


async def test_nothing_that_is_the_same_moves_the_time_of_a_product(crawler: Crawler) -> None:
    await crawler.crawl()
    [before] = await crawler.products()
    await again(crawler)
    [same] = await crawler.products()
    await again(crawler, stock="OutOfStock")
    [after] = await crawler.products()

    assert (same["content_hash"], same["updated_at"]) == (
        before["content_hash"],
        before["updated_at"],
    )
    assert same["last_seen_at"] > before["last_seen_at"]
    assert after["content_hash"] != before["content_hash"]
    assert after["updated_at"] > before["updated_at"]
    changed = [row["changed"] for row in await crawler.attempts() if row["kind"] == "parse"]
    assert changed == [True, False, True]


async def test_a_page_is_parsed_again_without_being_fetched(crawler: Crawler) -> None:
    await crawler.crawl()
    before, [first] = await crawler.task(), await crawler.all_prices()
    await crawler.later(3600)

    assert await crawler.tasks.reparse(ALL) == 1
    assert (await crawler.task())["status"] == Status.DOWNLOADED
    assert await crawler.due() == []
    await crawler.parse()

    task = await crawler.task()
    assert task["status"] == Status.COMPLETED
    # It was not visited: when it is due, and what a price is of, is as it was.
    kept = ("crawl_interval", "unchanged_in_a_row", "attempts", "html_at", "html_path")
    assert [task[name] for name in kept] == [before[name] for name in kept]
    assert task["next_crawl_at"] <= before["next_crawl_at"]
    assert await crawler.all_prices() == [first]
    kinds = [row["kind"] for row in await crawler.attempts()]
    assert kinds == ["download", "parse", "parse"]


async def test_a_page_that_is_parsed_again_and_again_is_still_due_in_time(
    crawler: Crawler,
) -> None:
    await crawler.crawl()
    for _ in range(3):
        await crawler.later(DAY // 2)
        await crawler.tasks.reparse(ALL)
        await crawler.parse()
    assert len(await crawler.due()) == 1


async def test_what_is_read_later_of_the_same_page_counts(crawler: Crawler) -> None:
    await crawler.crawl()
    # A parser that reads the same page otherwise, as seen from behind it.
    path = await crawler.blobs.put(product_page(shop(1)[0], price="21.50").encode())
    await crawler.change((await crawler.task())["id"], html_path=path)
    await crawler.later(60)

    await crawler.tasks.reparse(ALL)
    await crawler.parse()

    [product] = await crawler.products()
    assert product["price"] == Decimal("21.50")


async def test_a_page_that_is_not_kept_any_more_is_downloaded_again(crawler: Crawler) -> None:
    await crawler.crawl(showing(etag='"v1"'))
    path = (await crawler.task())["html_path"]
    await crawler.tasks.reparse(ALL)
    (crawler.folder / path[:2] / path[2:4] / path).unlink()

    await crawler.parse()

    task = await crawler.task()
    assert (task["status"], task["html_path"]) == (Status.PENDING, None)
    [claim] = await crawler.due()
    # It is wanted whole, not only if it has changed.
    assert "known" not in claim.payload
    await crawler.end([claim], showing(etag='"v1"'))
    await crawler.parse()
    task = await crawler.task()
    assert (task["status"], task["html_path"]) == (Status.COMPLETED, path)
    assert task["next_crawl_at"] == task["completed_at"] + DAY * 1000


async def test_without_a_page_nothing_is_parsed_again(crawler: Crawler) -> None:
    await crawler.download(failing(GONE))
    assert await crawler.tasks.reparse(ALL) == 0
    assert (await crawler.task())["status"] == "failed"


# ── pages that give no product


async def test_a_page_that_gives_no_product_has_failed_and_is_due_again(
    crawler: Crawler,
) -> None:
    turnouts = (saying(NEW_SHOP), showing(price="0.00"), showing(shown="29.99"))
    await crawler.submit(*shop(2, 3))
    await crawler.crawl(lambda claim: turnouts[int(claim.payload["url"][-1]) - 1](claim))

    tasks = await crawler.all_tasks()
    assert [(each["failure"]["category"], each["failure"]["error_type"]) for each in tasks] == [
        ("parse", "TITLE_NOT_FOUND"),
        ("validation", "ZERO_PRICE_EXTRACTED"),
        ("validation", "AMBIGUOUS_PRICE"),
    ]
    errors = {row["crawl_task_id"]: row for row in await crawler.all_errors()}
    for task in tasks:
        assert (task["status"], task["html_path"] is None) == ("failed", False)
        assert task["next_crawl_at"] > task["updated_at"]
        assert errors[task["id"]]["error_message"] == task["error_message"]
    assert await crawler.products() == []
    failed = [row for row in await crawler.attempts() if row["status"] == "failed"]
    assert [row["kind"] for row in failed] == ["parse"] * 3
    assert {row["parser_version"] for row in failed} == {tasks[0]["parser_version"]}


async def test_a_product_without_a_price_is_kept_as_what_it_is(crawler: Crawler) -> None:
    await crawler.crawl(showing(price=None, stock="OutOfStock"))
    [product] = await crawler.products()
    assert (await crawler.task())["status"] == "completed"
    assert (product["price"], product["availability"]) == (None, "OUT_OF_STOCK")
    assert await crawler.all_prices() == []


async def test_of_stock_that_is_not_known_nothing_is_said(crawler: Crawler) -> None:
    await crawler.crawl(showing(stock=None))
    [product] = await crawler.products()
    assert ((await crawler.task())["status"], product["availability"]) == ("completed", None)


async def test_a_price_that_jumps_is_not_believed_until_somebody_accepts_it(
    crawler: Crawler,
) -> None:
    await crawler.crawl()
    await again(crawler, price="1999.00")

    task = await crawler.task()
    assert task["failure"]["error_type"] == "IMPLAUSIBLE_PRICE"
    assert "reparse --accept" in task["error_message"]
    assert [row["price"] for row in await crawler.products()] == [Decimal("19.99")]
    await crawler.tasks.reparse(ALL)
    await crawler.parse()
    assert (await crawler.task())["status"] == "failed"

    await crawler.tasks.reparse(ALL, accept=True)
    await crawler.parse()

    task = await crawler.task()
    assert (task["status"], task["accept_next"]) == ("completed", False)
    assert [row["price"] for row in await crawler.products()] == [Decimal("1999.00")]
    await again(crawler, price="19.99")
    assert (await crawler.task())["status"] == "failed"


# ── when it is crawled again


async def test_a_price_that_changes_shortens_the_interval_and_quiet_lengthens_it(
    crawler: Crawler,
) -> None:
    await crawler.crawl()
    intervals = [(await crawler.task())["crawl_interval"]]
    for price in ("18.99", "17.99", "16.99", "15.99"):
        await again(crawler, price=price)
        intervals.append((await crawler.task())["crawl_interval"])
    assert intervals == [DAY, DAY // 2, DAY // 4, DAY // 8, DAY // 8]

    quiet = []
    for _ in range(6):
        await crawler.later(40 * DAY)
        await crawler.download(unchanged)
        quiet.append((await crawler.task())["crawl_interval"])
    eighth = DAY // 8
    assert quiet == [eighth, eighth, *[eighth * 3 // 2] * 3, eighth * 9 // 4]


async def test_a_change_that_is_none_of_the_price_only_ends_the_quiet(crawler: Crawler) -> None:
    await crawler.crawl()
    await again(crawler)
    assert (await crawler.task())["unchanged_in_a_row"] == 1
    await again(crawler, stock="OutOfStock")
    task = await crawler.task()
    assert (task["unchanged_in_a_row"], task["crawl_interval"]) == (0, DAY)


async def test_what_somebody_wants_anew_is_where_learning_starts(crawler: Crawler) -> None:
    await crawler.crawl()
    await again(crawler, price="18.99")
    await crawler.tasks.edit(shop(1)[0], crawl_frequency=7 * DAY)
    task = await crawler.task()
    assert task["crawl_interval"] is None
    assert task["next_crawl_at"] == task["completed_at"] + 7 * DAY * 1000
    await again(crawler, price="18.99")
    assert (await crawler.task())["crawl_interval"] == 7 * DAY


async def test_without_learning_it_is_as_somebody_wants(stores: Stores, tmp_path: Path) -> None:
    crawler = await open_crawler(stores, tmp_path, is_adaptive=False)
    await crawler.submit(*shop(1), crawl_frequency=600)
    await crawler.crawl()
    await again(crawler, price="18.99")
    assert (await crawler.task())["crawl_interval"] == 600


# ── while a worker has it


async def test_the_late_result_of_parsing_changes_nothing_after_a_stop(crawler: Crawler) -> None:
    await crawler.download(showing())
    [claim] = await crawler.claims(PARSES)
    result = await crawler.begin(claim, showing())
    assert (await crawler.task())["status"] == Status.PARSING
    await crawler.tasks.stop(ALL)

    await crawler.settle(result)

    assert (await crawler.task())["failure"]["error_type"] == "stopped"
    assert await crawler.products() == []
    assert [row["kind"] for row in await crawler.attempts()] == ["download"]


async def test_what_was_stopped_before_it_is_parsed_is_not_parsed(crawler: Crawler) -> None:
    await crawler.download(showing())
    await crawler.tasks.stop(ALL)
    await crawler.parse()
    assert (await crawler.task())["failure"]["error_type"] == "stopped"
    assert await crawler.products() == []
    assert {row["state"] for row in await rows_of(crawler.store, items)} == {"done"}


async def test_what_a_lost_worker_parsed_is_parsed_again_and_counts_once(
    crawler: Crawler,
) -> None:
    await crawler.download(showing())
    [claim] = await crawler.claims(PARSES)
    late = await crawler.begin(claim, showing())
    await lose_worker(crawler.store, WORKER)
    await crawler.queue.rescue()
    await enter_worker(crawler.store, WORKER)
    await crawler.later(60)

    await crawler.parse()
    assert await crawler.settle(late) == set()

    assert (await crawler.task())["status"] == Status.COMPLETED
    assert len(await crawler.all_prices()) == len(await crawler.products()) == 1
    assert [row["kind"] for row in await crawler.attempts()] == ["download", "parse"]


async def test_a_result_that_is_written_twice_makes_one_price(crawler: Crawler) -> None:
    await crawler.download(showing())
    [claim] = await crawler.claims(PARSES)
    result = await crawler.begin(claim, showing())
    await crawler.settle(result)
    await crawler.settle(result)
    assert len(await crawler.all_prices()) == 1
    assert len(await crawler.claims(IMAGES)) == 1


# ── images


async def test_an_image_is_what_its_content_says_and_a_broken_one_fails_no_product(
    crawler: Crawler,
) -> None:
    good = png(30, 20, Colour(1, 2, 3))
    bodies = {"1.png": good, "2.png": bomb(), "3.png": b"<html>", "4.png": good}
    urls = [f"http://shop.test/image/{name}" for name in bodies]
    await crawler.crawl(showing(more={"image": urls}))

    await crawler.get_images(
        lambda claim: page_at(
            claim,
            bodies[claim.payload["url"].rpartition("/")[2]],
            **{"Content-Type": "image/jpeg"},
        )
    )

    assert (await crawler.task())["status"] == "completed"
    rows = sorted(await rows_of(crawler.store, images), key=lambda row: int(row["position"]))
    assert [row["status"] for row in rows] == ["kept", "failed", "failed", "kept"]
    first, fourth = rows[0], rows[3]
    facts = [first[name] for name in ("content_type", "width", "height", "file_size")]
    assert facts == ["image/png", 30, 20, len(good)]
    assert (first["image_path"], first["image_type"]) == (fourth["image_path"], "primary")
    assert [row["error"].rpartition(" ")[2] for row in rows[1:3]] == [
        "DecompressionBombError",
        "UnidentifiedImageError",
    ]


async def test_an_image_that_cannot_be_had_is_tried_again_and_then_given_up(
    crawler: Crawler,
) -> None:
    await crawler.crawl()
    for _ in range(CatalogSettings().image_tries):
        [image] = await rows_of(crawler.store, images)
        assert image["status"] == "pending"
        await crawler.get_images(failing(DOWN))
        await crawler.later(3600)
    [image] = await rows_of(crawler.store, images)
    assert (image["status"], image["error"]) == ("failed", str(DOWN))
    assert await crawler.claims(IMAGES) == []


async def test_an_image_that_its_product_has_no_more_is_passed_over(crawler: Crawler) -> None:
    await crawler.crawl()
    claims = await crawler.claims(IMAGES)
    await crawler.write(delete(images))
    await crawler.end(claims, lambda claim: page_at(claim, png(3, 3, Colour(1, 2, 3))))
    assert await rows_of(crawler.store, images) == []


async def test_a_domain_says_what_its_pages_are_read_as(crawler: Crawler) -> None:
    await crawler.domains.edit("shop.test", WHO, parser="amazon")
    await crawler.crawl()
    task = await crawler.task()
    assert (task["status"], task["parser_version"].partition("@")[0]) == ("failed", "amazon")
    await crawler.domains.edit("shop.test", WHO, parser=None)
    await crawler.tasks.reparse(ALL)
    await crawler.parse()
    assert (await crawler.task())["status"] == "completed"
