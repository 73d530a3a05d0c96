"""Targets: found, added, and changed many at a time."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from penstock.console.monitor_forms import MOST_NAMES, checked, given, problems, typed
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.web.errors import ApiError, NotFound, invalid
from penstock.workloads.monitor.bodies import NewTarget
from penstock.workloads.monitor.listing import Order, Part
from penstock.workloads.monitor.model import TargetStatus
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.targets import Filter, waits_for

PART = 50
MOST_AT_ONCE = 500
FIELDS = ("url", "source", "adapter", "schedule", "priority", "notes")
ORDERS = {
    Order.NEWEST: "newest first",
    Order.OLDEST: "oldest first",
    Order.DUE: "due next",
    Order.ADDRESS: "by source and address",
}
#: Which of them are looked for, beside their status.
ENABLED, BLOCKED = {"enabled": True, "disabled": False}, "blocked"
#: What became of those that were chosen.
DONE = {
    "pause": "paused",
    "resume": "resumed",
    "enable": "enabled",
    "disable": "disabled",
    "remove": "removed, or disabled where something is known of them",
}
Switch = Callable[[str, str], Awaitable[Any]]


def add(console: Console, services: Services) -> None:
    """List targets, add one, and change many."""
    _add_list(console, services.monitor)
    _add_new(console, services.monitor)
    _add_bulk(console, services.monitor)


def _add_list(console: Console, monitor: MonitorService) -> None:
    @console.page("/monitor/targets")
    async def show(ask: Ask) -> View:
        problem, part = "", Part([], None)
        try:
            order = _order(ask)
            part = await monitor.targets_in_order(
                await _filter(ask, monitor), order, ask.get("after") or None
            )
        except ApiError as error:
            problem = str(error)
        wanted = {name: ask.get(name) for name in ("q", "status", "source", "adapter", "kind")}
        return View(
            "monitor_targets.html",
            {
                "title": "Targets",
                "rows": [{**row, "waits_for": waits_for(row)} for row in part.rows],
                "next": part.next,
                "looked_at": part.looked_at,
                "problem": problem,
                "wanted": {**wanted, "order": ask.get("order", Order.NEWEST.value)},
                "is_filtered": any(wanted.values()),
                "statuses": [status.value for status in TargetStatus],
                "kinds": [*ENABLED, BLOCKED],
                "orders": {order.value: words for order, words in ORDERS.items()},
                "sources": await source_names(monitor),
                "adapters": monitor.shops.drafter.adapters(),
                "asked": urlencode(ask.request.query_params.multi_items()),
            },
        )


def _order(ask: Ask) -> Order:
    name = ask.get("order") or Order.NEWEST
    if name not in set(Order):
        raise invalid("order", "is none that there is")
    return Order(name)


async def _filter(ask: Ask, monitor: MonitorService) -> Filter:
    status = ask.get("status")
    if status and status not in set(TargetStatus):
        raise invalid("status", "is none that there is")
    return Filter(
        source_id=await monitor.source_id(ask.get("source") or None),
        adapter=ask.get("adapter") or None,
        status=TargetStatus(status) if status else None,
        enabled=ENABLED.get(ask.get("kind")),
        blocked=True if ask.get("kind") == BLOCKED else None,
        url=ask.get("q") or None,
        limit=PART,
    )


async def source_names(monitor: MonitorService) -> list[str]:
    """What sources are called, for who types one."""
    return [row["name"] for row in await monitor.shops.all()][:MOST_NAMES]


def _add_new(console: Console, monitor: MonitorService) -> None:
    async def view(values: Mapping[str, str], wrong: Mapping[str, str], status: int) -> View:
        return View(
            "monitor_target_new.html",
            {
                "title": "Add a target",
                "values": values,
                "errors": wrong,
                "sources": await source_names(monitor),
                "adapters": monitor.shops.drafter.adapters(),
            },
            status,
        )

    @console.page("/monitor/targets/new")
    async def show(ask: Ask) -> View:
        return await view({name: ask.get(name) for name in FIELDS}, {}, 200)

    @console.action("/monitor/targets/new")
    async def create(form: Form) -> Done | View:
        values = typed(form, *FIELDS)
        try:
            body = checked(NewTarget, given(values))
            row = await monitor.targets.add(body.as_wanted(), form.visitor.key.name)
        except ApiError as error:
            return await view(values, problems(error), error.status)
        says = "The target was added. " + _when(row)
        to = f"{ROOT}/monitor/targets/{row['id']}"
        return Done(to, says, "add target", row["id"], {"url": row["url"]})


def _when(row: Mapping[str, Any]) -> str:
    waits = waits_for(row)
    return f"It is not read yet: {waits}." if waits else "It is read as soon as it is its turn."


def _add_bulk(console: Console, monitor: MonitorService) -> None:
    targets = monitor.targets
    switches: Mapping[str, Switch] = {
        "pause": targets.pause,
        "resume": targets.resume,
        "enable": targets.enable,
        "disable": targets.disable,
        "remove": targets.remove,
    }

    @console.action("/monitor/targets/bulk")
    async def change(form: Form) -> Done:
        do, ids = form.get("do"), list(dict.fromkeys(form.all("id")))
        if do not in switches:
            raise NotFound("There is nothing of that name to do with targets")
        if not ids:
            raise invalid("id", "tick the boxes of the targets that are meant")
        if len(ids) > MOST_AT_ONCE:
            raise invalid("id", f"at most {MOST_AT_ONCE} targets at once")
        number, refused = await _each(switches[do], ids, form.visitor.key.name)
        says = f"{number} of {len(ids)} targets: {DONE[do]}."
        if refused:
            says += f" Not done for {len(refused)}: {refused[0]}"
        asked = urlencode(parse_qsl(form.get("asked")))
        detail = {"targets": ", ".join(ids), "done": number}
        to = f"{ROOT}/monitor/targets" + (f"?{asked}" if asked else "")
        return Done(to, says, f"{do} targets", f"{len(ids)} targets", detail)


async def _each(switch: Switch, ids: list[str], who: str) -> tuple[int, list[str]]:
    """For how many it was done, and why not for others."""
    refused = []
    for target_id in ids:
        try:
            await switch(target_id, who)
        except ApiError as error:
            refused.append(str(error))
    return len(ids) - len(refused), refused
