"""Tasks in numbers."""

from sqlalchemy import ColumnElement, func, select

from penstock.store.unit import Unit
from penstock.workloads.catalog.model import Status
from penstock.workloads.catalog.tables import crawl_tasks


def count_tasks(unit: Unit, *wanted: ColumnElement[bool]) -> dict[str, int]:
    """How many tasks there are in each status, none included."""
    status = crawl_tasks.c.status
    query = select(status, func.count().label("number")).where(*wanted).group_by(status)
    found = {row.status: row.number for row in unit.run(query)}
    return {each.value: found.get(each.value, 0) for each in Status}
