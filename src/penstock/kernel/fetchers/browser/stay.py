"""One page in a context of its own, from its opening to its end."""

import asyncio

from playwright.async_api import BrowserContext, CDPSession
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as BrowserPage

from penstock.kernel.fetchers.browser.driver import Chromium
from penstock.kernel.fetchers.browser.interception import Interception
from penstock.kernel.fetchers.browser.looks import Looks
from penstock.kernel.fetchers.browser.means import BrowserLost, Means
from penstock.kernel.fetchers.browser.tab import NOTHING_MORE, TIMED_OUT, Tab
from penstock.kernel.fetchers.egress import Egress
from penstock.kernel.model import Broken, Failure, Page, Redirect
from penstock.kernel.ports import Hop

#: How long a context may take to close before its browser gets no more pages.
CLOSE_SECONDS = 3.0
#: How often the garbage of a page that is kept is collected: left to itself, Chromium lets more
#: than 100 MB of it pile up, in every renderer.
TIDY_SECONDS = 60.0
PAGE_LOST = Broken("page_lost", "the page is gone: open it again")


async def browse(
    browser: Chromium, egress: Egress, hop: Hop, means: Means
) -> Page | Redirect | Failure:
    """Open a page, take what there is and close it; `BrowserLost` as for `Stay.check`.

    `NotNow` if it was not let in, and another look at it is needed.
    """
    stay = Stay(browser, egress, hop, means)
    try:
        reply = await stay.open()
    finally:
        await stay.close()
    stay.check(reply)
    return reply


class Stay:
    """A page in a fresh context; whoever opens it closes it, whatever came of it.

    `renderers` are the processes that were started for a page that is to be kept.
    """

    def __init__(self, browser: Chromium, egress: Egress, hop: Hop, means: Means) -> None:
        self._browser = browser
        self._egress = egress
        self._hop = hop
        self._means = means
        self._wanted = hop.browsing or NOTHING_MORE
        self._context: BrowserContext | None = None
        self._tab: Tab | None = None
        self._session: CDPSession | None = None
        self._tidied = means.clock.monotonic()
        self.renderers: frozenset[int] = frozenset()

    async def open(self) -> Page | Redirect | Failure:
        """Open the page and take what there is, all within the time-out of the hop."""
        try:
            async with asyncio.timeout(self._hop.timeout):
                self._tab = await self._open_tab()
                return await self._tab.run()
        except TimeoutError:
            self._browser.is_hung = self._browser.is_hung or self._context is None
            return self._tab.ran_out() if self._tab else TIMED_OUT
        except PlaywrightError as error:
            return Broken("browser_error", str(error)[:200])

    def check(self, reply: Page | Redirect | Failure) -> None:
        """`BrowserLost` if a failure may be the browser's: it is of no more use."""
        is_lost = self._browser.is_hung or not self._browser.is_alive
        if is_lost and isinstance(reply, Failure):
            raise BrowserLost(str(reply))

    def settle_in(self) -> bool:
        """Get ready to stay open for long; False if there is nothing to be read again."""
        return self._tab is not None and self._tab.settle_in()

    async def look(self, seconds: float) -> Page | Failure:
        """What the page shows now; nothing is asked of the site."""
        if self._tab is None or not self._browser.is_alive:
            return PAGE_LOST
        try:
            async with asyncio.timeout(seconds):
                shown = await self._tab.look()
                await self._tidy()
                return shown
        except TimeoutError:
            return Broken("page_hung", f"the page does not answer within {seconds:.1f} s")
        except PlaywrightError:
            return PAGE_LOST

    async def _tidy(self) -> None:
        now = self._means.clock.monotonic()
        if self._session and now - self._tidied >= TIDY_SECONDS:
            self._tidied = now
            await self._session.send("HeapProfiler.collectGarbage")

    async def shoot(self, seconds: float) -> bytes | None:
        """A picture of the page; None if it cannot be had."""
        if self._tab is None or not self._browser.is_alive:
            return None
        try:
            async with asyncio.timeout(seconds):
                return await self._tab.shoot()
        except (TimeoutError, PlaywrightError):
            return None

    async def close(self) -> None:
        """Leave the site alone at once, and throw the context away."""
        self._egress.shut()
        if self._tab:
            await self._tab.end()
        is_closed = self._context is None or await _close(self._context)
        self._browser.is_hung = self._browser.is_hung or not is_closed

    async def _open_tab(self) -> Tab:
        """An empty page that is watched from its first request on."""
        looks, wanted, hop = self._looks(), self._wanted, self._hop
        self._context = context = await self._browser.new_context(looks.options(self._egress))
        if wanted.cookies:
            await context.add_cookies(
                [
                    {"name": name, "value": value, "url": f"{hop.url.origin}/"}
                    for name, value in wanted.cookies.items()
                ]
            )
        if script := looks.script():
            await context.add_init_script(script)
        page = await self._new_page(context)
        self._session = session = await context.new_cdp_session(page)
        seen = Interception(session, hop.url, wanted.own_headers, self._means.max_bytes)
        tab = Tab(page, seen, self._egress, hop, self._means)
        await asyncio.gather(
            session.send("Emulation.setUserAgentOverride", looks.override()),
            seen.begin(
                block_resources=wanted.block_resources,
                is_closed=hop.url.origin not in self._means.unclosed,
            ),
        )
        return tab

    async def _new_page(self, context: BrowserContext) -> BrowserPage:
        if not self._wanted.keep:
            return await context.new_page()
        page, self.renderers = await self._browser.new_page(context)
        return page

    def _looks(self) -> Looks:
        means, wanted, major = self._means, self._wanted, self._browser.major
        agent = self._hop.headers.get("User-Agent") or means.identities.honest()["User-Agent"]
        persona = means.identities.persona(wanted.region, major) if wanted.masked else None
        return Looks(agent, persona, major)


async def _close(context: BrowserContext) -> bool:
    """Throw a context away; False if the browser does not do so, or is gone itself."""
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await context.close()
    except (TimeoutError, PlaywrightError):
        return False
    return True
