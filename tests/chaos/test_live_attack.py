"""Browsers, processes, pages, the network and the store fail: feeds are fresh again, and whole."""

from pathlib import Path
from typing import Any

from tests.chaos.live.model import SMALL
from tests.chaos.live.scenarios import play


async def play_small(folder: Path, *names: str, **settings: Any) -> None:
    for each in (await play(names, folder, SMALL, **settings)).values():
        assert each.is_well, each


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


async def test_while_postgresql_is_away_no_critical_update_is_lost(tmp_path: Path) -> None:
    await play_small(tmp_path, "PostgreSQL frozen", "service killed while the store is away")
