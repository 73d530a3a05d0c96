"""The console for tests: asked over HTTP, and looked at with a real Chromium.

`async with console_on(tmp_path, site) as console:` is a running service with its console on a real
port. `console.get("/live")` asks as an admin, `console.post("/live/feeds", url=…)` sends a form as
the last page that was asked for would, `console.reader` is somebody who may only look.
`async with console.browser() as page:` is a page of Playwright, signed in; whatever goes wrong in
it (an error in its console, a failed request, something the policy forbids, a script of somebody
else) fails the test when the block is left.
"""

import re
import ssl
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import httpx
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    async_playwright,
)
from playwright.async_api import Request as PageRequest
from playwright.async_api import Response as PageResponse
from selectolax.lexbor import LexborHTMLParser

from penstock.console.pages import ROOT
from penstock.console.sessions import COOKIE
from penstock.web.keys import Keys, Scope
from tests.browsers import find_chromium
from tests.services import KEY, Service, listening, serving
from tests.site import Site

_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')
_STATUS = re.compile(r"status of (\d+)")
_BLOCK = re.compile(r"(?=<(?:td|th|tr|dt|dd|li|p|h\d|option|div|button|label|form)\b)")
#: A part of a path that names something, and not a kind of things.
_NAME = re.compile(r"^(?=.*[\d.@%:]).+$")
_ABORTED = "net::ERR_ABORTED"
#: The door, which is open to all, what has to be told which thing is meant, and a download.
NO_PAGES = (
    *(f"{ROOT}/sign-in", f"{ROOT}/sign-out"),
    *(f"{ROOT}/monitor/adapters/one", f"{ROOT}/monitor/export"),
)
#: Not what one waits for a page that answers at all.
PATIENCE_MS = 15_000

#: What somebody might write into a page or a form, so that the console runs it.
XSS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<ScRiPt>alert(1)</sCrIpT>",
    "<script src=//evil.test/x.js></script>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    '"><script>alert(1)</script>',
    "'><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</pre></td></table><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "]]><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '" autofocus onfocus="alert(1)',
    '" style="position:fixed;inset:0" onmouseover="alert(1)',
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<object data=javascript:alert(1)></object>",
    "<details open ontoggle=alert(1)>x</details>",
    "<body onload=alert(1)>",
    "<base href=//evil.test/>",
    "<meta http-equiv=refresh content='0;url=//evil.test/'>",
    "<link rel=stylesheet href=//evil.test/x.css>",
    "<style>*{display:none}</style>",
    "<form action=//evil.test/><button>Sign in</button></form>",
    "<a href=javascript:alert(1)>x</a>",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:alert(1)",
    "{{7*7}}",
    "{{ ''.__class__.__mro__ }}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{{x}}{% endfor %}",
    "${7*7}",
    "#{7*7}",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
    "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
    "\u202e<script>alert(1)</script>",
    "<script\u2028>alert(1)</script>",
    "`-alert(1)-`",
    "'-alert(1)-'",
    '";alert(1);//',
    "\r\nX-Injected: 1\r\n\r\n<script>alert(1)</script>",
)


@dataclass
class Guest:
    """Somebody who is signed in, as a program."""

    http: httpx.AsyncClient
    csrf: str
    _last: str = ROOT

    async def get(self, path: str, **query: Any) -> httpx.Response:
        """A page at a path below the console's, or at one that begins with it."""
        where = place_of(path)
        answer = await self.http.get(where, params=query or None)
        if "text/html" in answer.headers.get("content-type", ""):
            self._last = str(answer.url)
        return answer

    async def post(
        self, path: str, files: Mapping[str, Any] | None = None, **fields: Any
    ) -> httpx.Response:
        """The page after a form was sent; whatever begins it, the form says what a form has to."""
        referer = str(self.http.base_url.join(self._last))
        return await self.http.post(
            place_of(path),
            data={"csrf": self.csrf, **fields},
            files=files,
            headers={"Referer": referer},
        )

    @property
    def token(self) -> str:
        """What the cookie says."""
        return str(self.http.cookies.get(COOKIE))


@dataclass
class VisitedConsole(Guest):
    """A console at an address, whoever runs it; asked as an admin."""

    address: str = ""

    @asynccontextmanager
    async def guest(self, secret: str) -> AsyncIterator[Guest]:
        """Somebody with a key of their own."""
        async with _guest(self.address, secret) as guest:
            yield guest

    @asynccontextmanager
    async def browser(
        self,
        *,
        who: Guest | None = None,
        look: Literal["light", "dark"] = "light",
        width: int = 1280,
        height: int = 900,
        scripts: bool = True,
        allowed: Collection[int] = (),
        stopped: bool = False,
    ) -> AsyncIterator[Page]:
        """A page of a real Chromium, signed in; statuses of 400 and more are `allowed` or trouble.

        `stopped` says that the policy is expected to stop something.
        Questions are answered with yes; paths are given to it with their root: `/console/live`.
        """
        async with AsyncExitStack() as stack:
            browser = await (_shared[-1].browser() if _shared else _launch(stack))
            context = await browser.new_context(
                base_url=self.address,
                color_scheme=look,
                viewport={"width": width, "height": height},
                java_script_enabled=scripts,
            )
            stack.push_async_callback(context.close)
            context.set_default_timeout(PATIENCE_MS)
            await self._sign_in(context, who or self)
            page = await context.new_page()
            troubles = Troubles(allowed, stopped)
            troubles.watch(page)
            yield page
            await page.close()
            assert not troubles.found, "\n".join(troubles.found)

    async def _sign_in(self, context: BrowserContext, who: Guest) -> None:
        cookie = {"name": COOKIE, "value": who.token, "domain": "127.0.0.1", "path": ROOT}
        await context.add_cookies(
            [{**cookie, "httpOnly": True, "sameSite": "Strict"}]  # type: ignore[typeddict-item]
        )


@dataclass
class RunningConsole(VisitedConsole):
    """A console of this process, with the service behind it."""

    service: Service = field(kw_only=True)
    reader: Guest = field(kw_only=True)


class OneChromium:
    """A Chromium for all that look at consoles in one event loop, started for the first of them.

    Each has a context of its own. To start Playwright and Chromium takes as long as most tests do.
    """

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._browser: Browser | None = None

    async def __aenter__(self) -> Self:
        _shared.append(self)
        return self

    async def __aexit__(self, *error: object) -> None:
        _shared.remove(self)
        await self._stack.aclose()

    async def browser(self) -> Browser:
        """The one Chromium."""
        if self._browser is None:
            self._browser = await _launch(self._stack)
        return self._browser


#: Who shares a Chromium at the moment: nobody, or the tests of a module.
_shared: list[OneChromium] = []


async def _launch(stack: AsyncExitStack) -> Browser:
    """A Chromium that ends with the stack."""
    playwright = await stack.enter_async_context(async_playwright())
    browser = await playwright.chromium.launch(
        executable_path=find_chromium(), chromium_sandbox=False
    )
    stack.push_async_callback(browser.close)
    return browser


class Troubles:
    """Whatever goes wrong in a page."""

    def __init__(self, allowed: Collection[int], stopped: bool) -> None:
        self.found: list[str] = []
        self._stopped = stopped
        self._allowed = {str(status) for status in allowed}

    def watch(self, page: Page) -> None:
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.found.append(f"{page.url}: {error}"))
        page.on("requestfailed", self._miss)
        page.on("response", self._look)
        page.on("dialog", self._answer)

    def _hear(self, message: ConsoleMessage) -> None:
        if self._stopped and "Content Security Policy" in message.text:
            return
        status = _STATUS.search(message.text)
        if message.type in ("error", "warning") and not (
            status and status.group(1) in self._allowed
        ):
            self.found.append(f"{message.type}: {message.text}")

    def _miss(self, request: PageRequest) -> None:
        # That is how streams and pictures end with their page, and what becomes a download.
        if request.failure != _ABORTED:
            self.found.append(f"{request.method} {request.url}: {request.failure}")

    def _look(self, response: PageResponse) -> None:
        if response.status >= 400 and str(response.status) not in self._allowed:
            self.found.append(f"{response.request.method} {response.url}: {response.status}")

    async def _answer(self, dialog: Dialog) -> None:
        if dialog.type == "alert":
            self.found.append(f"somebody else's script ran: {dialog.message}")
        await dialog.accept()


@asynccontextmanager
async def console_on(
    folder: Path, site: Site, *, works: bool = False, **sections: Mapping[str, Any]
) -> AsyncIterator[RunningConsole]:
    """A service on the site with its console; `works` lets it work on what it is given."""
    async with (
        serving(site, folder, works=works, **sections) as service,
        listening(service) as address,
    ):
        _, secret = await Keys(service.engine.store).create("a reader", [Scope.READ])
        async with _guest(address, KEY) as admin, _guest(address, secret) as reader:
            yield RunningConsole(
                admin.http, admin.csrf, address=address, service=service, reader=reader
            )


@asynccontextmanager
async def visiting(address: str, secret: str) -> AsyncIterator[VisitedConsole]:
    """A console that somebody else runs."""
    async with _guest(address, secret) as admin:
        yield VisitedConsole(admin.http, admin.csrf, address=address)


@asynccontextmanager
async def _guest(address: str, secret: str) -> AsyncIterator[Guest]:
    # It speaks no TLS: to read the certificates of the whole web would be for nothing.
    no_certificates = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    async with httpx.AsyncClient(
        base_url=address, follow_redirects=True, timeout=30, verify=no_certificates
    ) as http:
        page = await http.post(f"{ROOT}/sign-in", data={"key": secret, "to": f"{ROOT}/audit"})
        found = _CSRF.search(page.text)
        assert found, page.text
        yield Guest(http, found.group(1))


async def walk(console: VisitedConsole, most: int = 200) -> list[str]:
    """The pages that links of ours lead to: one of each kind, things with their names."""
    ahead, found = [ROOT], dict[str, str]()
    while ahead and len(found) < most:
        path = ahead.pop(0)
        kind = kind_of(path)
        if kind in found or kind in NO_PAGES:
            continue
        page = await console.get(path)
        if "text/html" not in page.headers.get("content-type", ""):
            continue
        assert page.status_code == 200, (path, page.status_code)
        found[kind] = path
        links = LexborHTMLParser(page.text).css(f'a[href^="{ROOT}"]')
        ahead += [(link.attributes["href"] or ROOT).partition("#")[0] for link in links]
    return list(found.values())


def kind_of(path: str) -> str:
    """What pages of different things, at paths like this one, have in common."""
    place = path.partition("?")[0]
    return "/".join(_NAME.sub("…", part) for part in place.split("/"))


def pages_of(console: RunningConsole) -> list[str]:
    """Every page that can be opened without knowing the name of something."""
    return [path for path in _paths(console, "GET") if "{" not in path and path not in NO_PAGES]


def actions_of(console: RunningConsole) -> list[str]:
    """Every address that changes something, of things that there are none of."""
    paths = (path for path in _paths(console, "POST") if path not in NO_PAGES)
    return [re.sub(r"\{[^}]*\}", "no-such-thing", path) for path in paths]


def _paths(console: RunningConsole, method: str) -> list[str]:
    edge: Any = console.service.api.application
    found = {
        route.path
        for route in edge._app.routes
        if getattr(route, "path", "").startswith(ROOT) and method in route.methods
    }
    assert found
    return sorted(found)


def place_of(path: str) -> str:
    """The whole path of a page of the console."""
    return path if path == ROOT or path.startswith((f"{ROOT}/", f"{ROOT}?")) else ROOT + path


def text_of(page: httpx.Response | str) -> str:
    """What a page shows, as text with single spaces."""
    content = page if isinstance(page, str) else page.text
    body = LexborHTMLParser(_BLOCK.sub(" ", content)).body
    return " ".join(body.text().split()) if body else ""


def foreign_parts(page: httpx.Response | str) -> list[str]:
    """What a page of ours never has: other scripts, handlers, styles, addresses that run."""
    content = page if isinstance(page, str) else page.text
    found = []
    for element in LexborHTMLParser(content).css("*"):
        attributes = {name: value or "" for name, value in element.attributes.items()}
        if element.tag == "script" and attributes.get("src") != f"{ROOT}/static/console.js":
            found.append("script")
        if element.tag in ("style", "iframe", "object", "embed", "base", "animate"):
            found.append(element.tag)
        found += [
            f"{element.tag}[{name}={value}]"
            for name, value in attributes.items()
            if name.startswith("on") or name == "style" or _runs(name, value)
        ]
    return found


def _runs(name: str, value: str) -> bool:
    """Whether an attribute leads to something else than a page of ours or of the web."""
    if name not in ("href", "src", "action", "formaction", "data", "srcdoc"):
        return False
    return not re.match(r"(/(?![/\\])|#|\?|https?://|\Z)", value)


def assert_harmless(page: httpx.Response | str, strings: Iterable[str] = XSS) -> None:
    """Nothing of the strings is more than text in the page."""
    assert not foreign_parts(page)
    content = page if isinstance(page, str) else page.text
    running = [each for each in strings if "<" in each and each in content]
    assert not running
