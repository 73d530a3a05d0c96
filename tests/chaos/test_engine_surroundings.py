"""Servers, disks and clocks that fail under load: slower for a while, never wrong."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.engine.small import play_small, running_postgres
from tests.postgres_server import PrivatePostgres


@pytest.fixture(scope="module")
def postgres() -> Iterator[PrivatePostgres]:
    with running_postgres() as server:
        yield server


async def test_killed_postgresql_is_ridden_out(tmp_path: Path, postgres: PrivatePostgres) -> None:
    await play_small("PostgreSQL killed", tmp_path, postgres)


async def test_forgetful_redis_costs_no_item(tmp_path: Path) -> None:
    await play_small("Redis flushed, killed", tmp_path)


async def test_killed_rabbitmq_is_made_up_for(tmp_path: Path, postgres: PrivatePostgres) -> None:
    await play_small("RabbitMQ killed", tmp_path, postgres)


async def test_full_disk_is_waited_for(tmp_path: Path) -> None:
    await play_small("disk full", tmp_path)


async def test_what_was_not_synced_is_not_acknowledged(tmp_path: Path) -> None:
    await play_small("fsync fails", tmp_path)


async def test_what_was_acknowledged_survives_a_power_cut(tmp_path: Path) -> None:
    await play_small("power cut", tmp_path)


async def test_clock_that_is_set_delays_nothing(tmp_path: Path) -> None:
    await play_small("clock set", tmp_path)


async def test_workers_of_different_hours_agree_on_postgresql(
    tmp_path: Path, postgres: PrivatePostgres
) -> None:
    await play_small("clock set between starts", tmp_path, postgres)
