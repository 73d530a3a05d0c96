"""Gauges of the crawler: what the store holds, and for how long something could have been begun."""

from typing import Any

import pytest

from penstock.core.metrics import Metrics
from penstock.store.store import Store
from penstock.workloads.catalog.metrics import CatalogGauges
from penstock.workloads.catalog.model import Status
from tests.catalog_rows import DAY, HOUR, MINUTE, CatalogRows, rows_in
from tests.unit.core.test_metrics import Readings

NOTHING_RUNS = {"started_at": None, "completed_at": None}


@pytest.fixture
async def rows(store: Store) -> CatalogRows:
    return await rows_in(store)


async def read(store: Store) -> Readings:
    metrics = Metrics()
    await CatalogGauges(metrics, store).look()
    return Readings(metrics.text())


async def test_every_status_is_told_of_an_empty_catalogue(store: Store) -> None:
    metrics = Metrics()
    await CatalogGauges(metrics, store).look()

    text = metrics.text()

    for status in Status:
        assert f'\ncatalog_tasks{{status="{status}"}} 0.0' in text
    assert "\ncatalog_oldest_due_seconds 0.0" in text
    assert "\ncatalog_parse_success_ratio{" not in text


async def test_tasks_are_counted_by_their_status(store: Store, rows: CatalogRows) -> None:
    site = await rows.site()
    for status in (Status.COMPLETED, Status.COMPLETED, Status.FAILED, Status.PARSING):
        await rows.task(site, status=status.value)

    found = await read(store)

    assert found.value("catalog_tasks", status="completed") == 2
    assert found.value("catalog_tasks", status="failed") == 1
    assert found.value("catalog_tasks", status="parsing") == 1
    assert found.value("catalog_tasks") == 4


async def test_a_task_is_overdue_since_it_could_have_been_begun(
    store: Store, rows: CatalogRows
) -> None:
    site = await rows.site()
    for at in (MINUTE, HOUR, -HOUR):
        await rows.task(site, at=at, status="pending", **NOTHING_RUNS)

    overdue = (await read(store)).value("catalog_oldest_due_seconds")

    assert 3600 <= overdue < 3660


@pytest.mark.parametrize("what", ["paused", "domain not active", "queued", "in an hour"])
async def test_what_is_not_to_be_begun_is_not_overdue(
    store: Store, rows: CatalogRows, what: str
) -> None:
    site = await rows.site(is_active=what != "domain not active")
    await rows.task(
        site,
        at=-HOUR if what == "in an hour" else DAY,
        status="queued" if what == "queued" else "pending",
        is_paused=what == "paused",
        **NOTHING_RUNS,
    )

    assert (await read(store)).value("catalog_oldest_due_seconds") == 0


async def test_parsers_are_judged_by_what_they_read_in_the_last_day(
    store: Store, rows: CatalogRows
) -> None:
    site = await rows.site()
    task = await rows.task(site)
    at_home: dict[str, Any] = {
        "kind": "parse",
        "domain_id": site.id,
        "parser_version": "product@1.0.0",
    }
    for status in ("ok", "ok", "ok", "failed"):
        await rows.attempt(task, **at_home, status=status)
    await rows.attempt(task, **at_home | {"parser_version": "product@1.1.0"})
    await rows.attempt(task, **at_home, status="failed", at=2 * DAY)
    await rows.attempt(task, domain_id=site.id, status="failed")

    found = await read(store)

    labels = {"domain": "shop.example", "parser_version": "product@1.0.0"}
    assert found.value("catalog_parse_success_ratio", **labels) == 0.75
    assert found.value("catalog_parse_success_ratio", parser_version="product@1.1.0") == 1
    assert found.value("catalog_parse_success_ratio") == 1.75
