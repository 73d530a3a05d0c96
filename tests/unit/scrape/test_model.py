"""Sizes, places and fields of tasks and jobs."""

from itertools import pairwise

import pytest

from penstock.workloads.scrape.model import (
    ALONE,
    JobStatus,
    TargetType,
    fields_of,
    priority_of,
    status_of_job,
)
from penstock.workloads.scrape.requests import ScrapeRequest, digest_of


def test_smaller_jobs_come_before_larger_ones_and_single_tasks_before_all() -> None:
    places = [priority_of(tasks) for tasks in range(1, 101)]

    assert all(earlier <= later for earlier, later in pairwise(places))
    assert places[0] > ALONE
    assert set(places) == set(range(1, 10))


@pytest.mark.parametrize(
    ("counts", "running", "status"),
    [
        ((0, 0, 3), False, JobStatus.QUEUED),
        ((0, 0, 3), True, JobStatus.RUNNING),
        ((1, 0, 3), False, JobStatus.RUNNING),
        ((3, 0, 3), False, JobStatus.COMPLETED),
        ((0, 3, 3), False, JobStatus.FAILED),
        ((2, 1, 3), False, JobStatus.PARTIALLY_COMPLETED),
    ],
)
def test_the_status_of_a_job(
    counts: tuple[int, int, int], running: bool, status: JobStatus
) -> None:
    assert status_of_job(*counts, running=running) is status


def test_every_target_type_has_fields_by_the_names_of_its_results() -> None:
    assert "price" in fields_of(TargetType.PRODUCT)
    assert "price_minor" not in fields_of(TargetType.PRODUCT)
    assert "markdown" in fields_of(TargetType.PAGE)
    assert all(fields_of(each) for each in TargetType)


def test_requests_that_ask_for_the_same_have_the_same_digest() -> None:
    body = {"target_type": "page", "target_url": "http://a.example/", "workspace_id": "acme"}
    one = ScrapeRequest.model_validate(body)
    same = ScrapeRequest.model_validate(dict(reversed(body.items())))
    other = ScrapeRequest.model_validate({**body, "scroll": True})

    assert digest_of("task", one) == digest_of("task", same)
    assert digest_of("task", one) != digest_of("task", other)
    assert digest_of("task", one) != digest_of("batch", one)
