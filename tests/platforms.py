"""Platforms for tests: the whole kernel on the local site, at a pace that tests can afford."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from penstock.app import Platform, build
from penstock.core.clock import Clock
from penstock.kernel.admission import Lookup
from penstock.settings import Settings, load_settings
from tests.site import Site

#: As good as no pacing at all, and no waiting between attempts.
FAST: Mapping[str, Mapping[str, Any]] = {
    "pacing": {"requests_per_second": 100_000, "request_delay_ms": 0, "max_concurrent": 100},
    "retry": {"initial_delay_ms": 1, "max_delay_ms": 1},
    "robots": {"retry_seconds": 0.001},
}


def settings_for(site: Site, **sections: Mapping[str, Any]) -> Settings:
    """Settings that know the site's hosts; sections are merged over the fast defaults."""
    merged: dict[str, dict[str, Any]] = {name: dict(section) for name, section in FAST.items()}
    merged["admission"] = {"known_hosts": site.known_hosts}
    merged["policies"] = {"shipped": False}
    for name, section in sections.items():
        merged[name] = {**merged.get(name, {}), **section}
    return load_settings(**merged)


@asynccontextmanager
async def platform_for(
    site: Site,
    *,
    clock: Clock | None = None,
    lookup: Lookup | None = None,
    **sections: Mapping[str, Any],
) -> AsyncIterator[Platform]:
    """A running platform on the site."""
    async with build(settings_for(site, **sections), clock=clock, lookup=lookup) as platform:
        yield platform
