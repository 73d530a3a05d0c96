"""What a client sends and gets; fields that it does not know yet are passed over."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")


class Model(BaseModel):
    """Frozen data from the service."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class TargetType(StrEnum):
    """What is wanted from a page."""

    LINKEDIN_PROFILE = "linkedin_profile"
    COMPANY_WEBSITE = "company_website"
    JOB_POSTING = "job_posting"
    PRODUCT = "product"
    PAGE = "page"


class TaskStatus(StrEnum):
    """Where a task stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        return self in (TaskStatus.COMPLETED, TaskStatus.FAILED)


class JobStatus(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    PARTIALLY_COMPLETED = "partially_completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Target(BaseModel):
    """One page, and what is wanted from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    target_type: TargetType
    target_url: str
    workspace_id: str
    requested_fields: tuple[str, ...] | None = None
    callback_url: str | None = None
    formats: tuple[Literal["html", "text", "markdown", "screenshot"], ...] | None = None
    fetcher: Literal["http", "browser"] | None = None
    wait_for: str | None = None
    scroll: bool | None = None

    def as_json(self) -> dict[str, Any]:
        """What is sent; nothing that was left out."""
        return self.model_dump(mode="json", exclude_none=True)


class TaskAccepted(Model):
    """A task that was taken on."""

    task_id: str
    status: TaskStatus


class JobAccepted(Model):
    """A job that was taken on."""

    job_id: str
    status: JobStatus = JobStatus.QUEUED
    total_tasks: int
    task_ids: tuple[str, ...] = ()


class File(Model):
    """Something of a page that is kept beside its result."""

    href: str
    media_type: str
    bytes: int


class TaskSummary(Model):
    """A task in a list: without what came of it."""

    task_id: str
    job_id: str | None = None
    target_type: TargetType
    target_url: str
    workspace_id: str
    status: TaskStatus
    error: str | None = None
    created_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None


class Task(TaskSummary):
    """A task; `result` is there if it is completed, `error` if it failed."""

    requested_fields: tuple[str, ...] | None = None
    callback_url: str | None = None
    result: dict[str, Any] | None = None
    files: Mapping[str, File] = Field(default_factory=dict)
    expires_at: datetime | None = None


class Job(Model):
    """A job and how far it is."""

    job_id: str
    workspace_id: str = ""
    status: JobStatus
    total_tasks: int
    completed_tasks: int
    failed_tasks: int
    callback_url: str | None = None
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None = None
    expires_at: datetime | None = None

    @property
    def is_over(self) -> bool:
        """Whether all of its tasks ended; a cancelled job may still have running ones."""
        return self.completed_tasks + self.failed_tasks >= self.total_tasks


class Result(Model):
    """What came of one completed task."""

    task_id: str
    target_type: TargetType
    target_url: str
    result: dict[str, Any]
    files: Mapping[str, File] = Field(default_factory=dict)


class JobEvent(Model):
    """Something that happened to a job, as its stream tells it."""

    id: str = ""
    name: str = "message"
    data: dict[str, Any] = Field(default_factory=dict)


class Adapter(Model):
    """Somebody who can read pages."""

    id: str
    version: str
    gives: str
    domains: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    needs_browser: bool = False


class TargetTypeFields(Model):
    """A target type and the fields of its results."""

    target_type: TargetType
    fields: tuple[str, ...]


class Adapters(Model):
    """What can be asked for, and who reads it."""

    target_types: tuple[TargetTypeFields, ...] = ()
    adapters: tuple[Adapter, ...] = ()


class Page(BaseModel, Generic[T]):
    """A part of a list; `next_cursor` asks for the next one, if there is more."""

    model_config = ConfigDict(frozen=True)

    items: tuple[T, ...]
    next_cursor: str | None = None


class Summary(Model):
    """How many tasks there were, and how they ended."""

    total: int
    completed: int
    failed: int


class Webhook(Model):
    """What a callback says: of a job, or of a task that stands alone."""

    id: str = ""
    job_id: str | None = None
    task_id: str | None = None
    status: str
    summary: Summary
    results: tuple[dict[str, Any], ...] | None = None
