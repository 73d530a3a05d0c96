"""Sources: on what terms they are read, who approved that and when, and who may see the prices."""

from collections.abc import Mapping
from typing import Any

from penstock.console.monitor_forms import checked, given, problems, typed
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.products.sources import Visibility
from penstock.web.errors import ApiError, invalid
from penstock.workloads.monitor.bodies import NewSource, SourceChanges
from penstock.workloads.monitor.service import MonitorService

CONFIG = ("rate", "fetcher", "headers")
NEW = ("name", "domain", "retailer", "adapter_id", *CONFIG)
EDITED = ("name", "domain", "adapter_id", *CONFIG, "visibility_status")
FLAGS = ("robots_compliant", "upc_trusted")
FETCHERS = ("http", "browser", "playwright")
#: Where a field of the stored configuration is typed.
PLACES = {
    "scrape_config.rateLimit": "rate",
    "scrape_config.fetcherType": "fetcher",
    "scrape_config.customHeaders": "headers",
}
Row = dict[str, Any]


def add(console: Console, services: Services) -> None:
    """Show sources, add them, change them, and say who approved them."""
    _add_list(console, services.monitor)
    _add_new(console, services.monitor)
    _add_one(console, services.monitor)
    _add_terms(console, services.monitor)


def _add_list(console: Console, monitor: MonitorService) -> None:
    @console.page("/monitor/sources")
    async def show(ask: Ask) -> View:
        domain = ask.get("domain")
        rows = await monitor.shops.all(domain or None)
        return View("monitor_sources.html", {"title": "Sources", "rows": rows, "domain": domain})


def _add_new(console: Console, monitor: MonitorService) -> None:
    async def view(values: Mapping[str, Any], wrong: Mapping[str, str], status: int) -> View:
        shown = {
            "title": "Add a source",
            "values": values,
            "errors": wrong,
            "retailers": [row["name"] for row in await monitor.shops.retailers()],
        }
        return View("monitor_source_new.html", shown | _choices(monitor), status)

    @console.page("/monitor/sources/new")
    async def show(_ask: Ask) -> View:
        return await view(dict.fromkeys(NEW, ""), {}, 200)

    @console.action("/monitor/sources/new")
    async def create(form: Form) -> Done | View:
        values = typed(form, *NEW)
        try:
            body = checked(NewSource, given(_plain(values) | {"scrape_config": _config(values)}))
            row = await monitor.shops.add(
                body.name,
                body.domain,
                body.retailer,
                who=form.visitor.key.name,
                adapter_id=body.adapter_id,
                scrape_config=_dumped(body),
            )
        except ApiError as error:
            return await view(values, _placed(error), error.status)
        says = "The source was added. Nothing is fetched from it until somebody approves its terms."
        return Done(_page(row), says, "add source", row["name"], {"domain": row["domain"]})


def _choices(monitor: MonitorService) -> Row:
    return {"adapters": monitor.shops.drafter.adapters(), "fetchers": FETCHERS}


def _plain(values: Mapping[str, Any]) -> Row:
    return {name: value for name, value in values.items() if name not in CONFIG}


def _config(values: Mapping[str, str]) -> Row:
    """The configuration, as it is stored, from its fields."""
    found: Row = {}
    if values["rate"]:
        found["rateLimit"] = {"requestsPerSecond": values["rate"]}
    if values["fetcher"]:
        found["fetcherType"] = values["fetcher"]
    lines = [line for line in values["headers"].splitlines() if line.strip()]
    pairs = [line.partition(":") for line in lines]
    if any(not separator for _, separator, _ in pairs):
        raise invalid("headers", "write one header a line, as Name: value")
    if pairs:
        found["customHeaders"] = {name.strip(): value.strip() for name, _, value in pairs}
    return found


def _dumped(body: NewSource | SourceChanges) -> Row:
    return body.scrape_config.model_dump(exclude_none=True) if body.scrape_config else {}


def _placed(error: ApiError) -> dict[str, str]:
    """What is wrong, at the fields of the form."""
    found = problems(error)
    for stored, place in PLACES.items():
        for field in [name for name in found if name.startswith(stored)]:
            found[place] = found.pop(field)
    return found


def _add_one(console: Console, monitor: MonitorService) -> None:
    async def view(row: Row, values: Row, wrong: Mapping[str, str], status: int = 200) -> View:
        shown = {
            "title": row["name"],
            "source": row,
            "values": values,
            "errors": wrong,
            "visibilities": [each.value for each in Visibility],
        }
        return View("monitor_source.html", shown | _choices(monitor), status)

    @console.page("/monitor/sources/{id}")
    async def show(ask: Ask) -> View:
        row = await monitor.shops.get(ask.path["id"])
        return await view(row, _values(row), {})

    @console.action("/monitor/sources/{id}/edit")
    async def edit(form: Form) -> Done | View:
        row = await monitor.shops.get(form.path["id"])
        values: Row = typed(form, *EDITED) | {name: bool(form.get(name)) for name in FLAGS}
        try:
            body = checked(
                SourceChanges, given(_plain(values) | {"scrape_config": _config(values)})
            )
            changes = body.model_dump(exclude_none=True, exclude={"scrape_config"})
            changes |= {"adapter_id": body.adapter_id, "scrape_config": _dumped(body)}
            after = await monitor.shops.edit(row["id"], form.visitor.key.name, **changes)
        except ApiError as error:
            return await view(row, values, _placed(error), error.status)
        changed = {name: after[name] for name in changes if after[name] != row[name]}
        says = "The source was changed."
        if row["tos_approved_by"] and not after["tos_approved_by"]:
            says += " Its domain is another one: its terms have to be approved anew."
        return Done(_page(row), says, "edit source", after["name"], changed)


def _values(row: Row) -> Row:
    """A source as its form has it."""
    config = row["scrape_config"] or {}
    headers = config.get("customHeaders") or {}
    return {
        **{name: row[name] for name in ("name", "domain", "visibility_status", *FLAGS)},
        "adapter_id": row["adapter_id"] or "",
        "rate": (config.get("rateLimit") or {}).get("requestsPerSecond", ""),
        "fetcher": config.get("fetcherType") or "",
        "headers": "\n".join(f"{name}: {value}" for name, value in headers.items()),
    }


def _add_terms(console: Console, monitor: MonitorService) -> None:
    @console.action("/monitor/sources/{id}/approve")
    async def approve(form: Form) -> Done:
        row = await monitor.shops.approve(form.path["id"], form.visitor.key.name)
        says = "The terms are approved: its targets are fetched when they are due."
        return Done(_page(row), says, "approve source", row["name"], {"domain": row["domain"]})

    @console.action("/monitor/sources/{id}/revoke")
    async def revoke(form: Form) -> Done:
        row = await monitor.shops.revoke(form.path["id"], form.visitor.key.name)
        says = "The approval was taken back: nothing more is fetched."
        return Done(_page(row), says, "revoke source", row["name"], {"domain": row["domain"]})


def _page(row: Mapping[str, Any]) -> str:
    return f"{ROOT}/monitor/sources/{row['id']}"
