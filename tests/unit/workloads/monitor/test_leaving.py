"""When targets that leave a run are due again."""

from datetime import UTC, datetime
from typing import Any

from penstock.workloads.monitor.leaving import Timetable

NOON = int(datetime(2026, 3, 4, 12, 0, tzinfo=UTC).timestamp() * 1000)
MINUTE = 60_000
HOUR = 60 * MINUTE


def target(source: str = "shop", **columns: Any) -> dict[str, Any]:
    return {
        "source_id": source,
        "adapter_id": "product",
        "schedule": None,
        "enabled": True,
        "robots_path_blocked": False,
        **columns,
    }


def due(row: dict[str, Any], *, minutes: int, begun: int = NOON) -> int:
    """When a target is due that was read so many minutes after its run was begun."""
    found = Timetable().next_due(row, "ACTIVE", begun, begun + minutes * MINUTE)
    assert found is not None
    return found


def test_targets_of_one_run_stay_together_however_long_it_takes() -> None:
    found = {due(target(), minutes=minutes) for minutes in range(60)}
    assert len(found) == 1
    assert 24 * HOUR <= found.pop() - NOON <= 26.4 * HOUR


def test_shops_spread_and_each_is_read_at_another_time_every_day() -> None:
    shops = {due(target(f"shop {number}"), minutes=1) for number in range(20)}
    assert len(shops) == 20
    days = {due(target(), minutes=1, begun=NOON + day * 24 * HOUR) % (24 * HOUR) for day in (0, 1)}
    assert len(days) == 2


def test_who_is_due_more_often_than_a_run_takes_has_its_pause_all_the_same() -> None:
    assert due(target(schedule="10m"), minutes=30) - NOON >= 40 * MINUTE
    assert due(target(schedule="*/5 * * * *"), minutes=7) - NOON == 10 * MINUTE


def test_what_is_no_schedule_any_more_is_read_as_the_others() -> None:
    assert due(target(schedule="nonsense"), minutes=1) == due(target(), minutes=1)
