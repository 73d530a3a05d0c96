"""Monitors that are killed while they read: every target is accounted for once."""

from pathlib import Path

from tests.chaos.engine.small import play_small, running_postgres


async def test_killed_monitors_account_for_every_target_once(tmp_path: Path) -> None:
    found = await play_small("monitored targets", tmp_path)
    assert found.items == 300


async def test_killed_monitors_account_for_every_target_once_on_postgresql(tmp_path: Path) -> None:
    with running_postgres() as server:
        found = await play_small("monitored targets", tmp_path, server)
    assert found.items == 300
