"""The client for programs that block.

It repeats what is worth it: when the service is busy, as long as it says; when it is not reached,
later each time. Submissions carry an Idempotency-Key, so that repeating them is safe.
"""

import time
from collections.abc import Callable, Iterable, Iterator
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
from penstock.client.groups import Blocking
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


class Client:
    """The API for programs that block; use it in a `with` block, and from one thread at a time."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = TIMEOUT,
        retrying: Retrying | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout = timeout
        self._retrying = retrying or Retrying()
        self._sleep = sleep
        self._monotonic = monotonic
        self._http = httpx.Client(**http_options(url, key, timeout), transport=transport)
        #: The price monitor.
        self.monitor = Monitor[Blocking](self)
        #: The product crawler.
        self.catalog = Catalog[Blocking](self)
        #: The page fetcher's queue, events and dead letters.
        self.stream = Stream[Blocking](self)
        #: Pages that change by the second.
        self.live = Live[Blocking](self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up all connections."""
        self._http.close()

    def scrape(self, target: Target, *, idempotency_key: str | None = None) -> TaskAccepted:
        """Have a page scraped; the task is carried out when its turn comes."""
        return self.do(calls.scrape(target, idempotency_key))

    def scrape_sync(
        self, target: Target, *, timeout_seconds: int = 60, idempotency_key: str | None = None
    ) -> Task:
        """Have a page scraped now, and wait for it: 5 to 120 seconds."""
        return self.do(calls.scrape_sync(target, timeout_seconds, idempotency_key))

    def batch(
        self,
        targets: Iterable[Target],
        *,
        callback_url: str | None = None,
        idempotency_key: str | None = None,
    ) -> JobAccepted:
        """Have up to 100 pages scraped as one job."""
        return self.do(calls.batch(targets, callback_url, idempotency_key))

    def task(self, task_id: str) -> Task:
        """A task, with its result if it is completed."""
        return self.do(calls.task(task_id))

    def job(self, job_id: str) -> Job:
        """A job, and how far it is."""
        return self.do(calls.job(job_id))

    def cancel(self, job_id: str) -> Job:
        """Drop what of a job has not begun; what is running comes to its end."""
        return self.do(calls.cancel(job_id))

    def results(self, job_id: str, *, at_once: int | None = None) -> Iterator[Result]:
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
    ) -> Iterator[TaskSummary]:
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

    def tasks_page(self, *, cursor: str | None = None, **wanted: Any) -> Page[TaskSummary]:
        """A part of the list of tasks, of `limit` at most; filters as in `tasks`."""
        return self.do(calls.tasks(cursor, **wanted))

    def jobs(
        self,
        *,
        workspace_id: str | None = None,
        status: JobStatus | None = None,
        at_once: int | None = None,
    ) -> Iterator[Job]:
        """All jobs, newest first; `at_once` are asked for at a time."""
        next_part = partial(calls.jobs, workspace_id=workspace_id, status=status, limit=at_once)
        return self.go_through(next_part)

    def jobs_page(self, *, cursor: str | None = None, **wanted: Any) -> Page[Job]:
        """A part of the list of jobs, of `limit` at most; filters as in `jobs`."""
        return self.do(calls.jobs(cursor, **wanted))

    def adapters(self) -> Adapters:
        """What can be asked for, and who reads it."""
        return self.do(calls.adapters())

    def download(self, href: str) -> bytes:
        """The bytes of a file that a task or result names."""
        return self.do(calls.file(href))

    def wait_for_job(self, job_id: str, *, within: float | None = None) -> Job:
        """Look at a job until all of its tasks ended; `NotInTime` if that takes too long."""
        give_up_at = None if within is None else self._monotonic() + within
        for pause in looks():
            job = self.job(job_id)
            if job.is_over:
                return job
            if give_up_at is not None and self._monotonic() + pause > give_up_at:
                break
            self._sleep(pause)
        raise NotInTime(f"job {job_id} is {job.status} after {within} seconds")

    def watch_job(self, job_id: str) -> Iterator[JobEvent]:
        """What happens to a job, as it happens; ends with the job."""
        return self.watch(calls.events(job_id))

    def watch(self, call: Call[bytes]) -> Iterator[JobEvent]:
        """What a stream tells, to its end; one that breaks is taken up again."""
        attempts, reader = Attempts(call, self._retrying), reader_of(call)
        while True:
            try:
                stream = self._http.stream("GET", call.path, **stream_options(reader))
                with stream as response:
                    if response.status_code >= FIRST_ERROR:
                        response.read()
                        pause = attempts.refused(response)
                    else:
                        for line in response.iter_lines():
                            for event in reader.feed(line):
                                yield event
                                if event.name == END:
                                    return
                                attempts = Attempts(call, self._retrying)
                        pause = attempts.failed()
            except httpx.RequestError as error:
                pause = attempts.failed(error)
            reader.begin()
            self._sleep(pause)

    def go_through(self, next_part: Callable[[str | None], Call[Page[T]]]) -> Iterator[T]:
        """Everything in a list that comes in parts."""
        cursor: str | None = None
        while True:
            page = self.do(next_part(cursor))
            yield from page.items
            if (cursor := page.next_cursor) is None:
                return

    def do(self, call: Call[T]) -> T:
        """What a call gives."""
        return calls.read_answer(call, self._send(call).content)

    def _send(self, call: Call[Any]) -> httpx.Response:
        attempts = Attempts(call, self._retrying)
        while True:
            try:
                response = self._http.request(**request_options(call, self._timeout))
            except httpx.RequestError as error:
                pause = attempts.failed(error)
            else:
                if response.is_success:
                    return response
                pause = attempts.refused(response)
            self._sleep(pause)
