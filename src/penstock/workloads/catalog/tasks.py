"""Tasks for people: looked at, paused, resumed, stopped, tried again, put first, one or many."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, Text, exists, func, select, text, type_coerce, update

from penstock.core.errors import UrlError
from penstock.core.urls import identity, parse
from penstock.extract.registry import Registry
from penstock.products.tables import domains
from penstock.queue.erasure import erase_items
from penstock.queue.ports import State
from penstock.queue.tables import items
from penstock.store.schema import dump
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import NotFound, invalid
from penstock.workloads.catalog.counting import count_tasks
from penstock.workloads.catalog.domains import find_domain
from penstock.workloads.catalog.downloading import PutIn, parse_item
from penstock.workloads.catalog.holding import sites_of
from penstock.workloads.catalog.model import HIGHEST, LOWEST, OVER, Row, Status
from penstock.workloads.catalog.recrawling import wanted_frequency
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.submitting import crawl_now
from penstock.workloads.catalog.tables import (
    crawl_attempts,
    crawl_submission_tasks,
    crawl_tasks,
    error_logs,
)

AT_ONCE = 500
STOPPED = {"category": "refused", "error_type": "stopped", "message": "somebody stopped it"}
Rows = list[Row]
#: Does something to some tasks, which are still as they were selected; how many.
Step = Callable[[Unit, Sequence[str]], int]

#: As the index of them says it: an engine takes it only if it sees the value in the statement.
IS_DEAD = (crawl_tasks.c.status == text("'failed'")) & crawl_tasks.c.next_crawl_at.is_(None)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which tasks are meant. `after` is the id of the last one that was seen."""

    ids: tuple[str, ...] = ()
    domain: str | None = None
    submission: str | None = None
    status: Status | None = None
    paused: bool | None = None
    #: Failed for good: nobody crawls it again unless it is revived.
    dead: bool | None = None
    category: str | None = None
    error_type: str | None = None
    url: str | None = None
    priority: int | None = None
    after: str | None = None
    limit: int = 50

    @property
    def says_nothing(self) -> bool:
        """Whether all tasks are meant."""
        return self == Filter(after=self.after, limit=self.limit)


class Tasks:
    """The tasks of a store, for people."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        put_in: PutIn,
        nudge: Callable[[], None],
        settings: CatalogSettings,
    ) -> None:
        self._settings = settings
        self._store = store
        self._registry = registry
        self._put_in = put_in
        self._nudge = nudge

    async def list(self, wanted: Filter) -> list[Row]:
        """Tasks in the order of their ids, with the names of their domains."""
        return await self._store.read(
            lambda unit: list(unit.rows(_select(unit, wanted).limit(wanted.limit)))
        )

    async def count(self, wanted: Filter) -> int:
        """How many tasks are meant."""

        def look(unit: Unit) -> int:
            query = select(func.count()).select_from(crawl_tasks)
            return int(unit.run(query.where(*_conditions(unit, wanted))).scalar_one())

        return await self._store.read(look)

    async def counts(self, domain: str | None = None) -> dict[str, int]:
        """How many tasks there are in each status."""

        def look(unit: Unit) -> dict[str, int]:
            if domain is None:
                return count_tasks(unit)
            return count_tasks(unit, crawl_tasks.c.domain_id == find_domain(unit, domain)["id"])

        return await self._store.read(look)

    async def get(self, id_or_url: str) -> Row:
        """A task, by id or URL."""
        return await self._store.read(lambda unit: find_task(unit, id_or_url))

    async def attempts(self, id_or_url: str, after: str | None = None, limit: int = 50) -> Rows:
        """What was tried for a task, the newest first."""

        def look(unit: Unit) -> Rows:
            task = find_task(unit, id_or_url)
            attempts = crawl_attempts.c
            query = select(crawl_attempts).where(attempts.crawl_task_id == task["id"])
            if after is not None:
                query = query.where(attempts.id < after)
            return list(unit.rows(query.order_by(attempts.id.desc()).limit(limit)))

        return await self._store.read(look)

    async def edit(self, id_or_url: str, **changes: Any) -> Row:
        """Change how a task is crawled: priority, crawl_frequency, max_retries, parser."""
        values = self._checked(changes)

        def work(unit: Unit) -> Row:
            task = find_task(unit, id_or_url)
            if "priority" in values:
                _get_in_line_anew(unit, [task["id"]])
            due = self._due_anew(unit, task | values) if "crawl_frequency" in values else {}
            _change(unit, [task["id"]], values | due)
            return find_task(unit, task["id"])

        return await self._store.write(work)

    def _due_anew(self, unit: Unit, task: Row) -> Row:
        """When a task that is over is crawled again, now that somebody wants it otherwise."""
        is_dead = task["status"] == Status.FAILED and task["next_crawl_at"] is None
        if task["status"] not in OVER or is_dead:
            return {}
        domain = sites_of(unit, {task["domain_id"]})[task["domain_id"]]
        seconds = wanted_frequency(task, domain, self._settings)
        since = task["completed_at"] or unit.now
        return {"next_crawl_at": since + seconds * 1000 if seconds else None}

    def _checked(self, changes: dict[str, Any]) -> Row:
        for name in changes.keys() - {"priority", "crawl_frequency", "max_retries", "parser"}:
            raise invalid(name, "cannot be changed")
        if "priority" in changes:
            _check_priority(changes["priority"])
        for name, may_be_none in (("max_retries", False), ("crawl_frequency", True)):
            if name in changes and not (changes[name] is None and may_be_none):
                _check_whole(name, changes[name])
        if (parser := changes.get("parser")) and self._registry.get(parser) is None:
            raise invalid("parser", f"there is no adapter of that name: {parser}")
        if "crawl_frequency" in changes:
            # What was learnt of the page was learnt with another aim.
            return {**changes, "crawl_interval": None}
        return dict(changes)

    async def pause(self, wanted: Filter) -> int:
        """Begin no more of these; what is under way comes to its end."""
        return await self._each(wanted, lambda unit, ids: _change(unit, ids, {"is_paused": True}))

    async def resume(self, wanted: Filter) -> int:
        """Go on with these."""
        number = await self._each(
            wanted, lambda unit, ids: _change(unit, ids, {"is_paused": False})
        )
        self._nudge()
        return number

    async def stop(self, wanted: Filter) -> int:
        """Give up what is not over, and crawl none of these again until somebody says so."""
        return await self._each(wanted, _stop)

    async def retry(self, wanted: Filter) -> int:
        """Crawl those again that failed, now and as if for the first time."""
        number = await self._each(
            wanted, lambda unit, ids: crawl_now(unit, _in(unit, ids, [Status.FAILED]))
        )
        self._nudge()
        return number

    async def recrawl(self, wanted: Filter) -> int:
        """Crawl those now that are over."""
        number = await self._each(wanted, crawl_now)
        self._nudge()
        return number

    async def prioritise(self, wanted: Filter, priority: int) -> int:
        """Give tasks another priority, also those that wait in the queue."""
        _check_priority(priority)

        def step(unit: Unit, ids: Sequence[str]) -> int:
            _get_in_line_anew(unit, ids)
            return _change(unit, ids, {"priority": priority})

        return await self._each(wanted, step)

    async def reparse(self, wanted: Filter, *, accept: bool = False) -> int:
        """Parse pages again that are kept; `accept` says that what they cost is right."""
        number = await self._each(wanted, lambda unit, ids: self._reparse(unit, ids, accept))
        self._nudge()
        return number

    def _reparse(self, unit: Unit, ids: Sequence[str], accept: bool) -> int:
        query = select(crawl_tasks).where(
            unit.among(crawl_tasks.c.id, ids),
            crawl_tasks.c.status.in_([status.value for status in OVER]),
            crawl_tasks.c.html_path.is_not(None),
        )
        tasks = list(unit.rows(query.order_by(crawl_tasks.c.id).with_for_update()))
        sites = sites_of(unit, {task["domain_id"] for task in tasks})
        found = [(task, parse_item(task, sites[task["domain_id"]])) for task in tasks]
        self._put_in(unit, [item for _, item in found])
        for task, item in found:
            values = {
                "status": Status.DOWNLOADED.value,
                "item_id": item.id,
                "accept_next": accept,
            }
            _change(unit, [task["id"]], values)
        return len(found)

    async def _each(self, wanted: Filter, step: Step) -> int:
        """Do something to all that are meant, some at a time; how many."""
        if wanted.says_nothing:
            raise invalid("filter", "say which tasks: by id, domain, submission, status or URL")
        total, after = 0, wanted.after or ""
        while True:

            def work(unit: Unit, after: str = after) -> tuple[int, str | None]:
                query = _select(unit, wanted).where(crawl_tasks.c.id > after).limit(AT_ONCE)
                ids = [row["id"] for row in unit.rows(query)]
                return (step(unit, ids), ids[-1]) if ids else (0, None)

            number, last = await self._store.write(work, "settle")
            total += number
            if last is None:
                return total
            after = last


def find_task(unit: Unit, id_or_url: str) -> Row:
    """A task with the name of its domain, by id or by any spelling of its URL."""
    wanted = crawl_tasks.c.id == id_or_url
    if "://" in id_or_url:
        try:
            wanted = crawl_tasks.c.url_hash == identity(parse(id_or_url))
        except UrlError as error:
            raise invalid("url", str(error)) from error
    for row in unit.rows(_all().where(wanted)):
        return row
    raise NotFound("There is no such task")


def _all() -> Select[*tuple[Any, ...]]:
    return select(crawl_tasks, domains.c.domain_name).join(
        domains, domains.c.id == crawl_tasks.c.domain_id
    )


def _select(unit: Unit, wanted: Filter) -> Select[*tuple[Any, ...]]:
    return _all().where(*_conditions(unit, wanted)).order_by(crawl_tasks.c.id)


def _conditions(unit: Unit, wanted: Filter) -> list[ColumnElement[bool]]:
    tasks = crawl_tasks.c
    found: list[ColumnElement[bool]] = []
    if wanted.ids:
        found.append(unit.among(tasks.id, wanted.ids))
    if wanted.domain is not None:
        found.append(tasks.domain_id == find_domain(unit, wanted.domain)["id"])
    if wanted.submission is not None:
        links = crawl_submission_tasks.c
        mine = select(links.task_id).where(links.submission_id == wanted.submission)
        found.append(tasks.id.in_(mine))
    if wanted.status is not None:
        found.append(tasks.status == wanted.status.value)
    if wanted.paused is not None:
        found.append(tasks.is_paused.is_(wanted.paused))
    if wanted.dead is not None:
        found.append(IS_DEAD if wanted.dead else ~IS_DEAD)
    if wanted.priority is not None:
        found.append(tasks.priority == wanted.priority)
    if wanted.url is not None:
        found.append(tasks.url.contains(wanted.url, autoescape=True))
    if wanted.after is not None:
        found.append(tasks.id > wanted.after)
    return found + _by_error(wanted)


def _by_error(wanted: Filter) -> list[ColumnElement[bool]]:
    """Those that had errors of a kind; of dead ones, what put them there counts."""
    errors, kinds = error_logs.c, {"category": wanted.category, "error_type": wanted.error_type}
    given = {name: value for name, value in kinds.items() if value is not None}
    if wanted.dead:
        # It is JSON: quotes that are part of a text have a backslash before them there.
        failure = type_coerce(crawl_tasks.c.failure, Text)
        return [
            failure.contains(f'"{name}":{dump(value)}', autoescape=True)
            for name, value in given.items()
        ]
    said = [errors[name] == value for name, value in given.items()]
    return [exists().where(errors.crawl_task_id == crawl_tasks.c.id, *said)] if said else []


def _in(unit: Unit, ids: Sequence[str], statuses: Sequence[Status]) -> list[str]:
    query = select(crawl_tasks.c.id).where(
        unit.among(crawl_tasks.c.id, ids),
        crawl_tasks.c.status.in_([status.value for status in statuses]),
    )
    return list(unit.run(query).scalars())


def _change(unit: Unit, ids: Sequence[str], values: Row) -> int:
    statement = update(crawl_tasks).where(unit.among(crawl_tasks.c.id, ids))
    return unit.run(statement.values(**values, updated_at=unit.now)).rowcount


def _stop(unit: Unit, ids: Sequence[str]) -> int:
    """Whoever has one of them finds that it is theirs no more; what is done stays done."""
    _take_from_queue(unit, ids)
    done = _in(unit, ids, [Status.COMPLETED])
    failed = {
        "status": Status.FAILED.value,
        "error_message": STOPPED["message"],
        "failure": STOPPED,
        "item_id": None,
        "next_crawl_at": None,
    }
    rest = sorted(set(ids) - set(done))
    return _change(unit, done, {"next_crawl_at": None}) + _change(unit, rest, failed)


def _get_in_line_anew(unit: Unit, ids: Sequence[str]) -> None:
    """Let those wait to be scheduled again that only wait in the queue."""
    waiting = _take_from_queue(unit, ids)
    _change(unit, waiting, {"status": Status.PENDING.value, "item_id": None})


def _take_from_queue(unit: Unit, ids: Sequence[str]) -> list[str]:
    """Take those out of the queue that only wait in it; which they are."""
    query = (
        select(crawl_tasks.c.id, items.c.id)
        .join(items, items.c.id == crawl_tasks.c.item_id)
        .where(
            unit.among(crawl_tasks.c.id, ids),
            crawl_tasks.c.status == Status.QUEUED.value,
            items.c.state == State.WAITING,
        )
    )
    found = unit.run(query).all()
    erase_items(unit, [item_id for _, item_id in found])
    return [task_id for task_id, _ in found]


def _check_priority(priority: Any) -> None:
    if not isinstance(priority, int) or not HIGHEST <= priority <= LOWEST:
        raise invalid("priority", f"must be from {HIGHEST} (first) to {LOWEST}")


def _check_whole(name: str, number: Any) -> None:
    if not isinstance(number, int) or not 0 <= number < 2**31:
        raise invalid(name, "must be a whole number, and not negative")
