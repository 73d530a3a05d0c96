"""Twenty shops are crawled while everything fails: every page once, and nothing is missing."""

import os
from pathlib import Path

import pytest

from tests.catalogs import HOSTS, all_urls
from tests.chaos.catalog.attack import SMALL, drained, play
from tests.chaos.catalog.failpoints import STEPS, TOGETHER
from tests.chaos.catalog.findings import examine
from tests.chaos.catalog.fleet import open_fleet
from tests.chaos.catalog.servers import open_servers
from tests.site import Site
from tests.site.shopkeeper import Shopkeeper

SEED = int(os.environ.get("PENSTOCK_CHAOS_SEED", "1"))
#: Of every shop; so few that a worker has all of them at once.
FEW = 4
#: A step of one task alone is come by for the first to so many-th time.
LATEST = 3

#: More than any of their own waits, so that the one that is too long says which it was.
pytestmark = pytest.mark.timeout(300)


async def test_every_page_becomes_its_product_once_whatever_fails(tmp_path: Path) -> None:
    played = await play(tmp_path, size=SMALL, seed=SEED)

    assert played.found.is_clean, played
    assert played.found.tasks == SMALL.pages * len(HOSTS)


async def test_worker_that_dies_at_any_step_costs_no_task(tmp_path: Path) -> None:
    hosts = HOSTS[3:7]
    urls = all_urls(hosts, FEW)
    with open_servers(tmp_path) as servers:
        async with Site() as site, open_fleet(tmp_path, site, servers) as fleet:
            await fleet.submit(urls, at_once=50)
            await fleet.start("scheduler")
            for number, step in enumerate(STEPS):
                await fleet.lose(step, 1 if step in TOGETHER else 1 + number % LATEST)
            await fleet.start("worker")
            await drained(fleet)
            found = await examine(fleet, urls, Shopkeeper(site).asked())

    assert found.is_clean, found
    assert found.refetched > 0
