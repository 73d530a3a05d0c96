"""The stream's queue against a model of it: workers come and go, answers and Redis itself are lost.

No URL is lost, none is in two hands, and late endings change nothing.
PENSTOCK_TEST_EXAMPLES makes the run as long as one likes.
"""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from penstock.core.errors import StoreLost
from penstock.queue.heartbeat import this_process
from penstock.queue.ports import Bury, Claim, Done, Ending, Release, Retry
from penstock.queue.redis import RedisHeartbeat
from penstock.queue.redis.claiming import worker_of
from tests.clocks import HandClock
from tests.durable_redis import DurableRedis, find_program
from tests.redis_queues import FAILURE, PULSE, DeafEar, StreamQueues, claim

EXAMPLES = int(os.environ.get("PENSTOCK_TEST_EXAMPLES", "20"))
WORKERS = 3

hosts = st.sampled_from(["a.test", "b.test", "c.test"])
places = st.integers(0, 9)
workers_at = st.integers(0, WORKERS - 1)
delays = st.sampled_from([0.0, 0.0, 1.0, 30.0])
endings = (
    st.sampled_from([Done(), Bury(FAILURE)])
    | st.builds(Retry, delays, st.just(FAILURE), st.booleans())
    | st.builds(Release, delays, st.booleans())
)


class StreamQueueMachine(RuleBasedStateMachine):
    """Three processes on one Redis, each a worker."""

    redis: ClassVar[DurableRedis]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.clock = HandClock()
        self.pending: Counter[str] = Counter()
        self.claims: list[Claim] = []
        self.held: dict[str, Claim] = {}
        self.last_beat: dict[str, float] = {}
        self.crashed: set[str] = set()
        self.runner.run(self.open())

    async def open(self) -> None:
        self.queues = StreamQueues(self.redis.url, self.clock, self.stack)
        servers = [await self.queues.connect() for _ in range(WORKERS)]
        self.ears = [DeafEar(server) for server in servers]
        self.made = [await self.queues.queue(server) for server in servers]
        self.hearts = [
            await self.queues.heart(queue, server)
            for queue, server in zip(self.made, servers, strict=True)
        ]
        for heart in self.hearts:
            await heart.register()
            self.last_beat[heart.id] = self.clock.monotonic()

    def run(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Do something as a worker would: again, when Redis does not answer."""
        for _ in range(5):
            try:
                return self.runner.run(work())
            except StoreLost:
                continue
        raise AssertionError("Redis stays away")

    # ── what may happen

    @rule(host=hosts, chosen=st.lists(places, min_size=1, max_size=6))
    def push(self, host: str, chosen: list[int]) -> None:
        urls = [f"http://{host}/{place}" for place in chosen]
        self.queues.push(*urls)
        self.pending.update(urls)

    @rule(
        at=workers_at,
        limit=st.integers(0, 8),
        most=st.integers(0, 3),
        rest=st.sampled_from([0.0, 10.0]),
    )
    def claim(self, at: int, limit: int, most: int, rest: float) -> None:
        worker = self.hearts[at].id
        claims = self.run(lambda: claim(self.made[at], worker, limit, lambda _group: (most, rest)))
        assert len(claims) <= limit
        assert all(n <= most for n in Counter(found.group for found in claims).values())
        self.note(worker, claims)

    @rule(some=st.lists(places, max_size=5), ending=endings, at=workers_at)
    @precondition(lambda self: self.claims)
    def settle(self, some: list[int], ending: Ending, at: int) -> None:
        """Of any claim that ever was: many are late, or ended already."""
        chosen = [self.claims[-1 - place % len(self.claims)] for place in some]
        ours = {found.id for found in chosen if found.id in self.held}
        late = {found.id for found in chosen if worker_of(found) not in self.last_beat}
        pairs = [(found, ending) for found in chosen]
        accepted = self.run(lambda: self.made[at].settle(pairs))
        assert accepted >= ours
        assert not accepted & late
        for item in ours:
            found = self.held.pop(item)
            if isinstance(ending, Done):
                self.pending[found.payload["url"]] -= 1

    @rule(some=st.lists(places, max_size=5), at=workers_at)
    @precondition(lambda self: self.claims)
    def note_trial(self, some: list[int], at: int) -> None:
        chosen = [self.claims[-1 - place % len(self.claims)] for place in some]
        ours = self.run(lambda: self.made[at].note_trial(chosen))
        assert ours == {found.id for found in chosen if found.id in self.held}

    @rule(seconds=st.sampled_from([0.5, 4.0, 11.0, 25.0]))
    def tick(self, seconds: float) -> None:
        self.clock.move(seconds)

    @rule(at=workers_at)
    def beat(self, at: int) -> None:
        heart = self.hearts[at]
        is_known = heart.id in self.last_beat
        assert self.run(lambda: heart.beat({})) is is_known
        if is_known:
            self.last_beat[heart.id] = self.clock.monotonic()
        else:
            self.enter(heart)

    @rule(at=workers_at)
    def crash(self, at: int) -> None:
        """The process ends without a word; another takes its place."""
        heart = self.hearts[at]
        gone = this_process().rpartition("/")[0] + "/1"
        if heart.id in self.last_beat:
            self.queues.client.hset(f"{self.queues.name}:processes", heart.id, gone)
            self.crashed.add(heart.id)
        self.enter(heart)

    @rule(at=workers_at)
    def leave(self, at: int) -> None:
        heart = self.hearts[at]
        self.run(heart.leave)
        self.run(self.made[at].rescue)
        if heart.id not in self.known():  # or Redis did not hear it, and it falls silent
            self.gone(heart.id)
        self.enter(heart)

    @rule(at=workers_at)
    def watch(self, at: int) -> None:
        self.run(self.hearts[at].watch)
        for worker in set(self.last_beat) - self.known():
            silent = self.clock.monotonic() - self.last_beat[worker]
            assert worker in self.crashed or silent >= PULSE.silence
            self.gone(worker)

    @rule(some=st.lists(places, max_size=3), host=hosts)
    def revive(self, some: list[int], host: str) -> None:
        chosen = [f"http://{host}/{place}" for place in some]
        dead = Counter(self.queues.dead_letters())
        number = self.run(lambda: self.made[0].dead_letters.revive(chosen))
        assert number <= sum(dead[url] for url in set(chosen))

    @rule(at=workers_at)
    def do_not_hear(self, at: int) -> None:
        """The next script of a process is run, but it does not hear of it."""
        self.ears[at].do_not_hear()

    @rule()
    def restart_redis(self) -> None:
        """Killed, and started on what it had written."""
        self.redis.kill()
        self.redis.start()

    # ── what must hold

    @invariant()
    def no_url_is_lost_or_doubled(self) -> None:
        found = Counter({url.decode(): n for url, n in self.queues.everywhere().items()})
        found.update(url for urls in self.in_hands().values() for url in urls.values())
        assert found == +self.pending

    @invariant()
    def what_is_held_is_in_the_hands_of_its_worker(self) -> None:
        hands = self.in_hands()
        for item, found in self.held.items():
            assert hands[worker_of(found)][item] == found.payload["url"]

    def teardown(self) -> None:
        try:
            self.nothing_is_out_of_reach()
        finally:
            self.queues.clear()
            self.runner.run(self.stack.aclose())
            self.runner.close()

    def nothing_is_out_of_reach(self) -> None:
        """What a worker took without hearing of it is found by the next claim; all else, too."""
        for ear in self.ears:
            ear.hear()
        self.clock.move(1000.0)
        for at, heart in enumerate(self.hearts):
            take_all = partial(claim, self.made[at], heart.id, 7)
            while claims := self.run(take_all):
                self.note(heart.id, claims)
        for heart in self.hearts:
            ours = {item for item, found in self.held.items() if worker_of(found) == heart.id}
            assert set(self.in_hands().get(heart.id, {})) == ours

    # ── the model

    def enter(self, heart: RedisHeartbeat) -> None:
        self.run(heart.register)
        self.last_beat[heart.id] = self.clock.monotonic()

    def known(self) -> set[str]:
        found = self.queues.client.zrange(self.queues.workers, 0, -1)
        return {worker.decode() for worker in found}

    def gone(self, worker: str) -> None:
        """Its claims wait again."""
        self.last_beat.pop(worker, None)
        self.held = {n: found for n, found in self.held.items() if worker_of(found) != worker}

    def note(self, worker: str, claims: list[Claim]) -> None:
        assert not claims or worker in self.last_beat
        for found in claims:
            assert found.id not in self.held
            self.held[found.id] = found
        self.claims += claims

    def in_hands(self) -> dict[str, dict[str, str]]:
        """By worker, what it has claimed."""
        prefix = f"{self.queues.name}:claimed:"
        found = {}
        for key in self.queues.client.scan_iter(f"{prefix}*"):
            rows = self.queues.client.hgetall(key)
            urls = {item.decode(): _url(value) for item, value in rows.items()}
            found[key.decode().removeprefix(prefix)] = urls
        return found


def _url(value: bytes) -> str:
    url: str = json.loads(value)["url"]
    return url


@pytest.fixture
def durable_redis() -> Iterator[DurableRedis]:
    server = DurableRedis(find_program())
    server.start()
    yield server
    server.stop()


def test_no_url_is_lost_whatever_happens(durable_redis: DurableRedis) -> None:
    StreamQueueMachine.redis = durable_redis
    run_state_machine_as_test(
        StreamQueueMachine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
