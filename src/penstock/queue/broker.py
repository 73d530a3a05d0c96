"""Work told to others by messages: a message names an item that waits, and is nothing more.

The row in the store is the truth. A message that is lost, late or there twice changes nothing:
whoever gets it claims the item if it waits, and who hears of none is told again.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from pydantic import Field, SecretStr

from penstock.kernel.settings import Section


class BrokerSettings(Section):
    """The server that tells workers on all machines what waits."""

    url: SecretStr = Field(SecretStr(""), description="amqp://…; empty: workers ask the store")
    prefix: str = Field("penstock", min_length=1, max_length=100, description="of queue names")
    prefetch: int = Field(
        400, ge=1, le=65535, description="messages of one process that are not over, in all lanes"
    )
    resend_seconds: float = Field(20, gt=0, description="until an item that waits is named again")
    resend_batch: int = Field(2000, ge=1, le=5000, description="items named in one go")
    publish_batch: int = Field(500, ge=1, description="messages sent before they are confirmed")
    max_unsent: int = Field(20_000, ge=10_000, description="messages that wait to be sent")


class Nudge(NamedTuple):
    """Says that an item waits."""

    lane: str
    item: str
    traceparent: str = ""


class Nudger(Protocol):
    """Tells workers of items; it does what it can, and never fails the caller."""

    @property
    def is_ready(self) -> bool:
        """Whether what is sent now has a chance to arrive."""
        ...

    async def send(self, nudges: Sequence[Nudge]) -> None:
        """Have messages sent; those for which there is no room or no server are dropped."""
        ...


class Receiver(Protocol):
    """Receives messages for as long as it is entered; left, it has answered what is over."""

    @property
    def is_ready(self) -> bool:
        """Whether messages can come."""
        ...

    def pause(self) -> None:
        """Receive nothing more; what is under way may come to its end."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


class NoReceiver:
    """For workers that ask the store."""

    is_ready = True

    def pause(self) -> None:
        """There is nothing to pause."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """There is nothing to answer."""
