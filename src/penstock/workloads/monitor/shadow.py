"""How candidates did that read beside an adapter, by the monitor's results."""

from typing import Any

from sqlalchemy import select

from penstock.quality.shadow import Place, ShadowReport, fold
from penstock.store.unit import Unit
from penstock.workloads.monitor.tables import scrape_results, scrape_targets

SETTING = "PENSTOCK_MONITOR__SHADOW"


def report(unit: Unit, adapter_id: str, since: int) -> list[ShadowReport]:
    """How the candidates beside an adapter did since a time (ms), one report each."""
    return report_of_newest(unit, adapter_id, since, None)[0]


def report_of_newest(
    unit: Unit, adapter_id: str, since: int, most: int | None
) -> tuple[list[ShadowReport], int | None]:
    """As `report`, of about the newest so many results; the time (ms) it stops at if it does."""

    def read(before: Place | None, number: int) -> list[dict[str, Any]]:
        return _results(unit, adapter_id, since, before, number)

    return fold(read, most)


def _results(
    unit: Unit, adapter_id: str, since: int, before: Place | None, number: int
) -> list[dict[str, Any]]:
    results, targets = scrape_results.c, scrape_targets.c
    query = (
        select(results.id, results.target_id, targets.url, results.at, results.document)
        .join(scrape_targets, targets.id == results.target_id)
        .where(targets.adapter_id == adapter_id, results.at >= since)
        .order_by(results.at.desc(), results.id.desc())
        .limit(number)
    )
    if before is not None:
        at, last = before
        query = query.where((results.at < at) | ((results.at == at) & (results.id < last)))
    return list(unit.rows(query))
