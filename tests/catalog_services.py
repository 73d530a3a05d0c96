"""A service of which the crawler runs as it does for people: scheduler, workers, search."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from penstock.app.engine import start_services
from tests.crawling import QUICK
from tests.services import Service, serving
from tests.site import Site


@asynccontextmanager
async def cataloguing(site: Site, folder: Path, **catalog: Any) -> AsyncIterator[Service]:
    """A service on the site that crawls what it is handed."""
    async with (
        serving(site, folder, catalog={**QUICK, "retry_seconds": 0.1, **catalog}) as service,
        AsyncExitStack() as stack,
    ):
        await start_services(service.settings, service.platform, service.engine, stack)
        yield service


async def post(service: Service, path: str, body: Any = None, status: int = 200) -> Any:
    """What the API answers to a POST."""
    answer = await service.post(path, body)
    assert answer.status_code == status, answer.text
    return answer.json()["data"]


async def get(service: Service, path: str, expected: int = 200, /, **query: Any) -> Any:
    """What the API answers to a GET."""
    answer = await service.get(path, **query)
    assert answer.status_code == expected, answer.text
    return answer.json()["data"]


async def patch(service: Service, path: str, body: Any, status: int = 200) -> Any:
    """What the API answers to a PATCH."""
    answer = await service.http.patch(f"/api/v1{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()["data"]


async def submitted(service: Service, *urls: str, **options: Any) -> dict[str, Any]:
    """Pages that were handed in, crawled to their end: how far the submission has come."""
    accepted = await post(service, "/admin/tasks", {"urls": urls, **options}, 202)
    return await over(service, accepted["submission_id"])


async def over(service: Service, submission_id: str) -> dict[str, Any]:
    """A submission when it is over."""
    async with asyncio.timeout(30):
        while True:
            found: dict[str, Any] = await get(service, f"/admin/submissions/{submission_id}")
            if found["is_over"]:
                return found


async def task_of(service: Service, url: str) -> dict[str, Any]:
    """The task of a URL."""
    [found] = [each for each in await get(service, "/admin/tasks", url=url) if each["url"] == url]
    task: dict[str, Any] = found
    return task


async def until_status(service: Service, url: str, status: str) -> dict[str, Any]:
    """The task of a URL when it has come to a status."""
    async with asyncio.timeout(30):
        while (task := await task_of(service, url))["status"] != status:
            pass
        return task
