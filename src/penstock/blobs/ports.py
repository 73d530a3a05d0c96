"""The port of the blobs: bytes go in, their address comes out, and nothing is ever overwritten."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

#: Asked about some addresses, says which of them are still needed.
Keep = Callable[[Sequence[str]], Awaitable[Collection[str]]]


@dataclass(frozen=True, slots=True)
class Usage:
    """How much is kept."""

    blobs: int
    bytes: int


class Blobs(Protocol):
    """Keeps bytes by their address, which is the SHA-256 of their content in hex.

    Every method raises a `BlobError` where it cannot do its work, and for an address that is none.
    """

    async def put(self, data: bytes) -> str:
        """Keep the data durably and return its address; putting it again makes it young."""
        ...

    async def get(self, address: str) -> bytes | None:
        """The data, whose hash has been checked; `None` if there is none."""
        ...

    async def has(self, address: str) -> bool:
        """Whether there is a blob, without reading it."""
        ...

    async def delete(self, address: str) -> None:
        """Forget a blob; one that is not there is no error."""
        ...

    async def sweep(self, keep: Keep, older_than_seconds: float) -> int:
        """Delete what is old and not to be kept, and return how many blobs that were.

        The age counts by the clock of whoever keeps the blobs. It must leave enough time between
        a `put` and the moment its address is known to `keep`.
        """
        ...

    def addresses(self) -> AsyncIterator[str]:
        """Every address there is, in no particular order."""
        ...

    async def usage(self) -> Usage:
        """Count everything, which may take a while."""
        ...
