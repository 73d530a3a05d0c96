"""Who waits for a result: gets it, goes away, runs out of time, or sees the service stop."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.core.clock import SystemClock
from penstock.queue.ports import State
from tests.platforms import policies
from tests.services import KEY, SHOP, Service, claim, listening, serving, wanted
from tests.shell import eventually
from tests.site import Site
from tests.stores import row_of


async def first_task(service: Service) -> dict[str, Any]:
    """The task that somebody is about to submit."""
    async with asyncio.timeout(20):
        while not (tasks := await service.tasks()):
            continue
    return tasks[0]


async def test_sync_gives_the_result_at_once(service: Service) -> None:
    answer = await service.post("/scrape/sync", wanted(SHOP.format(1)))

    assert answer.status_code == 200
    assert answer.json()["data"]["status"] == "completed"


async def test_a_caller_who_goes_away_cancels_what_runs(tmp_path: Path, site: Site) -> None:
    async with (
        serving(site, tmp_path, scrape={"poll_seconds": 0.05}) as service,
        listening(service) as address,
    ):
        with pytest.raises(httpx.ReadTimeout):
            async with httpx.AsyncClient(headers={"X-Service-Key": KEY}, timeout=1) as http:
                await http.post(
                    f"{address}/api/v1/scrape/sync",
                    json=wanted("http://slow.test/headers?seconds=25", "page"),
                )
        await eventually(lambda: not service.engine.station.held)
        (task,) = await service.tasks()
        item = await row_of(service.engine.store, task["task_id"])
        again = await service.post(
            "/scrape/sync", wanted("http://slow.test/body?seconds=0", "page")
        )

    assert (task["status"], task["error"]) == ("failed", "cancelled")
    assert item["state"] == State.DONE
    # The slot of the domain was given back.
    assert again.status_code == 200


async def test_a_sync_timeout_counts_everything_and_tells_the_turn(
    tmp_path: Path, site: Site
) -> None:
    slow = policies(tmp_path, shop01_test={"request_delay_ms": 3_600_000})
    async with serving(site, tmp_path, policies=slow) as service:
        # Its robots.txt has the first turn.
        answer = await service.post(
            "/scrape/sync", {**wanted(SHOP.format(2)), "timeout_seconds": 5}
        )
        task = await service.task(answer.json()["meta"]["task_id"])

    assert answer.status_code == 504
    assert answer.json()["meta"]["turn_at"] > SystemClock().now().isoformat()
    assert (task["status"], task["error"]) == ("failed", "cancelled")


async def test_outside_hours_sync_is_refused_with_the_time_and_async_waits(
    tmp_path: Path, site: Site
) -> None:
    hour = SystemClock().now().hour
    closed = {"allowed_hours": {"start": (hour + 2) % 24, "end": (hour + 3) % 24}}
    files = policies(tmp_path, shop01_test=closed)
    async with serving(site, tmp_path, policies=files) as service:
        now = await service.post("/scrape/sync", wanted(SHOP.format(1)))
        task_id = await service.submit(SHOP.format(1))
        await service.finished(await service.submit("http://shop02.test/product/1"))
        later = await service.task(task_id)

    assert now.status_code == 503
    assert int(now.headers["Retry-After"]) > 3000
    assert later["status"] in ("queued", "running")


async def test_an_open_circuit_fails_tasks_at_once(tmp_path: Path, site: Site) -> None:
    site.take_down("shop01.test")
    site.robots["shop01.test"] = "User-agent: *\nAllow: /"
    breaker = {"window": 3, "threshold": 1}
    async with serving(site, tmp_path, breaker=breaker) as service:
        tasks = [
            await service.finished(await service.submit(SHOP.format(n), "page")) for n in range(4)
        ]
        answer = await service.post("/scrape/sync", wanted(SHOP.format(9)))

    assert tasks[-1]["error"] == "circuit_open"
    assert answer.status_code == 503
    assert answer.json()["error"] == "Circuit breaker open for target domain"


# ── the end


async def test_tasks_survive_a_restart(tmp_path: Path, site: Site) -> None:
    async with serving(site, tmp_path, works=False) as service:
        job_id = await service.submit_batch([wanted(SHOP.format(n)) for n in range(1, 6)])
    async with serving(site, tmp_path) as service:
        job = await service.finished_job(job_id)

    assert (job["status"], job["completed_tasks"]) == ("completed", 5)


async def test_a_service_that_stops_turns_new_work_away(idle: Service) -> None:
    task_id = await idle.submit(SHOP.format(1))

    idle.api.stop()
    answer = await idle.post("/scrape", wanted(SHOP.format(1)))
    ready = await idle.http.get("/readiness")

    assert answer.status_code == ready.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert (await idle.get(f"/scrape/{task_id}")).status_code == 200


async def test_who_waits_for_a_task_that_does_not_begin_is_turned_away_at_the_end(
    idle: Service,
) -> None:
    waiting = asyncio.create_task(idle.post("/scrape/sync", wanted(SHOP.format(1))))
    task = await first_task(idle)
    idle.api.stop()
    answer = await waiting

    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert (await idle.task(task["task_id"]))["error"] == "cancelled"


async def test_who_waits_for_a_task_that_runs_is_answered_before_the_server_is_gone(
    idle: Service,
) -> None:
    answers: list[asyncio.Task[httpx.Response]] = []
    async with httpx.AsyncClient() as http, listening(idle) as address:
        asked = http.post(
            f"{address}/api/v1/scrape/sync",
            json=wanted(SHOP.format(1)),
            headers={"X-Service-Key": KEY, "Idempotency-Key": "once"},
        )
        waiting = asyncio.create_task(asked)
        task = await first_task(idle)
        await claim(idle, [task["task_id"]])
        idle.api.stop()
        assert (await idle.http.get("/readiness")).status_code == 503
        assert not waiting.done()
        waiting.add_done_callback(answers.append)
    (answer,) = [each.result() for each in answers]

    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    # Who asks again with the same key finds it.
    assert (await idle.task(task["task_id"]))["status"] == "running"
