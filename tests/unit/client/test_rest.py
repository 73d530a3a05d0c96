"""Both clients against a real server: what they send, read, repeat and give up."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from penstock.client import (
    ApiError,
    Client,
    ClientError,
    Conflict,
    Forbidden,
    InvalidRequest,
    JobStatus,
    NotFound,
    NotInTime,
    NotReached,
    RateLimited,
    Retrying,
    Target,
    TargetType,
    TaskStatus,
    TaskTimedOut,
    Unauthenticated,
    Unavailable,
)
from tests.site import Raw, Reply, Reset
from tests.unit.client.service import JOB, KEY, RESULT, TASK, Caller, ill, open_caller, well

TARGET = Target(
    target_type=TargetType.PRODUCT, target_url="https://shop.example/1", workspace_id="acme"
)
ACCEPTED = well({"task_id": "t1", "status": "queued"}, 202)


@pytest.fixture(params=["blocking", "asyncio"])
async def caller(request: pytest.FixtureRequest) -> AsyncIterator[Caller]:
    async with open_caller(request.param) as caller:
        yield caller


async def test_a_page_is_asked_for(caller: Caller) -> None:
    caller.plan("/api/v1/scrape", ACCEPTED)

    accepted = await caller.call("scrape", TARGET)

    (hit,) = caller.hits
    assert (accepted.task_id, accepted.status) == ("t1", TaskStatus.QUEUED)
    assert (hit.method, hit.headers["X-Service-Key"]) == ("POST", KEY)
    assert json.loads(hit.body) == {
        "target_type": "product",
        "target_url": "https://shop.example/1",
        "workspace_id": "acme",
    }


async def test_each_submission_has_a_key_of_its_own_that_its_retries_keep(caller: Caller) -> None:
    caller.plan("/api/v1/scrape", Reset(), ill(503), ACCEPTED)

    await caller.call("scrape", TARGET)
    await caller.call("scrape", TARGET)
    await caller.call("scrape", TARGET, idempotency_key="mine")

    first, *again, other, own = [hit.headers["Idempotency-Key"] for hit in caller.hits]
    assert again == [first, first]
    assert len({first, other, own}) == 3
    assert own == "mine"


async def test_a_batch_is_one_job(caller: Caller) -> None:
    accepted = {"job_id": "j1", "status": "queued", "total_tasks": 2, "task_ids": ["a", "b"]}
    caller.plan("/api/v1/scrape/batch", well(accepted, 202))

    job = await caller.call("batch", [TARGET, TARGET], callback_url="https://backend.example/")

    sent = json.loads(caller.hits[0].body)
    assert (job.job_id, job.total_tasks, job.task_ids) == ("j1", 2, ("a", "b"))
    assert (len(sent["targets"]), sent["callback_url"]) == (2, "https://backend.example/")


async def test_a_synchronous_task_is_given_its_time(caller: Caller) -> None:
    caller.plan("/api/v1/scrape/sync", well(TASK))

    task = await caller.call("scrape_sync", TARGET, timeout_seconds=20)

    assert task.result == {"title": "Boots"}
    assert json.loads(caller.hits[0].body)["timeout_seconds"] == 20


async def test_tasks_and_jobs_are_read_with_their_types(caller: Caller) -> None:
    caller.plan("/api/v1/scrape/t1", well(TASK))
    caller.plan("/api/v1/scrape/jobs/j1", well(JOB))

    task, job = await caller.call("task", "t1"), await caller.call("job", "j1")

    assert task.created_at == datetime(2026, 3, 4, 12, tzinfo=UTC)
    assert (task.status.is_over, task.target_type) == (True, TargetType.PRODUCT)
    assert (job.status, job.is_over, job.completed_at) == (JobStatus.RUNNING, False, None)


async def test_a_job_is_cancelled(caller: Caller) -> None:
    caller.plan("/api/v1/scrape/jobs/j1/cancel", well({**JOB, "status": "cancelled"}))

    assert (await caller.call("cancel", "j1")).status is JobStatus.CANCELLED
    assert caller.hits[0].method == "POST"


async def test_lists_are_gone_through_to_their_end(caller: Caller) -> None:
    caller.plan(
        "/api/v1/scrape/jobs/j1/results",
        well([RESULT, RESULT], meta={"next_cursor": "more"}),
        well([RESULT], meta={"next_cursor": None}),
    )
    caller.plan("/api/v1/scrape/jobs", well([JOB], meta={"next_cursor": None}))

    results = await caller.all_of("results", "j1")
    jobs = await caller.all_of("jobs", workspace_id="acme", status="running")

    assert [result.result for result in results] == [{"title": "Boots"}] * 3
    assert [hit.query for hit in caller.hits] == [
        {},
        {"cursor": "more"},
        {"workspace_id": "acme", "status": "running"},
    ]
    assert [job.job_id for job in jobs] == ["j1"]


async def test_a_part_of_a_list_says_where_the_next_begins(caller: Caller) -> None:
    caller.plan("/api/v1/scrape", well([TASK], meta={"next_cursor": "c2"}))

    page = await caller.call("tasks_page", cursor="c1", limit=1)

    assert (page.items[0].task_id, page.next_cursor) == ("t1", "c2")
    assert caller.hits[0].query == {"cursor": "c1", "limit": "1"}


async def test_a_busy_service_is_asked_again_when_it_says(caller: Caller) -> None:
    caller.plan("/api/v1/scrape", ill(429, Retry_After="7"), ill(503, Retry_After="3"), ACCEPTED)

    await caller.call("scrape", TARGET)

    assert caller.slept == [7.0, 3.0]


async def test_without_a_word_it_is_asked_later_each_time(caller: Caller) -> None:
    caller.plan("/api/v1/scrape", ill(503), Reset(), ill(502), ACCEPTED)

    await caller.call("scrape", TARGET)

    first, second, third = caller.slept
    assert 0.25 <= first <= 0.5 <= second <= 1.0 <= third <= 2.0


async def test_a_retry_after_that_takes_too_long_is_told_to_the_caller(caller: Caller) -> None:
    caller.plan("/api/v1/scrape", ill(503, "closed", Retry_After="3600"))

    with pytest.raises(Unavailable, match="closed") as caught:
        await caller.call("scrape", TARGET)

    assert (caught.value.retry_after, len(caller.hits)) == (3600.0, 1)


@pytest.mark.parametrize("kind", ["blocking", "asyncio"])
async def test_it_is_not_asked_for_ever(kind: str) -> None:
    async with open_caller(kind, retries=2) as caller:  # type: ignore[arg-type]
        caller.plan("/api/v1/scrape", ill(429))
        caller.plan("/api/v1/scrape/t1", Reset())
        with pytest.raises(RateLimited):
            await caller.call("scrape", TARGET)
        assert len(caller.hits) == 3
        with pytest.raises(NotReached):
            await caller.call("task", "t1")
        assert len(caller.hits) == 6


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, Unauthenticated),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (500, ApiError),
        (504, TaskTimedOut),
    ],
)
async def test_a_refusal_is_an_error_of_its_kind_and_not_repeated(
    caller: Caller, status: int, kind: type[ApiError]
) -> None:
    caller.plan("/api/v1/scrape/t1", ill(status, "because", X_Request_ID="r-1"))

    with pytest.raises(kind, match="because") as caught:
        await caller.call("task", "t1")

    assert (caught.value.status, caught.value.request_id) == (status, "r-1")
    assert len(caller.hits) == 1


async def test_wrong_fields_are_named(caller: Caller) -> None:
    wrong = [{"field": "body.target_url", "message": "this is not an absolute URL"}]
    caller.plan("/api/v1/scrape", ill(422, "wrong", {"errors": wrong}))

    with pytest.raises(InvalidRequest) as caught:
        await caller.call("scrape", TARGET)

    assert caught.value.errors == wrong


@pytest.mark.parametrize(
    "reply", [Reply(200, "<html>"), Reply(200, "[]"), well({"task_id": 1}), Reply(200, "{}")]
)
async def test_an_answer_of_somebody_else_is_an_error(caller: Caller, reply: Reply) -> None:
    caller.plan("/api/v1/scrape/t1", reply)

    with pytest.raises(ClientError, match="no answer of Penstock"):
        await caller.call("task", "t1")


async def test_an_error_page_of_somebody_else_is_an_error_too(caller: Caller) -> None:
    caller.plan("/api/v1/scrape/t1", Reply(418, "<html>teapot"))

    with pytest.raises(ApiError, match="418"):
        await caller.call("task", "t1")


async def test_the_key_does_not_follow_a_redirect(caller: Caller) -> None:
    elsewhere = f"http://127.0.0.1:{caller.site.canary.port}/"
    caller.plan("/api/v1/scrape/t1", Reply(307, headers={"Location": elsewhere}))

    with pytest.raises(ApiError):
        await caller.call("task", "t1")

    assert caller.site.canary.connections == 0


async def test_a_job_is_waited_for(caller: Caller) -> None:
    over = {**JOB, "status": "partially_completed", "failed_tasks": 1}
    caller.plan("/api/v1/scrape/jobs/j1", *[well(JOB)] * 4, well(over))

    job = await caller.call("wait_for_job", "j1")

    assert job.status is JobStatus.PARTIALLY_COMPLETED
    assert len(caller.hits) == 5
    assert caller.slept == sorted(caller.slept)


async def test_a_cancelled_job_is_over_when_its_running_tasks_are(caller: Caller) -> None:
    cancelled = {**JOB, "status": "cancelled"}
    caller.plan("/api/v1/scrape/jobs/j1", well(cancelled), well({**cancelled, "failed_tasks": 1}))

    assert (await caller.call("wait_for_job", "j1")).failed_tasks == 1


async def test_a_job_that_takes_too_long_is_not_waited_for(caller: Caller) -> None:
    caller.plan("/api/v1/scrape/jobs/j1", well(JOB))

    with pytest.raises(NotInTime, match="running"):
        await caller.call("wait_for_job", "j1", within=10)

    assert sum(caller.slept) <= 10


def stream(*blocks: str, whole: bool = True) -> Raw:
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    head += "Connection: close\r\n" if whole else "Content-Length: 100000\r\n"
    return Raw.of(f"{head}\r\n{''.join(blocks)}".encode())


async def test_a_job_is_watched_to_its_end(caller: Caller) -> None:
    caller.plan(
        "/api/v1/scrape/jobs/j1/events",
        stream(
            ": a sign of life\n\n",
            'id: 1\nevent: task\ndata: {"task_id": "t1",\ndata: "status": "completed"}\n\n',
            'id: 2\nevent: job\ndata: {"status": "completed"}\n\n',
            'event: end\ndata: {"status": "completed"}\n\n',
        ),
    )

    first, last, end = await caller.all_of("watch_job", "j1")

    assert (first.id, first.name) == ("1", "task")
    assert first.data == {"task_id": "t1", "status": "completed"}
    assert (last.name, last.data) == ("job", {"status": "completed"})
    assert end.name == "end"


async def test_a_stream_that_breaks_is_taken_up_where_it_broke(caller: Caller) -> None:
    caller.plan(
        "/api/v1/scrape/jobs/j1/events",
        ill(503),
        stream('id: 7\ndata: {"n": 1}\n\n', 'data: {"n": "half', whole=False),
        stream('id: 8\ndata: {"n": 2}\n\n'),
        stream("event: end\ndata: {}\n\n"),
    )

    events = await caller.all_of("watch_job", "j1")

    assert [event.data for event in events] == [{"n": 1}, {"n": 2}, {}]
    assert [hit.headers.get("Last-Event-ID") for hit in caller.hits] == [None, None, "7", "8"]


async def test_a_stream_that_is_refused_is_an_error(caller: Caller) -> None:
    caller.plan("/api/v1/scrape/jobs/j1/events", ill(404))

    with pytest.raises(NotFound):
        await caller.all_of("watch_job", "j1")


async def test_a_file_is_downloaded_from_the_service_only(caller: Caller) -> None:
    caller.plan("/api/v1/scrape/t1/files/screenshot", Reply(200, b"\x89PNG"))

    assert await caller.call("download", "/api/v1/scrape/t1/files/screenshot") == b"\x89PNG"
    for href in ("https://evil.example/x", "//evil.example/x"):
        with pytest.raises(ClientError, match="no file of this service"):
            await caller.call("download", href)


async def test_ids_stay_in_their_place(caller: Caller) -> None:
    caller.plan("/api/v1/scrape/..%2Fadmin", ill(404))

    with pytest.raises(NotFound):
        await caller.call("task", "../admin")
    with pytest.raises(ClientError):
        await caller.call("job", "..")


def test_what_is_no_url_is_refused_at_once() -> None:
    with pytest.raises(ClientError, match="http://host:8001"):
        Client("localhost:8001", "key")


def test_retry_after_is_read_in_both_of_its_forms() -> None:
    retrying = Retrying(now=lambda: datetime(2026, 3, 4, 12, tzinfo=UTC))

    assert retrying.read_retry_after("120") == 120.0
    assert retrying.read_retry_after("Wed, 04 Mar 2026 12:00:30 GMT") == 30.0
    assert retrying.read_retry_after("Wed, 04 Mar 2026 11:00:00 GMT") == 0.0
    assert retrying.read_retry_after("soon") is None
    assert retrying.read_retry_after(None) is None
