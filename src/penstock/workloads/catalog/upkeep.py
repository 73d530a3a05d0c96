"""Upkeep: products that nobody sees any more are archived, and what is old is forgotten.

All in small steps, so that nobody waits long for the store.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from sqlalchemy import ColumnElement, Table, delete, exists, select, tuple_, update

from penstock.core.chores import Chore
from penstock.products.announcing import Announce
from penstock.products.archiving import archive_inactive
from penstock.products.tables import source_products
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.model import DAY_MS, OVER, UNDER_WAY
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.submitting import READING
from penstock.workloads.catalog.tables import (
    crawl_attempts,
    crawl_submission_tasks,
    crawl_submissions,
    crawl_tasks,
    error_logs,
)

AT_ONCE = 500
#: Rows of links between submissions and tasks are small.
LINKS_AT_ONCE = 5000
CHANNEL = "upkeep"
#: Where a row stands among those that are forgotten: its time and its id.
Place = tuple[int, str]
START: Place = (0, "")


class CatalogUpkeep:
    """Keeps the catalogue from growing for ever."""

    def __init__(self, store: Store, settings: CatalogSettings, announce: Announce) -> None:
        self._store = store
        self._settings = settings
        self._announce = announce

    def chores(self) -> list[Chore]:
        """What is to be done from time to time."""
        named: dict[str, Callable[[], Awaitable[int]]] = {
            "products not seen for long": self.archive,
            "old crawl attempts": self.forget_attempts,
            "old crawl errors": self.forget_errors,
            "old crawled pages": self.forget_pages,
            "old submissions": self.forget_submissions,
        }
        return [Chore(name, do) for name, do in named.items()]

    async def archive(self) -> int:
        """Archive products that were not seen for long; how many."""
        age = int(self._settings.archive_days * DAY_MS)
        archive = partial(
            archive_inactive, older_than_ms=age, limit=AT_ONCE, announce=self._announce
        )
        total = 0
        # Who archives keeps others from writing products: not without need.
        while await self._store.read(partial(_has_inactive, age=age)):
            total += await self._store.write(archive, CHANNEL)
        return total

    async def forget_attempts(self) -> int:
        """Delete attempts of long ago; how many."""
        age = self._settings.keep_attempts_days
        return await self._forget(crawl_attempts, crawl_attempts.c.ended_at, age)

    async def forget_errors(self) -> int:
        """Delete errors of long ago; how many."""
        age = self._settings.keep_errors_days
        return await self._forget(error_logs, error_logs.c.occurred_at, age)

    async def forget_pages(self) -> int:
        """Let go of pages of tasks that were not crawled for long; how many."""
        age = int(self._settings.keep_pages_days * DAY_MS)
        total, last = 0, ""
        while ids := await self._store.read(partial(_old_pages, age=age, last=last)):
            total += await self._store.write(partial(_drop_pages, ids=ids, age=age), CHANNEL)
            last = ids[-1]
        return total

    async def forget_submissions(self) -> int:
        """Delete submissions of long ago that are done; their tasks stay; how many."""
        age = int(self._settings.keep_submissions_days * DAY_MS)
        total, last = 0, START
        while places := await self._store.read(partial(_old_submissions, age=age, last=last)):
            for _, submission_id in places:
                total += await self._drop_submission(submission_id)
            last = places[-1]
        return total

    async def _drop_submission(self, which: str) -> int:
        is_linked = True
        while is_linked:
            is_linked = await self._store.write(partial(_drop_links, which=which), CHANNEL) > 0
        return await self._store.write(partial(_drop, which=which), CHANNEL)

    async def _forget(self, table: Table, at: ColumnElement[int], days: float) -> int:
        """Delete rows older than some days, each step from where the last one ended."""
        step = partial(_delete_old, table=table, at=at, age=int(days * DAY_MS))
        total, last = 0, START
        while some := await self._store.write(partial(step, last=last), CHANNEL):
            total, last = total + len(some), some[-1]
        return total


async def pages_in_use(store: Store, addresses: Sequence[str]) -> set[str]:
    """Which of some blobs are pages that a task still has."""
    paths = crawl_tasks.c.html_path
    return await store.read(
        lambda unit: set(unit.run(select(paths).where(unit.among(paths, addresses))).scalars())
    )


def _has_inactive(unit: Unit, age: int) -> bool:
    its = source_products.c
    query = select(its.id).where(
        its.domain_id.is_not(None),
        its.archived_at.is_(None),
        its.last_seen_at < unit.now - age,
    )
    return unit.run(query.limit(1)).first() is not None


def _delete_old(
    unit: Unit, table: Table, at: ColumnElement[int], age: int, last: Place
) -> list[Place]:
    place = (at, table.c.id)
    query = select(*place).where(at < unit.now - age, tuple_(*place) > tuple_(*last))
    old = [(when, each) for when, each in unit.run(query.order_by(*place).limit(AT_ONCE))]
    unit.run(delete(table).where(unit.among(table.c.id, [each for _, each in old])))
    return old


# ── pages


def _has_old_page(unit: Unit, age: int) -> list[ColumnElement[bool]]:
    """A page is as old as the last crawl of its task; one that is to be parsed is needed."""
    tasks = crawl_tasks.c
    return [
        tasks.html_path.is_not(None),
        tasks.started_at < unit.now - age,
        tasks.status.not_in([status.value for status in UNDER_WAY]),
    ]


def _old_pages(unit: Unit, age: int, last: str) -> list[str]:
    tasks = crawl_tasks.c
    query = select(tasks.id).where(*_has_old_page(unit, age), tasks.id > last)
    return list(unit.run(query.order_by(tasks.id).limit(AT_ONCE)).scalars())


def _drop_pages(unit: Unit, ids: Sequence[str], age: int) -> int:
    """Since they were found, some may have been crawled."""
    chosen = (unit.among(crawl_tasks.c.id, ids), *_has_old_page(unit, age))
    return unit.run(update(crawl_tasks).where(*chosen).values(html_path=None)).rowcount


# ── submissions


def _old_submissions(unit: Unit, age: int, last: Place) -> list[Place]:
    """Those that are read, and of whose tasks each was done or given up at least once."""
    submissions, links, tasks = crawl_submissions.c, crawl_submission_tasks.c, crawl_tasks.c
    is_open = exists().where(
        links.submission_id == submissions.id,
        tasks.id == links.task_id,
        tasks.completed_at.is_(None),
        tasks.status.not_in([status.value for status in OVER]),
    )
    place = (submissions.created_at, submissions.id)
    query = select(*place).where(
        submissions.created_at < unit.now - age,
        submissions.status != READING,
        tuple_(*place) > tuple_(*last),
        ~is_open,
    )
    return [(when, each) for when, each in unit.run(query.order_by(*place).limit(AT_ONCE))]


def _drop_links(unit: Unit, which: str) -> int:
    links = crawl_submission_tasks.c
    some = select(links.task_id).where(links.submission_id == which).limit(LINKS_AT_ONCE)
    ids = list(unit.run(some).scalars())
    chosen = (links.submission_id == which, unit.among(links.task_id, ids))
    return unit.run(delete(crawl_submission_tasks).where(*chosen)).rowcount


def _drop(unit: Unit, which: str) -> int:
    """Unless something was added to it meanwhile."""
    is_linked = exists().where(crawl_submission_tasks.c.submission_id == crawl_submissions.c.id)
    chosen = (crawl_submissions.c.id == which, ~is_linked)
    return unit.run(delete(crawl_submissions).where(*chosen)).rowcount
