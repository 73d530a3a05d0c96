"""Domains: what each is owed and who says so, how it does, and whether a URL may be fetched now."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Response
from fastapi.responses import RedirectResponse

from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.core.errors import UrlError
from penstock.core.urls import parse
from penstock.kernel.circuits import RuleSet
from penstock.kernel.explaining import Answer, verdict_of
from penstock.kernel.model import Request
from penstock.kernel.policy import DEFAULT, DomainPolicy
from penstock.kernel.policy_words import MEANINGS, answers_of, in_words
from penstock.kernel.switches import EVERYTHING
from penstock.web.errors import NotFound, invalid

PART = 50
WORKLOADS = ("", "monitor", "scrape", "stream", "catalog", "live")
#: How long a page waits for a robots.txt that is not known yet.
PATIENCE = 8.0
VERDICTS = {
    "yes": "Yes: it may be fetched now.",
    "wait": "Not now: it has to wait.",
    "no": "No: it must not be fetched.",
    "unknown": "That is not known yet.",
}


def add(console: Console, services: Services) -> None:
    """Show domains, and let people pause them."""

    @console.page("/domains")
    async def show(ask: Ask) -> View | Response:
        url, problem = ask.get("url"), ""
        if url:
            try:
                return _to_its_domain(ask, parse(url).host)
            except UrlError as error:
                problem = str(error)
        return await _list(services, ask, problem)

    @console.page("/domains/{host}")
    async def show_one(ask: Ask) -> View:
        return await _one(services, ask)

    @console.action("/domains/pause")
    async def pause(form: Form) -> Done:
        domain, reason = _domain(form.get("domain")), form.get("reason")
        if not reason:
            raise invalid("reason", "say why, for who wonders later")
        await services.switches.pause(domain, reason)
        what = domain or "everything"
        return Done(_back(form), f"Contact with {what} is paused.", "pause", what, {"why": reason})

    @console.action("/domains/resume")
    async def resume(form: Form) -> Done:
        domain = _domain(form.get("domain"))
        if not await services.switches.resume(domain):
            raise NotFound("It is not paused")
        what = domain or "everything"
        return Done(_back(form), f"Contact with {what} goes on.", "resume", what)


async def _list(services: Services, ask: Ask, problem: str) -> View:
    names, next_name = await _known(services, ask.get("after"))
    entries = services.policies.entries
    values = {
        "title": "Domains",
        "problem": problem,
        "url": ask.get("url"),
        "workloads": WORKLOADS,
        "paused": await services.switches.paused(),
        "circuits": await _circuits(services),
        "slowed": await services.pacing.slowed(),
        "entries": [
            (name, [*entry.model_dump(exclude_unset=True)])
            for name, entry in entries.items()
            if name != DEFAULT
        ],
        "has_default": DEFAULT in entries,
        "names": names,
        "next": next_name,
    }
    return View("domains.html", values, 422 if problem else 200)


async def _known(services: Services, after: str) -> tuple[list[dict[str, Any]], str | None]:
    """Domains of sources and of the crawl by name, and the last one if there are more."""
    found: dict[str, dict[str, Any]] = {}
    for row in await services.monitor.shops.all():
        if row["domain"] > after:
            found.setdefault(row["domain"], {"sources": []})["sources"].append(row["name"])
    for row in await services.catalog.domains.list(after=after or None, limit=PART + 1):
        found.setdefault(row["domain_name"], {"sources": []})["crawled"] = row["is_active"]
    names = sorted(found)
    part = [{"domain": name, "crawled": None, **found[name]} for name in names[:PART]]
    return part, names[PART - 1] if len(names) > PART else None


async def _one(services: Services, ask: Ask) -> View:
    try:
        there = parse(f"http://{ask.path['host']}/")
    except UrlError as error:
        raise NotFound("This is no name of a domain") from error
    workload = ask.get("workload") if ask.get("workload") in WORKLOADS else ""
    url = ask.get("url") or f"https://{there.host}/"
    policy = services.policies.look_up(there.host, workload)
    may_contact = bool(ask.get("robots")) and ask.visitor.may_change
    patience = PATIENCE if may_contact else None
    answers = await services.pipeline.explain(Request(url, workload=workload), patience)
    deciding = verdict_of(answers)
    paused = await services.switches.paused()
    values = {
        "title": there.host,
        "host": there.host,
        "domain": there.domain,
        "url": url,
        "robots": may_contact,
        "workload": workload,
        "workloads": WORKLOADS,
        "answers": answers,
        "deciding": deciding,
        "verdict": _verdict(answers, deciding),
        "policy": _policy(policy),
        "meanings": MEANINGS,
        "circuits": await _circuits(services, there.domain),
        "pause": paused.get(there.domain),
        "all_paused": paused.get(EVERYTHING),
        "sources": await services.monitor.shops.all(there.domain),
    }
    return View("domain.html", values)


def _policy(policy: DomainPolicy) -> list[tuple[str, str, str]]:
    """Every question with its answer in words; of headers only the names, they may be secret."""
    return [
        (name, in_words(sorted(value)) if name == "headers" else in_words(value), said)
        for name, value, said in answers_of(policy)
    ]


def _verdict(answers: Sequence[Answer], deciding: Answer) -> str:
    if deciding.verdict == "unknown" and deciding.gate == "robots":
        return "Not before its robots.txt is known."
    return VERDICTS[deciding.verdict] if answers else ""


async def _circuits(services: Services, domain: str | None = None) -> list[dict[str, Any]]:
    """Circuits that are not closed, of all rules or those of one domain."""
    circuits = services.circuits
    rule_sets: dict[str, RuleSet] = {circuits.common.name: circuits.common}
    rule_sets |= {rules.name: rules for rules in circuits.of_workloads.values()}
    return [
        {"rules": name, **state._asdict()}
        for name, rules in rule_sets.items()
        for state in await rules.breaker.troubled()
        if domain in (None, state.domain)
    ]


def _to_its_domain(ask: Ask, host: str) -> Response:
    query = {name: ask.get(name) for name in ("url", "workload", "robots") if ask.get(name)}
    return RedirectResponse(f"{ROOT}/domains/{quote(host, safe='')}?{urlencode(query)}", 303)


def _domain(text: str) -> str:
    """The domain of a field; an empty one stands for everything."""
    if not text:
        return EVERYTHING
    try:
        return parse(f"http://{text}/").domain
    except UrlError as error:
        raise invalid("domain", "this is no name of a domain") from error


def _back(form: Form) -> str:
    domain = _domain(form.get("domain"))
    return f"{ROOT}/domains/{quote(domain, safe='')}" if domain else f"{ROOT}/domains"
