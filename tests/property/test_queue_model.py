"""The queue against a model of it: whatever is done, by whomever, in whatever order.

No item is lost, none belongs to two, what is done stays done, and the counts are exact.
PENSTOCK_TEST_EXAMPLES makes the run as long as one likes.
"""

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import Collection, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from penstock.queue.heartbeat import Heartbeat, Pulse
from penstock.queue.ports import Bury, Claim, Done, Ending, Item, Release, Retry
from penstock.queue.sql import SqlQueue
from penstock.queue.tables import items, workers
from penstock.store.settings import StoreSettings
from penstock.store.unit import Unit
from tests.clocks import HandClock
from tests.stores import (
    Stores,
    all_of,
    counted,
    ids_of,
    lose_next_commit,
    make_sqlite,
    pending,
    rows_of,
)

EXAMPLES = int(os.environ.get("PENSTOCK_TEST_EXAMPLES", "20"))
FAILURE = {"reason": "timeout"}
PULSE = Pulse(every=5.0, silence=20.0)
LANES = ("fetch", "monitor")

lanes = st.sampled_from(LANES)
groups = st.sampled_from(["a", "b", "c"])
delays = st.sampled_from([0.0, 0.0, 1.0, 30.0])
samples = st.builds(
    Item,
    st.just(""),
    lanes,
    st.just({}),
    group=groups,
    priority=st.sampled_from([0, 5]),
    key=st.sampled_from([None, None, "k", "l"]),
    delay=delays,
    quota=st.just(""),
    max_age=st.none(),
    traceparent=st.just(""),
)
places = st.integers(0, 9)
workers_at = st.integers(0, 3)


class StillClock(HandClock):
    """Stands still while the store waits between two tries."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


@dataclass
class Model:
    """What an item should be."""

    item: Item
    due: float
    state: str = "waiting"
    attempts: int = 0
    lost: int = 0
    owner: str = ""
    token: int | None = None

    def claim(self, by: str, claim: Claim) -> None:
        self.state, self.owner, self.token = "claimed", by, claim.token
        self.attempts += 1

    def end(self, ending: Ending, now: float) -> None:
        match ending:
            case Done():
                self.state = "done"
            case Bury():
                self.state = "dead"
            case Retry(delay=delay):
                self.state, self.due = "waiting", now + delay
            case Release(delay=delay):
                self.state, self.due = "waiting", now + delay
                self.attempts -= 1

    def rescue(self, now: float) -> None:
        self.lost += 1
        self.token = None
        self.state, self.due = "waiting", now

    def revive(self, now: float) -> None:
        self.state, self.due, self.token = "waiting", now, None
        self.attempts = self.lost = 0


class QueueMachine(RuleBasedStateMachine):
    """Two processes on one file, four workers that come and go."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="penstock-model-")
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.clock = StillClock()
        self.model: dict[str, Model] = {}
        self.keys: set[tuple[str, str]] = set()
        self.claims: list[Claim] = []
        self.last_beat: dict[str, float] = {}
        self.run(self.open())

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    async def open(self) -> None:
        await make_sqlite(Path(self.folder.name))
        settings = StoreSettings(folder=Path(self.folder.name))
        stores = Stores(settings, self.clock, self.stack)
        self.stores = [await stores.open(), await stores.open()]
        self.queues = [SqlQueue(store, {}) for store in self.stores]
        self.hearts = [
            Heartbeat(
                self.stores[n % 2],
                self.queues[n % 2],
                self.clock,
                kind="worker",
                lanes=LANES,
                pulse=PULSE,
            )
            for n in range(4)
        ]
        for heart in self.hearts:
            await self.enter(heart)

    async def enter(self, heart: Heartbeat) -> None:
        await heart.register()
        self.last_beat[heart.id] = self.clock.monotonic()

    @property
    def now(self) -> float:
        return self.clock.monotonic()

    # ── what may happen

    @rule(sample=samples, number=st.integers(1, 4), process=st.integers(0, 1))
    def submit(self, sample: Item, number: int, process: int) -> None:
        lane, key, first = sample.lane, sample.key, len(self.model)
        wanted = [
            sample._replace(id=f"{first + n:04}-{key}", quota=sample.group) for n in range(number)
        ]
        receipts = self.run(self.queues[process].put(wanted))
        for item, receipt in zip(wanted, receipts, strict=True):
            is_known = key is not None and (lane, key) in self.keys
            assert receipt.status == ("duplicate" if is_known else "accepted")
            if not is_known:
                self.model[item.id] = Model(item, self.now + item.delay)
            if key is not None:
                self.keys.add((lane, key))

    @rule(again=places)
    def submit_again(self, again: int) -> None:
        known = [model.item for model in self.model.values()][again : again + 2]
        receipts = self.run(self.queues[0].put(known))
        assert {receipt.status for receipt in receipts} <= {"accepted"}

    @rule(
        at=workers_at,
        limit=st.integers(0, 8),
        most=st.integers(0, 3),
        rest=st.sampled_from([0.0, 10.0]),
        chosen=st.sampled_from([LANES, LANES[:1]]),
    )
    def claim(self, at: int, limit: int, most: int, rest: float, chosen: tuple[str, ...]) -> None:
        worker = self.hearts[at].id
        claims = self.run(
            self.queues[at % 2].claim(worker, chosen, limit, lambda _group: (most, rest))
        )
        assert len(claims) <= limit
        assert all(n <= most for n in Counter(claim.group for claim in claims).values())
        assert {claim.lane for claim in claims} <= set(chosen)
        self.note(worker, claims)

    @rule(at=workers_at, some=st.lists(places, max_size=4))
    def claim_by_id(self, at: int, some: list[int]) -> None:
        worker, known = self.hearts[at].id, list(self.model)
        asked = [known[place] for place in some if place < len(known)]
        claims = self.run(self.queues[at % 2].claim_ids(worker, asked))
        ready = {item for item in asked if self.is_due(item)}
        assert set(ids_of(claims)) == ready
        self.note(worker, claims)

    @rule(
        some=st.lists(places, max_size=4),
        ending=st.sampled_from([Done(), Bury(FAILURE)])
        | st.builds(Retry, delays, st.just(FAILURE))
        | st.builds(Release, delays, st.booleans()),
        process=st.integers(0, 1),
    )
    @precondition(lambda self: self.claims)
    def settle(self, some: list[int], ending: Ending, process: int) -> None:
        """Of any claim that ever was: most are late, or ended already."""
        chosen = [self.claims[-1 - place % len(self.claims)] for place in some]
        ours = {claim.id for claim in chosen if self.is_held(claim)}
        recorded: list[str] = []

        def record(unit: Unit, accepted: Collection[str]) -> None:
            recorded[:] = accepted

        accepted = self.run(
            self.queues[process].settle([(claim, ending) for claim in chosen], record)
        )
        assert accepted >= ours
        assert set(recorded) == ours
        for item in ours:
            self.model[item].end(ending, self.now)

    @rule(seconds=st.sampled_from([0.5, 3.0, 4.0, 11.0, 25.0]))
    def tick(self, seconds: float) -> None:
        self.clock.move(seconds)

    @rule(at=workers_at)
    def beat(self, at: int) -> None:
        heart = self.hearts[at]
        is_known = heart.id in self.last_beat
        assert self.run(heart.beat({})) is is_known
        if is_known:
            self.last_beat[heart.id] = self.now
        else:
            self.run(self.enter(heart))

    @rule(at=workers_at)
    def leave(self, at: int) -> None:
        heart = self.hearts[at]
        self.run(heart.leave())
        self.last_beat.pop(heart.id, None)
        self.rescued()

    @rule(at=workers_at)
    def watch(self, at: int) -> None:
        self.run(self.hearts[at].watch())
        known = {row["id"] for row in self.run(rows_of(self.stores[0], workers))}
        for worker in set(self.last_beat) - known:
            assert self.now - self.last_beat.pop(worker) >= PULSE.silence
        self.rescued()

    @rule(process=st.integers(0, 1))
    def rescue(self, process: int) -> None:
        self.run(self.queues[process].rescue())
        self.rescued()

    @rule(some=st.lists(places, max_size=3))
    def revive(self, some: list[int]) -> None:
        known = list(self.model)
        chosen = {known[place] for place in some if place < len(known)}
        dead = [self.model[item] for item in chosen if self.model[item].state == "dead"]
        assert self.run(self.queues[0].revive(sorted(chosen))) == len(dead)
        for model in dead:
            model.revive(self.now)

    @rule(process=st.integers(0, 1))
    def lose_a_commit(self, process: int) -> None:
        """The next transaction of a process is committed, but it does not hear of it."""
        lose_next_commit(self.stores[process])

    # ── what must hold

    @invariant()
    def table_is_as_modelled(self) -> None:
        rows = self.run(rows_of(self.stores[0], items))
        found = {row["id"]: (row["state"], row["attempts"], row["lost"]) for row in rows}
        assert found == {
            item: (model.state, model.attempts, model.lost) for item, model in self.model.items()
        }

    @invariant()
    def counts_are_exact(self) -> None:
        store = self.stores[1]
        assert self.run(counted(store)) == self.run(pending(store))

    def teardown(self) -> None:
        try:
            self.everything_that_waits_is_claimed()
        finally:
            self.run(self.stack.aclose())
            self.runner.close()
            self.folder.cleanup()

    def everything_that_waits_is_claimed(self) -> None:
        """However the lines stand, nothing is out of reach for ever."""
        self.clock.move(100.0)
        waiting = {item for item, model in self.model.items() if model.state == "waiting"}
        found: list[Claim] = []
        while claims := self.run(self.queues[0].claim("last", LANES, 7, all_of)):
            found += claims
        assert len(found) == len(waiting)
        assert set(ids_of(found)) == waiting

    # ── the model

    def is_due(self, item: str) -> bool:
        model = self.model[item]
        return model.state == "waiting" and model.due <= self.now

    def is_held(self, claim: Claim) -> bool:
        model = self.model[claim.id]
        return model.state == "claimed" and model.token == claim.token

    def note(self, worker: str, claims: list[Claim]) -> None:
        for claim in claims:
            assert self.is_due(claim.id)
            self.model[claim.id].claim(worker, claim)
            assert claim.attempts == self.model[claim.id].attempts
            self.claims.append(claim)

    def rescued(self) -> None:
        """Claims of those who are known no more wait again."""
        for model in self.model.values():
            if model.state == "claimed" and model.owner not in self.last_beat:
                model.rescue(self.now)


QueueMachine.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestQueue = QueueMachine.TestCase
