"""The buffer and its journal against a model, whatever happens to store, disk and process.

No critical update that was promised is lost, none is written twice, each feed's come in order, the
bounds hold and drops are counted. PENSTOCK_TEST_EXAMPLES makes the run as long as one likes.
"""

import os
import resource
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from penstock.core.errors import JournalFailed
from penstock.workloads.live.buffer import UpdateBuffer
from penstock.workloads.live.context import MIB
from penstock.workloads.live.journal import NAME, Journal
from penstock.workloads.live.model import Update
from penstock.workloads.live.settings import LiveSettings
from tests.unit.workloads.live.updates import an_update

EXAMPLES = int(os.environ.get("PENSTOCK_TEST_EXAMPLES", "60"))
MOST = 4
JOURNAL_BYTES = 3 * MIB // 2
FEEDS = ("a", "b")
SETTINGS = LiveSettings(max_queue_size=MOST, max_queue_size_mb=1)

Key = tuple[str, int]


def key_of(update: Update) -> Key:
    return update.match_id, update.sequence


class BufferMachine(RuleBasedStateMachine):
    """Two feeds, a store that takes every number once, and a disk that may be full."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="penstock-buffer-")
        self.stored: dict[Key, Update] = {}
        #: Critical ones that were accepted, and those of them that a crash must not cost.
        self.critical: dict[Key, Update] = {}
        self.safe: set[Key] = set()
        self.made = 0
        self.open()

    def open(self) -> None:
        self.journal = Journal(Path(self.folder.name), JOURNAL_BYTES).__enter__()
        self.buffer = UpdateBuffer(SETTINGS, self.journal)
        self.accepted = len(self.buffer)
        self.confirmed = 0
        self.last: dict[str, Key] = {}

    def next_of(self, feed: str) -> int:
        """A scraper goes on from what waits or what is stored, whatever is later."""
        waiting = self.buffer.last_of(feed)
        numbers = [number for name, number in self.stored if name == feed]
        return max([*numbers, waiting.sequence if waiting else 0]) + 1

    # ── what may happen

    @rule(
        feed=st.sampled_from(FEEDS),
        critical=st.booleans(),
        kib=st.sampled_from([0, 0, 0, 200, 400, 1100]),
        room=st.sampled_from([None, None, None, 0, 100, 5000]),
    )
    def add(self, feed: str, critical: bool, kib: int, room: int | None) -> None:
        self.made += 1
        text = f"{self.made}" + "x" * kib * 1024
        number = max(self.next_of(feed), self.last.get(feed, (feed, 0))[1] + 1)
        update = an_update(number, feed, critical=critical, text=text)
        try:
            self.on_a_disk_with(room, update)
        except JournalFailed:
            assert critical
            return
        self.accepted += 1
        self.last[feed] = key_of(update)
        if critical:
            self.critical[key_of(update)] = update
            if self.buffer.store_is_away:
                self.safe |= self.critical.keys()

    def on_a_disk_with(self, room: int | None, update: Update) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        limit = soft if room is None else self.journal.size + room
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            self.buffer.add(update)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    @rule()
    def lose_the_store(self) -> None:
        waiting = len(self.journal)
        self.buffer.store_is_away = True
        if len(self.journal) > waiting:
            self.safe |= self.critical.keys()

    @rule()
    def regain_the_store(self) -> None:
        self.buffer.store_is_away = False

    @rule(limit=st.integers(1, 6))
    def write(self, limit: int) -> None:
        updates = self.buffer.take(limit)
        self.commit(updates)
        self.buffer.written(updates)
        self.confirmed += len(updates)

    @rule(limit=st.integers(1, 6))
    def write_without_an_answer(self, limit: int) -> None:
        self.commit(self.buffer.take(limit))

    @rule(limit=st.integers(1, 6), feed=st.sampled_from(FEEDS), critical=st.booleans())
    def write_while_something_comes(self, limit: int, feed: str, critical: bool) -> None:
        updates = self.buffer.take(limit)
        self.add(feed, critical, 0, None)
        self.commit(updates)
        self.buffer.written(updates)
        self.confirmed += len(updates)

    @rule()
    def spill(self) -> None:
        try:
            self.buffer.spill()
        except JournalFailed:
            return
        self.safe |= self.critical.keys()

    @rule(torn=st.sampled_from([b"", b"3f0a", b'00000000 {"match_id":"a","seq']))
    def crash(self, torn: bytes) -> None:
        """What is in memory is gone; a line may have been half way to the disk."""
        self.journal.close()
        with (Path(self.folder.name) / NAME).open("ab") as file:
            file.write(torn)
        self.open()
        found = {key_of(update) for update in self.journal.replay()}
        assert self.safe <= found | self.stored.keys()
        self.critical = {
            key: update
            for key, update in self.critical.items()
            if key in found or key in self.stored
        }
        self.safe = set(self.critical)

    # ── what must hold

    def commit(self, updates: list[Update]) -> None:
        """Each number once, in the order of its feed; what comes again is the same."""
        for update in updates:
            known = self.stored.get(key_of(update))
            if known is not None:
                assert known == update
                continue
            before = [number for name, number in self.stored if name == update.match_id]
            assert update.sequence > max(before, default=0)
            self.stored[key_of(update)] = update

    @invariant()
    def bounds_hold(self) -> None:
        assert self.buffer.in_memory <= MOST
        assert self.buffer.bytes <= MIB
        assert self.journal.size <= JOURNAL_BYTES

    @invariant()
    def nothing_leaves_uncounted(self) -> None:
        dropped = sum(self.buffer.dropped.values())
        assert self.accepted == self.confirmed + len(self.buffer) + dropped

    def teardown(self) -> None:
        """The store is back for good: all that was promised is there, and the disk is empty."""
        try:
            self.buffer.store_is_away = False
            while len(self.buffer):
                self.write(3)
            assert {key: self.stored.get(key) for key in self.critical} == self.critical
            for feed, last in self.last.items():
                assert self.buffer.lacks(feed) is (last not in self.stored)
            assert (len(self.journal), self.journal.size) == (0, 0)
        finally:
            self.journal.close()
            self.folder.cleanup()


BufferMachine.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestBuffer = BufferMachine.TestCase
