"""How fresh feeds were, as the log of health has it; the same on every engine."""

import pytest

from penstock.store.store import Store
from penstock.workloads.live.health_log import list_ages, log_health
from tests.live_rows import LiveRows, health


@pytest.fixture
def rows(store: Store) -> LiveRows:
    return LiveRows(store)


async def test_ages_are_those_of_the_feeds_asked_for_oldest_first(rows: LiveRows) -> None:
    entries = [
        health("a", at=3_000, last_update_age_seconds=3),
        health("a", at=2_000),
        health("a", at=1_000, last_update_age_seconds=1),
        health("b", at=2_500, last_update_age_seconds=7),
        health("c", at=2_500, last_update_age_seconds=9),
    ]
    await rows.do(lambda unit: log_health(unit, entries))

    found = await rows.do(lambda unit: list_ages(unit, ["a", "b", "nobody"], 2_000))

    assert found == {"a": [None, 3], "b": [7]}
    assert await rows.do(lambda unit: list_ages(unit, [], 0)) == {}
