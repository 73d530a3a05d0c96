"""The calls of the product crawler: what is sent for each, and how its answer is read.

Filters and fields that are None are not sent. Lists are gone through to their end, part by part;
`at_once` is the size of a part. A call that would do something twice if it were repeated is not
repeated after an answer that got lost.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from penstock.client.calls import (
    Call,
    Read,
    given,
    page_of,
    part_of_path,
    plain,
    read_as,
    read_bytes,
)
from penstock.client.catalog_models import (
    CrawlProgress,
    CrawlStatus,
    CrawlTask,
    Submission,
)
from penstock.client.models import Page

T = TypeVar("T")
ADMIN = "/api/v1/admin"
#: Many URLs take a while to be taken on.
SUBMIT_SECONDS = 60.0
Row = dict[str, Any]
Time = datetime | None


def get(path: str, read: Read[T], **query: Any) -> Call[T]:
    """A question; what is None is left out."""
    return Call("GET", path, read, query=given(**query))


def _post(path: str, read: Read[T], body: Any = None, *, repeats: bool = False) -> Call[T]:
    return Call("POST", f"{ADMIN}{path}", read, body, repeats=repeats)


def _at(group: str, name: str, *more: str) -> str:
    return "/".join((f"/{group}", part_of_path(name), *more))


def iso(at: Time) -> str | None:
    """A time as it is sent."""
    return at.isoformat() if at else None


def _as_is(row: Any) -> Row:
    found: Row = row
    return found


def switch(group: str, name: str, read: Read[T]) -> Callable[[str], Call[T]]:
    """A call that puts something in a state, by its id; again and again is as once."""

    def put(identity: str) -> Call[T]:
        return _post(_at(group, identity, name), read, repeats=True)

    put.__name__, put.__doc__ = name, f"{name.capitalize()} one of the {group}, by its id."
    return put


# ── submissions


def submit(
    urls: Sequence[str],
    *,
    priority: int | None = None,
    crawl_frequency: int | None = None,
    max_retries: int | None = None,
    scheduled_at: Time = None,
    parser: str | None = None,
    recrawl: bool = False,
) -> Call[Submission]:
    """Have up to 10,000 pages crawled; `crawl_frequency` is seconds, 0 for once."""
    options = given(
        priority=priority,
        crawl_frequency=crawl_frequency,
        max_retries=max_retries,
        scheduled_at=iso(scheduled_at),
        parser=parser,
    )
    return _submit({"urls": list(urls), "recrawl": recrawl, **options})


def submit_sitemap(
    sitemap_url: str,
    *,
    priority: int | None = None,
    crawl_frequency: int | None = None,
    max_retries: int | None = None,
    scheduled_at: Time = None,
    parser: str | None = None,
    recrawl: bool = False,
) -> Call[Submission]:
    """Have all pages crawled that a sitemap lists; a worker reads it."""
    options = given(
        priority=priority,
        crawl_frequency=crawl_frequency,
        max_retries=max_retries,
        scheduled_at=iso(scheduled_at),
        parser=parser,
    )
    return _submit({"sitemap_url": sitemap_url, "recrawl": recrawl, **options})


def _submit(body: Row) -> Call[Submission]:
    path, read = f"{ADMIN}/tasks", read_as(Submission)
    return Call("POST", path, read, body, patience=SUBMIT_SECONDS, repeats=False)


def submission(submission_id: str) -> Call[CrawlProgress]:
    """How far a submission has come."""
    return get(f"{ADMIN}{_at('submissions', submission_id)}", read_as(CrawlProgress))


def submissions(cursor: str | None, /, *, at_once: int | None = None) -> Call[Page[Submission]]:
    """All submissions, newest first."""
    read = page_of(Submission.model_validate)
    return get(f"{ADMIN}/submissions", read, cursor=cursor, limit=at_once)


def watch(submission_id: str) -> Call[bytes]:
    """The progress of a submission as it is made: `progress` events, and `end`."""
    return get(f"{ADMIN}{_at('submissions', submission_id, 'events')}", read_bytes)


# ── tasks


def tasks(
    cursor: str | None,
    /,
    *,
    domain: str | None = None,
    submission: str | None = None,
    status: CrawlStatus | None = None,
    paused: bool | None = None,
    dead: bool | None = None,
    category: str | None = None,
    error_type: str | None = None,
    url: str | None = None,
    priority: int | None = None,
    at_once: int | None = None,
) -> Call[Page[CrawlTask]]:
    """All tasks, oldest first; `url` is a part of theirs, `dead` ones failed for good."""
    wanted = {"domain": domain, "submission": submission, "status": status, "paused": paused}
    more = {"dead": dead, "category": category, "error_type": error_type, "url": url}
    read = page_of(CrawlTask.model_validate)
    place = {"priority": priority, "cursor": cursor, "limit": at_once}
    return get(f"{ADMIN}/tasks", read, **wanted, **more, **place)


def task(task_id: str) -> Call[CrawlTask]:
    """One task."""
    return get(f"{ADMIN}{_at('tasks', task_id)}", read_as(CrawlTask))


def edit_task(task_id: str, **changes: Any) -> Call[CrawlTask]:
    """Change priority, crawl_frequency, max_retries or parser; None is what its domain says."""
    path = f"{ADMIN}{_at('tasks', task_id)}"
    return Call("PATCH", path, read_as(CrawlTask), changes)


def task_counts(domain: str | None = None) -> Call[dict[str, int]]:
    """How many tasks there are in each status."""
    return get(f"{ADMIN}/tasks/counts", plain, domain=domain)


def attempts(cursor: str | None, /, task_id: str, *, at_once: int | None = None) -> Call[Page[Row]]:
    """What was tried for a task, newest first."""
    path = f"{ADMIN}{_at('tasks', task_id, 'attempts')}"
    return get(path, page_of(_as_is), cursor=cursor, limit=at_once)


def page(task_id: str) -> Call[bytes]:
    """The page of a task, as it was downloaded last."""
    return get(f"{ADMIN}{_at('tasks', task_id, 'page')}", read_bytes)


def retry(task_id: str) -> Call[CrawlTask]:
    """Crawl a task now that failed, as if for the first time."""
    return _post(_at("tasks", task_id, "retry"), read_as(CrawlTask))


def recrawl(task_id: str) -> Call[CrawlTask]:
    """Crawl a task now that is over."""
    return _post(_at("tasks", task_id, "recrawl"), read_as(CrawlTask))


def reparse(task_id: str, *, accept: bool = False) -> Call[CrawlTask]:
    """Parse a page again that is kept; `accept` says that what it costs is right."""
    return _post(_at("tasks", task_id, "reparse"), read_as(CrawlTask), {"accept": accept})


def act(
    action: str, *, priority: int | None = None, accept: bool = False, **wanted: Any
) -> Call[int]:
    """Do something to all tasks that fit: pause, resume, stop, retry, recrawl, reparse, prioritise.

    They are meant by ids, domain, submission, status, paused, dead, category, error_type, url.
    """
    body = {"action": action, "filter": given(**wanted), "accept": accept}
    return _post("/tasks/actions", _number("changed"), body | given(priority=priority))


# ── domains


def domains(
    cursor: str | None, /, *, active: bool | None = None, at_once: int | None = None
) -> Call[Page[Row]]:
    """All domains by name."""
    wanted = {"active": active, "cursor": cursor, "limit": at_once}
    return get(f"{ADMIN}/domains", page_of(_as_is), **wanted)


def domain(name_or_id: str) -> Call[Row]:
    """A domain with its tasks in numbers."""
    return get(f"{ADMIN}{_at('domains', name_or_id)}", plain)


def add_domain(
    domain: str,
    *,
    source: str | None = None,
    crawl_delay_seconds: int | None = None,
    max_concurrent_requests: int | None = None,
    crawl_frequency: int | None = None,
    parser: str | None = None,
) -> Call[Row]:
    """A new domain: active, and its products are shown to readers."""
    body = given(
        source=source,
        crawl_delay_seconds=crawl_delay_seconds,
        max_concurrent_requests=max_concurrent_requests,
        crawl_frequency=crawl_frequency,
        parser=parser,
    )
    return _post("/domains", plain, {"domain": domain, **body})


def edit_domain(name_or_id: str, **changes: Any) -> Call[Row]:
    """Change base_url, crawl_delay_seconds, max_concurrent_requests, crawl_frequency, parser."""
    return Call("PATCH", f"{ADMIN}{_at('domains', name_or_id)}", plain, changes)


# ── errors


def errors(
    cursor: str | None,
    /,
    *,
    domain: str | None = None,
    task_id: str | None = None,
    category: str | None = None,
    error_type: str | None = None,
    since: Time = None,
    at_once: int | None = None,
) -> Call[Page[Row]]:
    """All errors, newest first."""
    wanted = {"domain": domain, "task_id": task_id, "category": category, "limit": at_once}
    more = {"error_type": error_type, "since": iso(since), "cursor": cursor}
    return get(f"{ADMIN}/errors", page_of(_as_is), **wanted, **more)


def patterns(
    *, domain: str | None = None, since: Time = None, limit: int | None = None
) -> Call[list[Row]]:
    """What goes wrong most, by domain, category and type; of 7 days if not said."""
    wanted = {"domain": domain, "since": iso(since), "limit": limit}
    return get(f"{ADMIN}/errors/patterns", plain, **wanted)


def dead_letters(
    cursor: str | None,
    /,
    *,
    domain: str | None = None,
    category: str | None = None,
    error_type: str | None = None,
    at_once: int | None = None,
) -> Call[Page[Row]]:
    """Tasks that failed for good, and what put them there."""
    wanted = {"domain": domain, "category": category, "error_type": error_type}
    return get(f"{ADMIN}/dlq", page_of(_as_is), **wanted, cursor=cursor, limit=at_once)


def revive(
    ids: Sequence[str] | None = None,
    *,
    domain: str | None = None,
    category: str | None = None,
    error_type: str | None = None,
) -> Call[int]:
    """Try dead letters again: those that fit all that is given, or all; how many."""
    named = None if ids is None else list(ids)
    body = given(ids=named, domain=domain, category=category, error_type=error_type)
    return _post("/dlq/revive", _number("revived"), body or {"all": True})


def rates(*, domain: str | None = None, since: Time = None) -> Call[list[Row]]:
    """How many pages each version of a parser can read, by domain; of 7 days if not said."""
    return get(f"{ADMIN}/parsers", plain, domain=domain, since=iso(since))


def shadow(parser: str, *, since: Time = None) -> Call[list[Row]]:
    """How candidates that read beside a parser agreed with it; of 7 days if not said."""
    return get(f"{ADMIN}/parsers/shadow", plain, parser=parser, since=iso(since))


def _number(name: str) -> Read[int]:
    return lambda content: int(plain(content)[name])


# ── proxies


def proxies(
    cursor: str | None,
    /,
    *,
    active: bool | None = None,
    healthy: bool | None = None,
    at_once: int | None = None,
) -> Call[Page[Row]]:
    """All proxies, newest first; never their passwords."""
    wanted = {"active": active, "healthy": healthy, "cursor": cursor, "limit": at_once}
    return get(f"{ADMIN}/proxies", page_of(_as_is), **wanted)


def proxy(proxy_id: str) -> Call[Row]:
    """A proxy."""
    return get(f"{ADMIN}{_at('proxies', proxy_id)}", plain)


def add_proxy(
    proxy_url: str,
    proxy_port: int | None = None,
    proxy_protocol: str = "http",
    **traits: Any,
) -> Call[Row]:
    """A new proxy: proxy_username, proxy_password, region, cost_per_gb_micros."""
    body = {"proxy_url": proxy_url, "proxy_protocol": proxy_protocol, **traits}
    return _post("/proxies", plain, body | given(proxy_port=proxy_port))


def import_proxies(text: str, *, dry_run: bool = False) -> Call[Row]:
    """Add proxies, one a line: all that are new, or none if a line is wrong."""
    return _post("/proxies/import", plain, {"text": text, "dry_run": dry_run})


def edit_proxy(proxy_id: str, **changes: Any) -> Call[Row]:
    """Change proxy_password, region or cost_per_gb_micros; None takes it away."""
    return Call("PATCH", f"{ADMIN}{_at('proxies', proxy_id)}", plain, changes)


def remove_proxy(proxy_id: str) -> Call[Row]:
    """Remove a proxy and what was counted of it."""
    return Call("DELETE", f"{ADMIN}{_at('proxies', proxy_id)}", plain, repeats=False)
