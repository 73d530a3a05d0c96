"""Fetching by browser: one hop in a fresh context, one deadline, everything bounded."""

import asyncio
from contextlib import AsyncExitStack
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Self

from penstock.core.errors import PoolExhausted, SettingsError
from penstock.core.log import get_logger
from penstock.core.supervise import Supervisor
from penstock.kernel.admission import Admission
from penstock.kernel.fetchers.browser import chromium, processes
from penstock.kernel.fetchers.browser.means import BrowserLost, Means
from penstock.kernel.fetchers.browser.pool import BrowserPool, PoolStats, Seat
from penstock.kernel.fetchers.egress import EgressLimits, EgressProxy
from penstock.kernel.model import Failure, Page, Redirect, Refused
from penstock.kernel.ports import Hop, NotNow

if TYPE_CHECKING:
    from penstock.kernel.fetchers.browser.driver import Chromium, Driver

BUSY_SECONDS = 0.5
CRASH_SECONDS = 1.0
CONNECT_SHARE = 0.5


class BrowserFetcher:
    """Opens pages in Chromium, which the pool starts when it is needed. Use as a context."""

    name = "browser"

    def __init__(self, means: Means, admission: Admission) -> None:
        self._means = means
        self._settings = settings = means.settings
        self._driver: Driver | None = None
        self._stack = AsyncExitStack()
        self._egress = EgressProxy(
            admission,
            EgressLimits(
                settings.max_bytes,
                settings.max_requests,
                settings.navigation_timeout_ms / 1000 * CONNECT_SHARE,
            ),
        )
        self.pool: BrowserPool[Chromium] = BrowserPool(
            settings, self._launch, means.clock, processes.free_memory
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()
        await self.pool.close()
        if self._driver:
            await self._driver.close()

    @property
    def patience(self) -> float:
        """Seconds for all that is done with one page."""
        return self._settings.page_seconds

    @property
    def is_offered(self) -> bool:
        """Whether there is anything to open pages with, or there ought to be."""
        named = self._settings.executable
        return bool(named or (chromium.find() and find_spec("playwright")))

    def look(self) -> float | None:
        """In how many seconds to look again, if every browser is busy."""
        return BUSY_SECONDS if self.pool.is_crowded else None

    def stats(self) -> PoolStats:
        """How the pool is doing."""
        return self.pool.stats()

    async def fetch(self, hop: Hop) -> Page | Redirect | Failure:
        """Open a page once and take what it became; everything within the hop's time-out."""
        try:
            seat = await self.pool.acquire()
            try:
                return await self._open(seat, hop)
            finally:
                await asyncio.shield(self.pool.release(seat))
        except PoolExhausted as error:
            raise NotNow("pool_exhausted", str(error), BUSY_SECONDS) from error
        except BrowserLost as error:
            get_logger().warning("a browser was lost", error=str(error))
            raise NotNow("browser_crashed", str(error), CRASH_SECONDS) from error
        except SettingsError as error:
            return Refused("no_browser", str(error), gate="fetch")

    async def _open(self, seat: "Seat[Chromium]", hop: Hop) -> Page | Redirect | Failure:
        from penstock.kernel.fetchers.browser.tab import browse  # noqa: PLC0415 - see _launch

        async with self._egress.open(hop.proxy) as egress:
            return await browse(seat.browser, egress, hop, self._means)

    async def _launch(self) -> "Chromium":
        """Start a browser, and before the first one what all of them need."""
        # Most runs need no browser, and the extra may be missing.
        try:
            from penstock.kernel.fetchers.browser.driver import Driver  # noqa: PLC0415
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "playwright":
                raise
            raise SettingsError(
                "browsers need Playwright: pip install 'penstock[browser]'"
            ) from error
        if self._driver is None:
            self._driver = Driver(self._settings)
            supervisor = await self._stack.enter_async_context(Supervisor(self._means.clock))
            supervisor.start("browser upkeep", self.pool.keep_up)
        return await self._driver.launch()
