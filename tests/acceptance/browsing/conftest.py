"""Platforms with a real Chromium, which the tests of a module share."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from penstock.app import Platform
from tests.browsers import Place
from tests.platforms import ONCE, platform_for, policies
from tests.site import Site

#: Any host below one of the site is served like it, so each policy can have a host of its own.
POLICIES: dict[str, dict[str, Any]] = {
    "auto.scripted.test": {"fetcher": "auto"},
    "browser.shop01.test": {"fetcher": "browser"},
    "http.shop01.test": {"fetcher": "http"},
    "blocking.shop01.test": {"block_resources": True},
    "open.shop01.test": {"block_resources": True},
    "showing.shop01.test": {"block_resources": False},
    "default": {"min_delay_ms": 1, "max_delay_ms": 2},
}
STRICT = {
    "page_seconds": 2,
    "wait_seconds": 0.2,
    "settle_seconds": 0.5,
    "max_bytes": 1_000_000,
    "max_requests": 10,
    "pool_size": 2,
    "pool_max": 2,
    "acquire_seconds": 0.2,
}
#: Reads like the adapter of every shop, but only after scripts have run.
ADAPTER = """
from dataclasses import replace
from penstock.extract.adapters.product import ADAPTER as GENERIC

ADAPTER = replace(GENERIC, id="scripted", urls=("needy.scripted.test/*",), requires_javascript=True)
"""


@pytest.fixture
def site(whole_site: Site) -> Site:
    """The site, without what others asked of it."""
    whole_site.hits.clear()
    return whole_site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(
    whole_site: Site, place: Place, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Platform]:
    folder = tmp_path_factory.mktemp("settings")
    adapter = folder / "scripted.py"
    adapter.write_text(ADAPTER, encoding="utf-8")
    async with platform_for(
        whole_site,
        browser=place.settings(),
        policies=policies(folder, **POLICIES),
        extract={"adapters": (str(adapter),)},
        retry=ONCE,
        shared={"lock_file": folder / "lock"},
    ) as one:
        yield one


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def strict(
    whole_site: Site, place: Place, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Platform]:
    """A platform that gives a page little of everything."""
    async with platform_for(
        whole_site,
        browser=place.settings(**STRICT),
        http={"max_bytes": 50_000},
        retry=ONCE,
        shared={"lock_file": tmp_path_factory.mktemp("lock") / "lock"},
    ) as one:
        yield one
