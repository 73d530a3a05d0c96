"""What people do with tasks, on both engines and wherever a task stands."""

from pathlib import Path
from typing import Any

import pytest

from penstock.kernel.model import SiteWide, UrlSpecific
from penstock.web.errors import Conflict, InvalidRequest, NotFound
from penstock.workloads.catalog import tasks as tasks_module
from penstock.workloads.catalog.model import PARSES, Status
from penstock.workloads.catalog.tasks import Filter
from tests.crawlers import SHOP, WHO, Crawler, failing, open_crawler, saying, shop, showing
from tests.monitors import NEW_SHOP, ROBOTS_DENY
from tests.stores import Stores, counted, pending

DAY = 86_400
ALL = Filter(url="product")
DOWN = SiteWide("timeout", "nothing came")
GONE = UrlSpecific("http_404", "Not Found", 404)


@pytest.fixture
async def crawler(stores: Stores, tmp_path: Path) -> Crawler:
    return await open_crawler(stores, tmp_path)


@pytest.fixture
async def every(crawler: Crawler) -> Crawler:
    """A crawler with one task at every status; workers have those that are being worked on."""
    await one(crawler, Status.COMPLETED)
    await crawler.crawl()
    await one(crawler, Status.FAILED)
    await crawler.download(failing(GONE))
    await one(crawler, Status.PARSING)
    await crawler.download(showing())
    for claim in await crawler.claims(PARSES):
        await crawler.begin(claim, showing())
    await one(crawler, Status.DOWNLOADED)
    await crawler.download(showing())
    await one(crawler, Status.CRAWLING)
    for claim in await crawler.due():
        await crawler.begin(claim, showing())
    await one(crawler, Status.QUEUED)
    await crawler.tick()
    await one(crawler, Status.PENDING)
    assert await crawler.statuses() == {status.value: status.value for status in Status}
    return crawler


async def one(crawler: Crawler, status: Status) -> None:
    await crawler.submit(f"{SHOP}/{status}")


async def finish(crawler: Crawler) -> dict[str, str]:
    """Let everything that waits come to its end; where the tasks stand then."""
    await crawler.later(3600)
    await crawler.crawl()
    await crawler.crawl()
    return await crawler.statuses()


def all_but(*changed: Status, **others: str) -> dict[str, str]:
    """Every task where it was, except for some."""
    same = {status.value: status.value for status in Status if status not in changed}
    return same | others


async def test_who_stops_tasks_has_them_crawled_no_more(every: Crawler) -> None:
    assert await every.tasks.stop(ALL) == 7

    stopped = dict.fromkeys((status.value for status in Status), "failed")
    assert await every.statuses() == stopped | {"completed": "completed"}
    for task in await every.all_tasks():
        assert (task["next_crawl_at"], task["item_id"]) == (None, None)
    await every.later(40 * DAY)
    assert await finish(every) == stopped | {"completed": "completed"}
    # What nobody works on any more is not counted as if somebody did.
    assert await counted(every.store) == await pending(every.store)


async def test_tasks_that_are_stopped_and_begun_anew_are_crawled_once(every: Crawler) -> None:
    await every.tasks.stop(ALL)
    before = len(await every.attempts())
    assert await every.tasks.recrawl(ALL) == 7

    assert set((await finish(every)).values()) == {"completed"}

    assert len(await every.attempts()) == before + 14
    assert len(await every.products()) == 7
    assert all(task["failure"] is None for task in await every.all_tasks())


async def test_a_pause_lasts_until_somebody_resumes(every: Crawler) -> None:
    assert await every.tasks.pause(ALL) == 7
    assert await every.statuses() == all_but()
    paused = await finish(every)
    assert paused == all_but(
        Status.QUEUED, Status.DOWNLOADED, queued="pending", downloaded="completed"
    )

    assert await every.tasks.resume(Filter(paused=True)) == 7

    assert await finish(every) == paused | {"pending": "completed", "queued": "completed"}


async def test_a_priority_counts_from_the_next_claim_on(every: Crawler) -> None:
    assert await every.tasks.prioritise(ALL, 1) == 7

    assert {task["priority"] for task in await every.all_tasks()} == {1}
    assert await every.statuses() == all_but(Status.QUEUED, queued="pending")
    assert {claim.priority for claim in await every.due()} == {0}
    assert await counted(every.store) == await pending(every.store)


async def test_only_what_is_over_is_crawled_again_by_hand(every: Crawler) -> None:
    assert await every.tasks.recrawl(ALL) == 2

    expected = all_but(Status.COMPLETED, Status.FAILED, completed="pending", failed="pending")
    assert await every.statuses() == expected
    for status in (Status.COMPLETED, Status.FAILED):
        task = await every.task(f"{SHOP}/{status}")
        assert (task["scheduled_at"], task["next_crawl_at"]) == (task["updated_at"], None)


async def test_only_what_failed_is_tried_again(every: Crawler) -> None:
    assert await every.tasks.retry(ALL) == 1
    assert await every.statuses() == all_but(Status.FAILED, failed="pending")


async def test_only_what_is_over_and_kept_is_parsed_again(every: Crawler) -> None:
    assert await every.tasks.reparse(ALL) == 1
    assert await every.statuses() == all_but(Status.COMPLETED, completed="downloaded")


async def test_much_is_done_some_at_a_time(
    crawler: Crawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks_module, "AT_ONCE", 3)
    await crawler.submit(*shop(*range(1, 11)))
    assert await crawler.tasks.pause(Filter(status=Status.PENDING, paused=False)) == 10
    assert await crawler.tasks.stop(Filter(domain="shop.test")) == 10
    assert await crawler.tasks.count(Filter(dead=True)) == 10


async def test_nobody_does_something_to_everything_by_mistake(crawler: Crawler) -> None:
    await crawler.submit(*shop(1))
    for act in (crawler.tasks.stop, crawler.tasks.pause, crawler.tasks.recrawl):
        with pytest.raises(InvalidRequest, match="say which tasks"):
            await act(Filter(limit=3, after="x"))


# ── looking


async def many(crawler: Crawler) -> str:
    """Tasks in several states: done, gone, forbidden, not understood, waiting and paused."""
    turnouts = {
        1: showing(),
        2: failing(GONE),
        3: failing(ROBOTS_DENY),
        4: saying(NEW_SHOP),
        5: failing(DOWN),
    }
    await crawler.submit(*shop(*turnouts))
    await crawler.crawl(lambda claim: turnouts[int(claim.payload["url"][-1])](claim))
    which = await crawler.submit(*shop(6), *shop(7, host="other.test"), priority=2)
    await crawler.tasks.pause(Filter(domain="other.test"))
    return which


async def test_tasks_are_found_by_what_they_are(crawler: Crawler) -> None:
    which = await many(crawler)
    first = await crawler.task()

    async def found(**wanted: Any) -> str:
        return "".join(url[-1] for url in await crawler.filter(**wanted))

    assert await found() == "1234567"
    assert await found(ids=(first["id"],)) == "1"
    assert await found(domain="other.test") == "7"
    assert await found(submission=which) == "67"
    assert await found(status=Status.FAILED) == "234"
    assert await found(dead=True) == "2"
    assert await found(dead=False) == "134567"
    assert await found(paused=True) == "7"
    assert await found(category="network") == "5"
    assert await found(error_type="robots_denied") == "3"
    assert await found(dead=True, category="http", error_type="http_404") == "2"
    assert await found(dead=True, category="network") == ""
    assert await found(url="/product/4") == "4"
    assert await found(url="%") == ""
    assert await found(priority=2) == "67"
    assert await found(limit=2) == "12"
    assert await found(after=first["id"], limit=2) == "23"
    assert await crawler.tasks.count(Filter(status=Status.FAILED)) == 3
    with pytest.raises(NotFound):
        await found(domain="nobody.test")


async def test_tasks_are_counted_in_every_status(crawler: Crawler) -> None:
    await many(crawler)
    counts = await crawler.tasks.counts()
    assert set(counts) == {status.value for status in Status}
    assert {name: number for name, number in counts.items() if number} == {
        "completed": 1,
        "failed": 3,
        "pending": 3,
    }
    assert sum((await crawler.tasks.counts("other.test")).values()) == 1
    assert (await crawler.domains.get("shop.test"))["tasks"]["failed"] == 3


async def test_a_task_is_found_by_any_spelling_of_its_url(crawler: Crawler) -> None:
    await crawler.submit(*shop(1))
    task = await crawler.task("HTTP://SHOP.test:80/product/1?utm_source=x#top")
    assert (task["url"], task["domain_name"]) == (f"{SHOP}/1", "shop.test")
    for unknown in ("nobody", f"{SHOP}/2"):
        with pytest.raises(NotFound):
            await crawler.task(unknown)
    with pytest.raises(InvalidRequest, match="url"):
        await crawler.task("x://")


async def test_attempts_are_told_the_newest_first_and_page_by_page(crawler: Crawler) -> None:
    await crawler.submit(*shop(1))
    for _ in range(3):
        await crawler.download(failing(DOWN))
        await crawler.later(3600)
    first = await crawler.tasks.attempts(f"{SHOP}/1", limit=2)
    rest = await crawler.tasks.attempts(f"{SHOP}/1", after=first[-1]["id"])
    assert [row["number"] for row in (*first, *rest)] == [3, 2, 1]


# ── changing


async def test_how_a_task_is_crawled_can_be_changed(crawler: Crawler) -> None:
    await crawler.submit(*shop(1))
    await crawler.tick()
    task = await crawler.tasks.edit(
        f"{SHOP}/1", priority=1, crawl_frequency=600, max_retries=0, parser="amazon"
    )
    said = ("priority", "crawl_frequency", "max_retries", "parser", "status")
    assert [task[name] for name in said] == [1, 600, 0, "amazon", "pending"]
    task = await crawler.tasks.edit(task["id"], crawl_frequency=None, parser=None)
    assert (task["crawl_frequency"], task["parser"]) == (None, None)


async def test_what_makes_no_sense_is_refused(crawler: Crawler) -> None:
    await crawler.submit(*shop(1))
    before = await crawler.task()
    wrong: tuple[tuple[str, Any], ...] = (
        *(("priority", value) for value in (0, 11, None, "5")),
        *(("max_retries", value) for value in (-1, None)),
        ("crawl_frequency", -1),
        ("parser", "nobody"),
        ("status", "completed"),
    )
    for name, value in wrong:
        with pytest.raises(InvalidRequest, match=name):
            await crawler.tasks.edit(f"{SHOP}/1", **{name: value})
    assert await crawler.task() == before


# ── domains


async def test_a_domain_is_made_with_its_source_when_a_page_is_submitted(crawler: Crawler) -> None:
    await crawler.submit("http://www.shop.test:80/product/1")
    domain = await crawler.domains.get("Shop.test")
    said = ("domain_name", "base_url", "crawl_delay_seconds", "max_concurrent_requests")
    assert [domain[name] for name in said] == ["shop.test", "http://www.shop.test", 1, 5]
    assert domain["is_active"]
    assert domain["tasks"]["pending"] == 1


async def test_domains_are_added_changed_and_switched(crawler: Crawler) -> None:
    domain = await crawler.domains.add("https://shop.test/x", WHO, crawl_delay_seconds=3)
    assert (domain["base_url"], domain["crawl_delay_seconds"]) == ("https://shop.test", 3)
    await crawler.domains.add("Other.test", WHO)
    off = await crawler.domains.deactivate("shop.test", "bob")
    assert (off["is_active"], off["updated_by"]) == (False, "bob")
    assert [row["domain_name"] for row in await crawler.domains.list(active=True)] == ["other.test"]
    edited = await crawler.domains.edit(domain["id"], WHO, max_concurrent_requests=2, parser=None)
    assert edited["max_concurrent_requests"] == 2
    names = [row["domain_name"] for row in await crawler.domains.list(after="other.test")]
    assert names == ["shop.test"]


async def test_a_domain_is_not_changed_to_what_makes_no_sense(crawler: Crawler) -> None:
    before = await crawler.domains.add("shop.test", WHO)
    wrong: tuple[tuple[str, Any], ...] = (
        *(("crawl_delay_seconds", value) for value in (-1, 3601, "1")),
        *(("max_concurrent_requests", value) for value in (0, True)),
        ("crawl_frequency", -1),
        ("parser", "nobody"),
        ("base_url", "shop"),
        ("is_active", False),
    )
    for name, value in wrong:
        with pytest.raises(InvalidRequest, match=name):
            await crawler.domains.edit("shop.test", WHO, **{name: value})
    with pytest.raises(Conflict, match="there already"):
        await crawler.domains.add("www.shop.test", WHO)
    assert await crawler.domains.edit("shop.test", WHO) == before
