"""A running scrape service for tests: platform, engine and API on the local site."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx
import pytest
from fastapi.dependencies import models
from sqlalchemy import update

from penstock.app import Platform, build
from penstock.app.engine import Engine, open_engine, open_ready_store
from penstock.app.service import Api, open_api, open_server
from penstock.core.clock import SystemClock
from penstock.kernel.model import Failure, Outcome, Page, Request
from penstock.queue.ports import Claim
from penstock.queue.tables import items
from penstock.settings import Settings
from penstock.store.settings import FILE_NAME
from tests.platforms import settings_for
from tests.site import Site
from tests.stores import make_sqlite, result_of

T = TypeVar("T")

KEY = "a-key-for-tests"
URL = "http://service.test"
SHOP = "http://shop01.test/product/{}"
TERMINAL = {"completed", "partially_completed", "failed", "cancelled"}


@dataclass(frozen=True, slots=True)
class Service:
    """A service and a client with its key."""

    settings: Settings
    site: Site
    platform: Platform
    engine: Engine
    api: Api
    http: httpx.AsyncClient

    async def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return await self.http.post(f"/api/v1{path}", json=body, headers=headers)

    async def get(self, path: str, **query: Any) -> httpx.Response:
        return await self.http.get(f"/api/v1{path}", params=query)

    async def submit(self, url: str, target_type: str = "product", **more: Any) -> str:
        """The id of a new task."""
        answer = await self.post("/scrape", wanted(url, target_type, **more))
        assert answer.status_code == 202, answer.text
        task_id: str = answer.json()["data"]["task_id"]
        return task_id

    async def submit_batch(self, targets: list[dict[str, Any]], **more: Any) -> str:
        """The id of a new job."""
        answer = await self.post("/scrape/batch", {"targets": targets, **more})
        assert answer.status_code == 202, answer.text
        job_id: str = answer.json()["data"]["job_id"]
        return job_id

    async def task(self, task_id: str) -> dict[str, Any]:
        """A task as the API shows it."""
        found: dict[str, Any] = (await self.get(f"/scrape/{task_id}")).json()["data"]
        return found

    async def tasks(self) -> list[dict[str, Any]]:
        """The newest tasks as the API lists them."""
        found: list[dict[str, Any]] = (await self.get("/scrape")).json()["data"]
        return found

    async def job(self, job_id: str) -> dict[str, Any]:
        """A job as the API shows it."""
        found: dict[str, Any] = (await self.get(f"/scrape/jobs/{job_id}")).json()["data"]
        return found

    async def finished(self, task_id: str) -> dict[str, Any]:
        """A task when it is over."""
        return await self._over(f"/scrape/{task_id}", task_id)

    async def finished_job(self, job_id: str) -> dict[str, Any]:
        """A job when all of its tasks are over."""
        return await self._over(f"/scrape/jobs/{job_id}", job_id)

    async def _over(self, path: str, name: str) -> dict[str, Any]:
        async with asyncio.timeout(20):
            with self.engine.waiters.watch(name) as changed:
                while True:
                    changed.clear()
                    found: dict[str, Any] = (await self.get(path)).json()["data"]
                    if found["status"] in TERMINAL and found["completed_at"]:
                        return found
                    await self.platform.clock.wait_for(changed, 0.2)


def wanted(url: str, target_type: str = "product", **more: Any) -> dict[str, Any]:
    """A request for a page."""
    return {"target_type": target_type, "target_url": url, "workspace_id": "acme", **more}


@asynccontextmanager
async def serving(
    site: Site, folder: Path, *, works: bool = True, **sections: Mapping[str, Any]
) -> AsyncIterator[Service]:
    """A service on the site, with workers unless none are wanted."""
    sections["store"] = {"folder": folder, **sections.get("store", {})}
    sections["api"] = {"service_key": KEY, "port": 0, **sections.get("api", {})}
    sections["scrape"] = {"rate_limit_tokens": 10_000, **sections.get("scrape", {})}
    settings = settings_for(site, **sections)
    await _prepare_store(settings)
    async with (
        open_ready_store(settings, SystemClock()) as store,
        build(settings) as platform,
        open_engine(settings, platform, store) as engine,
        asyncio.TaskGroup() as tasks,
    ):
        api = open_api(settings, platform, engine)
        transport = httpx.ASGITransport(api.application)
        work = tasks.create_task(engine.work()) if works else None
        async with httpx.AsyncClient(
            transport=transport, base_url=URL, headers={"X-Service-Key": KEY}
        ) as http:
            yield Service(settings, site, platform, engine, api, http)
        engine.stop()
        if work:
            await work
    _forget_endpoints()


async def _prepare_store(settings: Settings) -> None:
    """A new store is a copy: to make all tables takes longer than most tests."""
    folder = settings.store.folder
    if not settings.store.is_shared and not (folder / FILE_NAME).exists():
        folder.mkdir(parents=True, exist_ok=True)
        await make_sqlite(folder)


def _forget_endpoints() -> None:
    """FastAPI remembers thousands of endpoints: dozens of services that every collection visits."""
    for remembered in (
        models._is_gen_callable_cached,
        models._is_async_gen_callable_cached,
        models._is_coroutine_callable_cached,
    ):
        remembered.cache_clear()


@pytest.fixture
async def service(tmp_path: Path, site: Site) -> AsyncIterator[Service]:
    async with serving(site, tmp_path) as service:
        yield service


@pytest.fixture
async def idle(tmp_path: Path, site: Site) -> AsyncIterator[Service]:
    """A service in which nobody works but the test."""
    async with serving(site, tmp_path, works=False) as service:
        yield service


@asynccontextmanager
async def listening(service: Service) -> AsyncIterator[str]:
    """The URL of the service on a real port."""
    async with open_server(service.api, service.settings) as server:
        run = asyncio.create_task(server.run())
        try:
            yield server.address
        finally:
            # Also after a failure: else streams that are open are waited for, for ever.
            service.api.stop()
            server.stop()
            await run


class ServiceThread:
    """A service in a thread of its own, for tests that are no coroutines."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self._folder = folder
        self._options = options
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()))
        self._failure: BaseException | None = None
        self.service: Service
        self.address = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(30)
        if self._failure:
            raise self._failure
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with (
                Site() as site,
                serving(site, self._folder, **self._options) as self.service,
                listening(self.service) as self.address,
            ):
                self._ready.set()
                await self._stop.wait()
        except BaseException as error:
            self._failure = error
            self._ready.set()
            raise

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine gives, run where the service is."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """An answer of the service."""
        return self.run(self.service.http.request(method, path, **options))

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return self.run(self.service.post(path, body, **headers))

    def get(self, path: str, **query: Any) -> httpx.Response:
        return self.run(self.service.get(path, **query))


async def claim(service: Service, ids: Sequence[str]) -> list[Claim]:
    """Have tasks as a worker would, whether it is their turn or not."""
    early = update(items).where(items.c.id.in_(ids)).values(not_before=0)
    await service.engine.store.write(lambda unit: unit.run(early) and None)
    return await service.engine.rows.claim_ids(service.engine.heartbeat.id, ids)


async def end(service: Service, claims: Sequence[Claim], failure: Failure | None = None) -> None:
    """Let claimed tasks end, as the station would: with a page each, or with a failure."""
    lane = service.engine.scrape
    results = [
        await result_of(lane, each, _outcome(lane.request(each), failure)) for each in claims
    ]
    await service.engine.rows.settle(
        [(result.claim, result.ending) for result in results],
        lambda unit, accepted: lane.record(
            unit, [result for result in results if result.claim.id in accepted]
        ),
    )


def _outcome(request: Request, failure: Failure | None) -> Outcome:
    page = Page(request.url, 200, {"Content-Type": "text/html"}, b"<title>A page</title>", 0.1)
    return Outcome(request, None if failure else page, failure, ())
