"""A service that answers what a test plants, and both clients in front of it."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from operator import attrgetter
from typing import Any, Literal

import orjson

from penstock.client import AsyncClient, Client, Retrying
from tests.site import Hit, Reply, Site

HOST = "127.0.0.1"
KEY = "a-key"
MOMENT = "2026-03-04T12:00:00.000Z"

TASK = {
    "task_id": "t1",
    "job_id": None,
    "target_type": "product",
    "target_url": "https://shop.example/1",
    "requested_fields": None,
    "workspace_id": "acme",
    "callback_url": None,
    "status": "completed",
    "result": {"title": "Boots"},
    "files": {},
    "error": None,
    "created_at": MOMENT,
    "started_at": MOMENT,
    "completed_at": MOMENT,
    "expires_at": None,
    "something": "that an older client does not know",
}
JOB = {
    "job_id": "j1",
    "workspace_id": "acme",
    "status": "running",
    "total_tasks": 2,
    "completed_tasks": 1,
    "failed_tasks": 0,
    "callback_url": None,
    "created_at": MOMENT,
    "updated_at": MOMENT,
    "completed_at": None,
    "expires_at": None,
}
RESULT = {
    "task_id": "t1",
    "target_type": "product",
    "target_url": "https://shop.example/1",
    "status": "completed",
    "result": {"title": "Boots"},
    "files": {},
}


def well(data: Any, status: int = 200, meta: Mapping[str, Any] | None = None) -> Reply:
    body = {"success": True, "data": data, "error": None, "meta": meta}
    return Reply(status, orjson.dumps(body), {"Content-Type": "application/json"})


def ill(status: int, error: str = "no", meta: Any = None, **headers: str) -> Reply:
    body = {"success": False, "data": None, "error": error, "meta": meta}
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, orjson.dumps(body), {"Content-Type": "application/json", **names})


class Caller:
    """One of the clients, called the same way; time passes without being waited for."""

    def __init__(self, site: Site, kind: Literal["blocking", "asyncio"], retries: int) -> None:
        self.site = site
        self.slept: list[float] = []
        self._now = 0.0
        retrying = Retrying(retries=retries, chance=random.Random(1))
        url = f"http://{site.address}"
        self.blocking = Client(
            url, KEY, retrying=retrying, sleep=self._sleep, monotonic=self._monotonic
        )
        self.asyncio = AsyncClient(
            url, KEY, retrying=retrying, sleep=self._asleep, monotonic=self._monotonic
        )
        self._kind = kind

    async def call(self, name: str, *arguments: Any, **options: Any) -> Any:
        """The result of a method."""
        if self._kind == "asyncio":
            return await attrgetter(name)(self.asyncio)(*arguments, **options)
        method = attrgetter(name)(self.blocking)
        return await asyncio.to_thread(lambda: method(*arguments, **options))

    async def all_of(self, name: str, *arguments: Any, **options: Any) -> list[Any]:
        """Everything that a method goes through."""
        if self._kind == "asyncio":
            return [each async for each in attrgetter(name)(self.asyncio)(*arguments, **options)]
        method = attrgetter(name)(self.blocking)
        return await asyncio.to_thread(lambda: list(method(*arguments, **options)))

    def plan(self, path: str, *replies: Any) -> None:
        self.site.reply(HOST, path, *replies)

    @property
    def hits(self) -> list[Hit]:
        return self.site.hits_of(HOST)

    async def close(self) -> None:
        self.blocking.close()
        await self.asyncio.close()

    def _monotonic(self) -> float:
        return self._now

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._now += seconds

    async def _asleep(self, seconds: float) -> None:
        self._sleep(seconds)


@asynccontextmanager
async def open_caller(
    kind: Literal["blocking", "asyncio"], retries: int = 5
) -> AsyncIterator[Caller]:
    async with Site() as site:
        caller = Caller(site, kind, retries)
        yield caller
        await caller.close()
