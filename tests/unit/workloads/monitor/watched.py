"""A shop with targets, runs and results, put in a store by hand."""

from collections.abc import Mapping
from typing import Any

from penstock.store.unit import Unit
from penstock.workloads.monitor.tables import (
    scrape_adapter_status,
    scrape_results,
    scrape_runs,
    scrape_targets,
)
from tests.unit.products.offers import Shop


def add_target(unit: Unit, shop: Shop, name: str = "t1", **changes: Any) -> str:
    """A target of a shop."""
    row = {
        "id": name,
        "url": f"https://shop.example/{name}",
        "canonical_url": f"https://shop.example/{name}",
        "source_id": shop.source_id,
        "adapter_id": "product",
        "status": "ACTIVE",
        "enabled": True,
        "created_at": unit.now,
        "updated_at": unit.now,
    }
    unit.insert_all(scrape_targets, [{**row, **changes}])
    return name


def add_run(unit: Unit, shop: Shop, name: str = "run-1", **changes: Any) -> str:
    """A run of a shop."""
    row = {
        "id": name,
        "adapter_id": "product",
        "adapter_version": "1.0.0",
        "source_id": shop.source_id,
        "retailer_id": shop.retailer_id,
        "trigger": "MANUAL",
        "started_at": unit.now,
        "urls_total": 1,
        "field_counts": {},
        "created_at": unit.now,
    }
    unit.insert_all(scrape_runs, [{**row, **changes}])
    return name


def add_result(
    unit: Unit, name: str, document: Mapping[str, Any], *, at: int = 1, **changes: Any
) -> str:
    """What became of a target in a run."""
    row = {
        "id": name,
        "target_id": "t1",
        "run_id": "run-1",
        "at": at,
        "fetch_status": "ok",
        "verdict": "accept",
        "reason": None,
        "adapter_version": "1.0.0",
        "document": document,
        "body": None,
    }
    unit.insert_all(scrape_results, [{**row, **changes}])
    return name


def add_status(unit: Unit, shop: Shop, **changes: Any) -> None:
    """How the adapter fares on a shop."""
    row = {
        "adapter_id": "product@shop",
        "adapter": "product",
        "source_id": shop.source_id,
        "enabled": True,
        "baseline_coverage": {},
        "pooled": {},
        "created_at": unit.now,
        "updated_at": unit.now,
    }
    unit.insert_all(scrape_adapter_status, [{**row, **changes}])
