"""Tasks in numbers."""

from sqlalchemy import ColumnElement, func, select

from penstock.store.unit import Unit
from penstock.workloads.catalog.model import Status
from penstock.workloads.catalog.tables import crawl_tasks


def count_up_to(unit: Unit, most: int, *wanted: ColumnElement[bool]) -> dict[str, int]:
    """The same as `count_tasks`; one more than `most` in a status in which there are more."""
    found = {}
    for status in Status:
        some = select(crawl_tasks.c.id).where(*wanted, crawl_tasks.c.status == status.value)
        query = select(func.count()).select_from(some.limit(most + 1).subquery())
        found[status.value] = int(unit.run(query).scalar_one())
    return found


def count_tasks(unit: Unit, *wanted: ColumnElement[bool]) -> dict[str, int]:
    """How many tasks there are in each status, none included."""
    status = crawl_tasks.c.status
    query = select(status, func.count().label("number")).where(*wanted).group_by(status)
    found = {row.status: row.number for row in unit.run(query)}
    return {each.value: found.get(each.value, 0) for each in Status}
