"""Queues for tests: what is put, claimed and settled in a line."""

from collections import Counter
from collections.abc import Collection, Sequence

from penstock.queue.ports import Claim, Ending
from penstock.queue.sql import SqlQueue
from penstock.store.unit import Unit
from tests.stores import all_of, ids_of, make_items

FAILURE = {"kind": "fetch", "reason": "timeout"}


async def claim_all(
    queue: SqlQueue, *lanes: str, worker: str = "w", limit: int = 1000
) -> list[str]:
    return ids_of(await queue.claim(worker, lanes or ["fetch"], limit, all_of))


async def claim_one(queue: SqlQueue, worker: str = "w") -> Claim:
    (claim,) = await queue.claim(worker, ["fetch"], 1, all_of)
    return claim


async def put_and_claim(queue: SqlQueue, number: int = 1, worker: str = "w") -> list[Claim]:
    await queue.put(make_items(number))
    return await queue.claim(worker, ["fetch"], number, all_of)


def settle_all(claims: Sequence[Claim], ending: Ending) -> list[tuple[Claim, Ending]]:
    return [(claim, ending) for claim in claims]


class Notes:
    """A record that remembers what it was given."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def __call__(self, unit: Unit, accepted: Collection[str]) -> None:
        self.seen.update(accepted)
