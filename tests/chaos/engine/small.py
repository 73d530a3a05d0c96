"""Scenarios in the size that `make test` can afford."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import postgres_server
from tests.chaos.engine.arena import RECOVERY_SECONDS
from tests.chaos.engine.checker import Findings
from tests.chaos.engine.registry import SCENARIOS
from tests.chaos.engine.scenarios import play
from tests.postgres_server import PrivatePostgres

SEED = int(os.environ.get("PENSTOCK_CHAOS_SEED", "1"))


@contextmanager
def running_postgres() -> Iterator[PrivatePostgres]:
    """A server of our own, which may be killed."""
    server = PrivatePostgres(postgres_server.find_program())
    try:
        server.start()
        yield server
    finally:
        server.stop()


async def play_small(name: str, folder: Path, postgres: PrivatePostgres | None = None) -> Findings:
    """Play a scenario; it must recover in time, and do no harm."""
    scenario = SCENARIOS[name]
    if reason := scenario.missing():
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    row = await play(scenario, folder, postgres, size=scenario.small, seed=SEED)
    assert row.found.is_clean, row
    assert row.recovery < RECOVERY_SECONDS, row
    assert row.found.items > 0
    return row.found
