"""Quarantine: offers that were not trusted, beside what was accepted last, and the evidence."""

from collections.abc import Mapping
from typing import Any

from penstock.console.monitor_forms import checked, given, problems, typed
from penstock.console.monitor_results import side_by_side
from penstock.console.monitor_runs import names_by_id
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.web.errors import ApiError, NotFound, invalid
from penstock.workloads.monitor.bodies import Decision, Release
from penstock.workloads.monitor.model import QuarantineStatus
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.why import Looked

PART = 50
FIELDS = ("why", "price", "currency")
Row = dict[str, Any]


def add(console: Console, services: Services) -> None:
    """Show what waits for a decision, and take it."""
    _add_list(console, services.monitor)
    _add_one(console, services.monitor)
    _add_decisions(console, services.monitor)


def _add_list(console: Console, monitor: MonitorService) -> None:
    @console.page("/monitor/quarantine")
    async def show(ask: Ask) -> View:
        problem, rows = "", list[Row]()
        try:
            rows = await _list(ask, monitor)
        except ApiError as error:
            problem = str(error)
        shown = rows[:PART]
        values = {
            "title": "Quarantine",
            "rows": shown,
            "next": shown[-1]["id"] if len(rows) > PART else None,
            "problem": problem,
            "accepted": await monitor.quarantine.accepted(shown),
            "sources": await names_by_id(monitor),
            "statuses": [status.value for status in QuarantineStatus],
            "wanted": {
                "status": ask.get("status", QuarantineStatus.OPEN.value),
                "source": ask.get("source"),
            },
        }
        return View("monitor_quarantine.html", values)


async def _list(ask: Ask, monitor: MonitorService) -> list[Row]:
    status = ask.get("status", QuarantineStatus.OPEN.value)
    if status and status not in set(QuarantineStatus):
        raise invalid("status", "is none that there is")
    return await monitor.quarantine.list(
        status=QuarantineStatus(status) if status else None,
        source_id=await monitor.source_id(ask.get("source") or None),
        target_id=ask.get("target") or None,
        run_id=ask.get("run") or None,
        before=ask.get("after") or None,
        limit=PART + 1,
    )


def _add_one(console: Console, monitor: MonitorService) -> None:
    @console.page("/monitor/quarantine/{id}")
    async def show(ask: Ask) -> View:
        return await _view(monitor, ask.path["id"], dict.fromkeys(FIELDS, ""), {})


async def _view(
    monitor: MonitorService,
    offer_id: str,
    values: Mapping[str, str],
    wrong: Mapping[str, str],
    status: int = 200,
) -> View:
    row = await monitor.quarantine.get(offer_id)
    why = await monitor.why(row["target_id"])
    result = await _result(monitor, row["result_id"])
    good = why.good or (why.last if why.last and why.last.verdict == "accept" else None)
    shown = {
        "title": row["offer"].get("name") or "A quarantined offer",
        "row": row,
        "accepted": (await monitor.quarantine.accepted([row])).get(row["id"]),
        "target": why.target,
        "source": (await monitor.shops.get(row["source_id"]))["name"],
        "result": result,
        "good": good,
        "fields": side_by_side(result, good),
        "values": values,
        "errors": wrong,
    }
    return View("monitor_offer.html", shown, status)


async def _result(monitor: MonitorService, result_id: str) -> Looked | None:
    """The evidence, as long as it is kept."""
    try:
        return (await monitor.results.get(result_id))[1]
    except NotFound:
        return None


def _add_decisions(console: Console, monitor: MonitorService) -> None:
    quarantine = monitor.quarantine

    @console.action("/monitor/quarantine/{id}/release")
    async def release(form: Form) -> Done | View:
        offer_id, values = form.path["id"], typed(form, *FIELDS)
        try:
            body = checked(Release, given({**values, "currency": values["currency"].upper()}))
            await quarantine.release(
                offer_id,
                who=form.visitor.key.name,
                why=body.why,
                price=body.price,
                currency=body.currency,
            )
        except ApiError as error:
            return await _view(monitor, offer_id, values, problems(error), error.status)
        says = "The offer was released: it is a price now."
        return Done(_page(offer_id), says, "release offer", offer_id, given(values))

    @console.action("/monitor/quarantine/{id}/discard")
    async def discard(form: Form) -> Done | View:
        offer_id, values = form.path["id"], typed(form, *FIELDS)
        try:
            body = checked(Decision, given({"why": values["why"]}))
            await quarantine.discard(offer_id, who=form.visitor.key.name, why=body.why)
        except ApiError as error:
            return await _view(monitor, offer_id, values, problems(error), error.status)
        says = "The offer was discarded."
        return Done(_page(offer_id), says, "discard offer", offer_id, {"why": values["why"]})


def _page(offer_id: str) -> str:
    return f"{ROOT}/monitor/quarantine/{offer_id}"
