"""The two ways to look at a feed: ask for it each time, or read a page that stays open."""

import asyncio
from typing import NamedTuple, Protocol

from penstock.core.clock import Clock
from penstock.kernel import blocks
from penstock.kernel.model import Broken, Failure, Outcome, Page, Request, Wait
from penstock.workloads.live.model import WORKLOAD
from penstock.workloads.live.visiting import Visitor

FETCHER = "kept"
#: What a page is opened anew for at once: it is there, but wants to be another one.
MOVED = "page_moved"
SHOT_SECONDS = 5.0
#: A page that is open is opened anew so often. Of every request that it makes, the browser's tools
#: keep some kilobytes for as long as it is open; and its site may have closed to us meanwhile.
RENEW_SECONDS = 600.0
#: Gates behind which a page must not go on by itself.
CLOSED = ("hours", "pause")


class Usage(Protocol):
    """What a page takes of the machine."""

    @property
    def memory_bytes(self) -> int: ...
    @property
    def cpu_seconds(self) -> float: ...
    @property
    def browser_pid(self) -> int | None: ...


class Pages(Protocol):
    """Pages that stay open, by name."""

    @property
    def names(self) -> "tuple[str, ...]": ...

    async def read(self, name: str, seconds: float) -> Page | Failure:
        """What a page shows now; contacts nobody."""
        ...

    async def shoot(self, name: str, seconds: float) -> bytes | None:
        """A picture of a page, if it can be had."""
        ...

    async def close(self, name: str) -> None:
        """Close a page."""
        ...

    def is_retired(self, name: str) -> bool:
        """Whether the browser of a page shall end soon."""
        ...

    def usage(self, name: str) -> Usage | None:
        """What a page takes, as far as is known."""
        ...


class Look(NamedTuple):
    """What a look gave: a page, why there is none, or how long a gate is shut.

    `seconds` is how long the look itself took, without the wait for its turn.
    """

    seen: Page | Failure | Wait
    seconds: float = 0.0


class Way(Protocol):
    """How a feed is looked at."""

    async def look(self, seconds: float) -> Look:
        """Look at it, within so many seconds of contact."""
        ...

    async def look_anew(self, seconds: float) -> Look:
        """Look at all of it as it is now at its site, whatever is open here."""
        ...

    async def shoot(self) -> bytes | None:
        """A picture of what was seen, if there is one."""
        ...

    async def close(self) -> None:
        """Leave nothing open."""
        ...

    @property
    def is_worn_out(self) -> bool:
        """Whether to begin anew after this look: the browser shall end."""
        ...

    @property
    def usage(self) -> Usage | None:
        """What it takes of the machine."""
        ...


class ByRequest:
    """Asks for the data each time; the site need not send what we know already."""

    is_worn_out = False
    usage = None

    def __init__(self, url: str, visitor: Visitor) -> None:
        self._url = url
        self._visitor = visitor
        self._known: Page | None = None

    async def look(self, seconds: float) -> Look:
        known = self._known.headers if self._known else {}
        request = Request(
            self._url,
            workload=WORKLOAD,
            fetcher="http",
            timeout=seconds,
            etag=known.get("ETag", ""),
            last_modified=known.get("Last-Modified", ""),
            routine=True,
        )
        return await self._ask(request)

    async def look_anew(self, seconds: float) -> Look:
        self._known = None
        return await self.look(seconds)

    async def _ask(self, request: Request) -> Look:
        outcome = await self._visitor.visit(request)
        look = _look_of(outcome)
        if isinstance(look.seen, Page):
            if isinstance(outcome, Outcome) and outcome.unchanged and self._known:
                return Look(self._known, look.seconds)
            self._known = look.seen
        return look

    async def shoot(self) -> bytes | None:
        return None

    async def close(self) -> None:
        self._known = None


class Leave(Protocol):
    """Whether a page may stay open; its scripts contact its site without asking us."""

    def may_stay(self) -> bool:
        """Whether its domain is neither paused nor closed at this hour."""
        ...

    async def until_paused(self) -> None:
        """Wait until somebody pauses the domain."""
        ...


class ByPage:
    """Keeps the page open and reads it again and again; to open it takes a turn of its site."""

    def __init__(
        self,
        name: str,
        url: str,
        wait_for: str,
        *,
        visitor: Visitor,
        pages: Pages,
        leave: Leave,
        clock: Clock,
        read_seconds: float,
    ) -> None:
        self._name = name
        self._url = url
        self._wait_for = wait_for
        self._visitor = visitor
        self._pages = pages
        self._leave = leave
        self._clock = clock
        self._read_seconds = read_seconds
        self._opened = clock.monotonic()
        self._guard: asyncio.Task[None] | None = None

    async def look(self, seconds: float) -> Look:
        if self._name in self._pages.names and not self._leave.may_stay():
            # Its own scripts contact the site for as long as it is open.
            await self.close()
        if self._name not in self._pages.names:
            return await self.look_anew(seconds)
        if self._clock.monotonic() - self._opened >= RENEW_SECONDS:
            return await self._renew(seconds)
        return await self._read(seconds)

    async def _renew(self, seconds: float) -> Look:
        """Open the page anew; where its turn is not yet, what is open is still good."""
        look = await self.look_anew(seconds)
        if not isinstance(look.seen, Wait):
            return look
        if look.seen.gate in CLOSED:
            await self.close()
            return look
        return await self._read(seconds)

    async def _read(self, seconds: float) -> Look:
        began = self._clock.monotonic()
        seen = await self._pages.read(self._name, min(seconds, self._read_seconds))
        if isinstance(seen, Page):
            # What came in place of the page while it was open is no page either.
            seen = blocks.detect(seen) or seen
        if isinstance(seen, Failure):
            await self._pages.close(self._name)
            if seen.reason == MOVED:
                return await self.look_anew(seconds)
        return Look(seen, self._clock.monotonic() - began)

    async def look_anew(self, seconds: float) -> Look:
        request = Request(
            self._url,
            workload=WORKLOAD,
            fetcher=FETCHER,
            keep=self._name,
            timeout=seconds,
            wait_for=self._wait_for,
        )
        look = _look_of(await self._visitor.visit(request))
        if isinstance(look.seen, Failure):
            # One that is blocked may be open: it must not be read again as if it were good.
            await self._pages.close(self._name)
        elif isinstance(look.seen, Page):
            self._watch_pause()
            self._opened = self._clock.monotonic()
        return look

    async def shoot(self) -> bytes | None:
        return await self._pages.shoot(self._name, SHOT_SECONDS)

    async def close(self) -> None:
        if self._guard:
            self._guard.cancel()
        await self._pages.close(self._name)

    def _watch_pause(self) -> None:
        """Close the page at once when its domain is paused, whenever the next look may be."""
        if self._guard:
            self._guard.cancel()
        self._guard = asyncio.create_task(self._close_when_paused(), name="pause of a page")

    async def _close_when_paused(self) -> None:
        await self._leave.until_paused()
        await self._pages.close(self._name)

    @property
    def is_worn_out(self) -> bool:
        return self._name in self._pages.names and self._pages.is_retired(self._name)

    @property
    def usage(self) -> Usage | None:
        return self._pages.usage(self._name)


def _look_of(outcome: Outcome | Wait) -> Look:
    if isinstance(outcome, Wait):
        return Look(outcome)
    page, failure = outcome.page, outcome.failure
    if failure is not None or page is None:
        return Look(failure or _NOTHING, page.seconds if page else 0.0)
    return Look(page, page.seconds)


_NOTHING = Broken("nothing", "there was no page")
