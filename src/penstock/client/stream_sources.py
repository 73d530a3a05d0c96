"""Where the pages of a stream come from: what every source of them can do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from penstock.client.errors import ClientError
from penstock.client.stream_models import WebpageEvent


class PartitionLost(ClientError):
    """Pages cannot be committed: their partition is another consumer's now, who gets them again."""


class Place(NamedTuple):
    """Where an event stands; a service has one log, which is partition 0."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event that came, and during which assignment of partitions it did."""

    place: Place
    event: WebpageEvent
    assignment: int = 0


class Source(Protocol):
    """Events in the order of their places, the bodies they speak of, and a way back for URLs."""

    async def open(self) -> None:
        """Connect; `NotReached` if nobody answers."""
        ...

    async def close(self) -> None:
        """Give up all connections; nothing is committed."""
        ...

    async def more(self, most: int) -> Sequence[Arrival]:
        """The next events; waits for some, and may come back with none."""
        ...

    def is_current(self, arrival: Arrival) -> bool:
        """Whether an event is still ours to hand out; if not, it comes again to whoever has it."""
        ...

    async def commit(self, arrivals: Sequence[Arrival]) -> None:
        """Everything up to these is done with, one of each partition; durable on return."""
        ...

    async def body(self, event: WebpageEvent) -> bytes | None:
        """The body of a page; None if it is kept no more."""
        ...

    async def push(self, url: str) -> None:
        """Have a URL fetched again."""
        ...
