"""The nouns of the scrape service: target types, tasks, jobs, and what their states mean."""

import uuid
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from penstock.core.ids import new_id
from penstock.kernel.reading import OUTPUT_NAMES
from penstock.kernel.records import CompanyWebsite, JobPosting, LinkedInProfile, Product, Record

CANCELLED = "cancelled"
#: Places in the order of claims: tasks that stand alone, then those of jobs by size.
ALONE, FIRST_OF_JOBS, LAST_OF_JOBS = 0, 1, 9
LARGEST_JOB = 100


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


class JobStatus(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    PARTIALLY_COMPLETED = "partially_completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Format(StrEnum):
    """In which form a page is wanted."""

    HTML = "html"
    TEXT = "text"
    MARKDOWN = "markdown"
    SCREENSHOT = "screenshot"


PAGE_FIELDS = ("url", "status", "content_type", "title", *(each.value for each in Format))
RECORDS: Mapping[TargetType, type[Record]] = {
    TargetType.LINKEDIN_PROFILE: LinkedInProfile,
    TargetType.COMPANY_WEBSITE: CompanyWebsite,
    TargetType.JOB_POSTING: JobPosting,
    TargetType.PRODUCT: Product,
}


def fields_of(target_type: TargetType) -> tuple[str, ...]:
    """The names of the fields that a result of a target type has."""
    record = RECORDS.get(target_type)
    if record is None:
        return PAGE_FIELDS
    return tuple(OUTPUT_NAMES.get(name, name) for name in record.model_fields)


def new_uuid() -> str:
    """An id that sorts by the time it was made, as a UUID."""
    return str(uuid.UUID(new_id()))


def priority_of(tasks: int) -> int:
    """The place of a job's tasks in the order of claims: the smaller the job, the earlier."""
    span = LAST_OF_JOBS - FIRST_OF_JOBS
    return FIRST_OF_JOBS + min(span, (tasks - 1) * (span + 1) // LARGEST_JOB)


def status_of_job(completed: int, failed: int, total: int, *, running: bool = False) -> JobStatus:
    """What the ends of its tasks make of a job that was not cancelled."""
    if completed + failed < total:
        return JobStatus.RUNNING if running or completed or failed else JobStatus.QUEUED
    if not failed:
        return JobStatus.COMPLETED
    return JobStatus.PARTIALLY_COMPLETED if completed else JobStatus.FAILED


def is_over(row: Mapping[str, Any]) -> bool:
    """Whether all tasks of a job are over."""
    return bool(row["completed_tasks"] + row["failed_tasks"] >= row["total_tasks"])
