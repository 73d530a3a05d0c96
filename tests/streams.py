"""The page fetcher for tests: a service on the store, and what becomes of its URLs."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from tests.services import Service, serving
from tests.site import Site

QUICK = {"rate_limit_per_second": 1000, "max_retries": 1}


def streaming(
    site: Site, folder: Path, *, works: bool = True, **sections: Mapping[str, Any]
) -> AbstractAsyncContextManager[Service]:
    """A service whose page fetcher need not be patient."""
    return serving(site, folder, works=works, **{"stream": QUICK, **sections})


async def push(service: Service, *urls: str) -> dict[str, Any]:
    """What the service says to URLs that are pushed."""
    answer = await service.post("/stream/urls", {"urls": urls})
    assert answer.status_code == 202, answer.text
    said: dict[str, Any] = answer.json()["data"]
    return said


async def events(service: Service, number: int) -> Sequence[dict[str, Any]]:
    """The first events, as soon as there are so many."""
    found: list[dict[str, Any]] = []
    after = 0
    while len(found) < number:
        answer = (await service.get("/stream/events", after=after, wait=20)).json()
        assert answer["data"], "no event in time"
        found += answer["data"]
        after = answer["meta"]["next_after"]
    return found
