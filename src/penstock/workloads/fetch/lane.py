"""The `fetch` lane: one URL each; the outcome and its event are written together."""

from collections.abc import Coroutine, Sequence
from typing import Any

from sqlalchemy import delete, select

from penstock.blobs.ports import Blobs
from penstock.core.ids import first_id_at, new_id
from penstock.core.trace import new_trace
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.kernel.model import Outcome, Refused, Request
from penstock.queue.lanes import Result
from penstock.queue.ports import Bury, Claim, Done, Ending, Item
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.fetch.tables import outcomes

NAME = "fetch"
TOPIC = "fetch.finished"
FORGET_AT_ONCE = 5000
#: Gates that say no for reasons of the site's: the URL is not to blame, so it is no dead letter.
NOT_TO_BLAME = frozenset({"robots", "hours", "breaker"})


async def bodies_in_use(store: Store, addresses: Sequence[str]) -> set[str]:
    """Which of some blobs an outcome still speaks of."""
    query = select(outcomes.c.body).where(outcomes.c.body.in_(addresses))
    return await store.read(lambda unit: set(unit.run(query).scalars()))


async def forget_outcomes(store: Store, older_than: float) -> int:
    """Delete outcomes of items that were put more than so many seconds ago; how many."""

    def step(unit: Unit) -> int:
        first = first_id_at(unit.now - int(older_than * 1000))
        old = select(outcomes.c.item_id).where(outcomes.c.item_id < first).limit(FORGET_AT_ONCE)
        return unit.run(delete(outcomes).where(outcomes.c.item_id.in_(old))).rowcount

    total = 0
    while number := await store.write(step, "upkeep"):
        total += number
    return total


def item_for(request: Request, group: str, run: str) -> Item:
    """A request as an item of the lane; the same URL is taken once in a run."""
    return Item(
        id=new_id(),
        lane=NAME,
        payload={
            "url": request.url,
            "headers": dict(request.headers),
            "extract": request.extract,
            "run": run,
        },
        group=group,
        key=f"{run}:{request.url}",
        quota=run,
        traceparent=request.traceparent or new_trace(),
    )


class FetchLane:
    """Fetches and records."""

    name = NAME

    def __init__(self, log: EventLog, blobs: Blobs | None = None) -> None:
        self._log = log
        self._blobs = blobs

    def request(self, claim: Claim) -> Request:
        payload = claim.payload
        return Request(
            payload["url"],
            id=claim.id,
            headers=payload["headers"],
            extract=payload["extract"],
            traceparent=claim.traceparent,
        )

    def conclude(self, claim: Claim, outcome: Outcome) -> Ending:
        del claim
        failure = outcome.failure
        if failure is None or (isinstance(failure, Refused) and failure.gate in NOT_TO_BLAME):
            return Done()
        return Bury(failure.as_json())

    def content(
        self, claim: Claim, outcome: Outcome
    ) -> dict[str, Any] | Coroutine[Any, Any, dict[str, Any]]:
        """The row of an outcome; its body is kept first, if that is wanted."""
        row = _row(claim, outcome)
        return self._with_body(row, outcome.page.body) if self._blobs and outcome.page else row

    async def _with_body(self, row: dict[str, Any], body: bytes) -> dict[str, Any]:
        return {**row, "body": await self._blobs.put(body)} if self._blobs else row

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        unit.insert_all(outcomes, [result.content for result in results], _renewed, at=unit.now)
        self._log.append(unit, [_message(result.claim, result.content) for result in results])


def _renewed(insert: Any) -> Any:
    """An item that was revived has a new outcome in place of its old one."""
    names = ("domain", "status", "reason", "body", "document", "at")
    changes = {name: insert.excluded[name] for name in names}
    return insert.on_conflict_do_update(index_elements=["item_id"], set_=changes)


def _row(claim: Claim, outcome: Outcome) -> dict[str, Any]:
    return {
        "item_id": claim.id,
        "lane": NAME,
        "url": outcome.request.url,
        "domain": outcome.domain,
        "status": "ok" if outcome.ok else "failed",
        "reason": outcome.failure.reason if outcome.failure else None,
        "body": None,
        "document": outcome.as_json(),
    }


def _message(claim: Claim, row: dict[str, Any]) -> Message:
    # The token makes the id: the same end of the same claim is the same event.
    event = f"{claim.id}.{claim.token:x}"
    data = {
        "item_id": claim.id,
        "url": row["url"],
        "domain": row["domain"],
        "status": row["status"],
        "reason": row["reason"],
        "body": row["body"],
    }
    return Message(event, TOPIC, row["domain"], data, claim.traceparent)
