"""The lane of the scrape service, put together with what its tasks may need."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from penstock.app import Platform
from penstock.blobs.ports import Blobs
from penstock.events.log import EventLog
from penstock.extract.registry import open_registry
from penstock.kernel.admission import Admission, SystemLookup
from penstock.kernel.fetchers.http import HttpFetcher
from penstock.settings import Settings
from penstock.workloads.scrape.credentials import Backend, CredentialClient, Logins
from penstock.workloads.scrape.lane import ScrapeLane
from penstock.workloads.scrape.providing import Provider
from penstock.workloads.scrape.texts import TextMakers


async def open_scrape_lane(
    settings: Settings,
    platform: Platform,
    log: EventLog,
    blobs: Blobs,
    *,
    ended: Callable[[Sequence[str]], None],
    stack: AsyncExitStack,
) -> ScrapeLane:
    """The lane; what it opens is closed with the stack."""
    registry = open_registry(settings.extract.adapters)
    logins = await _open_logins(settings, platform, stack)
    texts = await stack.enter_async_context(TextMakers(settings.scrape.text_seconds))
    return ScrapeLane(
        settings.scrape,
        log,
        blobs,
        provider=Provider(registry, logins),
        texts=texts,
        clock=platform.clock,
        metrics=platform.metrics,
        ended=ended,
    )


async def _open_logins(
    settings: Settings, platform: Platform, stack: AsyncExitStack
) -> Logins | None:
    """Who asks the backend for credentials, if there is a backend."""
    scrape, clock = settings.scrape, platform.clock
    if not scrape.backend_api_url:
        return None
    admission = Admission(settings.admission, SystemLookup(settings.admission.dns_threads))
    fetcher = await stack.enter_async_context(HttpFetcher(settings.http, admission, clock))
    backend = Backend(
        scrape.backend_api_url,
        scrape.backend_service_key,
        cache_seconds=scrape.credential_cache_ttl_seconds,
        retries=scrape.credential_max_retries,
    )
    client = CredentialClient(backend, fetcher, admission, clock)
    return Logins(await stack.enter_async_context(client), admission)
