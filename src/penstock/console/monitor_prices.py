"""A price with its provenance, and what was said about it later."""

from collections.abc import Mapping

from penstock.console.monitor_forms import checked, given, problems, typed
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.web.errors import ApiError
from penstock.workloads.monitor.bodies import NewCorrection
from penstock.workloads.monitor.service import MonitorService

FIELDS = ("why", "price")


def add(console: Console, services: Services) -> None:
    """Show prices, and correct them."""
    _add_page(console, services.monitor)
    _add_corrections(console, services.monitor)


def _add_page(console: Console, monitor: MonitorService) -> None:
    @console.page("/monitor/prices/{id}")
    async def show(ask: Ask) -> View:
        return await _view(monitor, ask.path["id"], dict.fromkeys(FIELDS, ""), {})


async def _view(
    monitor: MonitorService,
    price_id: str,
    values: Mapping[str, str],
    wrong: Mapping[str, str],
    status: int = 200,
) -> View:
    row = await monitor.prices.get(price_id)
    shown = {
        "title": row["title"],
        "price": row,
        "corrections": await monitor.prices.corrections(price_id),
        "values": values,
        "errors": wrong,
    }
    return View("monitor_price.html", shown, status)


def _add_corrections(console: Console, monitor: MonitorService) -> None:
    @console.action("/monitor/prices/{id}/corrections")
    async def correct(form: Form) -> Done | View:
        price_id, values = form.path["id"], typed(form, *FIELDS)
        is_hiding = form.get("do") == "hide"
        try:
            said = given({"why": values["why"]} if is_hiding else values)
            if not is_hiding:
                said.setdefault("price", "")
            body = checked(NewCorrection, said)
            who = form.visitor.key.name
            await monitor.prices.correct(price_id, body.price, who=who, why=body.why)
        except ApiError as error:
            return await _view(monitor, price_id, values, problems(error), error.status)
        says = "The price is hidden." if is_hiding else "Another amount stands in its place."
        return Done(_page(price_id), says, "correct price", price_id, given(values))

    @console.action("/monitor/prices/{id}/corrections/{correction}/revoke")
    async def revoke(form: Form) -> Done:
        price_id, correction = form.path["id"], form.path["correction"]
        await monitor.prices.revoke(correction, form.visitor.key.name)
        says = "The correction was revoked: the price counts again as it was seen."
        return Done(_page(price_id), says, "revoke correction", correction, {"price": price_id})


def _page(price_id: str) -> str:
    return f"{ROOT}/monitor/prices/{price_id}"
