"""The scrape service as a back end uses it: on the local site, through its API."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from penstock.app.webhooks import open_webhooks
from penstock.core.clock import SystemClock
from penstock.queue.health import report
from penstock.queue.ports import State
from penstock.queue.tables import items
from penstock.web.keys import Keys, Scope
from penstock.workloads.scrape.announcing import results_of
from penstock.workloads.scrape.retention import forget_expired
from penstock.workloads.scrape.stream import JobStream
from penstock.workloads.scrape.tables import scrape_tasks
from tests.services import KEY, Service, claim, end, listening, serving, wanted
from tests.shell import eventually
from tests.site import Reply, Site
from tests.stores import row_of

SHOP = "http://shop01.test/product/{}"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest.fixture
async def service(tmp_path: Path, site: Site) -> AsyncIterator[Service]:
    async with serving(site, tmp_path) as service:
        yield service


@pytest.fixture
async def idle(tmp_path: Path, site: Site) -> AsyncIterator[Service]:
    """A service in which nobody works but the test."""
    async with serving(site, tmp_path, works=False) as service:
        yield service


def rules(folder: Path, text: str) -> dict[str, Any]:
    path = folder / "policies.yaml"
    path.write_text(text)
    return {"shipped": False, "files": [path]}


# ── results


async def test_a_task_gives_validated_data_of_its_page(service: Service) -> None:
    task = await service.finished(await service.submit(SHOP.format(1)))

    assert task["status"] == "completed"
    assert task["result"]["name"] == "Brightwell Lamp Model 1"
    assert task["result"]["currency"] == "USD"


async def test_requested_fields_limit_the_result(service: Service) -> None:
    task = await service.finished(
        await service.submit(SHOP.format(2), requested_fields=["name", "price"])
    )

    assert set(task["result"]) == {"name", "price"}


async def test_a_page_comes_in_the_forms_that_are_wanted(service: Service) -> None:
    task = await service.finished(
        await service.submit(SHOP.format(3), "page", formats=["html", "markdown"])
    )

    result = task["result"]
    assert result["html"].startswith("<!doctype html>")
    assert "<" not in result["markdown"]
    assert result["text"] is None
    assert result["status"] == 200


async def test_a_long_page_becomes_a_file(tmp_path: Path, site: Site) -> None:
    site.reply("shop01.test", "/long", Reply(200, "<title>Long</title>" + "x" * 70_000))
    async with serving(site, tmp_path) as service:
        task_id = await service.submit("http://shop01.test/long", "page")
        task = await service.finished(task_id)
        href = task["files"]["html"]["href"]
        file = await service.http.get(href)
        other = await service.http.get(href.replace("html", "text"))

    assert task["result"]["html"] is None
    assert len(file.content) == task["files"]["html"]["bytes"] > 70_000
    assert file.headers["content-security-policy"].startswith("sandbox")
    assert other.status_code == 404


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://private.test/", "robots_denied"),
        ("http://shop01.test/nowhere", "http_404"),
        ("http://blocked.test/captcha", "captcha"),
    ],
)
async def test_a_failed_task_says_why_in_a_word(service: Service, url: str, error: str) -> None:
    task = await service.finished(await service.submit(url, "page"))

    assert (task["status"], task["error"], task["result"]) == ("failed", error, None)


# ── jobs


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
    first, second = sorted([task["task_id"] for task in await listed(idle)])
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


# ── admission and limits


@pytest.mark.parametrize("targets", [0, 101])
async def test_a_batch_has_one_to_a_hundred_targets(idle: Service, targets: int) -> None:
    answer = await idle.post("/scrape/batch", {"targets": [wanted(SHOP.format(1))] * targets})

    assert answer.status_code == 422
    assert answer.json()["meta"]["errors"][0]["field"] == "body.targets"


async def test_a_full_queue_takes_all_of_a_batch_or_nothing(tmp_path: Path, site: Site) -> None:
    async with serving(site, tmp_path, works=False, scrape={"max_queue_depth": 5}) as service:
        await service.submit_batch([wanted(SHOP.format(n)) for n in range(3)])
        refused = await service.post(
            "/scrape/batch", {"targets": [wanted(SHOP.format(n)) for n in range(3)]}
        )
        await service.submit(SHOP.format(1))
        await service.submit(SHOP.format(2))
        full = await service.post("/scrape", wanted(SHOP.format(3)))
        listed = (await service.get("/scrape")).json()["data"]

    for answer in (refused, full):
        assert answer.status_code == 503
        assert answer.json()["error"] == "Task queue is full"
        assert int(answer.headers["Retry-After"]) > 0
    assert len(listed) == 5


async def test_large_and_deep_bodies_are_refused(idle: Service) -> None:
    large = await idle.http.post("/api/v1/scrape", content=b" " * 1_100_000)
    deep = await idle.http.post("/api/v1/scrape", content=b"[" * 5000)

    assert large.status_code == 413
    assert deep.status_code == 422
    assert large.json()["success"] is deep.json()["success"] is False


# ── keys


async def test_a_key_of_a_workspace_sees_and_asks_for_that_alone(idle: Service) -> None:
    mine = await idle.submit(SHOP.format(1))
    keys = Keys(idle.engine.store)
    _, secret = await keys.create("guest", [Scope.READ, Scope.SCRAPE], workspace_id="guests")
    headers = {"X-Service-Key": secret}

    async def ask(path: str) -> httpx.Response:
        return await idle.http.get(f"/api/v1{path}", headers=headers)

    foreign = await ask(f"/scrape/{mine}")
    unknown = await ask("/scrape/00000000-0000-7000-8000-000000000000")
    listed = await ask("/scrape")
    named = await ask("/scrape?workspace_id=acme")
    refused = await idle.post("/scrape", wanted(SHOP.format(1)), **headers)

    assert foreign.status_code == unknown.status_code == 404
    assert foreign.content == unknown.content
    assert listed.json()["data"] == named.json()["data"] == []
    assert refused.status_code == 403


async def test_a_key_is_good_for_its_scopes_its_time_and_its_rate(
    tmp_path: Path, site: Site
) -> None:
    async with serving(site, tmp_path, works=False, api={"keys_seconds": 0}) as service:
        keys = Keys(service.engine.store)
        reader, read = await keys.create("reader", [Scope.READ])
        _, expired = await keys.create("old", [Scope.READ], lifetime=-1)
        _, slow = await keys.create("slow", [Scope.READ], rate_limit=2)

        async def status(secret: str, method: str = "GET") -> int:
            answer = await service.http.request(
                method,
                "/api/v1/scrape",
                json=wanted(SHOP.format(1)),
                headers={"X-Service-Key": secret},
            )
            return answer.status_code

        assert await status(read) == 200
        assert await status(read, "POST") == 403
        assert await status(expired) == 401
        assert [await status(slow) for _ in range(3)] == [200, 200, 429]
        await keys.revoke(reader.id)
        assert await status(read) == 401


# ── synchronous


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
        (task,) = (await service.get("/scrape")).json()["data"]
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
    slow = rules(tmp_path, "domains:\n  shop01.test:\n    request_delay_ms: 3600000\n")
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
    closed = f"allowed_hours: {{start: {(hour + 2) % 24}, end: {(hour + 3) % 24}}}"
    policies = rules(tmp_path, f"domains:\n  shop01.test:\n    {closed}\n")
    async with serving(site, tmp_path, policies=policies) as service:
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


async def first_task(service: Service) -> dict[str, Any]:
    """The task that somebody is about to submit."""
    async with asyncio.timeout(20):
        while not (tasks := await listed(service)):
            continue
    return tasks[0]


async def listed(service: Service) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await service.get("/scrape")).json()["data"]
    return found


async def test_a_task_whose_item_cannot_be_read_fails(tmp_path: Path, site: Site) -> None:
    async with serving(site, tmp_path, works=False) as service:
        job_id = await service.submit_batch([wanted(SHOP.format(n)) for n in (1, 2)])
        ids = [task["task_id"] for task in await listed(service)]
        broken = update(items).values(payload={"target_type": "unheard_of"})
        await service.engine.store.write(lambda unit: unit.run(broken) and None)
    async with serving(site, tmp_path) as service:
        tasks = [await service.finished(task_id) for task_id in ids]
        job = await service.job(job_id)

    assert [task["error"] for task in tasks] == ["bad_payload", "bad_payload"]
    assert job["status"] == "failed"


async def test_a_page_whose_text_is_not_found_in_time_fails(tmp_path: Path, site: Site) -> None:
    parts = "".join(f"<div><h2>{n}</h2><p>Some text</p></div>" for n in range(15_000))
    site.reply("shop01.test", "/endless", Reply(200, f"<title>Endless</title>{parts}"))
    async with serving(site, tmp_path, scrape={"text_seconds": 0.3}) as service:
        task = await service.finished(
            await service.submit("http://shop01.test/endless", "page", formats=["text"])
        )

    assert (task["status"], task["error"]) == ("failed", "text_timeout")


async def test_a_key_is_good_again_when_what_it_led_to_is_forgotten(
    tmp_path: Path, site: Site
) -> None:
    once = {"Idempotency-Key": "once"}
    body = {"targets": [wanted(SHOP.format(1), "page")]}
    async with serving(site, tmp_path, works=False, scrape={"retention_hours": 1e-9}) as service:
        first = (await service.post("/scrape", wanted(SHOP.format(1), "page"), **once)).json()
        job = (await service.post("/scrape/batch", body, **{"Idempotency-Key": "job"})).json()
        tasks = [first["data"]["task_id"], *job["data"]["task_ids"]]
        await end(service, await claim(service, tasks))
        await forget_expired(service.engine.store, 1e-9)
        again = await service.post("/scrape", wanted(SHOP.format(1), "page"), **once)
        other = await service.post("/scrape/batch", body, **{"Idempotency-Key": "job"})
        replay = await service.post("/scrape", wanted(SHOP.format(1), "page"), **once)

    assert again.status_code == other.status_code == 202
    assert again.json()["data"]["task_id"] != tasks[0]
    assert replay.json() == again.json()
    assert replay.headers["Idempotency-Replayed"] == "true"


async def test_deliveries_of_callbacks_are_in_the_health_of_the_process(idle: Service) -> None:
    engine, platform = idle.engine, idle.platform
    async with open_webhooks(idle.settings, platform, engine.store, engine.heartbeat):
        status = report(engine.station, platform.supervisors, platform.switches, platform.clock)

    assert status["duties"]["webhooks"]["state"] == "running"


async def test_results_expire(tmp_path: Path, site: Site) -> None:
    async with serving(site, tmp_path, works=False, scrape={"retention_hours": 1e-9}) as service:
        task_id = await service.submit(SHOP.format(1), "page")
        waiting = await service.submit(SHOP.format(2), "page")
        await end(service, await claim(service, [task_id]))
        gone = await forget_expired(service.engine.store, 1e-9)
        found = [(await service.get(f"/scrape/{each}")).status_code for each in (task_id, waiting)]

    assert gone == 1
    assert found == [404, 200]


# ── lists, health, metrics


async def test_lists_come_in_parts_newest_first_and_filtered(idle: Service) -> None:
    ids = [await idle.submit(SHOP.format(n), "page") for n in range(5)]
    await claim(idle, ids[:2])

    first = (await idle.get("/scrape", limit=3)).json()
    second = (await idle.get("/scrape", limit=3, cursor=first["meta"]["next_cursor"])).json()
    running = (await idle.get("/scrape", status="running")).json()["data"]

    listed = [task["task_id"] for part in (first, second) for task in part["data"]]
    assert listed == sorted(ids, reverse=True)
    assert second["meta"]["next_cursor"] is None
    assert {task["task_id"] for task in running} == set(ids[:2])


async def test_health_shows_pool_queue_and_proxies(tmp_path: Path, site: Site) -> None:
    proxies = {"endpoints": ["http://jo:secret@proxy.test:3128#de"]}
    async with serving(site, tmp_path, works=False, proxies=proxies) as service:
        ids = [await service.submit(SHOP.format(n), "page") for n in range(3)]
        await claim(service, ids[:1])
        health = (await service.http.get("/health", headers={"X-Service-Key": ""})).json()
        figures = await service.http.get("/metrics", headers={"Accept": "application/json"})
        text = (await service.http.get("/metrics")).text

    data = health["data"]
    assert set(data["pool"]) == {
        "total",
        "available",
        "in_use",
        "pages_processed",
        "recycled_count",
    }
    assert data["queue"] == {"depth": 2, "workers": 1, "avg_duration": None}
    assert data["proxies"][0] == {
        "url": "http://proxy.test:3128",
        "region": "de",
        "healthy": True,
        "success_count": 0,
        "failure_count": 0,
    }
    assert figures.json()["data"]["queue"]["depth"] == 2
    assert "penstock_queue_depth 2.0" in text
