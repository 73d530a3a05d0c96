"""The client and the service: every call on a real port, and what a program would do with them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from penstock.client import (
    AsyncClient,
    Client,
    InvalidRequest,
    JobStatus,
    NotFound,
    Target,
    TargetType,
    TaskStatus,
    Unauthenticated,
)
from tests.services import KEY, Service, listening, serving
from tests.site import Reply, Site

SHOP = "http://shop01.test/product/{}"


def product(number: int, **more: object) -> Target:
    content = {"target_type": TargetType.PRODUCT, "target_url": SHOP.format(number)}
    return Target.model_validate({**content, "workspace_id": "acme", **more})


class Running:
    """A service on a port, and both clients."""

    def __init__(self, service: Service, address: str) -> None:
        self.service = service
        self.address = address
        self.asyncio = AsyncClient(address, KEY)


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Running]:
    async with Site() as site, serving(site, folder) as service, listening(service) as address:
        found = Running(service, address)
        async with found.asyncio:
            yield found


@pytest.fixture
async def penstock(tmp_path: Path) -> AsyncIterator[AsyncClient]:
    async with running(tmp_path) as found:
        yield found.asyncio


async def test_a_page_is_scraped_now(penstock: AsyncClient) -> None:
    task = await penstock.scrape_sync(product(1), timeout_seconds=20)

    assert task.status is TaskStatus.COMPLETED
    assert task.result is not None
    assert task.result["name"]


async def test_a_page_is_scraped_later(penstock: AsyncClient) -> None:
    accepted = await penstock.scrape(product(2, requested_fields=("name",)))
    task = await penstock.task(accepted.task_id)
    async with asyncio.timeout(20):
        while not task.status.is_over:
            task = await penstock.task(accepted.task_id)

    assert set(task.result or ()) == {"name"}


async def test_a_batch_is_watched_waited_for_and_read(penstock: AsyncClient) -> None:
    job = await penstock.batch([product(1), product(2), product(404)])

    events = [event async for event in penstock.watch_job(job.job_id)]
    done = await penstock.wait_for_job(job.job_id, within=20)
    results = [result async for result in penstock.results(job.job_id)]

    assert events[-1].name == "end"
    assert sum(event.name == "task" for event in events) == 3
    assert (done.status, done.failed_tasks) == (JobStatus.PARTIALLY_COMPLETED, 1)
    assert sorted(result.target_url for result in results) == [SHOP.format(1), SHOP.format(2)]


async def test_lists_are_gone_through_by_cursor(penstock: AsyncClient) -> None:
    job = await penstock.batch([product(number) for number in range(1, 6)])
    await penstock.wait_for_job(job.job_id, within=20)

    tasks = [task async for task in penstock.tasks(job_id=job.job_id, at_once=2)]
    first = await penstock.tasks_page(job_id=job.job_id, limit=2)
    jobs = [each async for each in penstock.jobs(workspace_id="acme")]

    assert sorted(task.task_id for task in tasks) == sorted(job.task_ids)
    assert (len(first.items), first.next_cursor is not None) == (2, True)
    assert [each.job_id for each in jobs] == [job.job_id]


async def test_a_submission_that_is_repeated_is_the_same(penstock: AsyncClient) -> None:
    first = await penstock.scrape(product(1), idempotency_key="again")
    second = await penstock.scrape(product(1), idempotency_key="again")
    job = await penstock.batch([product(1)], idempotency_key="job")

    assert first.task_id == second.task_id
    assert (await penstock.batch([product(1)], idempotency_key="job")).job_id == job.job_id


async def test_a_job_is_cancelled(tmp_path: Path) -> None:
    async with (
        Site() as site,
        serving(site, tmp_path, works=False) as service,
        listening(service) as address,
        AsyncClient(address, KEY) as penstock,
    ):
        job = await penstock.batch([product(1), product(2)])

        cancelled = await penstock.cancel(job.job_id)

        assert (cancelled.status, cancelled.failed_tasks) == (JobStatus.CANCELLED, 2)
        assert (await penstock.task(job.task_ids[0])).error == "cancelled"


async def test_a_large_page_is_downloaded_as_a_file(tmp_path: Path) -> None:
    async with Site() as site, serving(site, tmp_path, scrape={"inline_bytes": 100}) as service:
        site.reply("big.test", "/", Reply(200, "<title>Big</title>" + "words " * 1000))
        async with listening(service) as address, AsyncClient(address, KEY) as penstock:
            target = Target(
                target_type=TargetType.PAGE, target_url="http://big.test/", workspace_id="acme"
            )
            task = await penstock.scrape_sync(target, timeout_seconds=20)

            assert b"words words" in await penstock.download(task.files["html"].href)


async def test_refusals_say_what_is_wrong(penstock: AsyncClient) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await penstock.scrape(product(1, target_url="http://127.0.0.1/"))
    assert caught.value.errors[0]["field"] == "body.target_url"
    assert caught.value.request_id
    with pytest.raises(NotFound):
        await penstock.task("019570c2-51f0-7c3a-9c1e-2f6f0a3b4c5d")
    with pytest.raises(NotFound):
        await penstock.job("unknown")


async def test_what_can_be_asked_for_is_listed(penstock: AsyncClient) -> None:
    found = await penstock.adapters()

    assert {each.target_type for each in found.target_types} == set(TargetType)
    assert "product" in {adapter.id for adapter in found.adapters}


async def test_a_program_that_blocks_does_the_same(tmp_path: Path) -> None:
    async with running(tmp_path) as found:

        def program() -> tuple[JobStatus, list[str], list[str]]:
            with Client(found.address, KEY) as penstock:
                job = penstock.batch([product(1), product(2)])
                names = [event.name for event in penstock.watch_job(job.job_id)]
                done = penstock.wait_for_job(job.job_id, within=20)
                return done.status, names, [each.task_id for each in penstock.results(job.job_id)]

        status, names, results = await asyncio.to_thread(program)

    assert (status, names[-1], len(results)) == (JobStatus.COMPLETED, "end", 2)


async def test_a_stranger_is_turned_away(tmp_path: Path) -> None:
    async with running(tmp_path) as found, AsyncClient(found.address, "not the key") as stranger:
        with pytest.raises(Unauthenticated):
            await stranger.scrape(product(1))
