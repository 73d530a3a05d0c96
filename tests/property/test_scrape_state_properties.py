"""Tasks and jobs of the scrape service, whatever becomes of them."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.api.application import create_application
from penstock.api.health import Doctor, QueueStats, Vitals, health_routes
from penstock.core.clock import SystemClock
from penstock.core.metrics import Metrics
from penstock.kernel.model import Proxy, UrlSpecific
from penstock.kernel.proxies import Member
from penstock.queue.ports import Item
from penstock.web.guard import Guard
from penstock.web.keys import KeyRing, Keys, RateLimiter
from penstock.web.settings import ApiSettings
from penstock.workloads.scrape.lane import NAME
from penstock.workloads.scrape.model import priority_of
from penstock.workloads.scrape.service import SIZE_SECONDS
from penstock.workloads.scrape.stats import lane_stats
from tests.services import Service, ServiceThread, claim, end, wanted
from tests.stores import all_of, sqlite_stores

MANY = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
STATES = ["queued", "running", "completed", "failed"]
GONE = UrlSpecific("http_404", "the site answered 404", 404)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceThread]:
    """A service in which nobody works but the test."""
    folder = tmp_path_factory.mktemp("service")
    limits = {"max_queue_depth": 1_000_000}
    with ServiceThread(folder, works=False, scrape=limits) as running:
        yield running


async def new_job(service: Service, tasks: int) -> tuple[str, list[str]]:
    """A job and its tasks."""
    targets = [wanted(f"http://shop01.test/product/{n}", "page") for n in range(tasks)]
    answer = await service.post("/scrape/batch", {"targets": targets})
    data = answer.json()["data"]
    return data["job_id"], data["task_ids"]


@dataclass(frozen=True)
class Pool:
    """The figures of a pool of browsers."""

    total: int
    available: int
    pages_processed: int = 0
    recycled_count: int = 0

    @property
    def in_use(self) -> int:
        return self.total - self.available


# Feature: scraping-microservices, Property 2: Readiness reflects pool state
@MANY
@given(
    available=st.integers(0, 20),
    in_use=st.integers(0, 20),
    proxies=st.lists(st.booleans(), max_size=8),
)
def test_readiness_follows_browsers_and_proxies(
    available: int, in_use: int, proxies: list[bool]
) -> None:
    members = [
        Member(Proxy("http", f"p{place}.test", 8080), healthy=is_healthy)
        for place, is_healthy in enumerate(proxies)
    ]

    ready = asyncio.run(readiness(Pool(available + in_use, available), members))

    # Without any proxy, the direct way out counts as one.
    assert (ready == 200) == (available > 0 and (any(proxies) or not proxies))
    assert ready in (200, 503)


async def readiness(pool: Pool, members: Sequence[Member]) -> int:
    async def queue() -> QueueStats:
        return QueueStats(0, 0, None)

    clock, metrics = SystemClock(), Metrics()
    doctor = Doctor(Vitals(queue, lambda: pool, members, lambda: False, metrics, clock))
    section = ApiSettings()
    with tempfile.TemporaryDirectory() as folder:
        async with sqlite_stores(Path(folder)) as stores:
            ring = KeyRing(Keys(await stores.open()), "key", section, clock)
            routers = [health_routes(doctor, metrics)]
            guard = Guard(ring, RateLimiter(clock))
            app = create_application(routers, guard, section, clock, metrics)
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://service.test"
            ) as http:
                return (await http.get("/readiness")).status_code


# Feature: scraping-microservices, Property 7: Task status retrieval reflects current state
@MANY
@given(st.sampled_from(STATES), st.integers(1, 1_000_000))
def test_a_task_shows_its_state_and_a_result_only_if_completed(
    running: ServiceThread, state: str, page: int
) -> None:
    async def bring_about() -> dict[str, Any]:
        service = running.service
        task_id = await service.submit(f"http://shop01.test/product/{page}", "page")
        claims = [] if state == "queued" else await claim(service, [task_id])
        if state in ("completed", "failed"):
            await end(service, claims, GONE if state == "failed" else None)
        return await service.task(task_id)

    task = running.run(bring_about())

    assert task["status"] == state
    assert (task["result"] is not None) == (state == "completed")
    assert (task["error"] is not None) == (state == "failed")
    assert (task["started_at"] is not None) == (state != "queued")


# Feature: scraping-microservices, Property 9: Job status derived from task outcomes
@MANY
@given(completed=st.integers(0, 6), failed=st.integers(0, 6))
def test_the_ends_of_its_tasks_make_the_status_of_a_job(
    running: ServiceThread, completed: int, failed: int
) -> None:
    if not completed + failed:
        completed = 1

    async def bring_about() -> dict[str, Any]:
        service = running.service
        job_id, ids = await new_job(service, completed + failed)
        await end(service, await claim(service, ids[:completed]))
        await end(service, await claim(service, ids[completed:]), GONE)
        return await service.job(job_id)

    job = running.run(bring_about())

    by_ends = {(True, True): "partially_completed", (True, False): "completed"}
    assert job["status"] == by_ends.get((completed > 0, failed > 0), "failed")
    assert (job["completed_tasks"], job["failed_tasks"]) == (completed, failed)


# Feature: scraping-microservices, Property 10: Job results contain only completed tasks
@MANY
@given(st.lists(st.sampled_from(STATES), min_size=1, max_size=8))
def test_results_are_those_of_completed_tasks(running: ServiceThread, ends: list[str]) -> None:
    async def bring_about() -> tuple[list[str], dict[str, Any], list[dict[str, Any]]]:
        service = running.service
        job_id, ids = await new_job(service, len(ends))
        by_end: dict[str, list[str]] = {}
        for task_id, name in zip(ids, ends, strict=True):
            by_end.setdefault(name, []).append(task_id)
        await end(service, await claim(service, by_end.get("completed", [])))
        await end(service, await claim(service, by_end.get("failed", [])), GONE)
        await claim(service, by_end.get("running", []))
        results = (await service.get(f"/scrape/jobs/{job_id}/results")).json()["data"]
        return by_end.get("completed", []), await service.job(job_id), results

    completed, job, results = running.run(bring_about())

    assert [result["task_id"] for result in results] == completed
    assert len(results) == job["completed_tasks"]


# Feature: scraping-microservices, Property 11: Job cancellation preserves running tasks
@MANY
@given(queued=st.integers(1, 3), begun=st.integers(0, 3), ended=st.integers(0, 2))
def test_cancelling_a_job_takes_back_what_waits_and_lets_run_what_runs(
    running: ServiceThread, queued: int, begun: int, ended: int
) -> None:
    async def bring_about() -> None:
        service = running.service
        job_id, ids = await new_job(service, queued + begun + ended)
        await end(service, await claim(service, ids[:ended]))
        claims = await claim(service, ids[ended : ended + begun])
        answer = await service.post(f"/scrape/jobs/{job_id}/cancel", None)
        assert answer.json()["data"]["status"] == "cancelled"
        tasks = [await service.task(each) for each in ids]
        assert {task["status"] for task in tasks[ended : ended + begun]} <= {"running"}
        left = tasks[ended + begun :]
        assert {(task["status"], task["error"]) for task in left} == {("failed", "cancelled")}
        assert await claim(service, ids[ended + begun :]) == []
        await end(service, claims)
        job = await service.job(job_id)
        assert (job["status"], job["completed_tasks"]) == ("cancelled", ended + begun)
        told = [event for event in await all_events(service) if event.message.key == job_id]
        assert [event.message.data["status"] for event in told] == ["cancelled"]

    running.run(bring_about())


async def all_events(service: Service) -> list[Any]:
    return await service.engine.log.read(max(0, await service.engine.log.last() - 50))


# Feature: scraping-microservices, Property 36: Priority queue ordering by job size
@MANY
@given(st.lists(st.integers(1, 100), min_size=2, max_size=8), st.integers(0, 3))
def test_tasks_of_smaller_jobs_go_first(sizes: list[int], alone: int) -> None:
    jobs = [(size, f"site{place % 3}") for place, size in enumerate(sizes)]
    items = [
        Item(
            f"{place}-{size}-{number}",
            NAME,
            {"size": size},
            group=group,
            priority=priority_of(size),
            delay=size * SIZE_SECONDS,
        )
        for place, (size, group) in enumerate(jobs)
        for number in range(min(size, 5))
    ]
    items += [Item(f"alone-{n}", NAME, {"size": 0}, priority=0) for n in range(alone)]

    assert asyncio.run(claimed_sizes(items)) == sorted(item.payload["size"] for item in items)


async def claimed_sizes(items: Sequence[Item]) -> list[int]:
    with tempfile.TemporaryDirectory() as folder:
        async with sqlite_stores(Path(folder)) as stores:
            queue = await stores.queue()
            await queue.put(items)
            await stores.later(1)
            claims = await queue.claim("worker", [NAME], 10_000, all_of)
            return [each.payload["size"] for each in claims]


steps = st.lists(
    st.tuples(st.sampled_from(["put", "claim", "end", "fail", "cancel"]), st.integers(1, 4)),
    max_size=8,
)


# Feature: scraping-microservices, Property 37: Queue stats accuracy
@MANY
@given(steps)
def test_the_figures_of_the_queue_are_what_is_in_it(
    running: ServiceThread, steps: list[tuple[str, int]]
) -> None:
    async def play() -> None:
        service = running.service
        before = await service.engine.store.read(lane_stats)
        waiting: list[str] = []
        held: list[Any] = []
        for step, number in steps:
            match step:
                case "put":
                    _, ids = await new_job(service, number)
                    waiting += ids
                case "claim":
                    held += await claim(service, waiting[:number])
                    del waiting[:number]
                case "cancel":
                    for each in waiting[:number]:
                        await service.api.service.cancel_task(each)
                    del waiting[:number]
                case _:
                    await end(service, held[:number], GONE if step == "fail" else None)
                    del held[:number]
            depth, active, _ = await service.engine.store.read(lane_stats)
            assert (depth - before[0], active - before[1]) == (len(waiting), len(held))
        await end(service, held)

    running.run(play())
