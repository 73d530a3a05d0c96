"""Blobs as objects of a bucket, in S3 or anything that speaks it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from penstock.blobs.addresses import address_of, is_address, require_address, require_intact
from penstock.blobs.ports import Keep, Usage
from penstock.blobs.settings import BlobSettings
from penstock.core.errors import BlobError

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import S3Credential

#: An object that is written only to learn the time by the server's clock.
CLOCK = "clock"
BATCH = 100
MAX_PAUSE_SECONDS = 2.0


class S3Blobs:
    """Any number of machines may use the same bucket and prefix.

    S3 cannot delete on condition: a blob that is put again in the few milliseconds between a
    sweep's last look at it and its deletion is lost. Only one that was old and unneeded can be.
    """

    def __init__(self, settings: BlobSettings) -> None:
        self._settings = settings
        with mapped(settings):
            self._store = _open_store(settings)

    async def put(self, data: bytes) -> str:
        address = await asyncio.to_thread(address_of, data)
        with mapped(self._settings):
            await self._store.put_async(address, data, use_multipart=False)
        return address

    async def get(self, address: str) -> bytes | None:
        require_address(address)
        with mapped(self._settings):
            try:
                result = await self._store.get_async(address)
                data = bytes(await result.bytes_async())
            except FileNotFoundError as error:
                if _lacks_bucket(error):
                    raise
                return None
        return await asyncio.to_thread(require_intact, address, data)

    async def has(self, address: str) -> bool:
        return await self._modified(require_address(address)) is not None

    async def delete(self, address: str) -> None:
        await self._delete([require_address(address)])

    async def sweep(self, keep: Keep, older_than_seconds: float) -> int:
        before = await self._now() - timedelta(seconds=older_than_seconds)
        swept = 0
        async for batch in self._list():
            old = [each["path"] for each in batch if each["last_modified"] <= before]
            kept = set(await keep(old)) if old else set()
            unkept = [address for address in old if address not in kept]
            swept += await self._delete_old(unkept, before)
        return swept

    async def addresses(self) -> AsyncIterator[str]:
        async for batch in self._list():
            for each in batch:
                yield each["path"]

    async def usage(self) -> Usage:
        blobs = size = 0
        async for batch in self._list():
            blobs += len(batch)
            size += sum(each["size"] for each in batch)
        return Usage(blobs, size)

    async def _delete_old(self, addresses: Sequence[str], before: datetime) -> int:
        """Delete those that nobody has made young in the meantime."""
        times = await asyncio.gather(*map(self._modified, addresses))
        still_old = [
            address
            for address, modified in zip(addresses, times, strict=True)
            if modified and modified <= before
        ]
        await self._delete(still_old)
        return len(still_old)

    async def _delete(self, addresses: Sequence[str]) -> None:
        if addresses:
            with mapped(self._settings):
                await self._store.delete_async(addresses)

    async def _modified(self, key: str) -> datetime | None:
        with mapped(self._settings):
            try:
                return (await self._store.head_async(key))["last_modified"]
            except FileNotFoundError:
                return None

    async def _now(self) -> datetime:
        with mapped(self._settings):
            await self._store.put_async(CLOCK, b"", use_multipart=False)
            return (await self._store.head_async(CLOCK))["last_modified"]

    async def _list(self) -> AsyncIterator[list[ObjectMeta]]:
        """The blobs, and nothing else that somebody keeps under the same prefix."""
        with mapped(self._settings):
            async for batch in self._store.list(chunk_size=BATCH):
                yield [each for each in batch if is_address(each["path"])]


@contextmanager
def mapped(settings: BlobSettings) -> Iterator[None]:
    """Turn every exception of the client into a `BlobError`."""
    try:
        yield
    except (BaseError, FileNotFoundError, ValueError) as error:
        raise blob_error_of(error, settings) from error


def blob_error_of(error: Exception, settings: BlobSettings) -> BlobError:
    """What an exception of the client means to whoever runs Penstock."""
    where = f"the bucket {settings.bucket} at {settings.endpoint or 'Amazon S3'}"
    if isinstance(error, PermissionDeniedError | UnauthenticatedError):
        return BlobError(
            f"{where} refuses us: check PENSTOCK_BLOBS__ACCESS_KEY and PENSTOCK_BLOBS__SECRET_KEY, "
            f"and that they may read, write, list and delete there"
        )
    if isinstance(error, FileNotFoundError) or _lacks_bucket(error):
        return BlobError(f"{where} does not exist: create it, or correct PENSTOCK_BLOBS__URL")
    said = str(error).partition("\n")[0]
    return BlobError(
        f"{where} cannot be used: check PENSTOCK_BLOBS__ENDPOINT and that server ({said})"
    )


def _lacks_bucket(error: Exception) -> bool:
    return "NoSuchBucket" in str(error)


def _open_store(settings: BlobSettings) -> S3Store:
    timeout = timedelta(seconds=settings.timeout_seconds)
    return S3Store(
        settings.bucket,
        prefix=settings.prefix or None,
        config={
            "region": settings.region,
            "virtual_hosted_style_request": not settings.endpoint,
            **({"endpoint": settings.endpoint} if settings.endpoint else {}),
        },
        client_options={
            "allow_http": settings.endpoint.startswith("http://"),
            "timeout": timeout,
        },
        retry_config={
            "max_retries": settings.max_retries,
            "retry_timeout": timeout,
            "backoff": {"max_backoff": timedelta(seconds=MAX_PAUSE_SECONDS)},
        },
        credential_provider=_Keys(settings) if settings.access_key.get_secret_value() else None,
    )


class _Keys:
    """The keys of the settings, unmixed with what the environment may say."""

    def __init__(self, settings: BlobSettings) -> None:
        self._settings = settings

    def __call__(self) -> S3Credential:
        return {
            "access_key_id": self._settings.access_key.get_secret_value(),
            "secret_access_key": self._settings.secret_key.get_secret_value(),
            "token": None,
            "expires_at": None,
        }
