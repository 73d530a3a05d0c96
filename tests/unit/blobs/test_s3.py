"""Blobs in S3 fail soon, in words, and without telling secrets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from socket import socket

import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer

from penstock.blobs.addresses import address_of
from penstock.blobs.s3 import S3Blobs
from penstock.blobs.settings import BlobSettings
from penstock.core.errors import BlobError

PAGE = b"<html>a page</html>"
NO_SUCH_BUCKET = "<Error><Code>NoSuchBucket</Code></Error>"


def open_blobs(port: int, **changes: float) -> S3Blobs:
    settings = BlobSettings(
        url="s3://pages/raw",
        endpoint=f"http://127.0.0.1:{port}",
        access_key="access-hidden",
        secret_key="secret-hidden",
        **{"timeout_seconds": 5, "max_retries": 1, **changes},
    )
    return S3Blobs(settings)


@asynccontextmanager
async def server_that_answers(status: int, body: str = "") -> AsyncIterator[tuple[int, list[str]]]:
    """The port of an S3 server with one answer to everything, and what it was asked."""
    asked: list[str] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        asked.append(f"{request.method} {request.path}")
        return web.Response(status=status, text=body)

    async with RawTestServer(answer, host="127.0.0.1") as server:
        assert server.port
        yield server.port, asked


@pytest.mark.parametrize("status", [401, 403])
async def test_refused_keys_are_told_by_the_names_of_their_settings(status: int) -> None:
    async with server_that_answers(status) as (port, _):
        with pytest.raises(BlobError) as caught:
            await open_blobs(port).put(PAGE)

    assert "PENSTOCK_BLOBS__ACCESS_KEY" in str(caught.value)
    assert "hidden" not in f"{caught.value!r} {caught.value.__cause__!r}"


async def test_missing_bucket_is_told_apart_from_a_missing_blob() -> None:
    async with server_that_answers(404, NO_SUCH_BUCKET) as (port, _):
        blobs = open_blobs(port)
        for work in (blobs.put(PAGE), blobs.get(address_of(PAGE)), blobs.usage()):
            with pytest.raises(BlobError, match=r"pages at .* does not exist: create it"):
                await work


async def test_server_in_trouble_is_asked_again_but_not_for_ever() -> None:
    async with server_that_answers(503) as (port, asked):
        with pytest.raises(BlobError, match="503"):
            await open_blobs(port, max_retries=2).put(PAGE)

    assert asked == [f"PUT /pages/raw/{address_of(PAGE)}"] * 3


async def test_server_that_never_answers_is_given_up() -> None:
    with socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        blobs = open_blobs(silent.getsockname()[1], timeout_seconds=0.1)

        with pytest.raises(BlobError, match="PENSTOCK_BLOBS__ENDPOINT"):
            await blobs.get(address_of(PAGE))


async def test_server_that_is_down_is_an_error() -> None:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))

        with pytest.raises(BlobError, match="PENSTOCK_BLOBS__ENDPOINT"):
            await open_blobs(probe.getsockname()[1]).has(address_of(PAGE))
