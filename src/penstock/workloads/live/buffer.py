"""Updates that wait for the store, in order and within bounds.

Over a bound, the oldest uncritical ones are dropped and counted; if only critical ones are left,
the oldest of them go to the journal. While the store is away, critical ones go there at once. What
is in the journal keeps its place in the order, and is read back when its turn comes; so is what a
former process left there.
"""

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from penstock.core.errors import JournalFailed
from penstock.core.log import get_logger
from penstock.workloads.live.context import MIB
from penstock.workloads.live.journal import Journal
from penstock.workloads.live.model import Update
from penstock.workloads.live.settings import LiveSettings


@dataclass(slots=True)
class _Waiting:
    """An update that waits: `kept` is itself, or its number in the journal."""

    match_id: str
    sequence: int
    size: int
    kept: Update | int

    @property
    def key(self) -> tuple[str, int]:
        return self.match_id, self.sequence


class UpdateBuffer:
    """Hands updates out by batches; they leave when they are known to be written.

    The updates of a feed come in the order of their sequence, and leave in it.
    """

    def __init__(self, settings: LiveSettings, journal: Journal) -> None:
        self._most = settings.max_queue_size
        self._most_bytes = settings.max_queue_size_mb * MIB
        self._journal = journal
        self._is_away = False
        #: All that wait by their place, the oldest first.
        self._waiting: OrderedDict[int, _Waiting] = OrderedDict()
        self._next_place = 0
        #: Those of them that are in memory.
        self._uncritical: dict[int, _Waiting] = {}
        self._critical: dict[int, _Waiting] = {}
        self._bytes = 0
        #: Those of them that are being written.
        self._taken: list[int] = []
        self._dropped: Counter[str] = Counter()
        self._last_added: dict[str, int] = {}
        self._lacking: set[str] = set()
        for number, match_id, sequence, size in journal.entries:
            self._append(_Waiting(match_id, sequence, size, number))

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def in_memory(self) -> int:
        """Updates that wait in memory; the others are in the journal."""
        return len(self._uncritical) + len(self._critical)

    @property
    def bytes(self) -> int:
        """The size of those in memory."""
        return self._bytes

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many were dropped, by feed."""
        return self._dropped

    @property
    def store_is_away(self) -> bool:
        """Whether critical updates go to the journal at once.

        Saying so puts those that wait already there, too; if that fails they stay in memory.
        """
        return self._is_away

    @store_is_away.setter
    def store_is_away(self, is_away: bool) -> None:
        self._is_away = is_away
        if is_away:
            try:
                self.spill()
            except JournalFailed as error:
                get_logger().error("live: critical updates are in memory only", error=str(error))

    def lacks(self, match_id: str) -> bool:
        """Whether the last update of a feed was dropped: what the feed shows is news again."""
        return match_id in self._lacking

    def last_of(self, match_id: str) -> Update | None:
        """The latest update of a feed that waits.

        A new scraper goes on from it, unless a later one is stored: what a former process left in
        the journal may have been written since.
        """
        for waiting in reversed(self._waiting.values()):
            if waiting.match_id == match_id:
                return self._update_of(waiting)
        return None

    def forget(self, match_id: str) -> None:
        """A feed is over: its drops are counted no more."""
        self._dropped.pop(match_id, None)
        self._last_added.pop(match_id, None)
        self._lacking.discard(match_id)

    def add(self, update: Update) -> None:
        """Let an update wait; `JournalFailed` if it is critical and can be kept nowhere."""
        waiting = _Waiting(update.match_id, update.sequence, len(update.as_json()), update)
        place = self._append(waiting)
        (self._critical if update.critical else self._uncritical)[place] = waiting
        self._bytes += waiting.size
        try:
            self._make_room(place, waiting, is_critical=update.critical)
        except JournalFailed:
            self._remove(place)
            raise
        self._last_added[update.match_id] = update.sequence
        if place in self._waiting:
            self._lacking.discard(update.match_id)
        else:
            self._lacking.add(update.match_id)

    def take(self, limit: int) -> list[Update]:
        """The oldest, at most so many; they stay until they are `written`, or others are taken."""
        self._taken, size = [], 0
        for place, waiting in islice(self._waiting.items(), limit):
            size += waiting.size
            if self._taken and size > self._most_bytes:
                break
            self._taken.append(place)
        return [self._update_of(self._waiting[place]) for place in self._taken]

    def written(self, updates: Sequence[Update]) -> None:
        """Let go of what was taken and is safe in the store."""
        safe = {(update.match_id, update.sequence) for update in updates}
        taken, self._taken = self._taken, []
        removed = [self._remove(place) for place in taken if self._waiting[place].key in safe]
        self._journal.settle(each.kept for each in removed if isinstance(each.kept, int))

    def spill(self) -> None:
        """Put all critical updates in the journal."""
        self._spill(list(self._critical))

    def _make_room(self, place: int, new: _Waiting, *, is_critical: bool) -> None:
        if new.size > self._most_bytes and not is_critical:
            self._drop(place)
        elif is_critical and (self._is_away or new.size > self._most_bytes):
            self.spill()
        while self._is_over_bounds():
            if (oldest := self._oldest_to_drop()) is not None:
                self._drop(oldest)
            else:
                self._spill([next(iter(self._critical))])

    def _is_over_bounds(self) -> bool:
        return self.in_memory > self._most or self._bytes > self._most_bytes

    def _oldest_to_drop(self) -> int | None:
        """The oldest uncritical one that is not just being written."""
        last_taken = self._taken[-1] if self._taken else -1
        return next((place for place in self._uncritical if place > last_taken), None)

    def _drop(self, place: int) -> None:
        dropped = self._remove(place)
        self._dropped[dropped.match_id] += 1
        if self._last_added.get(dropped.match_id) == dropped.sequence:
            self._lacking.add(dropped.match_id)

    def _spill(self, places: Sequence[int]) -> None:
        """Put some in the journal, where they keep their place; all of them or none."""
        if not places:
            return
        chosen = [self._critical[place] for place in places]
        numbers = self._journal.append([self._update_of(each) for each in chosen])
        for place, number in zip(places, numbers, strict=True):
            spilled = self._critical.pop(place)
            self._bytes -= spilled.size
            spilled.kept = number

    def _append(self, waiting: _Waiting) -> int:
        place, self._next_place = self._next_place, self._next_place + 1
        self._waiting[place] = waiting
        return place

    def _remove(self, place: int) -> _Waiting:
        waiting = self._waiting.pop(place)
        if self._uncritical.pop(place, None) or self._critical.pop(place, None):
            self._bytes -= waiting.size
        return waiting

    def _update_of(self, waiting: _Waiting) -> Update:
        kept = waiting.kept
        return self._journal.read(kept) if isinstance(kept, int) else kept
