"""The pool of browsers: who gets one, and when one has to be replaced.

A seat is one page in a fresh context; several seats share a Chromium. A Chromium that has had its
pages, its time or its memory gets no more seats and ends with its last one; the next page starts
another. Nothing is started before the first page or `check`.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from penstock.core.clock import Clock
from penstock.core.errors import PenstockError, PoolExhausted
from penstock.core.log import get_logger
from penstock.kernel.fetchers.browser.means import BrowserLost
from penstock.kernel.settings import BrowserSettings

MIB = 1024 * 1024
UPKEEP_SECONDS = 5.0
#: Whoever asks whether browsers start is told the same for so long, if they do not.
TROUBLE_SECONDS = 30.0
#: Characters of what is wrong with them; all of it is in the log.
MOST_SAID = 200
#: Who outgrows the limit so far is ended at once, with its pages, unless the settings say when.
FAR_TOO_LARGE = 2


class Browser(Protocol):
    """A Chromium, as far as the pool cares; one that `is_hung` gets no more pages."""

    is_hung: bool

    @property
    def is_alive(self) -> bool: ...

    def memory(self) -> int:
        """Bytes that it takes with all its processes."""
        ...

    async def end(self) -> None:
        """End it and every process of it, whatever state they are in."""
        ...


B = TypeVar("B", bound=Browser)


@dataclass(frozen=True, slots=True)
class PoolStats:
    """The pool in numbers; `total` are the seats that there are at the moment."""

    total: int
    available: int
    in_use: int
    pages_processed: int
    recycled_count: int


@dataclass(frozen=True, slots=True)
class Standing(Generic[B]):
    """A browser that runs, and how many pages are open in it."""

    browser: B
    seats: int
    is_retired: bool


@dataclass(slots=True, eq=False)
class _Member(Generic[B]):
    browser: B
    started: float
    pages: int = 0
    seats: int = 0
    retired: bool = False


@dataclass(slots=True, eq=False)
class Seat(Generic[B]):
    """Leave to open one page in a browser."""

    member: _Member[B] = field(repr=False)

    @property
    def browser(self) -> B:
        """The browser to open it in."""
        return self.member.browser

    @property
    def is_retired(self) -> bool:
        """Whether the browser gets no more pages, and ends when it has none left."""
        browser = self.member.browser
        return self.member.retired or browser.is_hung or not browser.is_alive


class BrowserPool(Generic[B]):
    """Seats in browsers; `launch` starts a browser, `free_memory` tells the bytes left."""

    def __init__(
        self,
        settings: BrowserSettings,
        launch: Callable[[], Awaitable[B]],
        clock: Clock,
        free_memory: Callable[[], int],
    ) -> None:
        self._settings = settings
        self._launch = launch
        self._clock = clock
        self._free_memory = free_memory
        self._most = max(settings.pool_max, settings.pool_size)
        self._limit = self._most
        self._members: list[_Member[B]] = []
        self._line: deque[asyncio.Future[None]] = deque()
        self._launching: asyncio.Task[None] | None = None
        self._is_closed = False
        self._trouble: tuple[str, float] | None = None
        self._in_use = 0
        self._pages = 0
        self._recycled = 0

    def stats(self) -> PoolStats:
        """How the pool is doing."""
        total = max(self._in_use, min(self._settings.pool_size, self._limit))
        return PoolStats(total, total - self._in_use, self._in_use, self._pages, self._recycled)

    @property
    def is_crowded(self) -> bool:
        """Whether as many wait for a seat as there are seats."""
        return len(self._line) >= self._limit or self._is_pressed()

    @property
    def browsers(self) -> int:
        """How many browsers run."""
        return len(self._members)

    @property
    def is_short_of_memory(self) -> bool:
        """Whether there is less memory left than there should be."""
        return self._free_memory() < self._settings.min_free_memory_mb * MIB

    def standings(self) -> list[Standing[B]]:
        """The browsers that run."""
        return [Standing(one.browser, one.seats, one.retired) for one in self._members]

    async def acquire(self, seconds: float | None = None) -> Seat[B]:
        """A seat in a browser that works; `PoolExhausted` if none comes free in time."""
        if self._is_pressed():
            raise PoolExhausted("there is too little memory left for another page")
        await self._take_place(self._settings.acquire_seconds if seconds is None else seconds)
        try:
            member = await self._member()
        except BaseException:
            self._give_place()
            raise
        member.seats += 1
        return Seat(member)

    async def release(self, seat: Seat[B]) -> None:
        """Give a seat back; a browser that is worn out or dead is replaced."""
        member = seat.member
        member.seats -= 1
        member.pages += 1
        self._pages += 1
        try:
            if not member.browser.is_alive or self._is_worn_out(member):
                await self._retire(member, now=not member.browser.is_alive)
            elif member.retired and not member.seats:
                await self._end(member)
        finally:
            self._give_place()

    async def check(self) -> str | None:
        """Why no browser can be had; None if one runs, which is started if there is none."""
        now = self._clock.monotonic()
        if self._trouble and now - self._trouble[1] < TROUBLE_SECONDS:
            return self._trouble[0]
        if any(member.browser.is_alive for member in self._members):
            self._trouble = None
            return None
        if self._launching is None and self.is_short_of_memory:
            return "memory is short: no browser is started before a page needs one"
        try:
            await self._member()
        except (PenstockError, BrowserLost, OSError) as error:
            get_logger().error("no browser can be started", error=str(error))
            said = str(error).partition("\n")[0][:MOST_SAID] or type(error).__name__
            self._trouble = (said, self._clock.monotonic())
            return said
        self._trouble = None
        return None

    async def keep_up(self) -> None:
        """Look after memory and age from time to time, until cancelled."""
        while True:
            await self._clock.sleep(UPKEEP_SECONDS)
            await self.look_after()

    async def look_after(self) -> None:
        """Replace browsers that are too old, too large or dead; shrink if memory is short."""
        if self.is_short_of_memory:
            self._limit = max(1, min(self._limit, self._in_use) // 2)
            get_logger().warning("memory is short; fewer browsers", seats=self._limit)
        else:
            self._limit = min(self._most, 2 * max(self._limit, self._in_use))
            self._call_next()
        for member in list(self._members):
            await self._look_at(member)

    async def close(self) -> None:
        """End all browsers, and start no more."""
        self._is_closed = True
        if self._launching:
            await asyncio.wait({self._launching})
        members, self._members = self._members, []
        await asyncio.gather(*(member.browser.end() for member in members))

    async def _look_at(self, member: _Member[B]) -> None:
        memory = await asyncio.to_thread(member.browser.memory)
        limit = self._settings.max_memory_mb * MIB
        hard = (self._settings.hard_memory_mb or 0) * MIB or FAR_TOO_LARGE * limit
        if not member.browser.is_alive or memory > hard:
            await self._retire(member, now=True)
            return
        is_spare = not member.seats and self._limit < self._most
        if memory > limit or self._is_worn_out(member) or is_spare:
            await self._retire(member)

    async def _take_place(self, seconds: float) -> None:
        place = asyncio.get_running_loop().create_future()
        self._line.append(place)
        self._call_next()
        try:
            async with asyncio.timeout(seconds):
                await place
        except TimeoutError:
            self._leave_line(place)
            raise PoolExhausted(f"no browser came free within {seconds:.0f} s") from None
        except asyncio.CancelledError:
            self._leave_line(place)
            raise

    def _leave_line(self, place: asyncio.Future[None]) -> None:
        if place in self._line:
            self._line.remove(place)
        elif place.done() and not place.cancelled():
            self._give_place()

    def _give_place(self) -> None:
        self._in_use -= 1
        self._call_next()

    def _call_next(self) -> None:
        while self._line and self._in_use < self._limit:
            place = self._line.popleft()
            if not place.done():
                self._in_use += 1
                place.set_result(None)

    async def _member(self) -> _Member[B]:
        """The fullest browser that has a seat left, else a new one."""
        while True:
            free = [member for member in self._members if self._has_room(member)]
            if free:
                return max(free, key=lambda member: member.seats)
            if self._is_closed:
                raise PoolExhausted("the browsers are being closed")
            if self._launching is None:
                self._launching = asyncio.create_task(self._add_member(), name="launch")
                self._launching.add_done_callback(self._on_launched)
            # Who goes away meanwhile leaves the browser to the others.
            await asyncio.shield(self._launching)

    async def _add_member(self) -> None:
        browser = await self._launch()
        self._members.append(_Member(browser, self._clock.monotonic()))

    def _on_launched(self, task: asyncio.Task[None]) -> None:
        self._launching = None
        if not task.cancelled():
            task.exception()

    def _has_room(self, member: _Member[B]) -> bool:
        settings = self._settings
        return (
            not member.retired
            and member.browser.is_alive
            and not member.browser.is_hung
            and member.seats < settings.contexts_per_browser
            and member.pages + member.seats < settings.page_limit
        )

    def _is_worn_out(self, member: _Member[B]) -> bool:
        age = self._clock.monotonic() - member.started
        settings = self._settings
        is_old = member.pages >= settings.page_limit or age > settings.max_age_seconds
        return is_old or member.browser.is_hung

    async def _retire(self, member: _Member[B], *, now: bool = False) -> None:
        """Give a browser no more seats; end it now, or with its last one."""
        if not member.retired:
            member.retired = True
            self._recycled += 1
        if now or not member.seats:
            await self._end(member)

    async def _end(self, member: _Member[B]) -> None:
        if member in self._members:
            self._members.remove(member)
            await member.browser.end()

    def _is_pressed(self) -> bool:
        """Whether there is no memory for one more; the first is tried, unless told otherwise."""
        is_first = self._in_use == 0 and self._settings.first_page_always
        return not is_first and self.is_short_of_memory
