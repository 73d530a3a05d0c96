"""Health, readiness and metrics: public, cheap, and the same figures in every form."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fastapi import APIRouter, Request, Response

from penstock.api.door import SILENT, Said
from penstock.core.clock import Clock
from penstock.core.errors import StoreError
from penstock.core.metrics import Metrics
from penstock.kernel.proxies import Member
from penstock.web.documents import answers
from penstock.web.envelope import ApiResponse, answer, problem

#: Figures are as old as this at most, however often they are asked for.
FRESH_SECONDS = 1.0
#: How long who asks for readiness waits for the first browser.
CHECK_SECONDS = 3.0
#: How long the store may take before it is said to be away; the porter takes no longer silence.
STORE_SECONDS = 3.5
UNAVAILABLE = 503


class PoolStats(Protocol):
    """How the browsers are doing."""

    @property
    def total(self) -> int: ...
    @property
    def available(self) -> int: ...
    @property
    def in_use(self) -> int: ...
    @property
    def pages_processed(self) -> int: ...
    @property
    def recycled_count(self) -> int: ...


@dataclass(frozen=True, slots=True)
class QueueStats:
    """How the lane of tasks is doing; `avg_duration` in seconds, of the latest tasks."""

    depth: int
    active_workers: int
    avg_duration: float | None

    def as_json(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "depth": self.depth,
            "workers": self.active_workers,
            "avg_duration": self.avg_duration,
        }


async def _no_trouble() -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Vitals:
    """Where the figures come from."""

    queue: Callable[[], Awaitable[QueueStats]]
    pool: Callable[[], PoolStats | None]
    proxies: Sequence[Member]
    is_stopping: Callable[[], bool]
    metrics: Metrics
    clock: Clock
    browser_trouble: Callable[[], Awaitable[str | None]] = _no_trouble


class Doctor:
    """Puts the figures together."""

    def __init__(self, vitals: Vitals) -> None:
        self._from = vitals
        self._queue = QueueStats(0, 0, None)
        self._look_again_at = -1.0
        vitals.metrics.gauges = self.gauges

    async def examine(self) -> dict[str, Any]:
        """Everything, as `/health` shows it."""
        clock = self._from.clock
        if clock.monotonic() >= self._look_again_at:
            self._look_again_at = clock.monotonic() + FRESH_SECONDS
            self._queue = await self._from.queue()
        return {
            "status": "stopping" if self._from.is_stopping() else "ok",
            "pool": self._pool(),
            "queue": self._queue.as_json(),
            "proxies": [_proxy(member) for member in self._from.proxies],
        }

    async def signs(self) -> Said:
        """What a porter says at `/health`."""
        try:
            async with asyncio.timeout(STORE_SECONDS):
                return enveloped(await self.examine())
        except (StoreError, TimeoutError):
            away = problem(UNAVAILABLE, "The store does not answer", headers={"Retry-After": "5"})
            return Said(away, away)

    async def readiness(self) -> tuple[bool, dict[str, Any]]:
        """Whether work can be done now, and what says so."""
        trouble = await self._browser_trouble()
        pool = self._from.pool()
        available = (0 if trouble else pool.available) if pool else None
        healthy = sum(member.usable for member in self._from.proxies)
        if not self._from.proxies:
            # Without proxies, the direct way out is one.
            healthy = 1
        ready = is_ready(available, healthy) and not self._from.is_stopping()
        why = {"browsers_available": available, "healthy_proxies": healthy}
        return ready, why | ({"browser_trouble": trouble} if trouble else {})

    async def _browser_trouble(self) -> str | None:
        """Why browsers cannot be started, as far as that is known in time."""
        if self._from.is_stopping():
            return None
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                return await self._from.browser_trouble()
        except TimeoutError:
            return "no browser has started yet"

    def gauges(self) -> Mapping[str, float]:
        """The figures that go up and down, for Prometheus."""
        found = {
            "queue_depth": float(self._queue.depth),
            "queue_active_workers": float(self._queue.active_workers),
            "queue_average_duration_seconds": self._queue.avg_duration or 0.0,
            "healthy_proxies": float(sum(member.usable for member in self._from.proxies)),
        }
        pool = self._pool() or {}
        return found | {f"browser_pool_{name}": float(value) for name, value in pool.items()}

    def _pool(self) -> dict[str, int] | None:
        pool = self._from.pool()
        if pool is None:
            return None
        return {
            "total": pool.total,
            "available": pool.available,
            "in_use": pool.in_use,
            "pages_processed": pool.pages_processed,
            "recycled_count": pool.recycled_count,
        }


def is_ready(browsers_available: int | None, healthy_proxies: int) -> bool:
    """Whether pages can be got; without a lane for browsers, none is missed."""
    return (browsers_available is None or browsers_available > 0) and healthy_proxies > 0


def enveloped(found: dict[str, Any]) -> Said:
    """Figures that a porter says in an envelope."""
    return Said(answer(found), problem(UNAVAILABLE, SILENT))


def _proxy(member: Member) -> dict[str, Any]:
    return {
        "url": str(member.proxy),
        "region": member.proxy.region,
        "healthy": member.usable,
        "success_count": member.successes,
        "failure_count": member.failures,
    }


def health_routes(doctor: Doctor, metrics: Metrics) -> APIRouter:
    """`/health`, `/readiness` and `/metrics`."""
    router = APIRouter(tags=["health"])
    errors: dict[int | str, dict[str, Any]] = {
        status: said for status, said in answers().items() if status in (500, 503)
    }

    @router.get("/health", response_model=ApiResponse[dict[str, Any]], responses=errors)
    async def health() -> Response:
        """Pool, queue and proxies in figures."""
        return answer(await doctor.examine())

    @router.get("/readiness", response_model=ApiResponse[dict[str, Any]], responses=errors)
    async def readiness() -> Response:
        """200 if work can be done now, else 503."""
        ready, why = await doctor.readiness()
        if ready:
            return answer({"ready": True, **why})
        return problem(UNAVAILABLE, "Not ready", why, {"Retry-After": "5"})

    @router.get("/metrics", response_class=Response, responses=_METRICS)
    async def show_metrics(request: Request) -> Response:
        """Prometheus text, or the main figures as JSON on `Accept: application/json`."""
        found = await doctor.examine()
        if "application/json" in request.headers.get("accept", ""):
            return answer({**found, "tasks": dict(metrics.tasks_over)})
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return router


_METRICS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "All figures",
        "content": {
            "text/plain": {"schema": {"type": "string"}},
            "application/json": {"schema": {"type": "object"}},
        },
    }
}
