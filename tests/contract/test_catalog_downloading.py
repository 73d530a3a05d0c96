"""What a download means for its task, on both engines; nobody else's results change anything."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.kernel.model import (
    Blocked,
    Broken,
    Failure,
    Outcome,
    ProxyFailed,
    RateLimited,
    Refused,
    ServerError,
    SiteWide,
    UrlSpecific,
    Wait,
)
from penstock.queue.lanes import Provident
from penstock.queue.ports import Bury, Claim, Item
from penstock.queue.tables import items
from penstock.workloads.catalog.model import DOWNLOADS, PARSES, Status
from penstock.workloads.catalog.tasks import Filter
from tests.crawlers import (
    SHOP,
    WHO,
    WORKER,
    Crawler,
    Turnout,
    another,
    failing,
    open_crawler,
    page_at,
    saying,
    shop,
    showing,
    unchanged,
)
from tests.monitors import ROBOTS_DENY
from tests.stores import (
    Stores,
    counted,
    enter_worker,
    lose_worker,
    pending,
    result_of,
    rows_of,
    statements_of,
)

DAY = 86_400
MINUTE_MS = 60_000
DOWN = SiteWide("timeout", "nothing came")
GONE = UrlSpecific("http_404", "Not Found", 404)
CLOSED = Refused("outside_hours", "it opens at 8", gate="hours")
ALL = Filter(url="product")
#: What may be better next time, and what is not; in the order of the tasks that meet with it.
PASSING: Sequence[Failure] = (
    DOWN,
    ServerError("http_500", "", 500),
    ProxyFailed("proxy_refused", ""),
    RateLimited("rate_limited", "", 429),
    Refused("robots_unreachable", "503", gate="robots"),
    Broken("internal_error", "KeyError"),
)
FINAL: Sequence[Failure] = (
    GONE,
    Broken("too_large", "more than 10 MB"),
    Refused("private_address", "10.0.0.1", gate="admission"),
)


def one_of(failures: Sequence[Failure]) -> Turnout:
    """The first task meets with the first failure, and so on."""
    return lambda claim: failing(failures[int(claim.payload["url"][-1]) - 1])(claim)


@pytest.fixture
async def crawler(stores: Stores, tmp_path: Path) -> Crawler:
    crawler = await open_crawler(stores, tmp_path)
    await crawler.submit(*shop(1))
    return crawler


async def test_a_page_is_kept_and_handed_on_to_be_parsed(crawler: Crawler) -> None:
    await crawler.download(showing(etag='"v1"'))

    task = await crawler.task()
    assert task["status"] == Status.DOWNLOADED
    assert task["html_headers"]["ETag"] == '"v1"'
    body = await crawler.blobs.get(task["html_path"])
    assert body is not None
    assert b"Kettle 1" in body
    [attempt] = await crawler.attempts()
    said = ("kind", "status", "number", "http_status", "size", "fetcher", "error_type")
    assert [attempt[name] for name in said] == ["download", "ok", 1, 200, len(body), "http", None]
    [claim] = await crawler.claims(PARSES)
    assert (claim.payload, claim.id) == ({"task": task["id"]}, task["item_id"])


async def test_what_may_pass_is_tried_again_later_each_time_and_then_given_up(
    crawler: Crawler,
) -> None:
    await crawler.submit(*shop(*range(2, len(PASSING) + 1)))
    pauses: dict[str, list[int]] = {task["id"]: [] for task in await crawler.all_tasks()}
    for tries in range(1, 4):
        await crawler.download(one_of(PASSING))
        for task in await crawler.all_tasks():
            assert (task["status"], task["retry_count"]) == ("pending", tries)
            assert task["error_message"]
            pauses[task["id"]].append(task["scheduled_at"] - task["updated_at"])
        assert await crawler.due() == []
        await crawler.later(600)
    await crawler.download(one_of(PASSING))

    tasks = await crawler.all_tasks()
    for task in tasks:
        assert (task["status"], task["retry_count"], task["attempts"]) == ("failed", 3, 4)
        for pause, minutes in zip(pauses[task["id"]], (1, 2, 4), strict=True):
            assert 0.75 * minutes * MINUTE_MS <= pause <= 1.25 * minutes * MINUTE_MS + 1
    found = [task["failure"]["category"] for task in tasks]
    assert found == ["network"] * 4 + ["refused", "internal"]
    numbers = Counter(row["number"] for row in await crawler.attempts())
    assert numbers == dict.fromkeys((1, 2, 3, 4), len(PASSING))
    assert len(await crawler.all_errors()) == 4 * len(PASSING)


async def test_a_site_that_says_when_to_come_back_is_believed(crawler: Crawler) -> None:
    await crawler.download(failing(RateLimited("rate_limited", "slow down", 429, retry_after=900)))
    task = await crawler.task()
    assert task["scheduled_at"] - task["updated_at"] == 900_000


async def test_nothing_is_tried_again_of_what_may_not_be(stores: Stores, tmp_path: Path) -> None:
    crawler = await open_crawler(stores, tmp_path)
    await crawler.submit(*shop(1), max_retries=0)
    await crawler.download(failing(DOWN))
    assert (await crawler.task())["status"] == "failed"


async def test_a_page_that_is_not_there_is_a_dead_letter_until_it_is_revived(
    crawler: Crawler,
) -> None:
    await crawler.submit(*shop(2, 3))
    await crawler.download(one_of(FINAL))

    for task, failure in zip(await crawler.all_tasks(), FINAL, strict=True):
        assert (task["status"], task["next_crawl_at"], task["retry_count"]) == ("failed", None, 0)
        assert task["failure"]["error_type"] == failure.reason
    for number, category in enumerate(("http", "content", "refused"), 1):
        assert await crawler.filter(dead=True, category=category) == shop(number)
    await crawler.later(40 * DAY)
    assert await crawler.due() == []

    assert await crawler.tasks.retry(Filter(dead=True)) == 3

    await crawler.crawl()
    for task in await crawler.all_tasks():
        found = (task["status"], task["failure"], task["error_message"])
        assert found == ("completed", None, None)
    assert await crawler.filter(dead=True) == []


async def test_a_page_that_robots_forbid_has_failed_and_is_due_again(crawler: Crawler) -> None:
    # Also one that is wanted once.
    await crawler.submit(*shop(2), crawl_frequency=0)
    await crawler.download(failing(ROBOTS_DENY))

    for task in await crawler.all_tasks():
        assert (task["status"], task["retry_count"]) == ("failed", 0)
        assert task["next_crawl_at"] - task["updated_at"] == DAY * 1000
    assert await crawler.filter(dead=True) == []
    await crawler.later(DAY + 1)
    await crawler.crawl()
    assert await crawler.statuses() == {"1": "completed", "2": "completed"}


async def test_a_site_that_is_closed_moves_the_time_and_costs_nothing(
    stores: Stores, crawler: Crawler
) -> None:
    [claim] = await crawler.due()
    opening = Wait(stores.clock.monotonic() + 3600, "hours", "it opens at 8")
    assert crawler.downloads.will_wait(claim, Wait(opening.until, "pacing", "its turn"))
    assert not crawler.downloads.will_wait(claim, opening)

    await crawler.end([claim], failing(CLOSED))

    task = await crawler.task()
    assert (task["status"], task["retry_count"], task["attempts"]) == ("pending", 0, 0)
    assert abs(task["scheduled_at"] - task["updated_at"] - 3_600_000) < 5_000
    assert await crawler.attempts() == await crawler.all_errors() == []
    assert await crawler.due() == []
    await crawler.later(3601)
    assert len(await crawler.due()) == 1


async def test_while_a_circuit_is_open_a_failure_costs_no_retry(crawler: Crawler) -> None:
    crawler.open_circuits.add("shop.test")
    for _ in range(6):
        await crawler.download(failing(DOWN))
        await crawler.later(76)
    task = await crawler.task()
    assert (task["status"], task["retry_count"], task["attempts"]) == ("pending", 0, 6)

    crawler.open_circuits.clear()
    await crawler.download(failing(DOWN))
    assert (await crawler.task())["retry_count"] == 1
    await crawler.later(100)
    await crawler.crawl()
    task = await crawler.task()
    assert (task["status"], task["retry_count"]) == ("completed", 0)


async def test_a_page_that_blocks_us_has_failed_is_kept_as_evidence_and_due_again(
    crawler: Crawler,
) -> None:
    def captcha(claim: Claim) -> Outcome:
        page = saying("are you a robot?")(claim)
        return replace(page, failure=Blocked("captcha", "a captcha", signal="robot"))

    await crawler.download(captcha)

    task, [attempt] = await crawler.task(), await crawler.attempts()
    assert (task["status"], task["retry_count"], task["html_path"]) == ("failed", 0, None)
    assert task["next_crawl_at"] is not None
    assert b"robot" in (await crawler.blobs.get(attempt["document"]["evidence"]) or b"")


async def test_where_our_own_code_broke_is_logged(crawler: Crawler) -> None:
    broken = Broken("internal_error", "KeyError('x')", trace="Traceback: line 7")
    await crawler.download(failing(broken))
    assert [row["stack_trace"] for row in await crawler.all_errors()] == ["Traceback: line 7"]


async def test_an_empty_page_has_failed(crawler: Crawler) -> None:
    await crawler.download(saying(""))
    task = await crawler.task()
    assert (task["status"], task["failure"]["error_type"]) == ("failed", "empty_page")


async def test_a_page_that_has_not_changed_is_over_without_being_parsed(crawler: Crawler) -> None:
    await crawler.crawl(showing(etag='"v1"'))
    before, [seen] = await crawler.task(), await crawler.products()
    await crawler.later(DAY + 1)

    await crawler.download(unchanged)

    task, [product] = await crawler.task(), await crawler.products()
    assert (task["status"], task["unchanged_in_a_row"]) == ("completed", 1)
    assert task["completed_at"] > before["completed_at"]
    assert task["html_path"] == before["html_path"]
    assert await crawler.claims(PARSES) == []
    assert [row["status"] for row in await crawler.attempts()] == ["ok", "ok", "unchanged"]
    assert product["last_seen_at"] > seen["last_seen_at"]
    assert product["updated_at"] == seen["updated_at"]


async def test_an_item_that_cannot_be_read_is_buried(crawler: Crawler) -> None:
    await crawler.queue.put([Item("bad", DOWNLOADS, {"task": 7}, group="shop.test")])
    [claim] = await crawler.claims()
    with pytest.raises(ValueError, match="needs task and url"):
        crawler.downloads.request(claim)
    assert not crawler.downloads.needs(claim)
    outcome = failing(Broken("bad_payload", "?"))(claim)
    result = await result_of(crawler.downloads, claim, outcome)
    assert isinstance(result.ending, Bury)
    await crawler.settle(result)
    assert [row["state"] for row in await rows_of(crawler.store, items)] == ["dead"]


# ── while a worker has it


async def test_what_was_paused_or_deactivated_since_it_was_queued_is_not_begun(
    crawler: Crawler,
) -> None:
    await crawler.submit(*shop(1, host="other.test"))
    claims = await crawler.due()
    await crawler.tasks.pause(Filter(domain="shop.test"))
    await crawler.domains.deactivate("other.test", WHO)

    def never(claim: Claim) -> Any:
        raise AssertionError(f"{claim.payload} was fetched")

    await crawler.end(claims, never)

    assert {row["status"] for row in await crawler.all_tasks()} == {"pending"}
    assert await crawler.attempts() == []
    await crawler.tasks.resume(Filter(paused=True))
    await crawler.domains.activate("other.test", WHO)
    assert len(await crawler.due()) == 2


async def test_pages_that_begin_together_are_begun_with_one_statement(crawler: Crawler) -> None:
    await crawler.submit(*shop(2, 3, 4), *shop(1, host="other.test"))
    claims = await crawler.due()
    with statements_of(crawler.store) as said:
        results = await asyncio.gather(*(crawler.begin(claim, showing()) for claim in claims))
    assert len(claims) == 5
    assert sum("UPDATE crawl_tasks" in each for each in said) == 1
    await crawler.settle(*results)

    claims = await crawler.claims(PARSES)
    with statements_of(crawler.store) as said:
        results = await asyncio.gather(*(crawler.begin(claim, showing()) for claim in claims))
    assert len(claims) == 5
    assert sum("UPDATE crawl_tasks" in each for each in said) == 1
    assert sum("FROM domains" in each for each in said) == 1
    await crawler.settle(*results)

    assert {row["status"] for row in await crawler.all_tasks()} == {"completed"}


async def test_of_pages_that_begin_together_only_those_that_are_to_be_begun_are(
    crawler: Crawler,
) -> None:
    await crawler.submit(*shop(2, 3))
    claims = await crawler.due()
    first = (await crawler.all_tasks())[0]
    await crawler.tasks.pause(Filter(ids=(first["id"],)))

    lane = crawler.lanes[DOWNLOADS]
    assert isinstance(lane, Provident)
    refusals = await asyncio.gather(*(lane.provide(claim) for claim in claims))

    withdrawn = {claim.payload["task"] for claim, why in zip(claims, refusals, strict=True) if why}
    assert withdrawn == {first["id"]}
    assert Counter(row["status"] for row in await crawler.all_tasks()) == {
        "crawling": 2,
        "queued": 1,
    }


async def test_what_is_paused_while_it_is_fetched_comes_to_its_end(crawler: Crawler) -> None:
    [claim] = await crawler.due()
    result = await crawler.begin(claim, showing())
    await crawler.tasks.pause(ALL)
    await crawler.settle(result)
    await crawler.parse()

    task = await crawler.task()
    assert (task["status"], task["is_paused"]) == ("completed", True)
    await crawler.later(DAY + 1)
    assert await crawler.due() == []


async def test_the_late_results_of_tasks_that_were_stopped_change_nothing(
    crawler: Crawler,
) -> None:
    await crawler.submit(*shop(2, 3, 4))
    turnouts = [showing(), failing(DOWN), failing(GONE), failing(CLOSED)]
    claims = await crawler.due()
    results = [
        await crawler.begin(claim, turnout) for claim, turnout in zip(claims, turnouts, strict=True)
    ]
    assert await crawler.tasks.stop(ALL) == 4
    stopped = await crawler.all_tasks()

    assert await crawler.settle(*results) == {claim.id for claim in claims}

    assert await crawler.all_tasks() == stopped
    for task in stopped:
        assert (task["status"], task["failure"]["error_type"]) == ("failed", "stopped")
    assert await crawler.attempts() == await crawler.all_errors() == []
    assert await crawler.claims(PARSES) == []
    assert await counted(crawler.store) == {}


async def test_of_a_task_that_was_stopped_and_begun_anew_only_the_new_item_counts(
    crawler: Crawler,
) -> None:
    [old] = await crawler.due()
    late = await crawler.begin(old, failing(GONE))
    await crawler.tasks.stop(ALL)
    await crawler.tasks.retry(ALL)
    [new] = await crawler.due()
    result = await crawler.begin(new, showing())

    await crawler.settle(result, late)

    task = await crawler.task()
    assert (task["status"], task["attempts"]) == ("downloaded", 1)


async def test_who_lost_a_task_with_its_claim_changes_nothing(crawler: Crawler) -> None:
    [claim] = await crawler.due()
    late = await crawler.begin(claim, failing(GONE))
    await lose_worker(crawler.store, WORKER)
    assert await crawler.queue.rescue() == 1
    await enter_worker(crawler.store, WORKER)
    await crawler.later(60)
    [again] = await crawler.claims()
    assert (again.id, again.token != claim.token) == (claim.id, True)

    assert await crawler.settle(late) == set()
    await crawler.end([again], showing())
    assert await crawler.settle(late) == set()

    assert (await crawler.task())["status"] == "downloaded"
    assert [row["status"] for row in await crawler.attempts()] == ["ok"]


async def test_a_result_that_is_written_twice_counts_once(crawler: Crawler) -> None:
    [claim] = await crawler.due()
    result = await crawler.begin(claim, showing())
    await crawler.settle(result)
    await crawler.settle(result)

    assert (await crawler.task())["attempts"] == 1
    assert len(await crawler.attempts()) == 1
    assert len(await crawler.claims(PARSES)) == 1


async def test_many_workers_at_once_give_no_task_two_ends(
    in_postgres: Stores, tmp_path: Path
) -> None:
    crawler = await open_crawler(in_postgres, tmp_path)
    crowd = [crawler, *[await another(crawler, in_postgres, tmp_path) for _ in range(3)]]
    await crawler.submit(*shop(*range(1, 81)))

    def some_fail(claim: Claim) -> Any:
        number = int(claim.payload["url"].rpartition("/")[2])
        return (failing(GONE) if number % 5 == 0 else showing())(claim)

    async def work(worker: Crawler) -> None:
        await worker.tick()
        for lane in (DOWNLOADS, PARSES) * 3:
            while claims := await worker.claims(lane, 7):
                await worker.end(claims, some_fail)

    await asyncio.gather(*(work(each) for each in crowd))
    await work(crawler)

    assert Counter(task["status"] for task in await crawler.all_tasks()) == {
        "completed": 64,
        "failed": 16,
    }
    ended = Counter((row["crawl_task_id"], row["kind"]) for row in await crawler.attempts())
    assert (len(ended), max(ended.values())) == (80 + 64, 1)
    assert len(await crawler.products()) == len(await crawler.all_prices()) == 64
    assert await counted(crawler.store) == await pending(crawler.store)


async def test_pages_that_are_the_same_are_kept_once(crawler: Crawler) -> None:
    await crawler.submit(f"{SHOP}/2")
    await crawler.download(lambda claim: page_at(claim, b"<h1>Maintenance</h1>" * 50))
    assert len({row["html_path"] for row in await crawler.all_tasks()}) == 1
