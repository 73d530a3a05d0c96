"""A console on data of everything, which the tests of a module share."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.consoles import VisitedConsole, visiting
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
