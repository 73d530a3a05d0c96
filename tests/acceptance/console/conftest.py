"""What the tests of a module share: an event loop, a Chromium, a console on data of everything."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.consoles import OneChromium, VisitedConsole, visiting
from tests.site import Site
from tests.site.console_demo import filled


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def demo(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[VisitedConsole]:
    """The console of `make console`."""
    folder = tmp_path_factory.mktemp("demo")
    async with (
        Site() as site,
        filled(site, folder) as (address, key),
        visiting(address, key) as console,
    ):
        yield console


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def _one_chromium() -> AsyncIterator[None]:
    async with OneChromium():
        yield


@pytest_asyncio.fixture(loop_scope="module")
async def site() -> AsyncIterator[Site]:
    """A site of the test's own, in the loop of its module."""
    async with Site() as site:
        yield site
