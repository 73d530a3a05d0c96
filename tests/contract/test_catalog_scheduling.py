"""Tasks that are due go to the queue on both engines: in order, within limits, each once."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.kernel.model import SiteWide
from penstock.queue.erasure import erase_items
from penstock.queue.ports import Claim
from penstock.queue.tables import items
from penstock.workloads.catalog.lost import LostTasks
from penstock.workloads.catalog.tasks import Filter
from tests.crawlers import (
    SHOP,
    WHO,
    Crawler,
    another,
    failing,
    open_crawler,
    saying,
    shop,
    showing,
)
from tests.monitors import NEW_SHOP
from tests.stores import Stores, counted, pending, rows_of

DAY = 86_400
DOWN = SiteWide("timeout", "nothing came")


@pytest.fixture
async def crawler(stores: Stores, tmp_path: Path) -> Crawler:
    return await open_crawler(stores, tmp_path)


def urls_of(claims: list[Claim]) -> list[str]:
    return [claim.payload["url"].rpartition("/")[2] for claim in claims]


async def test_what_is_due_is_queued_and_nothing_else_is(crawler: Crawler) -> None:
    later = await crawler.now() + 60_000
    await crawler.submit(*shop(1))
    await crawler.submit(*shop(2), scheduled_at=later)

    assert urls_of(await crawler.due()) == ["1"]

    assert await crawler.statuses() == {"1": "queued", "2": "pending"}
    await crawler.later(61)
    assert urls_of(await crawler.due()) == ["2"]


async def test_priority_comes_first_then_who_failed_lately_then_who_waited_longest(
    crawler: Crawler,
) -> None:
    await crawler.submit(*shop(1, 2, 3, 4, 5, 6))
    for number in (3, 2, 4, 5, 6):
        await crawler.tasks.pause(Filter(url="product"))
        await crawler.tasks.resume(Filter(url=f"product/{number}"))
        await crawler.crawl(failing(DOWN) if number == 5 else showing())
        await crawler.later(1)
    await crawler.tasks.resume(Filter(url="product"))
    await crawler.tasks.prioritise(Filter(url="product/6"), 1)
    await crawler.later(2 * DAY)
    first = (await crawler.task(f"{SHOP}/1"))["id"]
    await crawler.change(first, turn_key=await crawler.now())

    # 6 is more important, 5 failed, 3 was crawled before 2 and 4, and 1 last of all.
    assert urls_of(await crawler.due()) == ["6", "5", "3", "2", "4", "1"]


async def test_tasks_of_one_look_keep_their_order_in_the_queue(crawler: Crawler) -> None:
    await crawler.submit(*shop(*range(100, 160)))
    now = await crawler.now()
    for place, task in enumerate(reversed(await crawler.all_tasks())):
        await crawler.change(task["id"], turn_key=now + place)

    found = urls_of(await crawler.due())

    assert found == [str(number) for number in range(159, 99, -1)]


async def test_a_long_list_of_one_site_is_in_nobodys_way(stores: Stores, tmp_path: Path) -> None:
    crawler = await open_crawler(stores, tmp_path, max_queued=8, max_queued_per_domain=5)
    await crawler.submit(*shop(*range(1, 30)))
    await crawler.submit(*shop(1, 2, host="other.test"))

    claims = await crawler.due()

    assert Counter(claim.group for claim in claims) == {"shop.test": 5, "other.test": 2}
    await crawler.tick()
    assert await crawler.claims() == []
    await crawler.end([each for each in claims if each.group == "shop.test"][:3], failing(DOWN))
    assert len(await crawler.due()) == 3


async def test_the_whole_queue_is_bounded_over_all_sites(stores: Stores, tmp_path: Path) -> None:
    crawler = await open_crawler(stores, tmp_path, max_queued=7, max_queued_per_domain=5)
    for host in ("one.test", "two.test", "three.test"):
        await crawler.submit(*shop(*range(1, 9), host=host))

    claims = await crawler.due()

    assert len(claims) == 7
    assert max(Counter(claim.group for claim in claims).values()) <= 5
    assert Counter(task["status"] for task in await crawler.all_tasks())["queued"] == 7


async def test_what_is_paused_or_of_an_inactive_domain_waits(crawler: Crawler) -> None:
    await crawler.submit(*shop(1, 2), *shop(1, host="other.test"))
    await crawler.tasks.pause(Filter(ids=((await crawler.task())["id"],)))
    await crawler.domains.deactivate("other.test", WHO)

    assert [claim.payload["url"] for claim in await crawler.due()] == shop(2)

    await crawler.tasks.resume(Filter(paused=True))
    await crawler.domains.activate("other.test", WHO)
    assert len(await crawler.due()) == 2


async def test_a_page_is_crawled_again_when_its_time_has_come(crawler: Crawler) -> None:
    await crawler.submit(*shop(1, 2, 3), crawl_frequency=3600)
    await crawler.submit(*shop(4), crawl_frequency=0)
    await crawler.crawl()
    await crawler.tasks.pause(Filter(ids=((await crawler.task(f"{SHOP}/3"))["id"],)))

    await crawler.later(3500)
    assert await crawler.due() == []
    await crawler.later(101)

    assert sorted(urls_of(await crawler.due())) == ["1", "2"]
    statuses = await crawler.statuses()
    assert [*statuses.values()] == ["queued", "queued", "completed", "completed"]
    await crawler.tasks.resume(Filter(paused=True))
    assert urls_of(await crawler.due()) == ["3"]


async def test_how_often_is_said_by_the_task_else_the_domain_else_the_settings(
    crawler: Crawler,
) -> None:
    await crawler.submit(*shop(1, host="other.test"))
    await crawler.submit(*shop(1), crawl_frequency=7200)
    await crawler.submit(*shop(2))
    await crawler.domains.edit("shop.test", WHO, crawl_frequency=3 * DAY)
    await crawler.crawl()

    every = [
        (task["url"], (task["next_crawl_at"] - task["completed_at"]) // 1000)
        for task in await crawler.all_tasks()
    ]

    assert every == [
        ("http://other.test/product/1", DAY),
        (f"{SHOP}/1", 7200),
        (f"{SHOP}/2", 3 * DAY),
    ]


async def test_schedulers_that_run_at_once_queue_each_task_once(
    stores: Stores, crawler: Crawler, tmp_path: Path
) -> None:
    others = [await another(crawler, stores, tmp_path) for _ in range(3)]
    urls = [url for host in ("one.test", "two.test") for url in shop(*range(1, 101), host=host)]
    await crawler.submit(*urls)

    await asyncio.gather(*(each.tick() for each in (crawler, *others)))

    queued = await rows_of(crawler.store, items)
    assert len(queued) == len(urls)
    assert len({row["payload"]["task"] for row in queued}) == len(urls)
    assert await counted(crawler.store) == await pending(crawler.store)
    found = {row["item_id"] for row in await crawler.all_tasks()}
    assert found == {row["id"] for row in queued}


async def test_a_queue_that_is_full_leaves_tasks_as_they_were(
    stores: Stores, tmp_path: Path
) -> None:
    crawler = await open_crawler(stores, tmp_path, max_queued_per_domain=1)
    await crawler.submit(*shop(1, 2))
    # What the counts do not say yet, the queue knows.
    crawler.scheduler._settings = crawler.settings.model_copy(update={"max_queued_per_domain": 5})

    assert len(await crawler.due()) == 1

    assert sorted((await crawler.statuses()).values()) == ["pending", "queued"]


async def test_a_task_whose_item_is_gone_waits_again_and_others_do_not(crawler: Crawler) -> None:
    await crawler.submit(*shop(1, 2, 3))
    lost, _, claimed = await crawler.due()
    await crawler.begin(claimed, showing())
    await crawler.later(61)
    await crawler.store.write(lambda unit: erase_items(unit, [lost.id]) and None)
    tasks = LostTasks(crawler.store, crawler.queue.put_in, lambda _request: ("shop.test", 1))

    assert (await tasks.settle(), await tasks.settle()) == (1, 0)

    assert Counter((await crawler.statuses()).values()) == {
        "pending": 1,
        "queued": 1,
        "crawling": 1,
    }
    assert urls_of(await crawler.due()) == urls_of([lost])


# ── whether a page that has not changed is read again


async def known_of(crawler: Crawler) -> Any:
    """What the next item of the task says of its page."""
    await crawler.tasks.recrawl(Filter(url="product"))
    [claim] = await crawler.due()
    return claim.payload.get("known")


async def test_a_page_that_was_read_well_is_asked_for_only_if_it_has_changed(
    crawler: Crawler,
) -> None:
    await crawler.submit(*shop(1))
    [claim] = await crawler.due()
    assert "known" not in claim.payload
    await crawler.end([claim], showing(etag='"v1"'))
    await crawler.parse()

    known = await known_of(crawler)

    task = await crawler.task()
    assert known == {"etag": '"v1"', "last_modified": "", "page_hash": task["page_hash"]}


async def test_a_page_is_got_whole_if_it_has_to_be_read_again(crawler: Crawler) -> None:
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"parser_version": "product@0.0.1"},
        {"html_path": None},
        {"accept_next": True},
        {"completed_at": None},
        {"parser": "company_website"},
    )
    await crawler.submit(*shop(*range(len(changes))))
    await crawler.crawl(showing(etag='"v1"'))
    for task, columns in zip(await crawler.all_tasks(), changes, strict=True):
        await crawler.change(task["id"], **columns, next_crawl_at=1)

    claims = await crawler.due()

    assert urls_of([claim for claim in claims if "known" in claim.payload]) == ["0"]
    assert len(claims) == len(changes)


@pytest.mark.parametrize("by_hand", [True, False])
async def test_a_page_that_could_not_be_read_the_last_time_is_got_whole(
    crawler: Crawler, by_hand: bool
) -> None:
    await crawler.submit(*shop(1))
    await crawler.crawl(showing(etag='"v1"'))
    await crawler.later(DAY + 1)
    await crawler.crawl(saying(NEW_SHOP))
    assert (await crawler.task())["status"] == "failed"

    if by_hand:
        await crawler.tasks.retry(Filter(status=None, url="product"))
    else:
        await crawler.later(DAY + 1)
    [claim] = await crawler.due()

    assert "known" not in claim.payload
    await crawler.end([claim], showing(etag='"v1"'))
    await crawler.parse()
    assert await known_of(crawler) is not None


async def test_a_parser_that_is_gone_stops_nobody_else(crawler: Crawler) -> None:
    await crawler.submit(*shop(1, 2))
    await crawler.crawl()
    await crawler.change((await crawler.task())["id"], parser="gone")
    await crawler.tasks.recrawl(Filter(url="product"))

    await crawler.crawl(showing(price="18.99"))

    assert await crawler.statuses() == {"1": "failed", "2": "completed"}
    task = await crawler.task()
    assert task["failure"]["error_type"] == "no_parser"
    assert "no adapter or target type 'gone'; known: amazon" in task["error_message"]
