"""Twenty shops are crawled while everything fails: every page once, and nothing is missing."""

import os
from pathlib import Path

from tests.catalogs import HOSTS
from tests.chaos.catalog.attack import SMALL, play

SEED = int(os.environ.get("PENSTOCK_CHAOS_SEED", "1"))


async def test_every_page_becomes_its_product_once_whatever_fails(tmp_path: Path) -> None:
    played = await play(tmp_path, size=SMALL, seed=SEED)

    assert played.found.is_clean, played
    assert played.found.tasks == SMALL.pages * len(HOSTS)
