"""A feed as a stream of messages, for those who would rather be told than ask.

Everything is read from the store by number, so that whoever is slow, or comes back later, misses
nothing and is told nothing twice, and nothing waits in memory for anybody.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from penstock.core.clock import Clock
from penstock.core.errors import StoreError
from penstock.web.errors import ShuttingDown, Unavailable
from penstock.workloads.live.service import CACHE, LiveService
from penstock.workloads.live.tables import Row
from penstock.workloads.live.views import second, view_update

#: Updates may come from another process, which wakes nobody here.
POLL_SECONDS = 1.0
#: All who are woken at once look within this time.
TOGETHER_SECONDS = 0.1
KEEP_ALIVE_SECONDS = 15.0
RETRY_SECONDS = 5
#: Updates that one stream has in hand.
AT_ONCE = 20
MOST_STREAMS = 1000

#: A feed without what its page says, or None if it is gone, and what was news.
Progress = tuple[Row | None, list[Row]]


class Message(NamedTuple):
    """What a consumer is told.

    `update` is news, and has a number. `status` says how fresh the feed is: at first, and when that
    changes. `gap` comes before an update if some in front of it are not kept, and if the numbers
    of the feed begin anew: then `next` is less than `after`. `end` is the last.
    """

    event: str
    data: Mapping[str, Any]
    sequence: int | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    began: float
    found: asyncio.Task[Progress]


@dataclass(slots=True)
class _Looks:
    """Looks at the store that streams at the same place of a feed share."""

    service: LiveService
    _latest: dict[tuple[str, int | None], _Look] = field(default_factory=dict)

    async def since(self, moment: float, match_id: str, after: int | None) -> Progress:
        """What a look finds that began at a moment or later."""
        look = self._latest.get((match_id, after))
        if look is None or look.began < moment:
            look = self._begin(match_id, after)
        # Others wait for it, too.
        return await asyncio.shield(look.found)

    def _begin(self, match_id: str, after: int | None) -> _Look:
        now = self.service.clock.monotonic()
        self._latest = {
            place: each for place, each in self._latest.items() if each.began >= now - POLL_SECONDS
        }
        found = asyncio.ensure_future(self.service.progress(match_id, after, AT_ONCE))
        # Whoever waits for it may have gone when it fails.
        found.add_done_callback(lambda each: each.cancelled() or each.exception())
        self._latest[match_id, after] = look = _Look(now, found)
        return look

    def forget(self) -> None:
        """Nobody looks any more."""
        self._latest.clear()


class FeedStreams:
    """All streams of a process."""

    def __init__(self, service: LiveService, is_stopping: Callable[[], bool]) -> None:
        self._service = service
        self._clock: Clock = service.clock
        self._is_stopping = is_stopping
        self._looks = _Looks(service)
        self._open = 0

    def refuse_if_full(self) -> None:
        """Raise if there is no room for another stream, or no time."""
        if self._is_stopping():
            raise ShuttingDown(retry_after=RETRY_SECONDS)
        if self._open >= MOST_STREAMS:
            raise Unavailable(
                f"{MOST_STREAMS} streams are open, and no more are", retry_after=RETRY_SECONDS
            )

    async def follow(
        self, match_id: str, after: int | None
    ) -> AsyncGenerator[Message | None, None]:
        """What is said of a feed behind a number, or from the last update on.

        None means that nothing was said for a while. It is over after `end`, or when all stops.
        """
        stream, row = _Stream(self._service, after), None
        spoke_at, is_news = self._clock.monotonic(), True
        with self._counted(), self._service.waiters.watch(match_id) as changed:
            while not self._is_stopping():
                changed.clear()
                try:
                    row, updates = await self._look(match_id, stream.after, is_news=is_news)
                except StoreError:
                    # What was known last grows old, and that is told.
                    updates = []
                    if row is None:
                        raise
                for message in stream.tell(match_id, row, updates):
                    spoke_at = self._clock.monotonic()
                    yield message
                if stream.is_over:
                    return
                if self._clock.monotonic() - spoke_at >= KEEP_ALIVE_SECONDS:
                    spoke_at = self._clock.monotonic()
                    yield None
                if len(updates) < AT_ONCE and not self._is_stopping():
                    await self._clock.wait_for(changed, POLL_SECONDS)
                is_news = changed.is_set()

    async def _look(self, match_id: str, after: int | None, *, is_news: bool) -> Progress:
        """Look at the store, with others if they do so now; if there is news, until it is seen."""
        now = self._clock.monotonic()
        if not is_news:
            return await self._looks.since(now - POLL_SECONDS / 2, match_id, after)
        found = await self._looks.since(now - TOGETHER_SECONDS, match_id, after)
        if not found[1]:
            # It may have begun before the news came.
            found = await self._looks.since(now, match_id, after)
        return found

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._looks.forget()


@dataclass(slots=True)
class _Stream:
    """Where one stream stands."""

    service: LiveService
    #: The last update that was told of; None at first, if the last one is to be told of.
    after: int | None
    is_over: bool = False
    _told: tuple[Any, ...] | None = None

    def tell(self, match_id: str, row: Row | None, updates: list[Row]) -> Iterator[Message]:
        """What is to be said now."""
        if row is None:
            self.is_over = True
            yield Message("end", _end(match_id, "removed", "the feed was removed", self.after))
            return
        if self._told is None:
            yield from self._status(row)
        yield from self._updates(row, updates)
        if len(updates) == AT_ONCE:
            return
        yield from self._status(row)
        if not row["wanted"] and (self.after or 0) >= row["last_sequence"]:
            self.is_over = True
            yield Message("end", _end(match_id, row["status"], row["reason"], self.after))

    def _updates(self, row: Row, updates: list[Row]) -> Iterator[Message]:
        match_id, last = row["match_id"], row["last_sequence"]
        if self.after is None:
            self.after = updates[0]["sequence"] - 1 if updates else last
        elif self.after > last:
            # It was removed and began anew: its numbers, too.
            yield _gap(match_id, self.after, 1)
            self.after = 0
        for update in updates:
            sequence = update["sequence"]
            if sequence > self.after + 1:
                yield _gap(match_id, self.after, sequence)
            self.after = sequence
            yield Message("update", view_update(update), sequence)

    def _status(self, row: Row) -> Iterator[Message]:
        """How fresh the feed is, if that is news."""
        fresh = self.service.freshness(row)
        now = (row["status"], fresh.scraper_status, fresh.source)
        if now == self._told:
            return
        self._told = now
        data = {
            "match_id": row["match_id"],
            "status": row["status"],
            "scraper_status": fresh.scraper_status,
            "source": fresh.source,
            "is_stale": fresh.source == CACHE,
            "state": row["state"],
            "sequence": row["last_sequence"],
            "scraped_at": None if fresh.scraped_at is None else second(fresh.scraped_at),
            "data_age_seconds": fresh.age_seconds,
            "reason": row["reason"],
        }
        yield Message("status", data)


def _gap(match_id: str, after: int, following: int) -> Message:
    return Message("gap", {"match_id": match_id, "after": after, "next": following})


def _end(match_id: str, status: str, reason: str | None, sequence: int | None) -> dict[str, Any]:
    return {"match_id": match_id, "status": status, "reason": reason, "sequence": sequence}
