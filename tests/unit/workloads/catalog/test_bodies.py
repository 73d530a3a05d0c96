"""What admins send: what must be said, and what must not."""

from typing import Any

import pytest
from pydantic import ValidationError

from penstock.workloads.catalog.bodies import (
    DomainChanges,
    NewTasks,
    Revival,
    TaskAction,
    TaskChanges,
    TaskFilter,
)
from penstock.workloads.catalog.model import Status

URL = "https://shop.example/1"


def test_options_are_what_was_said() -> None:
    body = NewTasks(urls=[URL], priority=2, scheduled_at="1970-01-01T00:00:01Z")
    options = body.as_options()
    assert (options.priority, options.scheduled_at, options.crawl_frequency) == (2, 1000, None)


@pytest.mark.parametrize("more", [{}, {"urls": []}, {"urls": [URL], "sitemap_url": URL}])
def test_either_urls_or_a_sitemap_is_submitted(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="either urls or sitemap_url"):
        NewTasks(**more)


def test_a_filter_means_what_it_says() -> None:
    wanted = TaskFilter(ids=["0" * 32], status="failed", dead=False).as_filter()
    assert (wanted.ids, wanted.status, wanted.dead) == (("0" * 32,), Status.FAILED, False)


@pytest.mark.parametrize("said", [{}, {"ids": []}, {"domain": None, "status": None}])
def test_a_filter_that_says_nothing_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="all of them"):
        TaskFilter(**said)


@pytest.mark.parametrize(
    "said",
    [
        {"action": "prioritise"},
        {"action": "pause", "priority": 1},
        {"action": "retry", "accept": True},
        {"action": "forget"},
    ],
)
def test_an_action_has_what_belongs_to_it(said: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TaskAction(**said, filter={"status": "failed"})


def test_changes_are_only_what_was_named() -> None:
    assert TaskChanges(crawl_frequency=None).given() == {"crawl_frequency": None}
    assert DomainChanges(crawl_delay_seconds=0).given() == {"crawl_delay_seconds": 0}


@pytest.mark.parametrize("body", [{"priority": None}, {"max_retries": None}, {"priority": "1"}])
def test_what_must_be_a_number_is_one(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TaskChanges(**body)


def test_reviving_takes_a_word() -> None:
    with pytest.raises(ValidationError, match="or all"):
        Revival()
    assert Revival(all=True).as_filter().dead
    assert Revival(category="http").as_filter().category == "http"
