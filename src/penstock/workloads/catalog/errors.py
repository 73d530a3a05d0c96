"""What went wrong, for people: errors one by one, and as patterns over domains and time."""

from typing import Any

from sqlalchemy import ColumnElement, Subquery, func, select

from penstock.products.tables import domains
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.domains import find_domain
from penstock.workloads.catalog.model import Category, Row
from penstock.workloads.catalog.tables import crawl_tasks, error_logs

HOUR_MS = 3_600_000
Rows = list[Row]


class Errors:
    """The errors of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def list(
        self,
        *,
        domain: str | None = None,
        task: str | None = None,
        category: Category | None = None,
        error_type: str | None = None,
        since: int | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> Rows:
        """Errors with their URLs, the newest first; `after` is the id of the last one seen."""
        errors = error_logs.c

        def look(unit: Unit) -> Rows:
            wanted = _conditions(unit, domain, category, error_type, since)
            if task is not None:
                wanted.append(errors.crawl_task_id == task)
            if after is not None:
                wanted.append(errors.id < after)
            query = (
                select(error_logs, crawl_tasks.c.url, domains.c.domain_name)
                .join(crawl_tasks, crawl_tasks.c.id == errors.crawl_task_id)
                .join(domains, domains.c.id == errors.domain_id)
                .where(*wanted)
                .order_by(errors.id.desc())
                .limit(limit)
            )
            return list(unit.rows(query))

        return await self._store.read(look)

    async def patterns(
        self, since: int, domain: str | None = None, limit: int = 100, most: int | None = None
    ) -> Rows:
        """What goes wrong most since a time (ms): by domain, category and type of error.

        With the first and last time, how many tasks it hit, and errors by hour; of the latest
        `most` errors, if that is said.
        """

        def look(unit: Unit) -> Rows:
            wanted = _conditions(unit, domain, None, None, since)
            latest = select(error_logs).where(*wanted).order_by(error_logs.c.occurred_at.desc())
            some = latest.limit(most).subquery()
            errors, keys = some.c, _keys(some)
            query = (
                select(
                    *keys,
                    domains.c.domain_name,
                    func.count().label("errors"),
                    func.count(errors.crawl_task_id.distinct()).label("tasks"),
                    func.min(errors.occurred_at).label("first_at"),
                    func.max(errors.occurred_at).label("last_at"),
                    func.max(errors.error_message).label("example"),
                )
                .join(domains, domains.c.id == errors.domain_id)
                .group_by(*keys, domains.c.domain_name)
                .order_by(func.count().desc(), *keys)
                .limit(limit)
            )
            found = list(unit.rows(query))
            hours = _by_hour(unit, some)
            return [row | {"by_hour": hours.get(_key(row), {})} for row in found]

        return await self._store.read(look)


def _conditions(
    unit: Unit,
    domain: str | None,
    category: Category | None,
    error_type: str | None,
    since: int | None,
) -> list[ColumnElement[bool]]:
    errors = error_logs.c
    wanted: list[ColumnElement[bool]] = []
    if domain is not None:
        wanted.append(errors.domain_id == find_domain(unit, domain)["id"])
    if category is not None:
        wanted.append(errors.category == category.value)
    if error_type is not None:
        wanted.append(errors.error_type == error_type)
    if since is not None:
        wanted.append(errors.occurred_at >= since)
    return wanted


def _by_hour(unit: Unit, some: Subquery) -> dict[tuple[str, str, str], dict[int, int]]:
    """Errors by what they are and by the hour (ms since 1970) they were in."""
    at, keys = some.c.occurred_at, _keys(some)
    hour = at - at % HOUR_MS
    query = select(*keys, hour, func.count()).group_by(*keys, hour)
    found: dict[tuple[str, str, str], dict[int, int]] = {}
    for domain_id, category, error_type, begin, number in unit.run(query):
        found.setdefault((domain_id, category, error_type), {})[begin] = number
    return found


def _keys(some: Subquery) -> tuple[ColumnElement[str], ...]:
    return some.c.domain_id, some.c.category, some.c.error_type


def _key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["domain_id"], row["category"], row["error_type"]
