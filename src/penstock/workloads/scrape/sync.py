"""A scrape that somebody waits for: everything counts in its time, and nobody waits in vain."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from penstock.core.clock import Clock
from penstock.core.urls import parse
from penstock.kernel import hours
from penstock.kernel.policy import PolicyBook
from penstock.web.errors import (
    ApiError,
    CircuitOpen,
    CredentialMissing,
    NoHealthyProxies,
    OutsideHours,
    PoolExhausted,
    TaskTimeout,
)
from penstock.web.keys import Key
from penstock.workloads.scrape.lane import WORKLOAD, ScrapeLane
from penstock.workloads.scrape.model import TaskStatus
from penstock.workloads.scrape.requests import SyncScrapeRequest
from penstock.workloads.scrape.service import ScrapeService
from penstock.workloads.scrape.stopping import Stopping
from penstock.workloads.scrape.views import moment

OVER = (TaskStatus.COMPLETED, TaskStatus.FAILED)
#: Errors of a task that are answers of their own to who waits for it.
ANSWERS: dict[str, type[ApiError]] = {
    "circuit_open": CircuitOpen,
    "no_healthy_proxy": NoHealthyProxies,
    "pool_exhausted": PoolExhausted,
    "credential_not_found": CredentialMissing,
    "task_timeout": TaskTimeout,
}
#: When it is worth another try, in seconds, as far as that can be said.
RETRY_AFTER = {"circuit_open": 120.0, "pool_exhausted": 10.0, "no_healthy_proxy": 60.0}


class ImmediateScraper:
    """Scrapes now; what does not end in time, or for nobody any more, is cancelled."""

    def __init__(
        self,
        service: ScrapeService,
        lane: ScrapeLane,
        policies: PolicyBook,
        clock: Clock,
        *,
        poll_seconds: float,
        stopping: Stopping,
    ) -> None:
        self._service = service
        self._lane = lane
        self._policies = policies
        self._clock = clock
        self._poll = poll_seconds
        self._stopping = stopping

    async def scrape(
        self,
        key: Key,
        request: SyncScrapeRequest,
        idempotency_key: str | None,
        gone: asyncio.Event,
    ) -> dict[str, Any]:
        """The task when it is over; `gone` is set when the caller has left."""
        give_up_at = self._clock.monotonic() + request.timeout_seconds
        self._check_hours(request.target_url)
        accepted = await self._service.submit(
            key, request, idempotency_key, sync=True, timeout=request.timeout_seconds
        )
        task_id = accepted.task_ids[0]
        is_over = is_cut_off = False
        try:
            task = await self._wait(key, task_id, give_up_at, gone.is_set)
            is_over = task["status"] in OVER
            is_cut_off = not is_over and self._is_lost(task["status"])
        finally:
            turn = self._lane.turn_of(task_id)
            # Who comes back with the same key after a shutdown finds the task again.
            is_left = is_cut_off and idempotency_key is not None
            if not (is_over or is_left or accepted.is_replay):
                await asyncio.shield(self._service.cancel_task(task_id))
        if is_cut_off:
            raise self._stopping.refusal()
        if not is_over:
            raise TaskTimeout(meta={"task_id": task_id, "turn_at": self._as_date(turn)})
        self._raise_for(task)
        return task

    async def _wait(
        self, key: Key, task_id: str, give_up_at: float, has_left: Callable[[], bool]
    ) -> dict[str, Any]:
        """Look at the task whenever it may have changed, until it is over or nobody waits."""
        with self._service.waiters.watch(task_id) as changed:
            while True:
                changed.clear()
                task = await self._service.task(key, task_id)
                left = give_up_at - self._clock.monotonic()
                is_over = task["status"] in OVER
                if is_over or left <= 0 or has_left() or self._is_lost(task["status"]):
                    return task
                await self._clock.wait_for(changed, min(left, self._poll))

    def _is_lost(self, status: str) -> bool:
        """Whether a task that is not over will not be before we stop."""
        has_begun = status == TaskStatus.RUNNING
        return self._stopping.is_final or (self._stopping.is_set and not has_begun)

    def _check_hours(self, target_url: str) -> None:
        """A site that is closed now is not waited for."""
        window = self._policies.look_up(parse(target_url).host, WORKLOAD).hours
        now = self._clock.now()
        if window and not hours.is_open(window, now):
            opening = hours.next_opening(window, now)
            raise OutsideHours(
                meta={"turn_at": opening.isoformat()},
                retry_after=(opening - now).total_seconds(),
            )

    def _raise_for(self, task: dict[str, Any]) -> None:
        error = task["error"]
        if error == "outside_hours":
            self._check_hours(task["target_url"])
        if error in ANSWERS:
            meta = {"task_id": task["id"]}
            raise ANSWERS[error](meta=meta, retry_after=RETRY_AFTER.get(error))

    def _as_date(self, turn: float | None) -> str | None:
        """When the turn would have come, on the calendar."""
        if turn is None:
            return None
        at = self._clock.now() + timedelta(seconds=turn - self._clock.monotonic())
        return moment(int(at.timestamp() * 1000))
