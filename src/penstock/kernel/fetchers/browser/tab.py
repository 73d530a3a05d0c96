"""What is done with one page: it is opened, given time, acted upon, and taken."""

import asyncio
import base64
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as BrowserPage
from playwright.async_api import Request
from playwright.async_api import TimeoutError as PlaywrightTimeout

from penstock.kernel.fetchers.browser.interception import BY_SCRIPT, Interception
from penstock.kernel.fetchers.browser.means import Means
from penstock.kernel.fetchers.egress import Egress
from penstock.kernel.identity import action_pause
from penstock.kernel.model import (
    NO_HEADERS,
    Broken,
    Failure,
    Page,
    Redirect,
    Refused,
    SiteWide,
    UrlSpecific,
)
from penstock.kernel.ports import Browsing, Hop, NotNow

MAX_SCROLLS = 5
#: A script that just got an answer may ask for more: wait so long before a page counts as quiet.
QUIET_SECONDS = 0.05
SCROLL_SETTLE_SECONDS = 1.0
MAX_SHOT_WIDTH, MAX_SHOT_HEIGHT = 4_000, 10_000
#: Only these change what a page says.
TELLING = frozenset({"document", "script", "xhr", "fetch", "stylesheet"})
WORLD = "penstock"
NOTHING_MORE = Browsing(NO_HEADERS, NO_HEADERS, (0, 0))
TIMED_OUT = SiteWide("timeout", "no complete answer within the deadline")
TRUNCATED = SiteWide("truncated", "the body ended before it was complete")
CRASHED = Broken("page_lost", "the page crashed: open it again")
MOVED = Broken("page_moved", "the page wants to be elsewhere, or loaded anew: open it again")

TAKE = """(limit => {
  const root = document.documentElement;
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '';
  const html = root ? type + root.outerHTML : '';
  return html.length > limit ? html.length : html;
})"""
#: The same of a page that is kept, and where it is by now.
LOOK = f"(limit => ({{at: document.URL, taken: {TAKE}(limit)}}))"
SCROLL = """(() => {
  window.scrollBy(0, Math.max(200, window.innerHeight * 0.9));
  const root = document.scrollingElement || document.documentElement;
  return [Math.ceil(window.scrollY + window.innerHeight) >= root.scrollHeight, root.scrollHeight];
})()"""
#: Playwright's own way to wait takes about a fifth of the CPU of the page's process.
AWAIT_ELEMENT = """(selector => new Promise(done => {
  const isIn = root => root.querySelector(selector) !== null ||
    [...root.querySelectorAll('*')].some(one => one.shadowRoot && isIn(one.shadowRoot));
  if (isIn(document)) { done(true); return; }
  const look = isThere => {
    if (!isThere) return;
    watching.disconnect();
    clearInterval(looking);
    done(true);
  };
  const watching = new MutationObserver(() => look(document.querySelector(selector)));
  watching.observe(document, {childList: true, subtree: true, attributes: true});
  // Nobody is told of what changes in the shadows.
  const looking = setInterval(() => look(isIn(document)), 200);
}))"""
MEASURE = """(() => {
  const root = document.scrollingElement || document.documentElement;
  return [root.scrollWidth || window.innerWidth, root.scrollHeight || window.innerHeight];
})()"""

_NET_ERROR = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_CHARSET = re.compile(r"\s*;\s*charset\s*=[^;]*", re.I)
#: No longer true of what was made of a page.
_OF_THE_WIRE = ("Content-Encoding", "Content-Length", "Transfer-Encoding")

#: Ordered; the first beginning that fits says what happened.
_MEANINGS: tuple[tuple[str, Failure], ...] = (
    ("ERR_CERT", SiteWide("tls", "the TLS connection cannot be established or trusted")),
    ("ERR_SSL", SiteWide("tls", "the TLS connection cannot be established or trusted")),
    ("ERR_NAME_", SiteWide("dns", "the host name cannot be resolved")),
    ("ERR_TIMED_OUT", TIMED_OUT),
    ("ERR_CONNECTION_REFUSED", SiteWide("connect", "the site refuses connections")),
    ("ERR_EMPTY_RESPONSE", SiteWide("disconnected", "the site closed the connection unasked")),
    ("ERR_CONTENT_LENGTH", TRUNCATED),
    ("ERR_INCOMPLETE", TRUNCATED),
    ("ERR_CONTENT_DECODING", Broken("bad_encoding", "the body is not encoded as it says")),
    ("ERR_INVALID_", Broken("bad_http", "the answer is not HTTP that can be read")),
    ("ERR_RESPONSE_HEADERS", Broken("bad_http", "the answer is not HTTP that can be read")),
    ("ERR_ABORTED", UrlSpecific("content_type", "this is nothing that a browser shows")),
    ("ERR_BLOCKED", Broken("blocked_by_browser", "the browser refuses to show this")),
    ("ERR_UNSAFE_PORT", Refused("admission_port", "not a port of the web", gate="admission")),
)


class Tab:
    """One page, from its first request to what is taken of it."""

    def __init__(
        self,
        page: BrowserPage,
        seen: Interception,
        egress: Egress,
        hop: Hop,
        means: Means,
    ) -> None:
        self._page = page
        self._session = seen.session
        self._seen = seen
        self._egress = egress
        self._hop = hop
        self._wanted = hop.browsing or NOTHING_MORE
        self._means = means
        self._settings = means.settings
        self._began = means.clock.monotonic()
        self._pending: set[Request] = set()
        self._requests = 0
        self._notes: list[str] = []
        self._main: Request | None = None
        self._main_failed = ""
        self._main_is_over = False
        self._states: set[str] = set()
        self._crash = asyncio.Event()
        self._world: int | None = None
        page.on("request", self._on_request)
        page.on("requestfinished", self._on_finished)
        page.on("requestfailed", self._on_failed)
        page.on("domcontentloaded", lambda _page: self._on_state("ready"))
        page.on("load", lambda _page: self._on_state("loaded"))
        page.on("crash", self._on_crash)

    async def run(self) -> Page | Redirect | Failure:
        """Open the page and take what there is, once it has had its time."""
        if answer := await self._navigate():
            return answer
        await self._settle()
        if not self._is_over:
            await self._act()
        return await self._conclude()

    def ran_out(self) -> Failure:
        """Why there is no page when the time is over."""
        if self._main_is_over:
            return Broken("page_hung", "the page keeps the browser busy")
        return TIMED_OUT

    def settle_in(self) -> bool:
        """Listen to no more requests, for the page is kept; False if there is none to be shown.

        What it wished for while it was opened has been granted or noted; from now on it counts.
        """
        self._page.remove_listener("request", self._on_request)
        self._page.remove_listener("requestfinished", self._on_finished)
        self._page.remove_listener("requestfailed", self._on_failed)
        self._pending.clear()
        self._main = None
        self._notes.clear()
        self._seen.wants_reload = False
        return self._seen.raw is None

    async def look(self) -> Page | Failure:
        """What a page that is kept shows now."""
        if self._seen.location is not None or self._seen.wants_reload:
            return MOVED
        self._began = self._means.clock.monotonic()
        looking = asyncio.create_task(self._look())
        crashing = asyncio.create_task(self._crash.wait())
        try:
            # Nobody answers for a page that crashes while it is asked.
            await asyncio.wait({looking, crashing}, return_when=asyncio.FIRST_COMPLETED)
            return CRASHED if crashing.done() else looking.result()
        finally:
            for task in (looking, crashing):
                task.cancel()
            await asyncio.gather(looking, crashing, return_exceptions=True)

    async def _look(self) -> Page | Failure:
        asked = f"{LOOK}({self._means.max_bytes})"
        try:
            shown = await self._evaluate(asked)
        except PlaywrightError:
            # Where it is another document by now, what was ours in it is gone.
            self._world = None
            shown = await self._evaluate(asked)
        if not shown["at"].startswith(f"{self._hop.url.origin}/"):
            return MOVED
        return self._page_of(shown["taken"])

    async def end(self) -> None:
        """Leave nothing that is still being answered."""
        await self._seen.end()

    @property
    def _is_over(self) -> bool:
        """Whether there is nothing more to wait for."""
        return (
            self._crash.is_set()
            or bool(self._main_failed)
            or self._seen.location is not None
            or self._egress.overflow is not None
        )

    def _on_request(self, request: Request) -> None:
        self._requests += 1
        if self._requests == self._settings.max_requests and not self._wanted.keep:
            self._notes.append(f"cut off after {self._requests} requests")
            self._egress.shut()
        if self._main is None and request.is_navigation_request():
            # The first one is the page; of those that it sends itself to we know already.
            self._main = request if request.frame == self._page.main_frame else None
        if request.resource_type in TELLING:
            self._pending.add(request)

    def _on_finished(self, request: Request) -> None:
        self._on_over(request, "")

    def _on_failed(self, request: Request) -> None:
        self._on_over(request, request.failure)

    def _on_over(self, request: Request, failure: str | None) -> None:
        self._pending.discard(request)
        if request == self._main:
            self._main_is_over = True
            # One that is to be loaded again may break off what is being read; that is there.
            self._main_failed = "" if self._seen.wants_reload else failure or ""
        if not self._pending:
            self._seen.changed.set()

    def _on_crash(self, _page: BrowserPage) -> None:
        self._crash.set()
        self._seen.changed.set()

    def _on_state(self, state: str) -> None:
        self._states.add(state)
        self._seen.changed.set()

    # ── opening

    async def _navigate(self) -> Page | Redirect | Failure | None:
        """Open the URL; None when there is a page to be shown."""
        try:
            timeout = self._settings.navigation_timeout_ms
            await self._page.goto(self._hop.url.href, wait_until="commit", timeout=timeout)
        except PlaywrightTimeout:
            return self._trouble() or TIMED_OUT
        except PlaywrightError as error:
            answer = await self._instead() or self._trouble()
            if answer is None and not _NET_ERROR.search(str(error)):
                raise
            return answer or _meaning_of(str(error))
        # What our own way out answers in place of the site is no page either.
        return self._trouble() or await self._instead()

    async def _instead(self) -> Page | Redirect | Failure | None:
        """What came in place of a page to be shown."""
        seen = self._seen
        if seen.too_large:
            return Broken("too_large", f"the body is larger than {self._means.max_bytes} bytes")
        if seen.is_cut:
            return TRUNCATED
        if seen.is_open:
            # It may be whole nevertheless: only the browser itself can tell, at a second look.
            self._means.remember_unclosed(self._hop.url.origin)
            raise NotNow("no_end", "the page does not show where it ends", seconds=0.0)
        if seen.location is not None:
            return await self._redirect(*seen.location)
        if seen.raw is not None:
            return self._made_of(seen.raw, seen.headers)
        return None

    async def _redirect(self, location: str, status: int) -> Redirect:
        kept = await self._page.context.cookies([self._hop.url.href])
        cookies = {cookie["name"]: cookie["value"] for cookie in kept}
        return Redirect(location, status, cookies)

    async def _reload(self) -> Redirect | None:
        """The page once more, if it was given a cookie that may make another page of it.

        Else it would only be asked for again and again: then it is taken as it is.
        """
        redirect = await self._redirect(self._hop.url.href, BY_SCRIPT)
        is_new = redirect.cookies.keys() - self._wanted.cookies.keys()
        if not is_new:
            self._notes.append("it wanted to be loaded again")
        return redirect if is_new else None

    def _trouble(self) -> Failure | None:
        """What the way out says of the failure; it knows better than the browser."""
        return self._egress.overflow or self._egress.verdict(self._hop.url)

    # ── waiting and acting

    async def _settle(self) -> None:
        """Give the page its time: until it is loaded and its scripts have what they asked for."""
        await self._wait_until("ready", self._settings.navigation_timeout_ms / 1000)
        if self._wanted.wait_for:
            await self._wait_for_element()
            return
        deadline = self._means.clock.monotonic() + self._settings.settle_seconds
        await self._wait_until("loaded", self._settings.settle_seconds)
        if not await self._wait_for_quiet(deadline - self._means.clock.monotonic()):
            self._notes.append("it was still loading")

    async def _wait_until(self, state: str, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                # Who wanted to go elsewhere while it was read may never say that it is ready.
                while not (self._is_over or self._seen.has_stayed or state in self._states):
                    await self._wait_for_change()

    async def _wait_for_change(self) -> None:
        self._seen.changed.clear()
        await self._seen.changed.wait()

    async def _wait_for_element(self) -> None:
        """Wait for the element that the request names; that it does not come is only noted."""
        selector, seconds = self._wanted.wait_for, self._settings.wait_seconds
        waiting = asyncio.create_task(self._evaluate(f"{AWAIT_ELEMENT}({json.dumps(selector)})"))
        waiting.add_done_callback(lambda _task: self._seen.changed.set())
        try:
            async with asyncio.timeout(seconds):
                while not (self._is_over or waiting.done()):
                    await self._wait_for_change()
            if not self._is_over:
                await waiting
        except TimeoutError:
            self._notes.append(f"{selector!r} did not appear within {seconds:.0f} s")
        except PlaywrightError as error:
            if "selector" in str(error).lower():
                self._notes.append(f"{selector!r} is no CSS selector")
            else:
                self._notes.append(f"{selector!r} did not appear before the page replaced itself")
                self._world = None
        finally:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    async def _wait_for_quiet(self, seconds: float) -> bool:
        """Whether nothing is asked for any more, within so many seconds."""
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                while not self._is_over:
                    if self._pending:
                        await self._wait_for_change()
                        continue
                    await asyncio.sleep(QUIET_SECONDS)
                    if not self._pending:
                        return True
        except TimeoutError:
            return False
        return True

    async def _act(self) -> None:
        if not self._wanted.scroll:
            return
        height = 0
        for _ in range(MAX_SCROLLS):
            await self._pause()
            at_end, now = await self._evaluate(SCROLL)
            await self._wait_for_quiet(SCROLL_SETTLE_SECONDS)
            if self._is_over or (at_end and now == height):
                return
            height = now

    async def _pause(self) -> None:
        seconds = action_pause(self._wanted.pause_ms, self._means.chance)
        await self._means.clock.sleep(seconds)

    # ── taking

    async def _conclude(self) -> Page | Redirect | Failure:
        if self._egress.overflow:
            return self._egress.overflow
        if self._crash.is_set():
            return Broken("page_crashed", "the page makes the browser crash")
        if self._seen.location is not None:
            return await self._redirect(*self._seen.location)
        if self._main_failed:
            return _meaning_of(f"net::{self._main_failed.removeprefix('net::')}")
        if not self._main_is_over:
            return TIMED_OUT
        if self._seen.wants_reload and (redirect := await self._reload()):
            return redirect
        page = self._page_of(await self._evaluate(f"{TAKE}({self._means.max_bytes})"))
        if self._wanted.screenshot and isinstance(page, Page):
            page.screenshot = await self.shoot()
        return page

    def _page_of(self, taken: Any) -> Page | Failure:
        """The page as text; in place of what is too large comes its length."""
        if not isinstance(taken, str):
            return Broken("too_large", f"the page is larger than {self._means.max_bytes} bytes")
        return self._made_of(taken.encode("utf-8", "replace"), _as_utf8(self._seen.headers))

    def _made_of(self, body: bytes, headers: Mapping[str, str]) -> Page:
        return Page(
            url=self._hop.url.href,
            status=self._seen.status,
            headers=headers,
            body=body,
            seconds=self._means.clock.monotonic() - self._began,
            fetcher="kept" if self._wanted.keep else "browser",
            proxy=str(self._hop.proxy) if self._hop.proxy else None,
            notes=(*self._notes, *self._notes_of_traffic()),
        )

    def _notes_of_traffic(self) -> Iterator[str]:
        traffic = self._egress.traffic
        if traffic.refused:
            yield f"{len(traffic.refused)} requests of the page were refused"
        if traffic.held_back and self._wanted.keep:
            yield f"the page asked too much of its site {traffic.held_back} times"

    async def _evaluate(self, expression: str) -> Any:
        """Run a script of ours in a world of its own, where no script of the page reaches it."""
        if self._world is None:
            world = {"frameId": self._seen.frame, "worldName": WORLD}
            made = await self._session.send("Page.createIsolatedWorld", world)
            self._world = made["executionContextId"]
        asked = {
            "expression": expression,
            "contextId": self._world,
            "returnByValue": True,
            "awaitPromise": True,
        }
        answer = await self._session.send("Runtime.evaluate", asked)
        if "exceptionDetails" in answer:
            raise PlaywrightError(json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    async def shoot(self) -> bytes:
        """The page as it looks, from top to bottom."""
        width, height = await self._evaluate(MEASURE)
        clip = {
            "x": 0,
            "y": 0,
            "width": min(width, MAX_SHOT_WIDTH),
            "height": min(height, MAX_SHOT_HEIGHT),
            "scale": 1,
        }
        asked = {"format": "png", "captureBeyondViewport": True, "clip": clip}
        shot = await self._session.send("Page.captureScreenshot", asked)
        return base64.b64decode(shot["data"])


def _as_utf8(headers: Any) -> Any:
    """The headers of a page, true of the text that was taken from the browser."""
    shown = headers.copy()
    for name in _OF_THE_WIRE:
        shown.popall(name, None)
    kind = _CHARSET.sub("", shown.get("Content-Type", "text/html"))
    shown["Content-Type"] = f"{kind}; charset=utf-8"
    return shown


def _meaning_of(error: str) -> Failure:
    """What an error of the browser says about the site."""
    found = _NET_ERROR.search(error)
    name = found[1] if found else ""
    for beginning, failure in _MEANINGS:
        if name.startswith(beginning):
            return failure
    return SiteWide("transport", f"the connection failed ({name or 'no reason given'})")
