"""The console, put together from its areas."""

from collections.abc import Callable

from fastapi import APIRouter

from penstock.console import (
    catalog,
    domains,
    events,
    live,
    monitor_routes,
    overview,
    proxies,
    record,
    scrape,
    settings_page,
    stream,
)
from penstock.console.audit import Audit
from penstock.console.door import add_door, add_nowhere
from penstock.console.pages import Console
from penstock.console.services import Services
from penstock.console.sessions import Sessions
from penstock.console.settings import ConsoleSettings
from penstock.web.keys import KeyRing


def console_routes(
    services: Services, ring: KeyRing, settings: ConsoleSettings, is_stopping: Callable[[], bool]
) -> APIRouter:
    """All pages of the console, for an API to mount."""
    sessions = Sessions(services.store, ring, settings, services.clock)
    console = Console(sessions, Audit(services.store), settings, services.clock, is_stopping)
    add_door(console, settings)
    for area in (
        overview,
        scrape,
        stream,
        events,
        settings_page,
        monitor_routes,
        domains,
        record,
        catalog,
        proxies,
        live,
    ):
        area.add(console, services)
    add_nowhere(console)
    return console.router
