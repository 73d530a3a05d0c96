"""The checker: compares the journal, the store and the site's own log, and counts."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select

from penstock.events.tables import events
from penstock.queue.ports import State
from penstock.queue.tables import counts, items, workers
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.fetch.tables import outcomes
from tests.chaos.engine.journal import Entries

OVER = (State.DONE, State.DEAD)


@dataclass(frozen=True, slots=True)
class Held:
    """What a store holds."""

    states: Mapping[str, str]
    outcomes: Mapping[str, str]
    events: Counter[str]
    stale_events: Collection[str]
    attempts: Mapping[str, int]
    pending: int
    workers: int


@dataclass(frozen=True, slots=True)
class Findings:
    """What became of everything that was acknowledged; all but the first and last must be 0.

    `lost`: an acknowledged item that is not there, or over without an outcome or an event.
    `phantom`: an item, outcome or event of nobody's, an event under another token than the last,
    or a page nobody fetched. `duplicated`: events beyond one per item. `stuck`: waiting or
    claimed. `miscounted`: what the counts say is pending beside that. `refetched`: a worker was
    lost after the fetch and before the commit; allowed.
    """

    items: int
    lost: int
    phantom: int
    duplicated: int
    stuck: int
    miscounted: int
    refetched: int

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.phantom or self.duplicated or self.stuck or self.miscounted)


async def hold(store: Store) -> Held:
    """Everything the store says, as of one moment."""
    return await store.read(_hold)


def _hold(unit: Unit) -> Held:
    rows = unit.run(select(items.c.id, items.c.state, items.c.attempts, items.c.token)).all()
    results = unit.run(select(outcomes.c.item_id, outcomes.c.status)).all()
    told = unit.run(select(events.c.id)).scalars().all()
    last = {f"{row.id}.{row.token:x}" for row in rows if row.token is not None}
    total = select(func.coalesce(func.sum(counts.c.pending), 0))
    return Held(
        states={row.id: row.state for row in rows},
        outcomes={row.item_id: row.status for row in results},
        events=Counter(event.partition(".")[0] for event in told),
        stale_events=set(told) - last,
        attempts={row.id: row.attempts for row in rows},
        pending=int(unit.run(total).scalar_one()),
        workers=int(unit.run(select(func.count()).select_from(workers)).scalar_one()),
    )


def check(entries: Entries, held: Held, hits: Mapping[str, int]) -> Findings:
    """Count what is not as it was promised; `hits` says how often each URL was fetched."""
    over = {item for item, state in held.states.items() if state in OVER}
    told = {item for item in over if item in held.outcomes and held.events[item]}
    return Findings(
        items=len(entries.acknowledged),
        lost=len(_lost(entries, held, told)),
        phantom=len(_phantoms(entries, held, hits)),
        duplicated=sum(number - 1 for number in held.events.values()),
        stuck=len(held.states.keys() - over),
        miscounted=abs(held.pending - len(held.states.keys() - over)),
        refetched=sum(max(0, hits.get(url, 0) - 1) for url in entries.submitted.values()),
    )


def _lost(entries: Entries, held: Held, told: Collection[str]) -> set[str]:
    """Acknowledged and gone, or over and nobody was told."""
    gone = entries.acknowledged - held.states.keys()
    silent = {item for item, state in held.states.items() if state in OVER} - set(told)
    return gone | silent


def _phantoms(entries: Entries, held: Held, hits: Mapping[str, int]) -> set[str]:
    """Unknown to the submitter, told of before it was over, or said to be fetched and was not."""
    known = entries.submitted
    unknown = (held.states.keys() | held.outcomes.keys() | held.events.keys()) - known.keys()
    early = {item for item in held.outcomes if held.states.get(item) not in OVER}
    unfetched = {
        item
        for item, status in held.outcomes.items()
        if status == "ok" and item in known and not hits.get(known[item])
    }
    return unknown | early | unfetched | set(held.stale_events)
