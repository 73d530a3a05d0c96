"""URLs become crawl tasks on both engines: each once, whoever submits it and however spelt."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from penstock.kernel.model import UrlSpecific
from penstock.products.sources import create_retailer, create_source
from penstock.products.tables import domains, sources
from penstock.store.unit import Unit
from penstock.web.errors import InvalidRequest, NotFound
from penstock.workloads.catalog.model import SITEMAPS, Status
from penstock.workloads.catalog.submitting import READING, Options, Origin, Tally
from penstock.workloads.catalog.tables import crawl_submission_tasks, crawl_submissions
from penstock.workloads.catalog.tasks import Filter
from tests.clocks import HandClock
from tests.crawlers import WHO, Crawler, another, failing, open_crawler, shop
from tests.stores import Stores, lose_next_commit, rows_of

SPELLINGS = (
    "http://shop.test/product/1",
    "HTTP://Shop.TEST:80/product/1",
    "http://shop.test/a/../product/1#reviews",
    "http://shop.test/product/1?utm_source=mail&gclid=7",
)

#: Whether another transaction waits for this one.
IS_WAITED_FOR = text(
    "SELECT EXISTS (SELECT FROM pg_locks AS its"
    " WHERE NOT its.granted AND pg_backend_pid() = ANY(pg_blocking_pids(its.pid)))"
)


@pytest.fixture
async def crawler(stores: Stores, tmp_path: Path) -> Crawler:
    return await open_crawler(stores, tmp_path)


def numbers_of(row: dict[str, Any]) -> tuple[int, ...]:
    names = ("submitted", "accepted", "duplicates", "refused")
    return tuple(row[name] for name in names)


async def submission_row(crawler: Crawler, which: str) -> dict[str, Any]:
    found = {row["id"]: row for row in await rows_of(crawler.store, crawl_submissions)}
    return found[which]


async def test_spellings_of_a_url_are_one_task_that_is_fetched_as_it_was_first_said(
    crawler: Crawler,
) -> None:
    first, tally = await crawler.submissions.submit(SPELLINGS, Options(), WHO)
    second, again = await crawler.submissions.submit(SPELLINGS[1:2], Options(priority=1), "bob")

    [task] = await crawler.all_tasks()
    assert (task["url"], task["priority"]) == (SPELLINGS[0], 5)
    assert (tally.submitted, tally.accepted, tally.duplicates) == (4, 1, 3)
    assert (again.submitted, again.accepted, again.duplicates) == (1, 0, 1)
    links = {row["submission_id"] for row in await rows_of(crawler.store, crawl_submission_tasks)}
    assert links == {first, second}


async def test_what_cannot_be_fetched_is_named_and_the_rest_is_taken_on(crawler: Crawler) -> None:
    urls = ["shop.test", "ftp://shop.test/1", "http://denied.test/1", "http://10.0.0.1/", *shop(1)]

    which, tally = await crawler.submissions.submit(urls, Options(), WHO)

    assert [refusal.url for refusal in tally.refusals] == urls[:4]
    assert all(refusal.reason for refusal in tally.refusals)
    assert numbers_of(await submission_row(crawler, which)) == (5, 1, 0, 4)
    progress = await crawler.submissions.progress(which)
    assert (progress.total, progress.is_over) == (1, False)


async def test_a_submission_without_any_url_that_can_be_fetched_is_refused(
    crawler: Crawler,
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        await crawler.submit("nothing", "http://denied.test/1")
    fields = [each["field"] for each in (refused.value.meta or {})["errors"]]
    assert fields == ["urls.0", "urls.1"]
    assert await rows_of(crawler.store, crawl_submissions) == []


async def test_many_are_taken_on_in_several_steps_and_told_of(crawler: Crawler) -> None:
    urls = shop(*range(1, 1201)) + shop(1, 1200)
    seen: list[int] = []

    which, tally = await crawler.submissions.submit(
        urls, Options(), WHO, origin=Origin("file", "list.txt"), progress=seen.append
    )

    assert seen == [500, 1000, 1202]
    assert (tally.accepted, tally.duplicates) == (1200, 2)
    row = await submission_row(crawler, which)
    assert (row["origin"], row["origin_name"], row["created_by"]) == ("file", "list.txt", WHO)
    assert numbers_of(row) == (1202, 1200, 2, 0)


@pytest.mark.parametrize("known", [False, True])
async def test_processes_that_submit_the_same_at_once_make_each_task_once(
    stores: Stores, crawler: Crawler, tmp_path: Path, known: bool
) -> None:
    if known:
        await crawler.submit(*shop(1), *shop(1, host="other.test"))
    before = len(await crawler.all_tasks())
    others = [crawler, *[await another(crawler, stores, tmp_path) for _ in range(3)]]
    urls = shop(*range(1, 60)) + shop(*range(1, 20), host="other.test")
    orders = (urls, urls[::-1], urls[30:] + urls[:30], urls)

    given = await asyncio.gather(
        *(
            each.submissions.submit(some, Options(), WHO)
            for each, some in zip(others, orders, strict=True)
        )
    )

    tasks = await crawler.all_tasks()
    assert len(tasks) == len(urls)
    assert sum(tally.accepted for _, tally in given) == len(urls) - before
    for which, tally in given:
        assert tally.submitted == tally.accepted + tally.duplicates == len(urls)
        assert (await crawler.submissions.progress(which)).total == len(urls)
    names = [row["domain_name"] for row in await rows_of(crawler.store, domains)]
    assert sorted(names) == ["other.test", "shop.test"]
    assert len(await rows_of(crawler.store, sources)) == 2


async def test_who_was_not_the_first_with_a_page_has_a_duplicate(
    in_postgres: Stores, tmp_path: Path
) -> None:
    """Both look, and find that the page is new; then both take it on."""
    crawler = await open_crawler(in_postgres, tmp_path)
    quicker = await another(crawler, in_postgres, tmp_path)
    await crawler.submit(*shop(1))
    which = await quicker.submit(*shop(1))
    is_written = asyncio.Event()

    def add_and_wait(unit: Unit) -> Tally:
        tally = quicker.submitter.add(unit, which, shop(3, 2))
        is_written.set()
        while not unit.run(IS_WAITED_FOR).scalar_one():
            pass
        return tally

    first = asyncio.create_task(quicker.store.write(add_and_wait))
    await is_written.wait()
    slower, tally = await crawler.submissions.submit(shop(2, 3, 4), Options(), WHO)

    assert ((await first).accepted, tally.accepted, tally.duplicates) == (2, 1, 2)
    assert (await crawler.submissions.progress(slower)).total == 3
    assert len(await crawler.all_tasks()) == 4


async def test_a_commit_nobody_heard_of_makes_nothing_twice(crawler: Crawler) -> None:
    which = await crawler.store.write(
        lambda unit: crawler.submitter.begin(unit, Origin("urls"), Options(), WHO)
    )
    lose_next_commit(crawler.store)

    await crawler.submissions.add(which, shop(1, 2, 3))

    assert len(await crawler.all_tasks()) == 3
    assert (await crawler.submissions.progress(which)).total == 3


async def test_a_sitemap_that_is_read_again_from_the_start_counts_each_page_once(
    crawler: Crawler,
) -> None:
    await crawler.submit(*shop(1))
    which = await crawler.store.write(
        lambda unit: crawler.submitter.begin(unit, Origin("sitemap"), Options(), WHO, READING)
    )
    for some in (shop(1, 2), shop(1, 2), [*SPELLINGS[:2], *shop(3)], shop(4)):
        await crawler.submissions.add(which, some)

    assert numbers_of(await submission_row(crawler, which)) == (4, 3, 1, 0)
    assert (await crawler.submissions.progress(which)).total == 4


async def test_a_submission_says_how_its_pages_are_crawled(crawler: Crawler) -> None:
    at = await crawler.now() + 3_600_000
    await crawler.submit(
        *shop(1), priority=2, crawl_frequency=60, max_retries=7, scheduled_at=at, parser="product"
    )
    task = await crawler.task()
    said = ("priority", "crawl_frequency", "max_retries", "scheduled_at", "parser", "status")
    assert [task[name] for name in said] == [2, 60, 7, at, "product", Status.PENDING]
    assert await crawler.due() == []
    await crawler.later(3600)
    assert len(await crawler.due()) == 1


async def test_options_that_make_no_sense_are_refused(crawler: Crawler) -> None:
    wrong: tuple[tuple[str, Any], ...] = (
        *(("priority", value) for value in (0, 11)),
        ("parser", "nobody"),
        ("crawl_frequency", -1),
        ("max_retries", 2**31),
    )
    for name, value in wrong:
        with pytest.raises(InvalidRequest, match=name):
            await crawler.submit(*shop(1), **{name: value})
        with pytest.raises(InvalidRequest, match=name):
            await crawler.submissions.submit_sitemap(shop(1)[0], Options(**{name: value}), WHO)
    assert await rows_of(crawler.store, crawl_submissions) == []


async def test_none_and_too_many_are_refused(stores: Stores, tmp_path: Path) -> None:
    crawler = await open_crawler(stores, tmp_path, max_submission=2)
    with pytest.raises(InvalidRequest, match="there are none"):
        await crawler.submit()
    with pytest.raises(InvalidRequest, match="at most 2"):
        await crawler.submit(*shop(1, 2, 3))


async def test_known_pages_are_crawled_at_once_if_that_is_wanted(crawler: Crawler) -> None:
    await crawler.submit(*shop(1, 2))
    await crawler.crawl()
    assert await crawler.due() == []

    await crawler.submit(*shop(1, 2, 3))
    assert await crawler.statuses() == {"1": "completed", "2": "completed", "3": "pending"}
    await crawler.submit(*shop(1), recrawl=True, priority=1)

    task = await crawler.task()
    assert (task["status"], task["priority"], task["next_crawl_at"]) == ("pending", 1, None)


async def test_a_domain_with_several_sources_is_not_guessed(crawler: Crawler) -> None:
    await crawler.submit(*shop(1, host="other.test"))

    def work(unit: Unit) -> None:
        retailer = create_retailer(unit, "Shop", who=WHO)["id"]
        for name in ("one", "two"):
            create_source(unit, name, "shop.test", retailer, who=WHO)

    await crawler.store.write(work)
    _, tally = await crawler.submissions.submit(shop(1, 2), Options(), WHO)

    assert (tally.accepted, tally.refused) == (0, 2)
    assert "several sources (one, two)" in tally.refusals[0].reason


# ── progress


async def test_the_numbers_of_a_submission_add_up_at_every_step(crawler: Crawler) -> None:
    which = await crawler.submit(*shop(1, 2, 3, 4))
    seen = []

    async def look() -> None:
        progress = await crawler.submissions.progress(which)
        assert progress.total == sum(progress.tasks.values()) == 4
        seen.append((+Counter(progress.tasks), progress.done, progress.is_over))

    await look()
    claims = await crawler.due()
    await look()
    results = [
        await crawler.begin(claim, failing(UrlSpecific("http_404", "", 404))) for claim in claims
    ]
    await look()
    await crawler.settle(*results[:1])
    await look()
    await crawler.tasks.stop(Filter(submission=which))
    await look()

    assert seen == [
        ({"pending": 4}, 0, False),
        ({"queued": 4}, 0, False),
        ({"crawling": 4}, 0, False),
        ({"crawling": 3, "failed": 1}, 1, False),
        ({"failed": 4}, 4, True),
    ]


async def test_a_submission_is_followed_until_it_is_over(crawler: Crawler) -> None:
    which = await crawler.submit(*shop(1))
    steps = iter([crawler.tick, crawler.crawl])

    class StepClock(HandClock):
        async def sleep(self, seconds: float) -> None:
            await next(steps)()
            await super().sleep(seconds)

    seen = [+Counter(each.tasks) async for each in crawler.submissions.follow(which, StepClock())]

    assert seen == [{"pending": 1}, {"queued": 1}, {"completed": 1}]


async def test_who_stops_follows_no_more(crawler: Crawler) -> None:
    which = await crawler.submit(*shop(1))
    told = [each async for each in crawler.submissions.follow(which, HandClock(), lambda: True)]
    assert told == []


async def test_of_a_submission_that_is_not_there_nothing_is_told(crawler: Crawler) -> None:
    with pytest.raises(NotFound):
        await crawler.submissions.progress("nobody")
    with pytest.raises(NotFound):
        await crawler.submissions.add("nobody", shop(1))


async def test_submissions_are_listed_the_newest_first(crawler: Crawler) -> None:
    made = [await crawler.submit(*shop(number)) for number in (1, 2, 3)]
    first = await crawler.submissions.list(limit=2)
    rest = await crawler.submissions.list(after=first[-1]["id"])
    assert sorted(made, reverse=True) == [row["id"] for row in (*first, *rest)]


async def test_a_sitemap_waits_for_a_worker_and_is_refused_at_once_if_it_must_be(
    crawler: Crawler,
) -> None:
    for url in ("sitemap.xml", "http://denied.test/sitemap.xml"):
        with pytest.raises(InvalidRequest, match="sitemap_url"):
            await crawler.submissions.submit_sitemap(url, Options(), WHO)

    which = await crawler.submissions.submit_sitemap("http://shop.test/sitemap.xml", Options(), WHO)

    assert not (await crawler.submissions.progress(which)).is_over
    [claim] = await crawler.claims(SITEMAPS)
    assert claim.payload == {"submission": which, "url": "http://shop.test/sitemap.xml"}
    assert (await crawler.store.read(lambda unit: list(unit.rows(select(domains))))) == []
