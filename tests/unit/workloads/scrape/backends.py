"""A backend with credentials, as a host of the local site, and the client that asks it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import orjson
from pydantic import SecretStr

from penstock.core.clock import Clock
from penstock.kernel.admission import Admission
from penstock.kernel.fetchers.http import HttpFetcher
from penstock.kernel.settings import AdmissionSettings, HttpSettings
from penstock.workloads.scrape.credentials import Backend, CredentialClient
from tests.clocks import HandClock
from tests.site import Reply, Site

HOST = "backend.test"
URL = f"http://{HOST}/api/v1"
KEY = "the-backends-key"
PATH = "/api/v1/workspaces/{workspace}/credentials/{provider}"


def path_of(workspace: str, provider: str) -> str:
    return PATH.format(workspace=workspace, provider=provider)


def as_json(content: Any, status: int = 200) -> Reply:
    return Reply(status, orjson.dumps(content), {"Content-Type": "application/json"})


async def no_lookup(host: str) -> list[str]:
    raise AssertionError(f"{host} must not be looked up")


def admission_of(known_hosts: Mapping[str, str]) -> Admission:
    return Admission(AdmissionSettings(known_hosts=known_hosts), no_lookup)


@asynccontextmanager
async def open_client(
    site: Site, clock: Clock | None = None, *, url: str = URL, **settings: Any
) -> AsyncIterator[CredentialClient]:
    """A client of the site's backend."""
    clock = clock or HandClock()
    admission = admission_of(site.known_hosts)
    backend = Backend(url, SecretStr(KEY), **settings)
    async with (
        HttpFetcher(HttpSettings(), admission, clock) as fetcher,
        CredentialClient(backend, fetcher, admission, clock) as client,
    ):
        yield client
