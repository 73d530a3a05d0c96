"""A search server for tests: one that all share, and ones of their own that can be killed."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest

from penstock.products.search.rest import RestSearch, open_http
from penstock.products.search.settings import SearchSettings
from tests import private_server
from tools.provision.maven import JAVA
from tools.provision.search import SEARCH


class PrivateSearch(private_server.PrivateServer):
    """One node; what it confirmed is on its disk."""

    def __init__(self, java: str) -> None:
        super().__init__(SEARCH, java)


def find_program() -> str:
    """The path of `java`; without one the test is skipped, in CI it fails."""
    return private_server.find_program(JAVA)


@pytest.fixture(scope="session")
def search_url() -> Iterator[str]:
    """The address of a server that tests share, each with an index of its own."""
    if url := os.environ.get(SEARCH.variable):
        yield url
        return
    server = PrivateSearch(find_program())
    server.start()
    yield server.url
    server.stop()


@asynccontextmanager
async def open_index(url: str, **changes: Any) -> AsyncIterator[RestSearch]:
    """An index of one test, in which what is put is found at once."""
    settings = SearchSettings(url=url, index=f"test_{uuid4().hex}", **changes)
    async with open_http(settings) as http:
        index = RestSearch(http, settings.index, refresh="true")
        await index.prepare()
        yield index
        await http.delete(f"/{','.join(await indexes_of(http, settings.index))}")


async def indexes_of(http: httpx.AsyncClient, alias: str) -> list[str]:
    """The indexes whose names begin with that of an alias."""
    return sorted((await http.get(f"/{alias}-*/_alias")).json())
