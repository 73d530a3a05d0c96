"""The browsers of one fetcher: their driver, their pool, and its upkeep."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING

from penstock.core.errors import PoolExhausted, SettingsError
from penstock.core.log import get_logger
from penstock.core.supervise import Supervisor
from penstock.kernel.fetchers.browser import processes
from penstock.kernel.fetchers.browser.means import BrowserLost, Means
from penstock.kernel.fetchers.browser.pool import BrowserPool
from penstock.kernel.ports import NotNow

if TYPE_CHECKING:
    from penstock.kernel.fetchers.browser.driver import Chromium, Driver

BUSY_SECONDS = 0.5
CRASH_SECONDS = 1.0


class Fleet:
    """Browsers that are started when they are needed; nothing runs before the first one.

    `keep_up` looks after them until it is cancelled; the pool does so itself if there is none.
    """

    def __init__(self, means: Means, keep_up: Callable[[], Awaitable[None]] | None = None) -> None:
        self._means = means
        self._driver: Driver | None = None
        self._stack = AsyncExitStack()
        self.pool: BrowserPool[Chromium] = BrowserPool(
            means.settings, self._launch, means.clock, processes.free_memory
        )
        self._keep_up = keep_up or self.pool.keep_up

    async def close(self) -> None:
        """End all of them, and what they were started by."""
        await self._stack.aclose()
        await self.pool.close()
        if self._driver:
            await self._driver.close()

    def look(self) -> float | None:
        """In how many seconds to look again, if every browser is busy."""
        return BUSY_SECONDS if self.pool.is_crowded else None

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
            self._driver = Driver(self._means.settings)
            supervisor = await self._stack.enter_async_context(Supervisor(self._means.clock))
            supervisor.start("browser upkeep", self._keep_up)
        return await self._driver.launch()


@contextmanager
def trouble_of_ours() -> Iterator[None]:
    """What browsers of ours could not do is not held against a site: `NotNow`."""
    try:
        yield
    except PoolExhausted as error:
        raise NotNow("pool_exhausted", str(error), BUSY_SECONDS) from error
    except BrowserLost as error:
        get_logger().warning("a browser was lost", error=str(error))
        raise NotNow("browser_crashed", str(error), CRASH_SECONDS) from error
