"""Events and the sinks that take them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol


class Message(NamedTuple):
    """Something to be announced. `id` is the idempotency key; order holds within a `key`."""

    id: str
    topic: str
    key: str
    data: Mapping[str, Any]
    traceparent: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """A message in the log: its place, and when it was written (ms since 1970)."""

    seq: int
    at: int
    message: Message

    def as_json(self) -> dict[str, Any]:
        """The event as plain data."""
        message = self.message
        return {
            "seq": self.seq,
            "id": message.id,
            "topic": message.topic,
            "key": message.key,
            "at": self.at,
            "traceparent": message.traceparent,
            "data": message.data,
        }


class Subscriber(Protocol):
    """Somebody who is owed events from the moment they are written."""

    name: str

    def wants(self, topic: str) -> bool:
        """Whether events of a topic are for this sink."""
        ...

    def line_of(self, message: Message) -> str | None:
        """The line it stands in: trouble with it holds up nobody outside. None: not for us."""
        ...


class Sink(Subscriber, Protocol):
    """Somebody who is told of events; may be told twice, and knows it by the id."""

    async def deliver(self, events: Sequence[Event]) -> None:
        """Take events, in order, all or none; any exception means: later again."""
        ...
