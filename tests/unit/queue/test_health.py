"""Health tells progress from mere life."""

from typing import Any

from penstock.queue.health import judge
from penstock.queue.ports import Depth, State


def worker(age: float | None = None, **status: Any) -> dict[str, Any]:
    ages = {} if age is None else {"fetch": age}
    return {
        "id": "w",
        "kind": "worker",
        "silent_ms": 1000,
        "status": {"last_success_age": ages, **status},
    }


def lane(due: float | None) -> Depth:
    return Depth("fetch", {State.WAITING: 5}, due)


def test_work_that_moves_is_healthy() -> None:
    health = judge([lane(due=500.0)], [worker(age=3.0)], {})
    assert (health.status, list(health.problems)) == ("ok", [])
    assert health.lanes["fetch"]["last_success_age"] == 4.0


def test_due_work_without_any_success_is_a_failure_though_a_worker_lives() -> None:
    health = judge([lane(due=500.0)], [worker(age=900.0)], {})
    assert health.status == "failing"
    assert "makes no progress" in health.problems[0]


def test_nothing_to_do_is_healthy() -> None:
    assert judge([lane(due=None)], [worker()], {}).status == "ok"


def test_no_worker_is_a_failure_that_says_what_to_start() -> None:
    health = judge([], [{**worker(), "kind": "scheduler"}], {})
    assert health.status == "failing"
    assert "penstock up" in health.problems[0]


def test_a_pause_is_a_reason_not_a_failure() -> None:
    health = judge([lane(due=500.0)], [worker()], {"": "maintenance"})
    assert health.status == "degraded"
    assert list(health.problems) == ["all contact is paused: maintenance"]


def test_a_duty_that_keeps_failing_is_named() -> None:
    duty = {"state": "waiting", "restarts": 3, "last_error": "OSError()"}
    health = judge([], [worker(duties={"relay file": duty})], {})
    assert health.status == "degraded"
    assert "relay file of w fails: OSError()" in health.problems
