"""Pages that stay open: opened like any other, and then read again without asking anybody.

Many share a browser, each in a context of its own. Whatever happens to a page, its renderer, its
browser or the driver shows when it is read next; to open it again is up to whoever reads it.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from penstock.core.errors import SettingsError
from penstock.core.log import get_logger
from penstock.kernel.admission import Admission
from penstock.kernel.fetchers.allowance import EgressLimits
from penstock.kernel.fetchers.browser.costs import Costs, Usage, share_out
from penstock.kernel.fetchers.browser.fetcher import CONNECT_SHARE
from penstock.kernel.fetchers.browser.fleet import Fleet, trouble_of_ours
from penstock.kernel.fetchers.browser.means import Means
from penstock.kernel.fetchers.browser.pool import UPKEEP_SECONDS, BrowserPool, Seat
from penstock.kernel.fetchers.egress import EgressProxy
from penstock.kernel.model import Broken, Failure, Page, Redirect, Refused
from penstock.kernel.ports import Hop
from penstock.kernel.statuses import FIRST_CLIENT_ERROR

if TYPE_CHECKING:
    from penstock.kernel.fetchers.browser.driver import Chromium
    from penstock.kernel.fetchers.browser.stay import Stay

#: What a page and its parts may ask for counts anew after so long.
WINDOW_SECONDS = 60.0
#: How long a page waits for its predecessor to be gone, which then goes on ending by itself.
PARTING_SECONDS = 1.0
NO_SUCH_PAGE = Broken("page_lost", "there is no such page: open it first")
NO_NAME = Refused("no_name", "a page that is to stay open needs a name", gate="fetch")


@dataclass(frozen=True, slots=True)
class KeptBrowser:
    """A browser with pages that stay open."""

    pid: int | None
    memory_bytes: int
    pages: int
    is_retired: bool


@dataclass(slots=True, eq=False)
class _Kept:
    """A page that is open, what it holds, and what it has cost."""

    seat: "Seat[Chromium]"
    stay: "Stay"
    held: AsyncExitStack
    usage: Usage | None = None


class KeptPages:
    """Opens pages in Chromium and leaves them open, each under its name. Use as a context."""

    name = "kept"

    def __init__(self, means: Means, admission: Admission) -> None:
        self._means = means
        self._settings = settings = means.settings
        self._fleet = Fleet(means, self._keep_up)
        self._egress = EgressProxy(
            admission,
            EgressLimits(
                settings.max_bytes,
                settings.max_requests,
                settings.navigation_timeout_ms / 1000 * CONNECT_SHARE,
                WINDOW_SECONDS,
            ),
            means.clock,
        )
        self._pages: dict[str, _Kept] = {}
        self._partings: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await asyncio.gather(*map(self.close, self.names))
        if self._partings:
            await asyncio.wait(self._partings)
        await self._fleet.close()

    @property
    def pool(self) -> "BrowserPool[Chromium]":
        """The browsers."""
        return self._fleet.pool

    @property
    def patience(self) -> float:
        """Seconds for all that is done to open one page."""
        return self._settings.page_seconds

    def look(self) -> float | None:
        """In how many seconds to look again, if no page can be opened now."""
        return self._fleet.look()

    @property
    def names(self) -> tuple[str, ...]:
        """The pages that are open."""
        return tuple(self._pages)

    def is_retired(self, name: str) -> bool:
        """Whether a page ought to be opened anew soon: its browser gets no more pages."""
        kept = self._pages.get(name)
        return kept is not None and kept.seat.is_retired

    def usage(self, name: str) -> Usage | None:
        """What a page took when that was looked at last; None if it was not yet."""
        kept = self._pages.get(name)
        return kept.usage if kept else None

    def browsers(self) -> list[KeptBrowser]:
        """The browsers that run."""
        return [
            KeptBrowser(
                one.browser.pid,
                sum(cost.memory for cost in one.browser.costs.values()),
                one.seats,
                one.is_retired,
            )
            for one in self.pool.standings()
        ]

    # ── opening and closing

    async def fetch(self, hop: Hop) -> Page | Redirect | Failure:
        """Open a page and keep it, in place of one of the same name.

        Nothing is kept of a redirect, a failure, an error of the site, or what is no page.
        """
        name = hop.browsing.keep if hop.browsing else ""
        if not name:
            return NO_NAME
        await self._make_room(name)
        try:
            with trouble_of_ours():
                return await self._open(name, hop)
        except SettingsError as error:
            return Refused("no_browser", str(error), gate="fetch")

    async def close(self, name: str) -> None:
        """Close a page, if there is one of that name."""
        if kept := self._pages.pop(name, None):
            await asyncio.wait({self._part_from(kept)})

    async def _make_room(self, name: str) -> None:
        """Close a page that is about to be opened anew; a browser that hangs is not waited for."""
        if kept := self._pages.pop(name, None):
            await asyncio.wait({self._part_from(kept)}, timeout=PARTING_SECONDS)

    async def _open(self, name: str, hop: Hop) -> Page | Redirect | Failure:
        from penstock.kernel.fetchers.browser.stay import Stay  # noqa: PLC0415 - see Fleet

        async with AsyncExitStack() as held:
            seat = await self.pool.acquire()
            held.push_async_callback(self.pool.release, seat)
            egress = await held.enter_async_context(self._egress.open(hop.proxy))
            stay = Stay(seat.browser, egress, hop, self._means)
            held.push_async_callback(stay.close)
            reply = await stay.open()
            if _is_shown(reply) and stay.settle_in():
                self._keep(name, _Kept(seat, stay, held.pop_all()))
                return reply
        stay.check(reply)
        return reply

    def _keep(self, name: str, kept: _Kept) -> None:
        if earlier := self._pages.pop(name, None):
            self._part_from(earlier)
        self._pages[name] = kept

    def _part_from(self, kept: _Kept) -> asyncio.Task[None]:
        task = asyncio.create_task(kept.held.aclose(), name="parting")
        self._partings.add(task)
        task.add_done_callback(self._on_parted)
        return task

    def _on_parted(self, task: asyncio.Task[None]) -> None:
        self._partings.discard(task)
        if not task.cancelled() and (error := task.exception()):
            get_logger().error("a page could not be closed", error=repr(error))

    # ── reading

    async def read(self, name: str, seconds: float) -> Page | Failure:
        """What a page shows now, within so many seconds; its site is not contacted.

        `Broken` with the reason `page_lost` if it has to be opened (again), `page_moved` if it
        wants to be, `page_hung` if it does not answer in time, and `too_large`.
        """
        kept = self._pages.get(name)
        if kept is None:
            return NO_SUCH_PAGE
        reply = await kept.stay.look(seconds)
        is_lost = isinstance(reply, Failure) and reply.reason == NO_SUCH_PAGE.reason
        if is_lost and self._pages.get(name) is kept:
            self._part_from(self._pages.pop(name))
        return reply

    async def shoot(self, name: str, seconds: float) -> bytes | None:
        """A picture of a page; None if it cannot be had in time."""
        kept = self._pages.get(name)
        return await kept.stay.shoot(seconds) if kept else None

    # ── upkeep

    async def look_after(self) -> None:
        """Replace browsers that are of no more use, and find out what each page costs."""
        before = {one.browser: one.browser.costs for one in self.pool.standings()}
        await self.pool.look_after()
        for browser, costs in before.items():
            self._charge(browser, costs)

    async def _keep_up(self) -> None:
        while True:
            await self._means.clock.sleep(UPKEEP_SECONDS)
            await self.look_after()

    def _charge(self, browser: "Chromium", before: Costs) -> None:
        pages = {name: kept for name, kept in self._pages.items() if kept.seat.browser is browser}
        owners = {name: kept.stay.renderers for name, kept in pages.items()}
        for name, cost in share_out(before, browser.costs, owners).items():
            kept = pages[name]
            earlier = kept.usage.cpu_seconds if kept.usage else 0.0
            kept.usage = Usage(cost.memory, earlier + cost.cpu_seconds, browser.pid or 0)


def _is_shown(reply: Page | Redirect | Failure) -> bool:
    return isinstance(reply, Page) and reply.status < FIRST_CLIENT_ERROR
