"""The calls of the API: what is sent for each, and how its answer is read. Without any network."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import uuid4

import orjson
from pydantic import BaseModel

from penstock.client.errors import ClientError, Refusal, error_of
from penstock.client.models import (
    Adapters,
    Job,
    JobAccepted,
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

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
#: What the bytes of an answer say.
Read = Callable[[bytes], T]

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


def results(cursor: str | None, job_id: str, at_once: int | None) -> Call[Page[Result]]:
    query = given(cursor=cursor, limit=at_once)
    path = f"{path_of_job(job_id)}/results"
    return Call("GET", path, page_of(Result.model_validate), query=query)


def tasks(
    cursor: str | None,
    *,
    workspace_id: str | None = None,
    status: TaskStatus | None = None,
    target_type: TargetType | None = None,
    job_id: str | None = None,
    limit: int | None = None,
) -> Call[Page[TaskSummary]]:
    wanted = {"workspace_id": workspace_id, "status": status, "target_type": target_type}
    query = given(**wanted, job_id=job_id, cursor=cursor, limit=limit)
    return Call("GET", PREFIX, page_of(TaskSummary.model_validate), query=query)


def jobs(
    cursor: str | None,
    *,
    workspace_id: str | None = None,
    status: JobStatus | None = None,
    limit: int | None = None,
) -> Call[Page[Job]]:
    query = given(workspace_id=workspace_id, status=status, cursor=cursor, limit=limit)
    return Call("GET", f"{PREFIX}/jobs", page_of(Job.model_validate), query=query)


def adapters() -> Call[Adapters]:
    return Call("GET", ADAPTERS, read_as(Adapters))


def events(job_id: str) -> Call[bytes]:
    return Call("GET", f"{path_of_job(job_id)}/events", read_bytes)


def file(href: str) -> Call[bytes]:
    """A file of a task; only of this service, which is the only one to see our key."""
    if not href.startswith("/") or href.startswith("//"):
        raise ClientError(f"{href!r} is no file of this service")
    return Call("GET", href, read_bytes)


def path_of_job(job_id: str) -> str:
    """Where a job is."""
    return f"{PREFIX}/jobs/{part_of_path(job_id)}"


def read_answer(call: Call[T], content: bytes) -> T:
    """What an answer that is well gives; a `ClientError` if it is not what it should be."""
    try:
        return call.read(content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ClientError(f"{call.method} {call.path}: this is no answer of Penstock") from error


def read_refusal(
    status: int, content: bytes, request_id: str, retry_after: float | None
) -> ClientError:
    """The exception for an answer that is not well, whoever gave it."""
    envelope = envelope_of(content)
    error, meta = envelope.get("error", "no answer of Penstock"), envelope.get("meta")
    known = meta if isinstance(meta, dict) else {}
    return error_of(Refusal(status, str(error), known, request_id, retry_after))


def envelope_of(content: bytes) -> Mapping[str, Any]:
    """The envelope of an answer that is not well; an empty one if it came in none."""
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _submit(path: str, body: Any, read: Read[T], idempotency_key: str | None) -> Call[T]:
    """A submission; its key makes sure that repeating it is safe."""
    headers = {"Idempotency-Key": idempotency_key or str(uuid4())}
    return Call("POST", f"{PREFIX}{path}", read, body, headers=headers)


def read_bytes(content: bytes) -> bytes:
    """A file as it is."""
    return content


def read_nothing(content: bytes) -> None:
    """There is nothing to read."""
    del content


def opened(content: bytes) -> tuple[Any, Mapping[str, Any]]:
    """Data and meta, out of their envelope."""
    envelope = orjson.loads(content)
    return envelope["data"], envelope.get("meta") or {}


def plain(content: bytes) -> Any:
    """Data as it is."""
    return opened(content)[0]


def read_as(kind: type[M]) -> Read[M]:
    """One thing."""
    return lambda content: kind.model_validate(plain(content))


def list_of(read_one: Callable[[Any], T]) -> Read[list[T]]:
    """A whole list."""
    return lambda content: [read_one(each) for each in plain(content)]


def page_of(read_one: Callable[[Any], T]) -> Read[Page[T]]:
    """A part of a list."""

    def read(content: bytes) -> Page[T]:
        data, meta = opened(content)
        items = tuple(read_one(each) for each in data)
        return Page[T](items=items, next_cursor=meta.get("next_cursor"))

    return read


def given(**wanted: Any) -> dict[str, Any]:
    """What was said, without what was left out."""
    return {name: value for name, value in wanted.items() if value is not None}


def part_of_path(name: str) -> str:
    """An id as one part of a path."""
    if name in ("", ".", ".."):
        raise ClientError(f"{name!r} is no id")
    return quote(name, safe="")
