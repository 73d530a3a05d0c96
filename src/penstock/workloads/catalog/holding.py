"""Tasks that are under way: who holds one, and how what came of it is written back.

A task belongs to one item of the queue at a time. Whoever comes with another item has lost it, or
somebody stopped it meanwhile, and changes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, select, update

from penstock.core.ids import new_id
from penstock.kernel.model import Outcome, Refused
from penstock.products.tables import domains, sources
from penstock.queue.lanes import Result
from penstock.queue.ports import Claim
from penstock.store.unit import Unit
from penstock.workloads.catalog.model import Attempt, Fared, Row, Status
from penstock.workloads.catalog.tables import crawl_attempts, crawl_tasks, error_logs
from penstock.workloads.catalog.troubles import Trouble, error_row

#: The gate of our own that says that an item is not wanted any more.
GATE = "task"
WITHDRAWN = Refused("withdrawn", "the task was paused, stopped or given to another", gate=GATE)
#: What it takes to carry out a task that is begun.
BEGUN = ("item_id", "domain_id", "url", "parser", "html_path", "html_url", "html_headers")
#: What is written back of a task.
WRITTEN = (
    *("id", "status", "scheduled_at", "started_at", "completed_at", "retry_count", "error_message"),
    *("crawl_interval", "next_crawl_at", "html_path", "html_at", "html_headers", "html_url"),
    *(
        "page_hash",
        "parser_version",
        "item_id",
        "attempts",
        "unchanged_in_a_row",
        "turn_key",
        "failure",
    ),
    *("accept_next", "updated_at"),
)


class Held(NamedTuple):
    """A result with the row of its task, and of the task's domain."""

    result: Result
    task: Row
    domain: Row


class Begins:
    """Tasks that are begun in one transaction: many of them cost as much as one."""

    def __init__(self, before: Status, now_is: Status, *also: ColumnElement[bool]) -> None:
        self._statuses = [before.value, now_is.value]
        self._now_is = now_is
        self._also = also
        self._tasks: dict[str, str] = {}
        self._begun: dict[str, Row] = {}

    def add(self, claim: Claim) -> Mapping[str, Row]:
        """Begin the task of an item; those that are begun are known when the transaction is over.

        They are in what this returns, by the ids of their items. One that is not there is not
        ours, or not to be begun any more.
        """
        self._tasks[claim.id] = claim.payload["task"]
        return self._begun

    def write(self, unit: Unit) -> None:
        values = {"status": self._now_is.value, "updated_at": unit.now}
        if self._now_is is Status.CRAWLING:
            values["started_at"] = unit.now
        tasks = crawl_tasks.c
        statement = (
            update(crawl_tasks)
            .where(
                # An item is of one task alone: where both are among them, they belong together.
                unit.among(tasks.id, sorted(self._tasks.values())),
                unit.among(tasks.item_id, list(self._tasks)),
                tasks.status.in_(self._statuses),
                *self._also,
            )
            .values(values)
            .returning(*(tasks[name] for name in BEGUN))
        )
        self._begun |= {row["item_id"]: row for row in unit.rows(statement)}


def held(unit: Unit, results: Sequence[Result]) -> list[Held]:
    """The tasks that still belong to the items of some results, locked."""
    by_item = {result.claim.id: result for result in results}
    ids = sorted({result.claim.payload["task"] for result in results})
    query = select(crawl_tasks).where(unit.among(crawl_tasks.c.id, ids))
    rows = list(unit.rows(query.order_by(crawl_tasks.c.id).with_for_update()))
    mine = [row for row in rows if row["item_id"] in by_item]
    sites = sites_of(unit, {row["domain_id"] for row in mine})
    return [Held(by_item[row["item_id"]], row, sites[row["domain_id"]]) for row in mine]


def sites_of(unit: Unit, ids: set[str]) -> dict[str, Row]:
    """Domains with the retailer of their source, by id."""
    query = (
        select(domains, sources.c.retailer_id)
        .join(sources, sources.c.id == domains.c.source_id)
        .where(unit.among(domains.c.id, sorted(ids)))
    )
    return {row["id"]: row for row in unit.rows(query)}


def give_back(unit: Unit, task: Row, at: int | None = None) -> Row:
    """A task that was not begun: it waits again, until a time if one is given."""
    later = {} if at is None else {"scheduled_at": at}
    return {
        **task,
        **later,
        "status": Status.PENDING.value,
        "item_id": None,
        "updated_at": unit.now,
    }


def write_tasks(unit: Unit, tasks: Sequence[Row]) -> None:
    """Write tasks back as they are now."""
    unit.update_all(crawl_tasks, [{name: task[name] for name in WRITTEN} for task in tasks])


def write_attempts(unit: Unit, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write what was tried."""
    unit.insert_all(crawl_attempts, rows)


def attempt_row(
    each: Held, kind: Attempt, fared: Fared, now: int, trouble: Trouble | None = None
) -> Row:
    """A row of `crawl_attempts`, without what only some have."""
    outcome, task = each.result.outcome, each.task
    page = outcome.page
    return {
        "id": new_id(),
        "crawl_task_id": task["id"],
        "domain_id": task["domain_id"],
        "kind": kind.value,
        "status": fared.value,
        "number": task["attempts"] + (1 if kind is Attempt.DOWNLOAD else 0),
        "started_at": task["started_at"] if kind is Attempt.DOWNLOAD else None,
        "ended_at": now,
        "http_status": _status_of(outcome) if kind is Attempt.DOWNLOAD else None,
        "size": len(page.body) if page else None,
        "fetcher": page.fetcher if page else None,
        "proxy": outcome.proxy,
        "error_type": trouble.error_type if trouble else None,
        "error_message": trouble.message if trouble else None,
        "parser_version": None,
        "changed": None,
        "document": None,
    }


def _status_of(outcome: Outcome) -> int | None:
    if outcome.page:
        return outcome.page.status
    return outcome.failure.status if outcome.failure else None


def write_errors(unit: Unit, troubles: Sequence[tuple[Row, Trouble]]) -> None:
    """Log what went wrong with tasks."""
    rows = [error_row(task, trouble, unit.now) for task, trouble in troubles]
    unit.insert_all(error_logs, rows)
