"""The calls of the API: what is sent for each, and how its answer is read. Without any network."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import uuid4

import orjson
from pydantic import BaseModel, ValidationError

from penstock.client.errors import ClientError, Refusal, error_of
from penstock.client.models import (
    Adapters,
    Job,
    JobAccepted,
    Page,
    Result,
    Target,
    Task,
    TaskAccepted,
    TaskSummary,
)

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
#: Data and meta of an answer.
Read = Callable[[Any, Mapping[str, Any]], T]

PREFIX = "/api/v1/scrape"
ADAPTERS = "/api/v1/adapters"
FIRST_ERROR = 400


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and how to read what comes back."""

    method: str
    path: str
    read: Read[T]
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Seconds that the service may take to answer, beyond what is usual.
    patience: float = 0.0
    #: Whether it may be sent again when its answer was lost.
    repeats: bool = True


def scrape(target: Target, idempotency_key: str | None) -> Call[TaskAccepted]:
    return _submit("", target.as_json(), read_as(TaskAccepted), idempotency_key)


def scrape_sync(target: Target, timeout: int, idempotency_key: str | None) -> Call[Task]:
    body = {**target.as_json(), "timeout_seconds": timeout}
    # Without a key unless the caller has one: what was broken off has to begin anew.
    headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
    return Call("POST", f"{PREFIX}/sync", read_as(Task), body, headers=headers, patience=timeout)


def batch(
    targets: Iterable[Target], callback_url: str | None, idempotency_key: str | None
) -> Call[JobAccepted]:
    body: dict[str, Any] = {"targets": [target.as_json() for target in targets]}
    if callback_url is not None:
        body["callback_url"] = callback_url
    return _submit("/batch", body, read_as(JobAccepted), idempotency_key)


def task(task_id: str) -> Call[Task]:
    return Call("GET", f"{PREFIX}/{part_of_path(task_id)}", read_as(Task))


def job(job_id: str) -> Call[Job]:
    return Call("GET", path_of_job(job_id), read_as(Job))


def cancel(job_id: str) -> Call[Job]:
    return Call("POST", f"{path_of_job(job_id)}/cancel", read_as(Job))


def results(job_id: str, cursor: str | None, limit: int | None) -> Call[Page[Result]]:
    query = given(cursor=cursor, limit=limit)
    return Call("GET", f"{path_of_job(job_id)}/results", page_of(Result), query=query)


def tasks(**wanted: Any) -> Call[Page[TaskSummary]]:
    return Call("GET", PREFIX, page_of(TaskSummary), query=given(**wanted))


def jobs(**wanted: Any) -> Call[Page[Job]]:
    return Call("GET", f"{PREFIX}/jobs", page_of(Job), query=given(**wanted))


def adapters() -> Call[Adapters]:
    return Call("GET", ADAPTERS, read_as(Adapters))


def events(job_id: str) -> Call[Any]:
    return Call("GET", f"{path_of_job(job_id)}/events", as_it_is)


def file(href: str) -> Call[Any]:
    """A file of a task; only of this service, which is the only one to see our key."""
    if not href.startswith("/") or href.startswith("//"):
        raise ClientError(f"{href!r} is no file of this service")
    return Call("GET", href, as_it_is)


def path_of_job(job_id: str) -> str:
    """Where a job is."""
    return f"{PREFIX}/jobs/{part_of_path(job_id)}"


def read_answer(call: Call[T], content: bytes) -> T:
    """The data of an answer that is well; a `ClientError` if it is not what it should be."""
    try:
        envelope = orjson.loads(content) if content else {"data": None}
        return call.read(envelope["data"], envelope.get("meta") or {})
    except (orjson.JSONDecodeError, ValidationError, KeyError, TypeError) as error:
        raise ClientError(f"{call.method} {call.path}: this is no answer of Penstock") from error


def read_refusal(
    status: int, content: bytes, request_id: str, retry_after: float | None
) -> ClientError:
    """The exception for an answer that is not well, whoever gave it."""
    try:
        envelope = orjson.loads(content)
        error, meta = str(envelope["error"]), envelope.get("meta") or {}
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        error, meta = "no answer of Penstock", {}
    return error_of(Refusal(status, error, meta, request_id, retry_after))


def _submit(path: str, body: Any, read: Read[T], idempotency_key: str | None) -> Call[T]:
    """A submission; its key makes sure that repeating it is safe."""
    headers = {"Idempotency-Key": idempotency_key or str(uuid4())}
    return Call("POST", f"{PREFIX}{path}", read, body, headers=headers)


def as_it_is(data: Any, meta: Mapping[str, Any]) -> Any:
    """Plain data."""
    del meta
    return data


def read_nothing(data: Any, meta: Mapping[str, Any]) -> None:
    """There is nothing to read."""
    del data, meta


def read_as(kind: type[M]) -> Read[M]:
    """One thing."""
    return lambda data, _: kind.model_validate(data)


def page_of(kind: type[M]) -> Read[Page[M]]:
    """A part of a list."""

    def read(data: Any, meta: Mapping[str, Any]) -> Page[M]:
        items = tuple(kind.model_validate(each) for each in data)
        return Page[M](items=items, next_cursor=meta.get("next_cursor"))

    return read


def given(**wanted: Any) -> dict[str, Any]:
    """What was said, without what was left out."""
    return {name: value for name, value in wanted.items() if value is not None}


def part_of_path(name: str) -> str:
    """An id as one part of a path."""
    if name in ("", ".", ".."):
        raise ClientError(f"{name!r} is no id")
    return quote(name, safe="")
