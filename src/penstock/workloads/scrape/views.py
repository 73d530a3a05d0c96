"""Tasks and jobs as callers see them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from penstock.workloads.scrape.model import JobStatus, TargetType, TaskStatus

A_TIME = "2026-03-04T12:00:00.000Z"
AN_ID = "019570c2-51f0-7c3a-9c1e-2f6f0a3b4c5d"


class TaskAccepted(BaseModel):
    """A task that was taken on."""

    task_id: str = Field(examples=[AN_ID])
    status: TaskStatus


class JobAccepted(BaseModel):
    """A job that was taken on."""

    job_id: str = Field(examples=[AN_ID])
    status: JobStatus
    total_tasks: int
    task_ids: list[str]


class FileView(BaseModel):
    """Something of a page that is kept beside its result."""

    href: str
    media_type: str
    bytes: int


class TaskView(BaseModel):
    """A task; `result` is there if it is completed, `error` if it failed."""

    task_id: str = Field(examples=[AN_ID])
    job_id: str | None
    target_type: TargetType
    target_url: str
    requested_fields: list[str] | None
    workspace_id: str
    callback_url: str | None
    status: TaskStatus
    result: dict[str, Any] | None
    files: dict[str, FileView]
    error: str | None
    created_at: str = Field(examples=[A_TIME])
    started_at: str | None
    completed_at: str | None
    expires_at: str | None


class TaskSummary(BaseModel):
    """A task in a list: without what came of it."""

    task_id: str
    job_id: str | None
    target_type: TargetType
    target_url: str
    workspace_id: str
    status: TaskStatus
    error: str | None
    created_at: str
    started_at: str | None
    completed_at: str | None


class JobView(BaseModel):
    """A job and how far it is."""

    job_id: str = Field(examples=[AN_ID])
    workspace_id: str
    status: JobStatus
    total_tasks: int
    completed_tasks: int
    failed_tasks: int
    callback_url: str | None
    created_at: str = Field(examples=[A_TIME])
    updated_at: str
    completed_at: str | None
    expires_at: str | None


class ResultView(BaseModel):
    """What came of one completed task."""

    task_id: str
    target_type: TargetType
    target_url: str
    status: Literal["completed"]
    result: dict[str, Any]
    files: dict[str, FileView]


class AdapterView(BaseModel):
    """Somebody who can read pages."""

    id: str
    version: str
    gives: str
    domains: list[str]
    urls: list[str]
    needs_browser: bool


class TargetTypeView(BaseModel):
    """A target type and the fields of its results."""

    target_type: TargetType
    fields: list[str]


class AdaptersView(BaseModel):
    """What can be asked for, and who reads it."""

    target_types: list[TargetTypeView]
    adapters: list[AdapterView]


def moment(milliseconds: int | None) -> str | None:
    """A time of the store as ISO 8601 in UTC."""
    if milliseconds is None:
        return None
    at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def view_task(row: Mapping[str, Any]) -> dict[str, Any]:
    """A task with everything that there is to say of it."""
    is_completed = row["status"] == TaskStatus.COMPLETED
    return {
        **summarise_task(row),
        "requested_fields": row["requested_fields"],
        "callback_url": row["callback_url"],
        "result": row["result"] if is_completed else None,
        "files": view_files(row) if is_completed else {},
        "expires_at": moment(row["expires_at"]),
    }


def summarise_task(row: Mapping[str, Any]) -> dict[str, Any]:
    """A task for a list."""
    return {
        "task_id": row["id"],
        "job_id": row["job_id"],
        "target_type": row["target_type"],
        "target_url": row["target_url"],
        "workspace_id": row["workspace_id"],
        "status": row["status"],
        "error": row["error"],
        "created_at": moment(row["created_at"]),
        "started_at": moment(row["started_at"]),
        "completed_at": moment(row["completed_at"]),
    }


def view_job(row: Mapping[str, Any]) -> dict[str, Any]:
    """A job with its progress."""
    names = ("workspace_id", "status", "total_tasks", "completed_tasks", "failed_tasks")
    return {
        "job_id": row["id"],
        **{name: row[name] for name in names},
        "callback_url": row["callback_url"],
        "created_at": moment(row["created_at"]),
        "updated_at": moment(row["updated_at"]),
        "completed_at": moment(row["completed_at"]),
        "expires_at": moment(row["expires_at"]),
    }


def result_entry(row: Mapping[str, Any]) -> dict[str, Any]:
    """What came of a completed task, for a job's results and for callbacks."""
    return {
        "task_id": row["id"],
        "target_type": row["target_type"],
        "target_url": row["target_url"],
        "status": row["status"],
        "result": row["result"],
        "files": view_files(row),
    }


def view_files(row: Mapping[str, Any]) -> dict[str, Any]:
    """Where the files of a task can be had."""
    return {
        name: {
            "href": f"/api/v1/scrape/{row['id']}/files/{name}",
            "media_type": file["media_type"],
            "bytes": file["bytes"],
        }
        for name, file in row.get("files", {}).items()
    }
