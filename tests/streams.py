"""The page fetcher for tests: a service that has its API, and what becomes of its URLs."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from penstock.api.application import create_application
from penstock.app.stream_service import stream_of
from penstock.web.guard import Guard
from penstock.web.keys import KeyRing, Keys, RateLimiter
from penstock.workloads.stream.routes import stream_routes
from tests.services import KEY, URL, Service, serving
from tests.site import Site

QUICK = {"rate_limit_per_second": 1000, "max_retries": 1}


@asynccontextmanager
async def streaming(
    site: Site, folder: Path, *, works: bool = True, **sections: Mapping[str, Any]
) -> AsyncIterator[Service]:
    """A service with the routes of the page fetcher."""
    sections = {"stream": QUICK, **sections}
    async with serving(site, folder, works=works, **sections) as service:
        settings, platform, engine = service.settings, service.platform, service.engine
        routes = stream_routes(*stream_of(settings, platform, engine, service.api.stopping))
        ring = KeyRing(Keys(engine.store), KEY, settings.api, platform.clock)
        guard = Guard(ring, RateLimiter(platform.clock))
        application = create_application(
            [routes], guard, settings.api, platform.clock, platform.metrics
        )
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(application),
            base_url=URL,
            headers={"X-Service-Key": KEY},
        ) as http:
            api = replace(service.api, application=application)
            yield replace(service, api=api, http=http)


async def push(service: Service, *urls: str) -> dict[str, Any]:
    """What the service says to URLs that are pushed."""
    answer = await service.post("/stream/urls", {"urls": urls})
    assert answer.status_code == 202, answer.text
    said: dict[str, Any] = answer.json()["data"]
    return said


async def events(service: Service, number: int) -> Sequence[dict[str, Any]]:
    """The first events, as soon as there are so many."""
    found: list[dict[str, Any]] = []
    after = 0
    while len(found) < number:
        answer = (await service.get("/stream/events", after=after, wait=20)).json()
        assert answer["data"], "no event in time"
        found += answer["data"]
        after = answer["meta"]["next_after"]
    return found
