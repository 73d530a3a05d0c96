"""Proxies: what requests leave through, how it does, and what it costs; never a password."""

from collections.abc import Awaitable, Callable
from typing import Any

from penstock.console.asking import an_id, cursor, filled, number, problems_of, truth, word
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.kernel.proxies import FORM
from penstock.store.proxies import Filter
from penstock.web.errors import Conflict, InvalidRequest
from penstock.workloads.catalog.proxies import Proxies, Report
from penstock.workloads.catalog.proxy_routes import Import, NewProxy

PART = 50
MOST_PROBLEMS = 100
HERE = f"{ROOT}/proxies"
PROTOCOLS = ("http", "https", "socks5")
#: Everything but the password, which is never shown again.
SHOWN = ("proxy_protocol", "proxy_url", "proxy_port", "proxy_username", "region", "cost_per_gb")
MICROS = 1_000_000
TEST = "proxy test"
Act = Callable[[str, str], Awaitable[dict[str, Any]]]


def add(console: Console, services: Services) -> None:
    """Show proxies and change them."""
    proxies = services.proxies
    _add_list(console, proxies)
    _add_new(console, proxies)
    _add_import(console, proxies)
    _add_test(console, proxies)
    _add_switch(console, "enable", proxies.enable, "is chosen again, within seconds")
    _add_switch(console, "disable", proxies.disable, "is chosen no more")
    _add_switch(console, "remove", proxies.remove, "was removed")


def _add_list(console: Console, proxies: Proxies) -> None:
    @console.page("/proxies")
    async def show(ask: Ask) -> View:
        active, healthy = truth(ask.get("active")), truth(ask.get("healthy"))
        rows = await proxies.list(Filter(active, healthy, cursor(ask), PART))
        return View(
            "proxies.html",
            {
                "title": "Proxies",
                "proxies": rows[:PART],
                "next": rows[PART - 1]["id"] if len(rows) > PART else None,
                "typed": {"active": ask.get("active"), "healthy": ask.get("healthy")},
                "is_filtered": active is not None or healthy is not None,
            },
        )


def _add_new(console: Console, proxies: Proxies) -> None:
    @console.page("/proxies/new")
    async def ask_for(_ask: Ask) -> View:
        return _form({"proxy_protocol": PROTOCOLS[0]}, {})

    @console.action("/proxies/new")
    async def add_proxy(form: Form) -> Done | View:
        typed = {name: form.get(name) for name in SHOWN}
        values: dict[str, Any] = {
            "proxy_protocol": typed["proxy_protocol"],
            "proxy_url": typed["proxy_url"],
            "proxy_port": number(typed["proxy_port"]),
            "proxy_username": typed["proxy_username"],
            "proxy_password": form.get("proxy_password") or None,
            "region": word(typed["region"]),
            "cost_per_gb_micros": _micros(typed["cost_per_gb"]),
        }
        try:
            body = filled(NewProxy, values)
            who = form.visitor.key.name
            row = await proxies.add(body.as_proxy(), who, body.cost_per_gb_micros)
        except InvalidRequest as error:
            return _form(typed, problems_of(error))
        said = f"{name_of(row)} was added: every process uses it within seconds"
        return Done(HERE, said, "proxy add", name_of(row), {"id": row["id"]})


def _form(typed: dict[str, str], errors: dict[str, str]) -> View:
    errors = {
        "cost_per_gb" if name == "cost_per_gb_micros" else name: said
        for name, said in errors.items()
    }
    values = {"title": "Add a proxy", "typed": typed, "errors": errors, "protocols": PROTOCOLS}
    return View("proxies_new.html", values, 422 if errors else 200)


def _micros(text: str) -> int | str | None:
    """A price as it is kept, in millionths; what is none stays text."""
    found = number(text)
    return round(found * MICROS) if isinstance(found, int | float) else found


def _add_import(console: Console, proxies: Proxies) -> None:
    @console.page("/proxies/import")
    async def ask_for(_ask: Ask) -> View:
        return _imported({})

    @console.action("/proxies/import")
    async def load(form: Form) -> Done | View:
        is_trial = form.get("how") != "import"
        try:
            body = filled(Import, {"text": form.get("text"), "dry_run": is_trial})
            text = body.text.get_secret_value()
            report = await proxies.load(text, form.visitor.key.name, dry_run=is_trial)
        except InvalidRequest as error:
            return _imported(problems_of(error))
        if is_trial or report.problems:
            return _imported({}, report)
        said = f"{report.added} proxies were added, {report.skipped} were there already"
        detail = {"added": report.added, "skipped": report.skipped}
        return Done(HERE, said, "proxy import", f"{report.lines} lines", detail)


def _imported(errors: dict[str, str], report: Report | None = None) -> View:
    has_problems = bool(errors or (report and report.problems))
    return View(
        "proxies_import.html",
        {
            "title": "Import proxies",
            "errors": errors,
            "report": report,
            "problems": report.problems[:MOST_PROBLEMS] if report else (),
            "form": FORM,
        },
        422 if has_problems else 200,
    )


def _add_test(console: Console, proxies: Proxies) -> None:
    @console.action("/proxies/{id}/test")
    async def test(form: Form) -> Done:
        row = await proxies.get(an_id(form.path["id"], "proxy"))
        tested = await proxies.test(row["id"])
        name, detail = name_of(row), {"ok": tested.ok}
        if not tested.ok:
            # Its health may be another now: that is a change, too.
            await console.audit.note(form.visitor.key.name, TEST, name, detail)
            raise Conflict(f"{name} cannot be used: {tested.problem}")
        return Done(HERE, f"{name} accepts connections", TEST, name, detail)


def _add_switch(console: Console, action: str, act: Act, says: str) -> None:
    @console.action(f"/proxies/{{id}}/{action}")
    async def switch(form: Form) -> Done:
        row = await act(an_id(form.path["id"], "proxy"), form.visitor.key.name)
        detail = {"id": row["id"]}
        return Done(HERE, f"{name_of(row)} {says}", f"proxy {action}", name_of(row), detail)


def name_of(row: dict[str, Any]) -> str:
    """A proxy as people know it."""
    return f"{row['proxy_protocol']}://{row['proxy_url']}:{row['proxy_port']}"
