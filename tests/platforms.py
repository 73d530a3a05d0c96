"""Platforms for tests: the whole kernel on the local site, at a pace that tests can afford."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from penstock.app import Platform, build
from penstock.core.clock import Clock
from penstock.kernel.admission import Lookup
from penstock.kernel.model import Outcome, Page, Request
from penstock.settings import Settings, load_settings
from tests.clocks import HandClock
from tests.site import Site

#: As good as no pacing at all, and no waiting between attempts.
FAST: Mapping[str, Mapping[str, Any]] = {
    "pacing": {"requests_per_second": 100_000, "request_delay_ms": 0, "max_concurrent": 100},
    "retry": {"initial_delay_ms": 1, "max_delay_ms": 1},
    "robots": {"retry_seconds": 0.001},
}
#: The section `retry` for those who want no second attempt.
ONCE: Mapping[str, Any] = {"max_attempts": 1}


class VisitClock(HandClock):
    """Moved by visits that wait, not by the platform's background work: that waits for ever."""

    async def sleep(self, seconds: float) -> None:
        task = asyncio.current_task()
        if task and task.get_name() in ("policy reload", "proxy checks"):
            await asyncio.Event().wait()
        await super().sleep(seconds)


def settings_for(site: Site, **sections: Mapping[str, Any]) -> Settings:
    """Settings that know the site's hosts; sections are merged over the fast defaults."""
    merged: dict[str, dict[str, Any]] = {name: dict(section) for name, section in FAST.items()}
    merged["admission"] = {"known_hosts": site.known_hosts}
    merged["policies"] = {"shipped": False}
    for name, section in sections.items():
        merged[name] = {**merged.get(name, {}), **section}
    return load_settings(**merged)


def policies(folder: Path, **domains: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings for a policy file; the dots of a domain may be written as `_`."""
    file = folder / "policies.yaml"
    entries = {name.replace("_", "."): entry for name, entry in domains.items()}
    file.write_text(json.dumps({"domains": entries}), encoding="utf-8")
    return {"files": (file,)}


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


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def whole_site() -> AsyncIterator[Site]:
    """A site that the tests of a module share."""
    async with Site() as site:
        yield site


@pytest.fixture
async def platform(site: Site) -> AsyncIterator[Platform]:
    async with platform_for(site) as platform:
        yield platform


async def fetch(site: Site, url: str, **sections: Any) -> Outcome:
    """Fetch one URL with a platform of its own."""
    async with platform_for(site, **sections) as platform:
        return await platform.pipeline.run(Request(url))


def page_of(outcome: Outcome) -> Page:
    """The page that must have come."""
    assert outcome.ok, outcome.failure
    assert outcome.page
    return outcome.page


def pages_asked(site: Site, host: str) -> list[str]:
    """The paths that a host was asked for, its robots apart."""
    return [hit.path for hit in site.hits_of(host) if hit.path != "/robots.txt"]


def said(outcome: Outcome, gate: str) -> list[str]:
    """What a gate answered on the way, in order."""
    return [each.answer for each in outcome.trace if each.gate == gate]
