"""Fetching by browser: one hop in a fresh context, one deadline, everything bounded."""

import asyncio
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Self

from penstock.core.errors import SettingsError
from penstock.kernel.admission import Admission
from penstock.kernel.fetchers.allowance import EgressLimits
from penstock.kernel.fetchers.browser import chromium
from penstock.kernel.fetchers.browser.fleet import Fleet, trouble_of_ours
from penstock.kernel.fetchers.browser.means import Means
from penstock.kernel.fetchers.browser.pool import BrowserPool, PoolStats, Seat
from penstock.kernel.fetchers.egress import EgressProxy
from penstock.kernel.model import Failure, Page, Redirect, Refused
from penstock.kernel.ports import Hop

if TYPE_CHECKING:
    from penstock.kernel.fetchers.browser.driver import Chromium

CONNECT_SHARE = 0.5


class BrowserFetcher:
    """Opens pages in Chromium, which the pool starts when it is needed. Use as a context."""

    name = "browser"

    def __init__(self, means: Means, admission: Admission) -> None:
        self._means = means
        self._settings = settings = means.settings
        self._fleet = Fleet(means)
        self._egress = EgressProxy(
            admission,
            EgressLimits(
                settings.max_bytes,
                settings.max_requests,
                settings.navigation_timeout_ms / 1000 * CONNECT_SHARE,
            ),
            means.clock,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._fleet.close()

    @property
    def pool(self) -> "BrowserPool[Chromium]":
        """The browsers."""
        return self._fleet.pool

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
        return self._fleet.look()

    def stats(self) -> PoolStats:
        """How the pool is doing."""
        return self.pool.stats()

    async def fetch(self, hop: Hop) -> Page | Redirect | Failure:
        """Open a page once and take what it became; everything within the hop's time-out."""
        try:
            with trouble_of_ours():
                seat = await self.pool.acquire()
                try:
                    return await self._open(seat, hop)
                finally:
                    await asyncio.shield(self.pool.release(seat))
        except SettingsError as error:
            return Refused("no_browser", str(error), gate="fetch")

    async def _open(self, seat: "Seat[Chromium]", hop: Hop) -> Page | Redirect | Failure:
        from penstock.kernel.fetchers.browser.stay import browse  # noqa: PLC0415 - see Fleet

        async with self._egress.open(hop.proxy) as egress:
            return await browse(seat.browser, egress, hop, self._means)
