"""Browsers, processes, pages, the network and the store fail: feeds are fresh again, and whole."""

from pathlib import Path
from typing import Any

import pytest

from tests.chaos.live.scenarios import LIMIT_SECONDS, SMALL, play


async def play_small(folder: Path, *names: str, **settings: Any) -> None:
    results = await play(names, folder, SMALL, **settings)

    for each in results.values():
        assert each.recoveries, each
        assert max(each.recoveries) <= LIMIT_SECONDS, each
    found = results[names[0]].found
    assert found.is_clean, found
    assert found.critical > 0, found


async def test_whatever_process_is_killed_feeds_are_fresh_again_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    await play_small(
        tmp_path,
        "kill -9 of a browser",
        "kill -9 of a renderer",
        "kill -9 of the driver",
        "kill -9 of the service",
    )


async def test_a_page_that_leaks_or_hangs_costs_no_other_feed_anything(tmp_path: Path) -> None:
    await play_small(
        tmp_path, "leak, soft limit", "leak, hard limit", "page hangs", page_timeout_seconds=5
    )


async def test_feeds_are_fresh_again_when_the_network_or_sqlite_is_back(tmp_path: Path) -> None:
    await play_small(tmp_path, "network cut", "SQLite locked")


@pytest.mark.parametrize(
    "name", ["PostgreSQL frozen", "service killed while the store is away"], ids=["away", "killed"]
)
async def test_while_postgresql_is_away_no_critical_update_is_lost(
    tmp_path: Path, name: str
) -> None:
    await play_small(tmp_path, name)
