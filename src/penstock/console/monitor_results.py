"""One result step by step, with what was found next to the last good one; the page as a file."""

from typing import Any, NamedTuple

from fastapi import Response

from penstock.console.pages import Ask, Console, View
from penstock.console.services import Services
from penstock.web.files import foreign_page
from penstock.workloads.monitor.why import Found, Looked


class Side(NamedTuple):
    """What was found for a field here, and what there."""

    field: str
    here: Found | None
    there: Found | None

    @property
    def is_other(self) -> bool:
        """Whether the two say something else."""
        values = [found.value if found else None for found in (self.here, self.there)]
        return values[0] != values[1]


def side_by_side(here: Looked | None, there: Looked | None) -> list[Side]:
    """What two results found, field by field."""
    left = {found.field: found for found in (here.found if here else ())}
    right = {found.field: found for found in (there.found if there else ())}
    return [Side(name, left.get(name), right.get(name)) for name in dict.fromkeys([*left, *right])]


def add(console: Console, services: Services) -> None:
    """Show results, and let pages be kept."""
    monitor = services.monitor

    @console.page("/monitor/results/{id}")
    async def show(ask: Ask) -> View:
        target_id, result = await monitor.results.get(ask.path["id"])
        why = await monitor.why(target_id)
        good = why.good or why.last
        is_good = good is None or good.id == result.id or good.verdict != "accept"
        good = None if is_good else good
        values: dict[str, Any] = {
            "title": "A result",
            "target_id": target_id,
            "target": why.target,
            "result": result,
            "good": good,
            "fields": side_by_side(result, good),
        }
        return View("monitor_result.html", values)

    @console.page("/monitor/results/{id}/page")
    async def page(ask: Ask) -> Response:
        result_id = ask.path["id"]
        name = "".join(sign for sign in result_id if sign.isalnum() and sign.isascii())
        return foreign_page(await monitor.page(result_id), f"{name}.html")
