"""What every back end of the blobs promises."""

import asyncio
import http.client
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from obstore.store import S3Store

from penstock.blobs.addresses import address_of
from penstock.blobs.local import LocalBlobs
from penstock.blobs.ports import Blobs, Usage
from penstock.blobs.s3 import S3Blobs
from penstock.blobs.settings import BlobSettings
from penstock.core.errors import BlobError

BUCKET = "penstock-contract"
LONG_AGO = 3600.0
PAGE = b"<html>a page</html>"
NOBODYS = address_of(b"never put")


class BackEnd(Protocol):
    """Opens the same blobs as often as one likes, and can spoil them."""

    def open(self) -> Blobs: ...

    def overwrite(self, address: str, data: bytes) -> None: ...

    def add_foreign(self, name: str) -> None: ...

    def has_foreign(self, name: str) -> bool: ...


class InFolder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self) -> Blobs:
        return LocalBlobs(self._folder)

    def overwrite(self, address: str, data: bytes) -> None:
        (self._folder / address[:2] / address[2:4] / address).write_bytes(data)

    def add_foreign(self, name: str) -> None:
        folder = self._folder / "ab" / "cd"
        folder.mkdir(parents=True)
        (folder / name).write_text("somebody else's")

    def has_foreign(self, name: str) -> bool:
        return (self._folder / "ab" / "cd" / name).exists()


class InS3:
    def __init__(self, endpoint: str) -> None:
        self._settings = BlobSettings(
            url=f"s3://{BUCKET}/{uuid4().hex}/pages",
            endpoint=endpoint,
            access_key="key",
            secret_key="secret",
        )

    def open(self) -> Blobs:
        return S3Blobs(self._settings)

    def overwrite(self, address: str, data: bytes) -> None:
        self._store().put(address, data)

    def add_foreign(self, name: str) -> None:
        self._store().put(name, b"somebody else's")

    def has_foreign(self, name: str) -> bool:
        return any(each["path"] == name for each in self._store().list().collect())

    def _store(self) -> S3Store:
        return S3Store(
            BUCKET,
            prefix=self._settings.prefix,
            endpoint=self._settings.endpoint,
            access_key_id="key",
            secret_access_key="secret",
            virtual_hosted_style_request=False,
            client_options={"allow_http": True},
        )


@pytest.fixture(scope="session")
def s3_url() -> str:
    url = os.environ.get("PENSTOCK_TEST_S3_URL")
    if url is None:
        pytest.skip("PENSTOCK_TEST_S3_URL is not set")
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    connection.request("PUT", f"/{BUCKET}")
    connection.getresponse().read()
    connection.close()
    return url


@pytest.fixture(params=["folder", "s3"])
def back_end(request: pytest.FixtureRequest, tmp_path: Path) -> BackEnd:
    if request.param == "folder":
        return InFolder(tmp_path / "data" / "blobs")
    return InS3(request.getfixturevalue("s3_url"))


@pytest.fixture
def blobs(back_end: BackEnd) -> Blobs:
    return back_end.open()


async def keep_none(_addresses: Sequence[str]) -> Collection[str]:
    return ()


async def keep_all(addresses: Sequence[str]) -> Collection[str]:
    return addresses


async def test_what_was_put_is_got_back_by_its_hash(blobs: Blobs) -> None:
    address = await blobs.put(PAGE)

    assert address == address_of(PAGE)
    assert await blobs.get(address) == PAGE


@pytest.mark.parametrize(
    "data", [b"", b"\0", bytes(range(256)) * 5000], ids=["empty", "a NUL", "1.2 MB"]
)
async def test_any_bytes_can_be_kept(blobs: Blobs, data: bytes) -> None:
    assert await blobs.get(await blobs.put(data)) == data


async def test_another_process_sees_what_was_put(back_end: BackEnd) -> None:
    address = await back_end.open().put(PAGE)

    assert await back_end.open().get(address) == PAGE


async def test_what_was_never_put_is_not_there(blobs: Blobs) -> None:
    assert await blobs.get(NOBODYS) is None
    assert not await blobs.has(NOBODYS)
    assert await blobs.usage() == Usage(0, 0)


async def test_the_same_content_is_kept_once(blobs: Blobs) -> None:
    addresses = await asyncio.gather(*(blobs.put(PAGE) for _ in range(20)))

    assert set(addresses) == {address_of(PAGE)}
    assert await blobs.usage() == Usage(1, len(PAGE))


async def test_many_are_kept_at_once(blobs: Blobs) -> None:
    pages = [PAGE + str(n).encode() for n in range(50)]

    addresses = await asyncio.gather(*map(blobs.put, pages))

    assert await asyncio.gather(*map(blobs.get, addresses)) == pages
    assert await blobs.usage() == Usage(50, sum(map(len, pages)))


async def test_deleted_blob_is_gone_and_deleting_it_again_is_no_error(blobs: Blobs) -> None:
    address = await blobs.put(PAGE)

    await blobs.delete(address)
    await blobs.delete(address)

    assert not await blobs.has(address)
    assert await blobs.get(address) is None


@pytest.mark.parametrize("damaged", [b"", PAGE[:-1], b"another page"])
async def test_damaged_blob_is_an_error_and_not_data(back_end: BackEnd, damaged: bytes) -> None:
    blobs = back_end.open()
    address = await blobs.put(PAGE)
    back_end.overwrite(address, damaged)

    with pytest.raises(BlobError, match="damaged"):
        await blobs.get(address)


async def test_putting_a_damaged_blob_again_heals_it(back_end: BackEnd) -> None:
    blobs = back_end.open()
    address = await blobs.put(PAGE)
    back_end.overwrite(address, PAGE[:-1])

    await blobs.put(PAGE)

    assert await blobs.get(address) == PAGE


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "..",
        "../../etc/passwd",
        "/etc/passwd",
        "a" * 63,
        "a" * 65,
        "A" * 64,
        "g" * 64,
        "a" * 64 + "\n",
        "a" * 63 + "\0",
        "٣" * 64,
        "../" + "a" * 61,
    ],
)
async def test_what_is_no_address_is_refused(blobs: Blobs, odd: str) -> None:
    for ask in (blobs.get, blobs.has, blobs.delete):
        with pytest.raises(BlobError, match="no address"):
            await ask(odd)


async def test_sweep_deletes_what_is_not_kept(blobs: Blobs) -> None:
    needed, unneeded = await blobs.put(b"needed"), await blobs.put(b"unneeded")

    async def keep_needed(_addresses: Sequence[str]) -> Collection[str]:
        return {needed}

    assert await blobs.sweep(keep_needed, older_than_seconds=0) == 1
    assert await blobs.has(needed)
    assert not await blobs.has(unneeded)


async def test_sweep_spares_what_is_young_without_asking(blobs: Blobs) -> None:
    address = await blobs.put(PAGE)

    async def be_asked(_addresses: Sequence[str]) -> Collection[str]:
        pytest.fail("asked about a young blob")

    assert await blobs.sweep(be_asked, older_than_seconds=LONG_AGO) == 0
    assert await blobs.has(address)


async def test_sweep_asks_about_every_blob_once(blobs: Blobs) -> None:
    addresses = {await blobs.put(str(n).encode()) for n in range(205)}
    asked: list[str] = []

    async def keep_and_note(batch: Sequence[str]) -> Collection[str]:
        asked.extend(batch)
        return batch

    assert await blobs.sweep(keep_and_note, older_than_seconds=0) == 0
    assert len(asked) == len(addresses)
    assert set(asked) == addresses


async def test_sweep_leaves_alone_what_is_no_blob(back_end: BackEnd) -> None:
    back_end.add_foreign("README")
    blobs = back_end.open()
    await blobs.put(PAGE)

    await blobs.sweep(keep_none, older_than_seconds=0)

    assert back_end.has_foreign("README")
    assert await blobs.usage() == Usage(0, 0)


async def test_sweep_of_nothing_deletes_nothing(blobs: Blobs) -> None:
    assert await blobs.sweep(keep_all, older_than_seconds=0) == 0
