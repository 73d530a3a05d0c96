"""Tasks and jobs of the scrape service on every store."""

import asyncio
from pathlib import Path
from typing import Any

from penstock.kernel.model import UrlSpecific
from penstock.workloads.scrape.retention import forget_expired
from tests.services import Service, claim, end, serving, wanted
from tests.site import Site
from tests.stores import Stores, counted, pending

SHOP = "http://shop01.test/product/{}"


def place_of(stores: Stores) -> dict[str, Any]:
    return stores.settings.model_dump(include={"folder", "url", "pgbouncer"})


async def new_job(service: Service, tasks: int) -> tuple[str, list[str]]:
    targets = [wanted(SHOP.format(n), "page") for n in range(tasks)]
    answer = await service.post("/scrape/batch", {"targets": targets})
    data = answer.json()["data"]
    return data["job_id"], data["task_ids"]


async def test_the_same_idempotency_key_gives_the_same_task(
    stores: Stores, site: Site, tmp_path: Path
) -> None:
    async with serving(site, tmp_path, works=False, store=place_of(stores)) as service:
        headers = {"Idempotency-Key": "once"}
        first = await service.post("/scrape", wanted(SHOP.format(1)), **headers)
        again = await service.post("/scrape", wanted(SHOP.format(1)), **headers)
        other = await service.post("/scrape", wanted(SHOP.format(2)), **headers)
        batch = await service.post(
            "/scrape/batch", {"targets": [wanted(SHOP.format(1))]}, **headers
        )
        jobs = [
            await service.post(
                "/scrape/batch",
                {"targets": [wanted(SHOP.format(1))]},
                **{"Idempotency-Key": "job"},
            )
            for _ in range(2)
        ]
        listed = await service.tasks()

    assert first.json()["data"] == again.json()["data"]
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (other.status_code, batch.status_code) == (409, 409)
    assert jobs[0].json()["data"] == jobs[1].json()["data"]
    assert len(listed) == 2


async def test_of_many_tasks_at_once_as_many_are_taken_on_as_there_is_room_for(
    stores: Stores, site: Site, tmp_path: Path
) -> None:
    limit = {"max_queue_depth": 5}
    async with serving(
        site, tmp_path, works=False, store=place_of(stores), scrape=limit
    ) as service:
        posts = [service.post("/scrape", wanted(SHOP.format(n))) for n in range(12)]
        posts.insert(3, service.post("/scrape/batch", {"targets": [wanted(SHOP.format(99))] * 6}))
        answers = await asyncio.gather(*posts)
        listed = await service.tasks()
        waiting = await pending(service.engine.store)

    accepted = [each.json()["data"]["task_id"] for each in answers if each.status_code == 202]
    refused = [each for each in answers if each.status_code == 503]
    assert (len(accepted), len(refused)) == (5, 8)
    assert all("Retry-After" in each.headers for each in refused)
    assert sorted(task["task_id"] for task in listed) == sorted(accepted)
    assert sum(waiting.values()) == 5


async def test_a_job_is_announced_once_in_however_many_parts_it_ends(
    stores: Stores, site: Site, tmp_path: Path
) -> None:
    async with serving(site, tmp_path, works=False, store=place_of(stores)) as service:
        job_id, ids = await new_job(service, 12)
        claims = [await claim(service, ids[start : start + 3]) for start in range(0, 12, 3)]
        gone = UrlSpecific("http_404", "the site answered 404", 404)
        await end(service, claims.pop(), gone)
        for some in claims:
            await end(service, some)
        job = await service.job(job_id)
        events = [event.message for event in await service.engine.log.read()]
        figures = await counted(service.engine.store), await pending(service.engine.store)

    assert (job["status"], job["completed_tasks"], job["failed_tasks"]) == (
        "partially_completed",
        9,
        3,
    )
    assert [message.id for message in events] == [f"{job_id}.finished"]
    assert figures == ({}, {})


async def test_cancelling_while_tasks_end_counts_every_task_once(
    stores: Stores, site: Site, tmp_path: Path
) -> None:
    async with serving(site, tmp_path, works=False, store=place_of(stores)) as service:
        job_id, ids = await new_job(service, 20)
        claims = await claim(service, ids[:10])
        await asyncio.gather(
            end(service, claims),
            *(service.post(f"/scrape/jobs/{job_id}/cancel", None) for _ in range(3)),
        )
        job = await service.job(job_id)
        events = [event.message for event in await service.engine.log.read()]
        figures = await counted(service.engine.store), await pending(service.engine.store)

    assert (job["status"], job["completed_tasks"], job["failed_tasks"]) == ("cancelled", 10, 10)
    assert [message.data["status"] for message in events] == ["cancelled"]
    assert figures == ({}, {})


async def test_what_a_worker_brings_for_a_cancelled_task_is_not_taken(
    stores: Stores, site: Site, tmp_path: Path
) -> None:
    async with serving(site, tmp_path, works=False, store=place_of(stores)) as service:
        task_id = await service.submit(SHOP.format(1), "page")
        claims = await claim(service, [task_id])
        await service.api.service.cancel_task(task_id)
        await end(service, claims)
        task = await service.task(task_id)

    assert (task["status"], task["error"], task["result"]) == ("failed", "cancelled", None)


async def test_expired_tasks_and_jobs_are_forgotten_and_the_others_kept(
    stores: Stores, site: Site, tmp_path: Path
) -> None:
    short = {"retention_hours": 1e-9}
    async with serving(
        site, tmp_path, works=False, store=place_of(stores), scrape=short
    ) as service:
        over, ids = await new_job(service, 3)
        open_one, _ = await new_job(service, 2)
        await end(service, await claim(service, ids))
        forgotten = await forget_expired(service.engine.store, 1e-9)
        found = [
            (await service.get(f"/scrape/jobs/{each}")).status_code for each in (over, open_one)
        ]

    assert forgotten == 4
    assert found == [404, 200]
