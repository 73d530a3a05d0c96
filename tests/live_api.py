"""The API of live pages for tests: on a store, with a clock moved by hand, and nobody watching."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from penstock.api.application import create_application
from penstock.app import open_book
from penstock.blobs.local import LocalBlobs
from penstock.core.clock import Clock
from penstock.core.metrics import Metrics
from penstock.extract.live.registry import open_live_registry
from penstock.kernel.admission import Admission, SystemLookup
from penstock.settings import load_settings
from penstock.store.store import Store
from penstock.web.guard import Guard
from penstock.web.keys import KeyRing, Keys, RateLimiter, Scope
from penstock.web.settings import ApiSettings
from penstock.web.waiting import Waiters
from penstock.workloads.live.pace import Paces
from penstock.workloads.live.routes import live_routes
from penstock.workloads.live.service import LiveService, Means
from penstock.workloads.live.stored_health import examine_store
from tests.clocks import HandClock
from tests.live_rows import LiveRows
from tests.stores import sqlite_stores

KEY = "a-key-for-tests"
UNKNOWN = "0" * 32


@dataclass
class LiveApi:
    """An API with a client that has its key; `is_stopping` is the test's to set."""

    store: Store
    rows: LiveRows
    blobs: LocalBlobs
    clock: HandClock
    http: httpx.AsyncClient
    is_stopping: bool = field(default=False, init=False)

    async def ask(
        self, method: str, path: str, status: int = 200, body: Any = None, **headers: str
    ) -> httpx.Response:
        answer = await self.http.request(method, path, json=body, headers=headers)
        assert answer.status_code == status, answer.text
        return answer

    async def data(self, method: str, path: str, status: int = 200, body: Any = None) -> Any:
        """What is in the envelope of an answer under /api/v1/live."""
        answer = await self.ask(method, f"/api/v1/live{path}", status, body)
        assert answer.json()["success"] is True
        return answer.json()["data"]

    async def refusal(self, method: str, path: str, status: int, body: Any = None) -> Any:
        """What an answer under /api/v1/live says instead of data."""
        answer = await self.ask(method, f"/api/v1/live{path}", status, body)
        assert answer.json()["success"] is False
        return answer.json()

    async def key(self, *scopes: Scope, **more: Any) -> str:
        """The secret of a new key."""
        _, secret = await Keys(self.store).create("a consumer", scopes, **more)
        self.clock.move(10)
        return secret


def service_on(store: Store, blobs: LocalBlobs, clock: Clock, **live: Any) -> LiveService:
    """What live pages do for people, in a process that watches none."""
    settings = load_settings(live=live, policies={"shipped": False})
    return LiveService(
        Means(
            store=store,
            blobs=blobs,
            registry=open_live_registry(),
            admission=Admission(settings.admission, SystemLookup(1)),
            paces=Paces(open_book(settings), settings.live.polling_interval_seconds),
            waiters=Waiters(),
            clock=clock,
            settings=settings.live,
        )
    )


@asynccontextmanager
async def open_live_api(folder: Path, **live: Any) -> AsyncIterator[LiveApi]:
    """An API whose settings of live pages are changed."""
    async with sqlite_stores(folder) as stores:
        store, clock, blobs = await stores.open(), stores.clock, LocalBlobs(folder / "blobs")
        assert isinstance(clock, HandClock)
        api = LiveApi(store, LiveRows(store), blobs, clock, httpx.AsyncClient())
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(_application(api, **live)),
            base_url="http://service.test",
            headers={"X-Service-Key": KEY},
        ) as api.http:
            yield api


def _application(api: LiveApi, **live: Any) -> Callable[..., Any]:
    service = service_on(api.store, api.blobs, api.clock, **live)
    settings = ApiSettings()
    ring = KeyRing(Keys(api.store), KEY, settings, api.clock)
    routers = live_routes(service, lambda: examine_store(api.store), lambda: api.is_stopping)
    guard = Guard(ring, RateLimiter(api.clock))
    return create_application(routers, guard, settings, api.clock, Metrics())
