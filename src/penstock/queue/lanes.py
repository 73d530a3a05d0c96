"""What the items of a lane mean: the workload that owns the lane says it."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from penstock.kernel.model import Outcome, Request
from penstock.queue.ports import Claim, Ending
from penstock.store.unit import Unit


class Result(NamedTuple):
    """A claim, what came of it, and how it ends."""

    claim: Claim
    outcome: Outcome
    ending: Ending


class Lane(Protocol):
    """Turns items into requests, and outcomes into endings and rows."""

    name: str

    def request(self, claim: Claim) -> Request:
        """What to fetch for an item; its id is the item's."""
        ...

    def conclude(self, claim: Claim, outcome: Outcome) -> Ending:
        """How an item ends that came to an outcome."""
        ...

    async def prepare(self, results: Sequence[Result]) -> None:
        """Do what has to be done before the results are written, outside of the store."""
        ...

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        """Write what was learnt, in the transaction that ends the claims."""
        ...
