"""Erasing a workspace or a page: nothing is left of it, and nothing else is touched."""

from pathlib import Path

import pytest
from sqlalchemy import Table

from penstock.events.tables import deliveries, events
from penstock.kernel.model import Request
from penstock.queue.tables import items
from penstock.workloads.fetch import erasure as fetched
from penstock.workloads.fetch.lane import item_for as fetch_item
from penstock.workloads.fetch.tables import outcomes
from penstock.workloads.scrape.announcing import results_of
from penstock.workloads.scrape.erasure import Erasure
from penstock.workloads.scrape.model import TargetType, TaskStatus
from penstock.workloads.scrape.tables import scrape_jobs, scrape_tasks
from tests.archives import Archive, open_archive
from tests.stores import Stores, counted, pending, rows_of


@pytest.fixture
async def archive(stores: Stores, tmp_path: Path) -> Archive:
    return await open_archive(stores, tmp_path)


@pytest.fixture
def erasure(archive: Archive) -> Erasure:
    return Erasure(archive.store, archive.announcer, retention_hours=1)


async def clear(archive: Archive, *tables: Table) -> None:
    await archive.store.write(lambda unit: [unit.run(table.delete()) for table in tables] and None)


async def test_nothing_is_left_of_a_workspace_and_all_of_the_others(
    archive: Archive, erasure: Erasure
) -> None:
    await archive.submit("gone", "https://a.test/1")
    await archive.submit("kept", "https://b.test/1")
    await archive.submit_job(("gone", "https://a.test/2"), ("gone", "https://a.test/3"))
    await archive.submit_job(("kept", "https://b.test/2"), ("kept", "https://b.test/3"))
    await archive.work()
    await archive.submit("gone", "https://a.test/waits")
    await archive.submit("kept", "https://b.test/waits")

    erased = await erasure.erase_workspace("gone")

    left = await archive.everything()
    assert "gone" not in left
    assert "a.test" not in left
    assert left.count("https://b.test/waits") >= 2
    assert {row["status"] for row in await rows_of(archive.store, scrape_jobs)} == {"completed"}
    assert len(await rows_of(archive.store, events)) == 2
    assert len(await rows_of(archive.store, deliveries)) == 2
    assert dict(erased.counts) == {"tasks": 4, "items": 4, "jobs": 1, "submissions": 3, "events": 2}
    assert len(erased.blobs) == 3
    assert await counted(archive.store) == await pending(archive.store) == {("scrape", "kept"): 1}


async def test_what_is_being_worked_on_is_given_up(archive: Archive, erasure: Erasure) -> None:
    await archive.submit("gone", "https://a.test/1")
    await archive.submit("kept", "https://b.test/1")
    claims = await archive.claim()

    await erasure.erase_workspace("gone")
    accepted = await archive.finish(claims)

    assert len(accepted) == 1
    assert "a.test" not in await archive.everything()
    assert await counted(archive.store) == await pending(archive.store) == {}


async def test_a_page_is_erased_in_all_spellings_of_its_url(
    archive: Archive, erasure: Erasure
) -> None:
    await archive.submit("w", "https://site.test/in/jane/")
    await archive.submit("w", "HTTPS://Site.test:443/in/jane?utm_source=x")
    await archive.submit("other", "http://site.test/in/jane#top")
    await archive.submit("w", "https://site.test/in/john")
    await archive.work()

    erased = await erasure.erase_page("https://site.test/in/jane")

    left = await archive.everything()
    assert (erased.counts["tasks"], erased.counts["events"]) == (3, 3)
    assert "jane" not in left
    assert "john" in left


async def test_a_job_counts_on_without_the_task_it_lost(archive: Archive, erasure: Erasure) -> None:
    _, ids = await archive.submit_job(
        ("w", "https://site.test/jane"),
        ("w", "https://site.test/john"),
        ("w", "https://site.test/joan"),
    )
    await archive.work()

    await erasure.erase_page("https://site.test/jane")

    (job,) = await rows_of(archive.store, scrape_jobs)
    (event,) = await rows_of(archive.store, events)
    assert (job["total_tasks"], job["completed_tasks"], job["status"]) == (2, 2, "completed")
    told = await results_of(archive.store, event["data"])
    assert [result["task_id"] for result in told] == list(ids[1:])
    assert len(await rows_of(archive.store, deliveries)) == 1, "its receiver is still told"
    assert "jane" not in await archive.everything()


async def test_a_job_whose_last_open_task_is_erased_is_over_and_announced(
    archive: Archive, erasure: Erasure
) -> None:
    _, (first, _) = await archive.submit_job(
        ("w", "https://site.test/jane"), ("w", "https://site.test/john")
    )
    await archive.finish([claim for claim in await archive.claim() if claim.id == first])
    assert await rows_of(archive.store, events) == []

    await erasure.erase_page("https://site.test/john")

    (job,) = await rows_of(archive.store, scrape_jobs)
    (event,) = await rows_of(archive.store, events)
    assert (job["total_tasks"], job["status"]) == (1, "completed")
    told = await results_of(archive.store, event["data"])
    assert [result["task_id"] for result in told] == [first]
    assert event["data"]["status"] == "completed"
    assert event["data"]["summary"] == {"total": 1, "completed": 1, "failed": 0}


async def test_results_are_nowhere_but_in_their_tasks(archive: Archive) -> None:
    await archive.submit("w", "https://site.test/jane")
    await archive.submit_job(("w", "https://site.test/jane"))
    await archive.work()
    announced = await rows_of(archive.store, events)
    told = [len(await results_of(archive.store, event["data"])) for event in announced]
    await clear(archive, scrape_tasks, items)

    assert told == [1, 1]
    assert "jane" not in await archive.everything()
    assert [await results_of(archive.store, event["data"]) for event in announced] == [[], []]


async def test_profiles_are_kept_for_as_long_as_is_said(archive: Archive, erasure: Erasure) -> None:
    await archive.submit("w", "https://site.test/in/jane", TargetType.LINKEDIN_PROFILE)
    await archive.submit("w", "https://site.test/page")
    await archive.work()

    assert (await erasure.erase_profiles(older_than=3600)).counts["tasks"] == 0
    erased = await erasure.erase_profiles(older_than=-1)

    assert erased.counts["tasks"] == 1
    (task,) = await rows_of(archive.store, scrape_tasks)
    assert (task["target_type"], task["status"]) == ("page", TaskStatus.COMPLETED)
    assert "jane" not in await archive.everything()


async def test_outcomes_of_durable_fetching_are_erased_with_their_bodies(archive: Archive) -> None:
    urls = ("https://site.test/jane", "https://site.test/jane?utm_source=x", "https://site.test/b")
    await archive.queue.put([fetch_item(Request(url), "g", "run") for url in urls])
    await archive.finish(await archive.claim("fetch"), archive.fetch)
    await archive.queue.put([fetch_item(Request("https://site.test/jane"), "g", "later")])

    counts, blobs = await fetched.erase_page(archive.store, "https://site.test/jane")

    assert counts == {"outcomes": 2, "items": 3, "events": 2}
    assert len(blobs) == 2
    assert "jane" not in await archive.everything(outcomes, items, events)
    assert len(await rows_of(archive.store, outcomes)) == 1
    assert await counted(archive.store) == await pending(archive.store) == {}
