"""Workers that are killed, ended, frozen or die at the worst moment: no item pays for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.engine.small import play_small, running_postgres
from tests.postgres_server import PrivatePostgres


@pytest.fixture(scope="module")
def postgres() -> Iterator[PrivatePostgres]:
    with running_postgres() as server:
        yield server


async def test_workers_killed_at_random_lose_and_repeat_nothing(tmp_path: Path) -> None:
    await play_small("kill -9", tmp_path)


async def test_workers_killed_at_random_lose_and_repeat_nothing_on_postgresql(
    tmp_path: Path, postgres: PrivatePostgres
) -> None:
    await play_small("kill -9", tmp_path, postgres)


async def test_slots_of_a_killed_worker_are_free_for_others_soon(tmp_path: Path) -> None:
    await play_small("kill -9, one ledger", tmp_path)


async def test_sigterm_finishes_or_gives_back_everything_untouched(tmp_path: Path) -> None:
    found = await play_small("SIGTERM", tmp_path)
    assert found.refetched == 0


async def test_second_sigterm_ends_at_once_and_gives_back_everything(tmp_path: Path) -> None:
    await play_small("SIGTERM twice", tmp_path)


async def test_late_write_of_a_frozen_worker_is_refused(tmp_path: Path) -> None:
    found = await play_small("late write", tmp_path)
    assert found.refetched > 0


async def test_locks_of_a_frozen_worker_stop_nobody_on_postgresql(
    tmp_path: Path, postgres: PrivatePostgres
) -> None:
    await play_small("SIGSTOP, SIGCONT", tmp_path, postgres)


async def test_frozen_worker_is_replaced_within_thirty_seconds_as_shipped(tmp_path: Path) -> None:
    await play_small("SIGSTOP, shipped pulse", tmp_path)


async def test_death_at_any_step_loses_and_repeats_nothing(tmp_path: Path) -> None:
    await play_small("death at every step", tmp_path)


async def test_death_at_any_step_loses_and_repeats_nothing_on_postgresql(
    tmp_path: Path, postgres: PrivatePostgres
) -> None:
    await play_small("death at every step", tmp_path, postgres)


async def test_killed_durable_fetch_takes_up_its_list_where_it_was(tmp_path: Path) -> None:
    await play_small("fetch --durable", tmp_path)
