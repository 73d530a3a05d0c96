"""Adapters on sources: how they fare, what is usual, and who stops them and lets them go on."""

from urllib.parse import urlencode

from fastapi import Response
from fastapi.responses import RedirectResponse

from penstock.console.monitor_runs import DRAWN, charts, names_by_id
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.web.errors import NotFound, invalid
from penstock.workloads.monitor.model import AdapterStatus, DisabledReason
from penstock.workloads.monitor.service import MonitorService

PART = 50
STATES = {"enabled": True, "disabled": False}


def add(console: Console, services: Services) -> None:
    """Show adapters, and switch them."""
    _add_list(console, services.monitor)
    _add_one(console, services.monitor)
    _add_switches(console, services.monitor)


def _add_list(console: Console, monitor: MonitorService) -> None:
    @console.page("/monitor/adapters")
    async def show(ask: Ask) -> View:
        state = ask.get("state")
        found = await monitor.adapters.some(
            enabled=STATES.get(state), after=ask.get("after") or None, limit=PART + 1
        )
        values = {
            "title": "Adapters",
            "statuses": found[:PART],
            "next": found[PART - 1].adapter_id if len(found) > PART else None,
            "sources": await names_by_id(monitor),
            "state": state,
            "states": list(STATES),
        }
        return View("monitor_adapters.html", values)


def _add_one(console: Console, monitor: MonitorService) -> None:
    # By its query: names of sources, which are in the ids, may have a slash.
    @console.page("/monitor/adapters/one")
    async def show(ask: Ask) -> View | Response:
        if not ask.get("id"):
            return RedirectResponse(f"{ROOT}/monitor/adapters")
        status = await monitor.adapters.get(ask.get("id"))
        if status is None:
            raise NotFound("No adapter of that name has read pages of a source yet")
        runs = await monitor.runs.list(
            source_id=status.source_id, adapter=status.adapter, limit=DRAWN
        )
        values = {
            "title": status.adapter_id,
            "status": status,
            "source": (await monitor.shops.get(status.source_id))["name"],
            "reasons": [reason.value for reason in DisabledReason],
            "runs": runs[:10],
            **charts(runs),
        }
        return View("monitor_adapter.html", values)


def _add_switches(console: Console, monitor: MonitorService) -> None:
    @console.action("/monitor/adapters/disable")
    async def disable(form: Form) -> Done:
        adapter_id, reason = form.get("id"), form.get("reason")
        if reason not in set(DisabledReason):
            raise invalid("reason", f"must be one of {', '.join(DisabledReason)}")
        status = await monitor.disable_adapter(
            adapter_id, form.visitor.key.name, DisabledReason(reason)
        )
        says = "The adapter reads nothing there any more; what was under way is quarantined."
        return Done(_page(status), says, "disable adapter", adapter_id, {"reason": reason})

    @console.action("/monitor/adapters/enable")
    async def enable(form: Form) -> Done:
        adapter_id = form.get("id")
        status = await monitor.enable_adapter(adapter_id, form.visitor.key.name)
        says = "The adapter reads again: first a canary of a few targets, then all of them."
        return Done(_page(status), says, "enable adapter", adapter_id)


def _page(status: AdapterStatus) -> str:
    return f"{ROOT}/monitor/adapters/one?{urlencode({'id': status.adapter_id})}"
