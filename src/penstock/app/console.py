"""The console, put together beside the API."""

from collections.abc import Callable

from fastapi import APIRouter

from penstock.app import Platform
from penstock.app.catalog_service import service_of as catalog_of
from penstock.app.engine import Engine
from penstock.app.monitor_service import service_of as monitor_of
from penstock.app.proxies import proxies_on
from penstock.app.stream_service import stream_of
from penstock.console.recent import Recent
from penstock.console.routes import console_routes
from penstock.console.services import Services
from penstock.events.outbox import Outbox
from penstock.notify.webhooks import TOPICS, WebhookSubscription
from penstock.queue.upkeep import Upkeep
from penstock.settings import Settings, explain
from penstock.store.outages import Outages
from penstock.store.switches import StoredSwitches
from penstock.web.keys import KeyRing
from penstock.workloads.scrape.service import ScrapeService


def open_console(
    settings: Settings,
    platform: Platform,
    engine: Engine,
    *,
    scrape: ScrapeService,
    ring: KeyRing,
    is_stopping: Callable[[], bool],
) -> list[APIRouter]:
    """The console's pages; none if it is switched off."""
    if not settings.console.enabled:
        return []
    living = engine.living
    recent = Recent(Upkeep(engine.store).workers, platform.clock)
    platform.supervisor.start("figures of the console", recent.keep_looking)
    services = Services(
        store=engine.store,
        clock=platform.clock,
        log=engine.log,
        webhooks=Outbox(engine.store, WebhookSubscription(), TOPICS),
        switches=StoredSwitches(engine.store),
        policies=platform.policies,
        pipeline=platform.pipeline,
        circuits=platform.circuits,
        pacing=platform.pacing,
        recent=recent,
        outages=Outages(engine.store, platform.circuits, platform.clock),
        proxies=proxies_on(settings, engine.store),
        monitor=monitor_of(settings, engine, platform.chance),
        scrape=scrape,
        stream=stream_of(settings, platform, engine, is_stopping)[0],
        catalog=catalog_of(settings, engine, platform.clock),
        live=living.service(),
        live_health=living.examine,
        browsers=lambda: platform.browsers.stats() if platform.has_browsers else None,
        settings=lambda: explain(settings),
    )
    return [console_routes(services, ring, settings.console, is_stopping)]
