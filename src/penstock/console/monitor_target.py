"""One target: what is known of it, what it cost, why it is as it is, and what can be done."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from penstock.console.charts import Point, line_chart
from penstock.console.filters import at, money
from penstock.console.monitor_forms import checked, problems, typed, whole
from penstock.console.monitor_results import side_by_side
from penstock.console.pages import ROOT, STREAM, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.core.money import to_minor
from penstock.products.history import Filter as PriceFilter
from penstock.web.errors import ApiError, NotFound
from penstock.workloads.monitor.bodies import TargetChanges
from penstock.workloads.monitor.run_routes import refuse_empty
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.targets import waits_for

EDITED = ("schedule", "priority", "adapter", "notes")
MOST_PRICES, LISTED_PRICES, MOST_OFFERS, LISTED_RESULTS = 300, 15, 50, 20
Row = dict[str, Any]
Switch = Callable[[str, str], Awaitable[Any]]


class Button(NamedTuple):
    """Something to do with a target: who does it, and what is said afterwards."""

    do: Switch
    says: str


def add(console: Console, services: Services) -> None:
    """Show a target, and change it."""
    _add_page(console, services.monitor)
    _add_edit(console, services.monitor)
    _add_read(console, services.monitor)
    _add_switches(console, services.monitor)


def _add_page(console: Console, monitor: MonitorService) -> None:
    @console.page("/monitor/targets/{id}")
    async def show(ask: Ask) -> View:
        row = await monitor.targets.get(ask.path["id"])
        values = {"title": row["url"], "target": row, "waits_for": waits_for(row)}
        if not ask.get(STREAM):
            values |= await _all_of(monitor, row)
        return View("monitor_target.html", values)


async def _all_of(monitor: MonitorService, row: Row) -> Row:
    """What does not change while one looks at it, and is much."""
    wanted = PriceFilter(target_id=row["id"], limit=MOST_PRICES)
    prices = await monitor.prices.all(wanted)
    offers = await monitor.quarantine.list(status=None, target_id=row["id"], limit=MOST_OFFERS)
    why = await monitor.why(row["id"])
    return {
        "why": why,
        "fields": side_by_side(why.last, why.good),
        "chart": chart(prices, offers),
        "prices": prices[:LISTED_PRICES],
        "offers": offers,
        "results": await monitor.results.of_target(row["id"], LISTED_RESULTS),
        "adapters": monitor.shops.drafter.adapters(),
        "values": {name: "" if row[name] is None else row[name] for name in EDITED[:2]}
        | {"adapter": row["adapter_id"], "notes": row["notes"] or ""},
        "errors": {},
    }


def chart(prices: Sequence[Row], offers: Sequence[Row]) -> Any:
    """Prices over time in the currency of the newest; what was not accepted stands aside."""
    shown = prices[0]["currency"] if prices else None
    points = [_price_point(row) for row in prices if row["currency"] == shown]
    points += [
        _offer_point(row) for row in offers if _is_of(row["offer"], shown) and not row["price_id"]
    ]
    points.sort(key=lambda point: point.x)
    if not points or not shown:
        return ""
    lowest, highest = min(point.y for point in points), max(point.y for point in points)
    return line_chart(
        points,
        f"Prices in {shown}",
        (at(int(points[0].x)), at(int(points[-1].x))),
        (money(int(lowest), shown), money(int(highest), shown)),
    )


def _price_point(row: Row) -> Point:
    minor = to_minor(row["price"], row["currency"]) or 0
    words, mark = "accepted", "good"
    if row["released_by"]:
        words, mark = f"released by {row['released_by']}", "slow"
    if row["correction_action"]:
        words, mark = f"corrected: {row['correction_action'].lower()}", "slow"
    is_hidden = row["correction_action"] == "HIDE"
    says = f"{at(row['observed_at'])}: {money(minor, row['currency'])}, {words}"
    return Point(row["observed_at"], minor, "bad" if is_hidden else mark, says, is_hidden)


def _is_of(offer: Mapping[str, Any], currency: str | None) -> bool:
    return bool(offer.get("price_minor")) and offer.get("currency") == currency


def _offer_point(row: Row) -> Point:
    offer = row["offer"]
    amount = money(offer["price_minor"], offer["currency"])
    says = f"{at(row['observed_at'])}: {amount}, quarantined: {row['reason']}"
    return Point(row["observed_at"], offer["price_minor"], "bad", says, aside=True)


def _add_edit(console: Console, monitor: MonitorService) -> None:
    @console.action("/monitor/targets/{id}/edit")
    async def edit(form: Form) -> Done | View:
        target_id, values = form.path["id"], typed(form, *EDITED)
        row = await monitor.targets.get(target_id)
        try:
            changes = checked(TargetChanges, _changes(values)).given()
            after = await monitor.targets.edit(row["id"], form.visitor.key.name, **changes)
        except ApiError as error:
            known = {"title": row["url"], "target": row, "waits_for": waits_for(row)}
            known |= await _all_of(monitor, row)
            wrong = {"values": values, "errors": problems(error)}
            return View("monitor_target.html", known | wrong, error.status)
        changed = {
            name: after[name]
            for name in ("schedule", "priority", "adapter_id", "notes")
            if after[name] != row[name]
        }
        return Done(_page(row), "The target was changed.", "edit target", row["id"], changed)


def _changes(values: Mapping[str, str]) -> Row:
    """What is empty is taken away; a priority is a number."""
    found: Row = {name: value or None for name, value in values.items()}
    return found | {"priority": whole(values["priority"] or "0")}


def _add_read(console: Console, monitor: MonitorService) -> None:
    @console.action("/monitor/targets/{id}/read")
    async def read(form: Form) -> Done:
        row = await monitor.targets.get(form.path["id"])
        launch = await monitor.start_run(form.visitor.key.name, target_ids=[row["id"]])
        refuse_empty(launch)
        says = "It is read as soon as it is its turn: look again in a moment."
        return Done(_page(row), says, "read target", row["id"], {"run": launch.runs[0]})


def _add_switches(console: Console, monitor: MonitorService) -> None:
    targets = monitor.targets
    buttons = {
        "pause": Button(targets.pause, "It is not read until it is resumed."),
        "resume": Button(targets.resume, "It is read again."),
        "enable": Button(targets.enable, "It is taken in again."),
        "disable": Button(targets.disable, "It is left out, and kept."),
        "block": Button(targets.block, "It is never fetched until the block is taken back."),
        "unblock": Button(targets.unblock, "The block was taken back."),
    }

    @console.action("/monitor/targets/{id}/remove")
    async def remove(form: Form) -> Done:
        row = await targets.get(form.path["id"])
        removal = await targets.remove(row["id"], form.visitor.key.name)
        to = f"{ROOT}/monitor/targets" if removal.deleted else _page(row)
        says = f"The target was {removal.note}."
        return Done(to, says, "remove target", row["id"], {"url": row["url"]})

    @console.action("/monitor/targets/{id}/{do}")
    async def switch(form: Form) -> Done:
        do = form.path["do"]
        if do not in buttons:
            raise NotFound("There is nothing of that name to do with a target")
        row = await targets.get(form.path["id"])
        await buttons[do].do(row["id"], form.visitor.key.name)
        return Done(_page(row), buttons[do].says, f"{do} target", row["id"], {"url": row["url"]})


def _page(row: Mapping[str, Any]) -> str:
    return f"{ROOT}/monitor/targets/{row['id']}"
