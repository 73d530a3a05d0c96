"""The frontier: many items, in one line per domain, fair over the lines.

A line gives up as many items at a time as its domain's concurrency allows, and nothing waits
behind a slow line: every step looks only at lines whose time has come, O(log lines) at worst.
An item that has to wait for its turn comes back to its line with the time of the turn.
"""

import itertools
from collections import deque
from heapq import heappop, heappush
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")


class _Returning(NamedTuple, Generic[Item]):
    """An item that has begun and waits; ordered by time, then by arrival."""

    until: float
    number: int
    item: Item


class _Line(Generic[Item]):
    """The items of one domain. Begun ones, running or returning, count against the limit."""

    __slots__ = ("fresh", "is_ready", "limit", "name", "returning", "running", "stamp")

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.limit = limit
        self.fresh: deque[Item] = deque()
        self.returning: list[_Returning[Item]] = []
        self.running = 0
        self.stamp = 0
        self.is_ready = False

    @property
    def may_begin(self) -> bool:
        """Whether a fresh item may be taken now."""
        return bool(self.fresh) and self.running + len(self.returning) < self.limit


class Frontier(Generic[Item]):
    """Lines of items; `now` is the caller's monotonic time."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line[Item]] = {}
        self._ready: deque[_Line[Item]] = deque()
        self._timed: list[tuple[float, int, _Line[Item], int]] = []
        self._delayed: list[tuple[float, int, str, int, Item]] = []
        self._numbers = itertools.count()
        self._waiting = 0
        self.running = 0

    def __len__(self) -> int:
        """How many items wait; those that were taken are not counted."""
        return self._waiting

    @property
    def lines(self) -> int:
        """How many domains have items waiting or running."""
        return len(self._lines)

    def put(self, name: str, item: Item, limit: int = 1) -> None:
        """Add an item to the end of a line; the line is opened if need be."""
        line = self._line(name, limit)
        line.fresh.append(item)
        self._waiting += 1
        if len(line.fresh) == 1:
            self._schedule(line)

    def put_later(self, name: str, item: Item, until: float, limit: int = 1) -> None:
        """Add an item that joins the end of its line at a certain time."""
        heappush(self._delayed, (until, next(self._numbers), name, limit, item))
        self._waiting += 1

    def take(self, now: float) -> tuple[str, Item] | None:
        """The next item whose time has come, and its line; `done` or `give_back` must follow."""
        self._admit_delayed(now)
        self._wake_timed(now)
        while self._ready:
            line = self._ready.popleft()
            line.is_ready = False
            if line.returning and line.returning[0].until <= now:
                item = heappop(line.returning).item
            elif line.may_begin:
                item = line.fresh.popleft()
            else:
                self._schedule(line)
                continue
            line.running += 1
            self.running += 1
            self._waiting -= 1
            self._schedule(line)
            return line.name, item
        return None

    def done(self, name: str) -> None:
        """An item that was taken is over."""
        line = self._lines[name]
        line.running -= 1
        self.running -= 1
        self._schedule(line)

    def give_back(
        self, name: str, item: Item, until: float, *, line: str = "", limit: int = 1
    ) -> None:
        """An item taken from one line has to wait, in the same or, if it moved, another one."""
        goal = self._line(line or name, limit)
        heappush(goal.returning, _Returning(until, next(self._numbers), item))
        self._waiting += 1
        self.done(name)
        if goal.name != name:
            self._schedule(goal)

    def next_at(self) -> float | None:
        """When something can be taken that cannot be now; None if nothing will by itself."""
        while self._timed and self._timed[0][3] != self._timed[0][2].stamp:
            heappop(self._timed)
        times = [heap[0][0] for heap in (self._timed, self._delayed) if heap]
        return min(times, default=None)

    @property
    def has_ready(self) -> bool:
        """Whether `take` is worth a try; a line that was closed since may disappoint."""
        return bool(self._ready)

    def drain(self) -> list[Item]:
        """Remove and return everything that waits."""
        left = [entry[4] for entry in self._delayed]
        for line in list(self._lines.values()):
            left += [entry.item for entry in line.returning]
            left += line.fresh
            line.returning.clear()
            line.fresh.clear()
            line.is_ready = False
            self._schedule(line)
        self._ready.clear()
        self._delayed.clear()
        self._waiting = 0
        return left

    def _line(self, name: str, limit: int) -> _Line[Item]:
        line = self._lines.get(name)
        if line is None:
            line = self._lines[name] = _Line(name, limit)
        line.limit = limit
        return line

    def _schedule(self, line: _Line[Item]) -> None:
        """Note when the line can give up its next item; older notes lose their validity.

        A line that is ready keeps its place, however many items come to it meanwhile.
        """
        if line.is_ready:
            return
        line.stamp += 1
        if line.may_begin:
            self._make_ready(line)
        elif line.returning:
            at = line.returning[0].until
            heappush(self._timed, (at, next(self._numbers), line, line.stamp))
        elif not line.running and not line.fresh:
            self._lines.pop(line.name, None)

    def _wake_timed(self, now: float) -> None:
        while self._timed and self._timed[0][0] <= now:
            _, _, line, stamp = heappop(self._timed)
            if stamp == line.stamp:
                self._make_ready(line)

    def _make_ready(self, line: _Line[Item]) -> None:
        line.is_ready = True
        self._ready.append(line)

    def _admit_delayed(self, now: float) -> None:
        while self._delayed and self._delayed[0][0] <= now:
            _, _, name, limit, item = heappop(self._delayed)
            self._waiting -= 1
            self.put(name, item, limit)
