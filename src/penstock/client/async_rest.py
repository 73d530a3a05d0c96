"""The client for programs on asyncio: the same calls as `rest`, awaited."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from penstock.client import calls
from penstock.client.calls import FIRST_ERROR, Call
from penstock.client.catalog import Catalog
from penstock.client.errors import NotInTime
from penstock.client.exchange import (
    END,
    TIMEOUT,
    Attempts,
    http_options,
    looks,
    reader_of,
    request_options,
    stream_options,
)
from penstock.client.groups import Awaited
from penstock.client.live import Live
from penstock.client.models import (
    Adapters,
    Job,
    JobAccepted,
    JobEvent,
    JobStatus,
    Page,
    Result,
    Target,
    TargetType,
    Task,
    TaskAccepted,
    TaskStatus,
    TaskSummary,
)
from penstock.client.monitor import Monitor
from penstock.client.retrying import Retrying
from penstock.client.stream_calls import Stream

T = TypeVar("T")


class AsyncClient:
    """The API for programs on asyncio; use it in an `async with` block."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = TIMEOUT,
        retrying: Retrying | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout = timeout
        self._retrying = retrying or Retrying()
        self._sleep = sleep
        self._monotonic = monotonic
        self._http = httpx.AsyncClient(**http_options(url, key, timeout), transport=transport)
        #: The price monitor.
        self.monitor = Monitor[Awaited](self)
        #: The product crawler.
        self.catalog = Catalog[Awaited](self)
        #: The page fetcher's queue, events and dead letters.
        self.stream = Stream[Awaited](self)
        #: Pages that change by the second.
        self.live = Live[Awaited](self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Give up all connections."""
        await self._http.aclose()

    async def scrape(self, target: Target, *, idempotency_key: str | None = None) -> TaskAccepted:
        """Have a page scraped; the task is carried out when its turn comes."""
        return await self.do(calls.scrape(target, idempotency_key))

    async def scrape_sync(
        self, target: Target, *, timeout_seconds: int = 60, idempotency_key: str | None = None
    ) -> Task:
        """Have a page scraped now, and wait for it: 5 to 120 seconds."""
        return await self.do(calls.scrape_sync(target, timeout_seconds, idempotency_key))

    async def batch(
        self,
        targets: Iterable[Target],
        *,
        callback_url: str | None = None,
        idempotency_key: str | None = None,
    ) -> JobAccepted:
        """Have up to 100 pages scraped as one job."""
        return await self.do(calls.batch(targets, callback_url, idempotency_key))

    async def task(self, task_id: str) -> Task:
        """A task, with its result if it is completed."""
        return await self.do(calls.task(task_id))

    async def job(self, job_id: str) -> Job:
        """A job, and how far it is."""
        return await self.do(calls.job(job_id))

    async def cancel(self, job_id: str) -> Job:
        """Drop what of a job has not begun; what is running comes to its end."""
        return await self.do(calls.cancel(job_id))

    def results(self, job_id: str, *, at_once: int | None = None) -> AsyncIterator[Result]:
        """What came of the completed tasks of a job, so far; `at_once` are asked for at a time."""
        return self.go_through(lambda cursor: calls.results(cursor, job_id, at_once))

    def tasks(
        self,
        *,
        workspace_id: str | None = None,
        status: TaskStatus | None = None,
        target_type: TargetType | None = None,
        job_id: str | None = None,
        at_once: int | None = None,
    ) -> AsyncIterator[TaskSummary]:
        """All tasks, newest first; `at_once` are asked for at a time."""
        next_part = partial(
            calls.tasks,
            workspace_id=workspace_id,
            status=status,
            target_type=target_type,
            job_id=job_id,
            limit=at_once,
        )
        return self.go_through(next_part)

    async def tasks_page(self, *, cursor: str | None = None, **wanted: Any) -> Page[TaskSummary]:
        """A part of the list of tasks, of `limit` at most; filters as in `tasks`."""
        return await self.do(calls.tasks(cursor, **wanted))

    def jobs(
        self,
        *,
        workspace_id: str | None = None,
        status: JobStatus | None = None,
        at_once: int | None = None,
    ) -> AsyncIterator[Job]:
        """All jobs, newest first; `at_once` are asked for at a time."""
        next_part = partial(calls.jobs, workspace_id=workspace_id, status=status, limit=at_once)
        return self.go_through(next_part)

    async def jobs_page(self, *, cursor: str | None = None, **wanted: Any) -> Page[Job]:
        """A part of the list of jobs, of `limit` at most; filters as in `jobs`."""
        return await self.do(calls.jobs(cursor, **wanted))

    async def adapters(self) -> Adapters:
        """What can be asked for, and who reads it."""
        return await self.do(calls.adapters())

    async def download(self, href: str) -> bytes:
        """The bytes of a file that a task or result names."""
        return await self.do(calls.file(href))

    async def wait_for_job(self, job_id: str, *, within: float | None = None) -> Job:
        """Look at a job until all of its tasks ended; `NotInTime` if that takes too long."""
        give_up_at = None if within is None else self._monotonic() + within
        for pause in looks():
            job = await self.job(job_id)
            if job.is_over:
                return job
            if give_up_at is not None and self._monotonic() + pause > give_up_at:
                break
            await self._sleep(pause)
        raise NotInTime(f"job {job_id} is {job.status} after {within} seconds")

    def watch_job(self, job_id: str) -> AsyncIterator[JobEvent]:
        """What happens to a job, as it happens; ends with the job."""
        return self.watch(calls.events(job_id))

    async def watch(self, call: Call[bytes]) -> AsyncIterator[JobEvent]:
        """What a stream tells, to its end; one that breaks is taken up again."""
        attempts, reader = Attempts(call, self._retrying), reader_of(call)
        while True:
            try:
                stream = self._http.stream("GET", call.path, **stream_options(reader))
                async with stream as response:
                    if response.status_code >= FIRST_ERROR:
                        await response.aread()
                        pause = attempts.refused(response)
                    else:
                        async for line in response.aiter_lines():
                            for event in reader.feed(line):
                                yield event
                                if event.name == END:
                                    return
                                attempts = Attempts(call, self._retrying)
                        pause = attempts.failed()
            except httpx.RequestError as error:
                pause = attempts.failed(error)
            reader.begin()
            await self._sleep(pause)

    async def go_through(
        self, next_part: Callable[[str | None], Call[Page[T]]]
    ) -> AsyncIterator[T]:
        """Everything in a list that comes in parts."""
        cursor: str | None = None
        while True:
            page = await self.do(next_part(cursor))
            for item in page.items:
                yield item
            if (cursor := page.next_cursor) is None:
                return

    async def do(self, call: Call[T]) -> T:
        """What a call gives."""
        return calls.read_answer(call, (await self._send(call)).content)

    async def _send(self, call: Call[Any]) -> httpx.Response:
        attempts = Attempts(call, self._retrying)
        while True:
            try:
                response = await self._http.request(**request_options(call, self._timeout))
            except httpx.RequestError as error:
                pause = attempts.failed(error)
            else:
                if response.is_success:
                    return response
                pause = attempts.refused(response)
            await self._sleep(pause)
