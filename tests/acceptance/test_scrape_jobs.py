"""Jobs of the scrape service: how they end, are announced, and can be watched."""

import asyncio
import json
from pathlib import Path

from sqlalchemy import update

from penstock.core.clock import SystemClock
from penstock.workloads.scrape.announcing import results_of
from penstock.workloads.scrape.stream import JobStream
from penstock.workloads.scrape.tables import scrape_tasks
from tests.services import SHOP, Service, claim, end, serving, wanted
from tests.site import Site


async def test_a_job_ends_partially_completed_with_the_results_it_has(service: Service) -> None:
    targets = [wanted(SHOP.format(n)) for n in (1, 2, 3)] + [wanted("http://private.test/x")]
    job_id = await service.submit_batch(targets)

    job = await service.finished_job(job_id)
    results = (await service.get(f"/scrape/jobs/{job_id}/results")).json()

    assert job["status"] == "partially_completed"
    assert [each["target_url"] for each in results["data"]] == [SHOP.format(n) for n in (1, 2, 3)]
    assert results["meta"]["completed_tasks"] == 3


async def test_a_job_is_announced_once_with_its_results_and_callback(service: Service) -> None:
    targets = [wanted(SHOP.format(n)) for n in range(1, 11)]
    job_id = await service.submit_batch(targets, callback_url="http://shop02.test/hook")
    await service.finished_job(job_id)

    events = [event.message for event in await service.engine.log.read()]

    assert [message.topic for message in events] == ["scrape.job.finished"]
    data = events[0].data
    assert data["summary"] == {"total": 10, "completed": 10, "failed": 0}
    assert data["callback_url"] == "http://shop02.test/hook"
    assert len(await results_of(service.engine.store, data)) == 10


async def test_the_default_callback_is_for_who_names_none(tmp_path: Path, site: Site) -> None:
    scrape = {"default_webhook_url": "http://shop02.test/default"}
    async with serving(site, tmp_path, scrape=scrape) as service:
        await service.finished(await service.submit(SHOP.format(1)))
        await service.finished(
            await service.submit(SHOP.format(1), callback_url="http://shop02.test/own")
        )
        events = [event.message.data for event in await service.engine.log.read()]

    assert [each["callback_url"] for each in events] == [
        "http://shop02.test/default",
        "http://shop02.test/own",
    ]


async def test_a_job_can_be_watched_until_it_ends(service: Service) -> None:
    targets = [wanted(SHOP.format(n)) for n in (1, 2)] + [wanted("http://private.test/x")]
    job_id = await service.submit_batch(targets)

    async with asyncio.timeout(20):
        stream = await service.http.get(f"/api/v1/scrape/jobs/{job_id}/events")

    events = [part.split("\n") for part in stream.text.strip().split("\n\n")]
    names = [line.removeprefix("event: ") for part in events for line in part if "event:" in line]
    assert names.count("task") == 3
    assert names[-1] == "end"
    assert json.loads(events[-1][-1].removeprefix("data: "))["status"] == "partially_completed"


async def test_a_stream_goes_on_where_it_was_left(service: Service) -> None:
    job_id = await service.submit_batch([wanted(SHOP.format(n)) for n in (1, 2, 3)])
    await service.finished_job(job_id)
    path = f"/api/v1/scrape/jobs/{job_id}/events"
    whole = (await service.http.get(path)).text
    second = [line for line in whole.splitlines() if line.startswith("id: ")][1]

    rest = await service.http.get(path, headers={"Last-Event-ID": second.removeprefix("id: ")})

    assert rest.text.count("event: task") == 1


async def test_a_stream_skips_no_task_that_ended_earlier_and_was_seen_later(idle: Service) -> None:
    job_id = await idle.submit_batch([wanted(SHOP.format(n), "page") for n in (1, 2)])
    first, second = sorted([task["task_id"] for task in await idle.tasks()])
    service = idle.api.service
    events = JobStream(service, idle.settings.scrape, SystemClock(), lambda: False).events(job_id)
    await anext(events)
    await end(idle, await claim(idle, [second]))
    told = [await anext(events)]
    await end(idle, await claim(idle, [first]))
    early = update(scrape_tasks).where(scrape_tasks.c.id == first).values(completed_at=1)
    await idle.engine.store.write(lambda unit: unit.run(early) and None)
    told += [event async for event in events if b"event: task" in event]

    assert [first.encode() in event for event in told] == [False, True]
