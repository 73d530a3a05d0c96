"""Domains of the crawler: which sites are crawled, and on what terms."""

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from penstock.console.asking import filled, number, problems_of, truth, word
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.web.asking import one_page
from penstock.web.errors import InvalidRequest
from penstock.workloads.catalog.bodies import DomainChanges, NewDomain
from penstock.workloads.catalog.domains import Domains
from penstock.workloads.catalog.model import Row

B = TypeVar("B", bound=BaseModel)
PART = 50
TERMS = ("crawl_delay_seconds", "max_concurrent_requests", "crawl_frequency", "parser")
NUMBERS = TERMS[:3]
#: What can be left to the settings again.
CLEARABLE = ("crawl_frequency", "parser")
#: More tasks in one status are not counted.
MOST_COUNTED = 10_000


def add(console: Console, services: Services) -> None:
    """Show domains and change them."""
    domains = services.catalog.domains
    _add_list(console, domains)
    _add_one(console, domains)
    _add_edit(console, domains)
    _add_switches(console, domains)


def _add_list(console: Console, domains: Domains) -> None:
    async def listed(active: bool | None, after: str | None, **more: Any) -> dict[str, Any]:
        rows = await domains.list(active=active, after=after, limit=PART + 1)
        shown, meta = one_page(rows, PART, "domain_name")
        values = {"title": "Domains of the crawler", "domains": shown, "typed": {}, "errors": {}}
        return {**values, "next": meta["next_cursor"], **more}

    @console.page("/catalog/domains")
    async def show(ask: Ask) -> View:
        found = await listed(truth(ask.get("active")), word(ask.get("after")))
        return View("catalog_domains.html", found)

    @console.action("/catalog/domains")
    async def add_domain(form: Form) -> Done | View:
        typed = {name: form.get(name) for name in ("domain", *TERMS)}
        try:
            body = _filled(NewDomain, typed)
            row = await domains.add(body.domain, form.visitor.key.name, **body.given())
        except InvalidRequest as error:
            errors = problems_of(error)
            found = await listed(None, None, typed=typed, errors=errors)
            return View("catalog_domains.html", found, 422)
        name: str = row["domain_name"]
        said = f"{name} was added"
        return Done(_place(name), said, "catalog domain add", name, body.given())


def _add_one(console: Console, domains: Domains) -> None:
    @console.page("/catalog/domains/{name}")
    async def show(ask: Ask) -> View:
        row = await domains.get(_name(ask.path["name"]), MOST_COUNTED)
        return View("catalog_domain.html", _values(row))


def _values(row: Row) -> dict[str, Any]:
    typed = {name: str(row[name]) for name in ("base_url", *TERMS) if row[name] is not None}
    values = {"title": row["domain_name"], "domain": row, "typed": typed, "errors": {}}
    return {**values, "counted_to": MOST_COUNTED}


def _add_edit(console: Console, domains: Domains) -> None:
    @console.action("/catalog/domains/{name}/edit")
    async def edit(form: Form) -> Done | View:
        row = await domains.get(_name(form.path["name"]), MOST_COUNTED)
        typed = {name: form.get(name) for name in ("base_url", *TERMS)}
        try:
            changes = _filled(DomainChanges, typed).given()
            changes = dict.fromkeys(CLEARABLE) | changes
            await domains.edit(row["id"], form.visitor.key.name, **changes)
        except InvalidRequest as error:
            shown = {"typed": typed, "errors": problems_of(error)}
            return View("catalog_domain.html", {**_values(row), **shown}, 422)
        name: str = row["domain_name"]
        said = f"{name} is crawled as you said, within seconds"
        return Done(_place(name), said, "catalog domain edit", name, changes)


def _add_switches(console: Console, domains: Domains) -> None:
    for action, act, says in (
        ("activate", domains.activate, "is crawled again"),
        ("deactivate", domains.deactivate, "is crawled no more"),
    ):

        @console.action(f"/catalog/domains/{{name}}/{action}")
        async def switch(
            form: Form, act: Any = act, action: str = action, says: str = says
        ) -> Done:
            row = await act(_name(form.path["name"]), form.visitor.key.name)
            name: str = row["domain_name"]
            return Done(_place(name), f"{name} {says}", f"catalog domain {action}", name)


def _filled(body: type[B], typed: Mapping[str, str]) -> B:
    values = {name: number(text) if name in NUMBERS else word(text) for name, text in typed.items()}
    return filled(body, values)


def _name(text: str) -> str:
    return word(text) or ""


def _place(name: str) -> str:
    return f"{ROOT}/catalog/domains/{quote(name, safe='')}"
