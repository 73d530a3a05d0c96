"""Supervisions for tests: feeds of a real store, watched by scripted looks."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.blobs.local import LocalBlobs
from penstock.core.errors import JournalFailed
from penstock.events.log import EventLog
from penstock.extract.live.adapter import LiveAdapter
from penstock.kernel.model import Failure, Page, Wait
from penstock.notify.ops import OpsAlerts, open_alerts
from penstock.store.store import Store
from penstock.workloads.live.buffer import UpdateBuffer
from penstock.workloads.live.journal import Journal
from penstock.workloads.live.keeping import Keeper
from penstock.workloads.live.model import ErrorType, Feed, Update
from penstock.workloads.live.settings import LiveSettings
from penstock.workloads.live.supervising import Supervision
from penstock.workloads.live.tables import Row
from penstock.workloads.live.watcher import Hands
from penstock.workloads.live.ways import Way
from tests.clocks import HandClock
from tests.live import ADAPTER, ScriptedWay
from tests.live_rows import LiveRows

Shown = Page | Failure | Wait
GIB = 1024**3
PATIENCE = 5.0


class NoCounts:
    """Nobody counts."""

    def looked(self, match_id: str, seconds: float, *, changed: bool) -> None:
        """Nothing."""

    def failed(self, match_id: str, kind: ErrorType) -> None:
        """Nothing."""


class FullJournal(Journal):
    """A journal on a full disk."""

    def append(self, updates: Sequence[Update]) -> list[int]:
        raise JournalFailed(f"no room for {len(updates)} updates")


class QuietClock(HandClock):
    """Moves by itself as long as there is something to see; then one has to be woken."""

    def __init__(self) -> None:
        super().__init__()
        self.is_quiet: Callable[[], bool] = lambda: False

    async def wait_for(self, event: asyncio.Event, seconds: float) -> None:
        if self.is_quiet():
            await event.wait()
        else:
            await super().wait_for(event, seconds)


@dataclass
class Room:
    """Some feeds and who watches them; `shows` is what each of them shows."""

    rows: LiveRows
    shows: dict[str, list[Shown]]
    supervision: Supervision = field(init=False)
    keeper: Keeper = field(init=False)
    buffer: UpdateBuffer = field(init=False)
    ways: dict[str, list[ScriptedWay]] = field(default_factory=dict)
    free: int = 8 * GIB
    restarts: list[str] = field(default_factory=list)
    #: What feeds show that fail in a way of our own.
    breaks: dict[str, Exception] = field(default_factory=dict)

    def way_for(self, feed: Feed, adapter: LiveAdapter) -> Way:
        del adapter
        made = self.ways.setdefault(feed.match_id, [])
        done = sum(each.looks for each in made)
        shows = self.shows[feed.match_id]
        way = ScriptedWay(shows[min(done, len(shows) - 1) :])
        if error := self.breaks.pop(feed.match_id, None):
            way.error = error
        made.append(way)
        return way

    def is_seen(self) -> bool:
        """Whether everything that feeds show has been looked at."""
        return all(
            sum(way.looks for way in ways) >= len(self.shows[match_id])
            for match_id, ways in self.ways.items()
        )

    async def until(self, is_so: Callable[[Row], bool], match_id: str = "m") -> Row:
        """The row of a feed, as soon as something is so of it."""
        async with asyncio.timeout(PATIENCE):
            while not is_so(row := await self.rows.row(match_id)):
                self.supervision.nudge()
                await asyncio.sleep(0.01)
        return row

    async def waiting(self, number: int) -> bool:
        """Whether so many updates come to wait for the store."""
        for _ in range(500):
            if len(self.buffer) >= number:
                return True
            await asyncio.sleep(0.01)
        return False

    async def alerts(self) -> list[Row]:
        return await self.rows.do(open_alerts)


@asynccontextmanager
async def room(
    store: Store,
    folder: Path,
    worker: str = "w",
    *,
    shows: Mapping[str, Sequence[Shown]] | None = None,
    journal: type[Journal] = Journal,
    **changes: Any,
) -> AsyncIterator[Room]:
    """Watch feeds of a store as a worker, until the block is left."""
    settings, clock = LiveSettings(**changes), QuietClock()
    here = Room(LiveRows(store), {name: list(shown) for name, shown in (shows or {}).items()})
    await here.rows.enter(worker)
    with journal(folder / f"journal-{worker}") as book:
        here.buffer = UpdateBuffer(settings, book)
        here.keeper = Keeper(
            store,
            here.buffer,
            clock,
            ops=OpsAlerts(EventLog(store)),
            blobs=LocalBlobs(folder / "blobs"),
            counts=NoCounts(),
            most_snapshots=settings.snapshots_per_feed,
        )
        here.supervision = _supervision(here, store, settings, clock, worker)
        clock.is_quiet = here.is_seen
        work = (here.keeper.run, here.supervision.run)
        tasks = [asyncio.create_task(each()) for each in work]
        try:
            yield here
        finally:
            await here.supervision.stop()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _supervision(
    here: Room, store: Store, settings: LiveSettings, clock: QuietClock, worker: str
) -> Supervision:
    hands = Hands(
        settings=settings,
        store=store,
        desk=here.keeper,
        clock=clock,
        restarted=here.restarts.append,
        way_for=here.way_for,
        free_memory=lambda: here.free,
        floor_of=lambda _feed, _adapter: 0.0,
        worker=lambda: worker,
    )
    return Supervision(
        hands=hands,
        keeper=here.keeper,
        adapter_named={"scripted": ADAPTER}.get,
        end_orphans=lambda: 0,
        browsers=dict,
        show=lambda _watchers: None,
    )
