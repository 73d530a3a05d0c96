"""A domain with a task, and attempts at parsing its page, put in a store by hand."""

from collections.abc import Sequence
from typing import Any

from penstock.core.ids import new_id
from penstock.products.tables import domains
from penstock.store.unit import Unit
from penstock.workloads.catalog.tables import crawl_attempts, crawl_tasks
from tests.unit.products.offers import open_shop


def add_domain(unit: Unit, name: str = "shop", **changes: Any) -> str:
    """A domain with its source, and one task of the same name."""
    row = {
        "id": name,
        "source_id": open_shop(unit, name).source_id,
        "domain_name": f"{name}.example",
        "base_url": f"https://{name}.example",
        "created_at": unit.now,
        "updated_at": unit.now,
    }
    unit.insert_all(domains, [{**row, **changes}])
    task = {
        "id": name,
        "domain_id": name,
        "url": f"https://{name}.example/1",
        "url_hash": name,
        "status": "completed",
        "scheduled_at": unit.now,
        "created_at": unit.now,
        "updated_at": unit.now,
    }
    unit.insert_all(crawl_tasks, [task])
    return name


def attempt(domain: str, at: int, **changes: Any) -> dict[str, Any]:
    """An attempt at parsing the page of a domain's task."""
    row: dict[str, Any] = {
        "id": new_id(),
        "crawl_task_id": domain,
        "domain_id": domain,
        "kind": "parse",
        "status": "ok",
        "number": 1,
        "ended_at": at,
        "parser_version": "product@1.0.0",
        "document": None,
    }
    return {**row, **changes}


def add_attempts(unit: Unit, attempts: Sequence[dict[str, Any]]) -> None:
    """Write attempts."""
    unit.insert_all(crawl_attempts, attempts)


def add_parses(
    unit: Unit,
    domain: str,
    at: int,
    parsed: int,
    failed: int = 0,
    *,
    version: str = "product@1.0.0",
) -> None:
    """So many pages that could be read, and so many that could not, one each ms."""
    statuses = ["ok"] * parsed + ["failed"] * failed
    rows = [
        attempt(domain, at + place, status=status, parser_version=version)
        for place, status in enumerate(statuses)
    ]
    add_attempts(unit, rows)
