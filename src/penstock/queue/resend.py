"""The resender: names items that wait and that nobody was told of, or too long ago.

It is what makes delayed, retried, rescued and revived items move when workers are told what to
do, and what makes up for messages that vanished. Of each line only the first items are named at
a time, as many as an even share allows: a long line is named as it moves, so that the messages
of one domain are not in the way of another's, and a line that is parked is left alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import TextualSelect, select, text, update

from penstock.core.clock import Clock
from penstock.queue.broker import BrokerSettings, Nudge, Nudger
from penstock.queue.lines import Line, batches, look_again
from penstock.queue.ports import PRIORITIES, State
from penstock.queue.tables import items, lines
from penstock.store.store import Store
from penstock.store.unit import Unit

#: Seconds between two looks when there was nothing to name, and when there was.
IDLE, BUSY = 0.5, 0.1
#: A line that had less to name than its share rests for so many seconds.
REST = 0.5
#: A new item is named by who put it; one that was not is named after so many seconds.
GRACE = 0.5
#: Named of one line at a time, be it the only one: what its pace has no turns for comes back.
MOST_OF_LINE = 200
MOST_LINES = 500
#: Parts of one statement; SQLite allows 500.
LINES_AT_ONCE = 100
#: What waits in a line and is due, first come first; of it, what nobody was told of since it
#: became due, or too long ago. A new item counts as told of for a moment.
QUIET_OF_LINE = """
    SELECT id, lane, priority, group_key FROM (
        SELECT id, lane, priority, group_key, not_before, enqueued_at, nudged_at FROM queue_items
        WHERE state = 'waiting' AND lane = :lane# AND priority = :priority#
            AND group_key = :group# AND not_before <= :now
        ORDER BY not_before, id LIMIT :most
    ) AS line#
    WHERE CASE WHEN nudged_at IS NULL THEN enqueued_at <= :new
        ELSE nudged_at < not_before OR nudged_at <= :told END
"""
DUE_RANK = """
    SELECT * FROM (
        SELECT priority, lane FROM queue_lines
        WHERE lane = :lane# AND priority = :priority# AND next_at <= :now LIMIT 1
    ) AS rank#
"""


class Resender:
    """Looks through the lines of some lanes, again and again; several may do so at once."""

    def __init__(
        self,
        store: Store,
        nudger: Nudger,
        clock: Clock,
        settings: BrokerSettings,
        lanes: Sequence[str],
    ) -> None:
        self._store = store
        self._nudger = nudger
        self._clock = clock
        self._settings = settings
        self._lanes = lanes

    async def run(self) -> None:
        """Look for ever."""
        while True:
            sent = await self.look()
            await self._clock.sleep(BUSY if sent else IDLE)

    async def look(self) -> int:
        """Name what waits and is due; how many items."""
        if not self._nudger.is_ready:
            return 0
        nudges = await self._store.write(self._mark, "nudge")
        if nudges:
            await self._nudger.send(nudges)
        return len(nudges)

    def _mark(self, unit: Unit) -> list[Nudge]:
        """Choose what to name and note that it was; what is locked is in another's hands."""
        due = self._due_lines(unit)
        if not due:
            return []
        share = min(MOST_OF_LINE, -(-self._settings.resend_batch // len(due)))
        found: dict[str, Line] = {}
        for some in batches(due, LINES_AT_ONCE):
            found |= self._quiet(unit, some, share)
        named = Counter(found.values())
        rested = unit.now + int(REST * 1000)
        look_again(unit, {line: unit.now if named[line] >= share else rested for line in due})
        noted = (nudge for some in batches(list(found)) for nudge in _note(unit, some))
        nudges = {nudge.item: nudge for nudge in noted}
        return [nudges[item] for item in _in_turns(found) if item in nudges]

    def _due_lines(self, unit: Unit) -> list[Line]:
        """Lines whose time has come, by priority, those that were not looked at longest first."""
        due: list[Line] = []
        for priority, lane in self._due_ranks(unit):
            query = (
                select(lines.c.group_key)
                .where(lines.c.lane == lane, lines.c.priority == priority)
                .where(lines.c.next_at <= unit.now)
                .order_by(lines.c.next_at)
                .limit(MOST_LINES - len(due))
                .with_for_update(skip_locked=True)
            )
            due += [Line(lane, priority, group) for group in unit.run(query).scalars()]
            if len(due) >= MOST_LINES:
                break
        return due

    def _due_ranks(self, unit: Unit) -> list[tuple[int, str]]:
        """Priorities, and their lanes, that have a line whose time has come; most have none."""
        every = [(priority, lane) for priority in PRIORITIES for lane in self._lanes]
        found: set[tuple[int, str]] = set()
        for some in batches(every, LINES_AT_ONCE):
            values: dict[str, Any] = {"now": unit.now}
            for number, (priority, lane) in enumerate(some):
                values |= {f"priority{number}": priority, f"lane{number}": lane}
            found.update((priority, lane) for priority, lane in unit.run(_ranks(len(some)), values))
        return [rank for rank in every if rank in found]

    def _quiet(self, unit: Unit, some: Sequence[Line], share: int) -> dict[str, Line]:
        """The items to name among the first of some lines."""
        resend = int(self._settings.resend_seconds * 1000)
        values: dict[str, Any] = {
            "now": unit.now,
            "most": share,
            "told": unit.now - resend,
            "new": unit.now - min(int(GRACE * 1000), resend),
        }
        for number, line in enumerate(some):
            values |= {
                f"lane{number}": line.lane,
                f"priority{number}": line.priority,
                f"group{number}": line.group,
            }
        rows = unit.run(_looking(len(some)), values)
        return {item: Line(*line) for item, *line in rows}


def _in_turns(found: Mapping[str, Line]) -> list[str]:
    """By priority, all lines in turn: no worker shall have one domain alone and wait for it."""
    named: Counter[Line] = Counter()
    places: dict[str, tuple[int, int]] = {}
    for item, line in found.items():
        places[item] = line.priority, named[line]
        named[line] += 1
    return sorted(places, key=places.__getitem__)


def _note(unit: Unit, ids: Sequence[str]) -> list[Nudge]:
    """Write down that items are named now; those claimed meanwhile are not."""
    statement = (
        update(items)
        .where(unit.among(items.c.id, ids), items.c.state == State.WAITING)
        .values(nudged_at=unit.now)
        .returning(items.c.lane, items.c.id, items.c.traceparent)
    )
    return [Nudge(*row) for row in unit.run(statement)]


@lru_cache(maxsize=LINES_AT_ONCE)
def _looking(count: int) -> TextualSelect:
    told = _together(QUIET_OF_LINE, count)
    return text(told).columns(items.c.id, items.c.lane, items.c.priority, items.c.group_key)


@lru_cache(maxsize=LINES_AT_ONCE)
def _ranks(count: int) -> TextualSelect:
    return text(_together(DUE_RANK, count)).columns(lines.c.priority, lines.c.lane)


def _together(part: str, count: int) -> str:
    return " UNION ALL ".join(part.replace("#", str(number)) for number in range(count))
