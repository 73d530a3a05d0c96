"""Background tasks: restarted when they fail, reported, and ended with their owner."""

import asyncio
from itertools import count

from penstock.core.supervise import FIRST_PAUSE, LONGEST_PAUSE, Supervisor
from tests.clocks import HandClock
from tests.unit.core.log_lines import captured_logs


class Flaky:
    """Work that fails a number of times, then sets `well` and returns."""

    def __init__(self, failures: int) -> None:
        self.well = asyncio.Event()
        self._failures = failures
        self._runs = count(1)

    async def __call__(self) -> None:
        run = next(self._runs)
        if run <= self._failures:
            raise RuntimeError(f"failure {run}")
        self.well.set()


async def test_failing_task_is_started_again_later_each_time() -> None:
    clock, work = HandClock(), Flaky(failures=8)
    with captured_logs():
        async with Supervisor(clock) as supervisor:
            supervisor.start("flaky", work)
            await work.well.wait()

    assert clock.slept[:3] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert clock.slept[-2:] == [LONGEST_PAUSE, LONGEST_PAUSE]
    assert len(clock.slept) == 8


async def test_failure_is_reported_with_the_name_of_the_task() -> None:
    work = Flaky(failures=1)
    with captured_logs() as lines:
        async with Supervisor(HandClock()) as supervisor:
            supervisor.start("policy reload", work)
            await work.well.wait()

    line = lines.only()
    assert (line["level"], line["task"]) == ("error", "policy reload")
    assert "failure 1" in line["error"]


async def test_failure_of_one_task_leaves_the_others_alone() -> None:
    bad, good = Flaky(failures=3), Flaky(failures=0)
    with captured_logs():
        async with Supervisor(HandClock()) as supervisor:
            supervisor.start("bad", bad)
            supervisor.start("good", good)
            await good.well.wait()
            await bad.well.wait()


async def test_tasks_end_with_their_supervisor() -> None:
    ended = asyncio.Event()
    started = asyncio.Event()

    async def forever() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with Supervisor(HandClock()) as supervisor:
        supervisor.start("forever", forever)
        await started.wait()

    assert ended.is_set()
