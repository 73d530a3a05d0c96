"""What the items of a lane mean: the workload that owns the lane says it."""

from collections.abc import Coroutine, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from penstock.kernel.model import Failure, Outcome, Request, Wait
from penstock.queue.ports import Claim, Ending
from penstock.store.unit import Unit


class Result(NamedTuple):
    """A claim, what came of it, how it ends, and what its lane writes of it."""

    claim: Claim
    outcome: Outcome
    ending: Ending
    content: Any = None


class Lane(Protocol):
    """Turns items into requests, and outcomes into endings and rows."""

    name: str

    def request(self, claim: Claim) -> Request:
        """What to fetch for an item; its id is the item's."""
        ...

    def conclude(self, claim: Claim, outcome: Outcome) -> Ending:
        """How an item ends that came to an outcome."""
        ...

    def content(self, claim: Claim, outcome: Outcome) -> Any | Coroutine[Any, Any, Any]:
        """What to write of an outcome; a coroutine if it takes time or other services to make."""
        ...

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        """Write what was learnt, in the transaction that ends the claims."""
        ...


@runtime_checkable
class Provident(Protocol):
    """A lane some of whose items need something before they can be begun."""

    def needs(self, claim: Claim) -> bool:
        """Whether an item is one of those."""
        ...

    async def provide(self, claim: Claim) -> Failure | None:
        """Get what an item needs, for `request` to use; or why that cannot be had."""
        ...


@runtime_checkable
class Homework(Protocol):
    """A lane whose items are carried out here, not by a visit of theirs to a site."""

    async def do(self, claim: Claim) -> Outcome:
        """Carry an item out; raise `PenstockError` if that is not possible at the moment."""
        ...


@runtime_checkable
class Bounded(Protocol):
    """A lane that holds only so much of what was fetched."""

    def has_room(self) -> bool:
        """Whether another page may be fetched; if not, it is asked again soon."""
        ...


@runtime_checkable
class Impatient(Protocol):
    """A lane whose items do not wait for everything."""

    def will_wait(self, claim: Claim, wait: Wait) -> bool:
        """Whether an item waits for what a gate asks for; if not, it is given up."""
        ...
