"""`penstock doctor`: is everything as it should be, and if not, what to do."""

import asyncio
import os
import resource
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from typing import Annotated

import typer

from penstock.app import check_browser, check_proxy, check_shared
from penstock.cli.doctor_store import examine_store
from penstock.cli.doctor_stream import examine_stream
from penstock.cli.findings import Finding
from penstock.cli.output import ExitCode, print_table, write_json
from penstock.core.errors import PenstockError
from penstock.core.log import configure
from penstock.kernel.admission import Admission, SystemLookup
from penstock.kernel.fetchers.browser import chromium
from penstock.kernel.identity import agent_string
from penstock.kernel.proxies import parse_proxy
from penstock.kernel.settings import open_policies
from penstock.settings import Settings, load_settings, unknown_variables

SPARE_FILES = 64


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One object per line.")] = False,
) -> None:
    """Check settings, policies, servers, proxies and Chromium, and say what to do.

    Exit code 1 if there is a problem.
    """
    findings = _examine()
    if as_json:
        for finding in findings:
            write_json(asdict(finding))
    else:
        rows = [(f.state, f.subject, f.says, f.do) for f in findings]
        print_table("Penstock doctor", ("", "looked at", "found", "what to do"), rows)
    if any(finding.state == "problem" for finding in findings):
        raise typer.Exit(ExitCode.TROUBLE)


def _examine() -> list[Finding]:
    try:
        settings = load_settings()
    except PenstockError as error:
        return [Finding("settings", "problem", str(error), "correct this setting")]
    configure(settings.log.level, form=settings.log.form)
    checks: list[Callable[[Settings], Finding]] = [
        _settings,
        _admission,
        _policies,
        _contact,
        _open_files,
        examine_store,
        _shared,
        _chromium,
    ]
    found = [check(settings) for check in checks]
    return [*found, *_proxies(settings), *examine_stream(settings)]


def _settings(settings: Settings) -> Finding:
    del settings
    version = ".".join(map(str, sys.version_info[:3]))
    if unknown := unknown_variables(os.environ):
        return Finding("settings", "note", f"unknown: {', '.join(unknown)}", "check the spelling")
    return Finding("settings", "ok", f"all understood, Python {version}")


def _admission(settings: Settings) -> Finding:
    try:
        Admission(settings.admission, SystemLookup(1))
    except PenstockError as error:
        return Finding("admission", "problem", str(error), "correct this setting")
    return Finding("admission", "ok", "lists and known hosts can be read")


def _policies(settings: Settings) -> Finding:
    try:
        book = open_policies(settings.pacing, settings.policies)
    except PenstockError as error:
        return Finding("policies", "problem", str(error), "correct the file")
    return Finding("policies", "ok", f"{len(book.entries)} entries")


def _contact(settings: Settings) -> Finding:
    agent = agent_string(settings.identity)
    if settings.identity.contact:
        return Finding("identity", "ok", agent)
    do = "set PENSTOCK_IDENTITY__CONTACT to an address where site owners reach you"
    return Finding("identity", "note", f"{agent}, without a contact", do)


def _open_files(settings: Settings) -> Finding:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = settings.fetch.workers + SPARE_FILES
    if limit < needed:
        do = f"raise the limit (ulimit -n {needed}) or lower PENSTOCK_FETCH__WORKERS"
        return Finding("open files", "problem", f"{limit} allowed, {needed} needed", do)
    return Finding("open files", "ok", f"{limit} allowed")


def _shared(settings: Settings) -> Finding:
    if not settings.shared.url:
        return Finding("shared state", "ok", "in this process; one fetching process at a time")
    try:
        asyncio.run(check_shared(settings))
    except PenstockError as error:
        do = "start the server, or correct PENSTOCK_SHARED__URL"
        return Finding("shared state", "problem", str(error), do)
    return Finding("shared state", "ok", "Redis answers")


def _chromium(settings: Settings) -> Finding:
    found = chromium.find(settings.browser.executable)
    if found and find_spec("playwright") is None:
        do = "pip install 'penstock[browser]'"
        return Finding("Chromium", "note", f"{found}, but no Playwright to drive it", do)
    if found:
        return _start_chromium(settings, found)
    if settings.browser.executable:
        do = "correct PENSTOCK_BROWSER__EXECUTABLE"
        return Finding("Chromium", "problem", f"{settings.browser.executable} is no program", do)
    do = "needed for pages that are opened in a browser: apt-get install chromium-headless-shell"
    return Finding("Chromium", "note", "not found", do)


def _start_chromium(settings: Settings, found: str) -> Finding:
    try:
        asyncio.run(check_browser(settings))
    except PenstockError as error:
        do = f"see what it says by itself: {found} --headless --dump-dom about:blank"
        return Finding("Chromium", "problem", str(error), do)
    return Finding("Chromium", "ok", f"{found} starts")


def _proxies(settings: Settings) -> list[Finding]:
    findings = []
    for text in settings.proxies.endpoints:
        try:
            proxy = parse_proxy(text.get_secret_value())
        except PenstockError as error:
            findings.append(Finding("proxy", "problem", str(error), "correct the endpoint"))
            continue
        if asyncio.run(check_proxy(settings, proxy)):
            findings.append(Finding(f"proxy {proxy}", "ok", "accepts connections"))
        else:
            do = "start it, or take it out of PENSTOCK_PROXIES__ENDPOINTS"
            findings.append(Finding(f"proxy {proxy}", "problem", "does not answer", do))
    return findings
