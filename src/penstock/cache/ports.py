"""The port of the page cache: bytes go in under a key and are there until their time is over."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from penstock.store.unit import Unit

#: Is told of every body that was asked for, whether it was there.
LookedUp = Callable[[bool], None]


def nobody(found: bool) -> None:
    """Who does not want to know."""
    del found


class CachedPage(NamedTuple):
    """A body and the key it is found under."""

    key: str
    body: bytes


class PageCache(Protocol):
    """Keeps bodies byte for byte; a `StoreError` says that it cannot."""

    async def put(self, key: str, body: bytes, seconds: float) -> None:
        """Keep a body for so long, instead of what was under its key."""
        ...

    async def get(self, key: str) -> bytes | None:
        """The body; `None` if there was none or its time is over."""
        ...

    async def kept(self, keys: Sequence[str]) -> set[str]:
        """Those of some keys under which there still is a body."""
        ...

    async def erase(self, keys: Sequence[str]) -> int:
        """Delete certain bodies before their time; how many there were."""
        ...


class StoredCache(PageCache, Protocol):
    """A cache in the store: bodies can be part of what else is written there."""

    def put_in(self, unit: Unit, pages: Sequence[CachedPage], seconds: float) -> None:
        """Keep bodies for so long, in a transaction that is open."""
        ...
