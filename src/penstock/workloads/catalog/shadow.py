"""How candidates did that read beside a parser, by the attempts at parsing."""

from typing import Any

from sqlalchemy import select

from penstock.quality.shadow import Place, ShadowReport, fold
from penstock.store.unit import Unit
from penstock.workloads.catalog.model import Attempt
from penstock.workloads.catalog.tables import crawl_attempts, crawl_tasks

SETTING = "PENSTOCK_CATALOG__SHADOW"


def report_of_newest(
    unit: Unit, adapter_id: str, since: int, most: int | None
) -> tuple[list[ShadowReport], int | None]:
    """How the candidates beside an adapter did since a time (ms), one report each.

    Of about the newest so many attempts; the time (ms) it stops at if it does.
    """

    def read(before: Place | None, number: int) -> list[dict[str, Any]]:
        return _attempts(unit, adapter_id, since, before, number)

    return fold(read, most)


def _attempts(
    unit: Unit, adapter_id: str, since: int, before: Place | None, number: int
) -> list[dict[str, Any]]:
    attempts, tasks = crawl_attempts.c, crawl_tasks.c
    at = attempts.ended_at
    query = (
        select(attempts.id, attempts.crawl_task_id, tasks.url, at.label("at"), attempts.document)
        .join(crawl_tasks, tasks.id == attempts.crawl_task_id)
        .where(
            attempts.kind == Attempt.PARSE.value,
            attempts.parser_version.startswith(f"{adapter_id}@", autoescape=True),
            at >= since,
        )
        .order_by(at.desc(), attempts.id.desc())
        .limit(number)
    )
    if before is not None:
        query = query.where((at < before.at) | ((at == before.at) & (attempts.id < before.id)))
    return list(unit.rows(query))
