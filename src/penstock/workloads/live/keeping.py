"""Brings what scrapers hand in into the store; while that is away, it waits here."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

from penstock.blobs.ports import Blobs
from penstock.core.clock import Clock
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.notify.ops import OpsAlert, OpsAlerts, resolve
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.live.buffer import UpdateBuffer
from penstock.workloads.live.desk import Counts, Trouble
from penstock.workloads.live.evidence import entry_of
from penstock.workloads.live.model import Resolution, Update
from penstock.workloads.live.recording import write_updates
from penstock.workloads.live.troubles import (
    ErrorEntry,
    drop_old_snapshots,
    log_errors,
    resolve_errors,
)

#: Updates that are written at once.
BATCH = 200
#: A store that has not answered for so long is taken for away.
AWAY_AFTER = 2.0
#: Between two tries while it is away.
PAUSE = 1.0
#: Errors and the like that wait for the store; the oldest go first.
MOST_NOTES = 2000
#: Pages that wait to be kept as evidence; of more, only the error is kept.
MOST_EVIDENCE = 20

T = TypeVar("T")


class _Note(NamedTuple):
    work: Callable[[Unit], object]
    done: asyncio.Future[None]
    #: Whether it is done before the updates that wait, and not after them.
    first: bool


class Keeper:
    """Takes everything at once; `run` writes it down in order.

    `stored` hears of updates that consumers can read now.
    """

    def __init__(
        self,
        store: Store,
        buffer: UpdateBuffer,
        clock: Clock,
        *,
        ops: OpsAlerts,
        blobs: Blobs,
        counts: Counts,
        most_snapshots: int,
        stored: Callable[[Sequence[Update]], None] = lambda _updates: None,
    ) -> None:
        self._store = store
        self._buffer = buffer
        self._ops = ops
        self._blobs = blobs
        self._clock = clock
        self._counts = counts
        self._most_snapshots = most_snapshots
        self._stored = stored
        self._notes: deque[_Note] = deque(maxlen=MOST_NOTES)
        self._troubles: deque[Trouble] = deque(maxlen=MOST_NOTES)
        self._work = asyncio.Event()
        self._is_idle = asyncio.Event()
        # There may be some of a former process.
        self._work.set()

    @property
    def is_away(self) -> bool:
        """Whether the store does not answer."""
        return self._buffer.store_is_away

    # ── the desk

    def take(self, update: Update) -> None:
        self._buffer.add(update)
        self._wake()

    def lacks(self, match_id: str) -> bool:
        return self._buffer.lacks(match_id)

    def last_of(self, match_id: str) -> Update | None:
        """The latest update of a feed that is not written yet."""
        return self._buffer.last_of(match_id)

    def forget(self, match_id: str) -> None:
        """A feed is over here: what was lost of it is counted no more."""
        self._buffer.forget(match_id)

    def looked(self, match_id: str, seconds: float, *, changed: bool) -> None:
        self._counts.looked(match_id, seconds, changed=changed)

    def trouble(self, trouble: Trouble) -> None:
        self._counts.failed(trouble.match_id, trouble.type)
        if sum(each.evidence is not None for each in self._troubles) >= MOST_EVIDENCE:
            trouble = trouble.without_evidence()
        self._troubles.append(trouble)
        self._wake()

    def settle(self, match_id: str, method: Resolution) -> None:
        self.note(lambda unit: resolve_errors(unit, match_id, method))

    def alert(self, alert: OpsAlert) -> None:
        get_logger().error("ops alert", kind=alert.kind, feed=alert.subject, message=alert.message)
        self.note(lambda unit: self._ops.tell(unit, [alert]))

    def calm(self, kind: str, match_id: str) -> None:
        self.note(lambda unit: resolve(unit, kind, match_id))

    def note(self, work: Callable[[Unit], object], *, first: bool = False) -> Awaitable[None]:
        """Have something small written; to be awaited by who must know that it is."""
        note = _Note(work, asyncio.get_running_loop().create_future(), first)
        self._notes.append(note)
        self._wake()
        return note.done

    def _wake(self) -> None:
        self._is_idle.clear()
        self._work.set()

    # ── the store

    async def run(self) -> None:
        """Write what comes, for as long as it is run."""
        while True:
            await self._work.wait()
            self._work.clear()
            while await self._write_some():
                pass
            if not self._work.is_set():
                self._is_idle.set()

    async def flush(self, seconds: float) -> bool:
        """Wait until everything is written; False if that took too long."""
        await self._clock.wait_for(self._is_idle, seconds)
        return self._is_idle.is_set()

    def spill(self) -> None:
        """Put what must not be lost in the journal: nobody will write it here any more."""
        self._buffer.spill()

    async def _write_some(self) -> bool:
        """Write a batch, and try again while that does not go; whether there may be more."""
        updates = self._buffer.take(BATCH)
        notes, troubles = list(self._notes), list(self._troubles)
        if not updates and not notes and not troubles:
            return False
        entries = [await entry_of(trouble, self._blobs) for trouble in troubles]

        def write(unit: Unit) -> list[Update]:
            for note in notes:
                if note.first:
                    note.work(unit)
            refused = write_updates(unit, updates)
            self._log(unit, entries)
            for note in notes:
                if not note.first:
                    note.work(unit)
            return refused

        refused = await self._insist(lambda: self._store.write(write, "live"))
        _drop(self._notes, notes)
        for note in notes:
            if not note.done.done():
                note.done.set_result(None)
        _drop(self._troubles, troubles)
        self._buffer.written(updates)
        self._tell(updates, refused)
        return True

    def _log(self, unit: Unit, entries: Sequence[ErrorEntry]) -> None:
        if entries:
            log_errors(unit, entries)
        for match_id in sorted(
            {each.match_id for each in entries if each.match_id and each.snapshot}
        ):
            drop_old_snapshots(unit, match_id, self._most_snapshots)

    def _tell(self, updates: Sequence[Update], refused: Sequence[Update]) -> None:
        for each in refused:
            # The feed is another's by now, and has gone on without it.
            get_logger().warning(
                "live: an update came too late", feed=each.match_id, sequence=each.sequence
            )
        self._stored([each for each in updates if each not in refused])

    async def _insist(self, write: Callable[[], Awaitable[list[Update]]]) -> list[Update]:
        """Write, however often it has to be tried."""
        while True:
            writing = asyncio.ensure_future(write())
            await asyncio.wait({writing}, timeout=AWAY_AFTER)
            if not writing.done():
                self._mark_away("it does not answer")
            try:
                refused = await writing
            except PenstockError as error:
                self._mark_away(str(error))
                await self._clock.sleep(PAUSE)
                continue
            if self._buffer.store_is_away:
                get_logger().warning("live: the store is back", waiting=len(self._buffer))
            self._buffer.store_is_away = False
            return refused

    def _mark_away(self, why: str) -> None:
        if not self._buffer.store_is_away:
            get_logger().error("live: the store is away; updates wait here", error=why)
        self._buffer.store_is_away = True


def _drop(queue: deque[T], done: Sequence[T]) -> None:
    """Take away what is done; what came meanwhile may have pushed some of it out already."""
    for each in done:
        if queue and queue[0] is each:
            queue.popleft()
