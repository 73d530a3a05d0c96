"""Every document that a page asks for is looked at before it goes out and when it comes back.

The first one is the page. A redirect of it is not followed here but handed back, so that the next
hop passes all gates; and so is a page that sends the browser elsewhere by script or meta tag.
Whatever is no document to be shown is taken as it is.
"""

import asyncio
import base64
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from multidict import CIMultiDict
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from penstock.core.urls import Url
from penstock.kernel.fetchers.http import BODILESS, REDIRECTS
from penstock.kernel.statuses import FIRST_CLIENT_ERROR

SHOWN = frozenset({"", "text/html", "application/xhtml+xml"})
BLOCKED_TYPES = ("Image", "Font", "Media")
#: The same as a rule that the page keeps by itself: to fail each request costs far more. What
#: frames ask for is failed.
NOTHING_TO_LOOK_AT = {
    "name": "Content-Security-Policy",
    "value": "img-src data: blob:; font-src data: blob:; media-src data: blob:",
}
#: What says nothing of a reply whose body we have read, and whose cookies are kept already.
DONE_WITH = frozenset({"content-encoding", "content-length", "transfer-encoding", "set-cookie"})
#: Where the page asks to go by itself there is no status.
BY_SCRIPT = 200
PIECE = 256 * 1024
#: A page shows in its last bytes that it is whole.
END_BYTES = 4096


class Interception:
    """What became of the document of one page; `changed` is set whenever that is known better.

    `is_cut` says that it is not as long as the site said, `is_open` that the site did not say and
    the document does not show where it ends.
    """

    def __init__(
        self, session: CDPSession, url: Url, own_headers: Mapping[str, str], max_bytes: int
    ) -> None:
        self.session = session
        self._url = url
        self._own_headers = own_headers
        self._max_bytes = max_bytes
        self._answers: set[asyncio.Task[None]] = set()
        self._rules = False
        self.frame = ""
        self.status = 0
        self.headers: CIMultiDict[str] = CIMultiDict()
        self.location: tuple[str, int] | None = None
        self.raw: bytes | None = None
        self.too_large = False
        self.is_cut = False
        self.is_open = False
        self.has_stayed = False
        self.wants_reload = False
        self.changed = asyncio.Event()

    async def begin(self, *, block_resources: bool, is_closed: bool) -> None:
        """Look at all documents from now on; refuse what only people look at, if so wished.

        `is_closed` says that the pages of the site show where they end, as far as is known.
        """
        patterns: list[dict[str, str]] = [
            {"resourceType": "Document", "requestStage": "Request"},
            {"resourceType": "Document", "requestStage": "Response"},
        ]
        self._rules = block_resources and is_closed
        if block_resources:
            patterns += [{"resourceType": name} for name in BLOCKED_TYPES]
        if self._own_headers:
            patterns.append({"urlPattern": f"{self._url.origin}/*"})
        self.session.on("Fetch.requestPaused", self._on_paused)
        await self.session.send("Fetch.enable", {"patterns": patterns})

    async def end(self) -> None:
        """Wait for what is being answered."""
        for task in self._answers:
            task.cancel()
        await asyncio.gather(*self._answers, return_exceptions=True)

    def _on_paused(self, event: dict[str, Any]) -> None:
        task = asyncio.create_task(self._answer(event), name="interception")
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _answer(self, event: dict[str, Any]) -> None:
        with suppress(PlaywrightError):  # the page is gone, and with it the question
            await self._decide(event)

    async def _decide(self, event: dict[str, Any]) -> None:
        kind, frame = event["resourceType"], event.get("frameId", "")
        if kind in BLOCKED_TYPES:
            await self._fail(event, "BlockedByClient")
            return
        if kind == "Document":
            self.frame = self.frame or frame
            if frame == self.frame:
                await self._decide_on_page(event)
                return
        await self._go_on(event)

    async def _decide_on_page(self, event: dict[str, Any]) -> None:
        if "responseStatusCode" in event:
            await self._look_at_reply(event)
        elif "responseErrorReason" in event or not self.status:
            await self._go_on(event)
        else:
            # It has been shown, and wants to be somewhere else.
            self._remember_wish(event["request"])
            await self._stay(event)
            self.has_stayed = True
            self.changed.set()

    def _remember_wish(self, request: Mapping[str, Any]) -> None:
        """Where a page that has been shown wants to be: elsewhere, or where it is, but anew."""
        if request["method"] != "GET":
            return
        if request["url"] == self._url.href.partition("#")[0]:
            self.wants_reload = True
        elif self.location is None:
            self.location = (request["url"], BY_SCRIPT)

    async def _look_at_reply(self, event: dict[str, Any]) -> None:
        headers = CIMultiDict(
            (pair["name"], pair["value"]) for pair in event.get("responseHeaders", ())
        )
        status = event["responseStatusCode"]
        self.status, self.headers = status, headers
        if status in REDIRECTS and "Location" in headers:
            self.location = (headers["Location"], status)
        elif status in BODILESS:
            self.raw = b""
        elif _media_type(headers) not in SHOWN or "attachment" in _disposition(headers):
            await self._take_raw(event)
        if self.location is None and self.raw is None and not self.too_large:
            await self._show(event)
        else:
            await self._fail(event, "Aborted")
        self.changed.set()

    async def _show(self, event: dict[str, Any]) -> None:
        """Let the page be shown; where pictures are blocked, with a rule not to ask for any.

        Without it every picture is asked for, and refused here, which costs more than the page.
        The browser only minds a rule in a reply that we give ourselves.
        """
        # Of an error its status and headers count, whatever its body looks like.
        if not self._rules or event["responseStatusCode"] >= FIRST_CLIENT_ERROR:
            await self._go_on(event)
            return
        body = await self._read(event)
        # Who reads a page as a stream is not told that it ended before its time.
        self.is_open = not self.too_large and self._length() is None and not _shows_end(body)
        if self.too_large or self.is_cut or self.is_open:
            await self._fail(event, "Aborted")
            return
        pairs = event.get("responseHeaders", ())
        answer = {
            "requestId": event["requestId"],
            "responseCode": event["responseStatusCode"],
            # There must be one, and for some codes the browser knows none.
            "responsePhrase": event.get("responseStatusText") or "Unknown",
            "responseHeaders": [
                *(pair for pair in pairs if pair["name"].lower() not in DONE_WITH),
                NOTHING_TO_LOOK_AT,
            ],
            "body": base64.b64encode(body).decode(),
        }
        try:
            await self.session.send("Fetch.fulfillRequest", answer)
        except PlaywrightError:
            await self._fail(event, "Failed")

    def _length(self) -> int | None:
        """How long the body is, as far as the site says; what is packed, it says of the pack."""
        declared = self.headers.get("Content-Length", "")
        if declared.isdigit() and "Content-Encoding" not in self.headers:
            return int(declared)
        return None

    async def _take_raw(self, event: dict[str, Any]) -> None:
        """The body of what is no page to be shown."""
        self.raw = await self._read(event)

    async def _read(self, event: dict[str, Any]) -> bytes:
        """The body of a reply, piece by piece and no further than the limit."""
        declared = self.headers.get("Content-Length", "0")
        if declared.isdigit() and int(declared) > self._max_bytes:
            self.too_large = True
            return b""
        asked = {"requestId": event["requestId"]}
        stream = (await self.session.send("Fetch.takeResponseBodyAsStream", asked))["stream"]
        body, is_over = bytearray(), False
        while not is_over and len(body) <= self._max_bytes:
            found = await self.session.send("IO.read", {"handle": stream, "size": PIECE})
            body += _bytes_of(found)
            is_over = found["eof"]
        await self.session.send("IO.close", {"handle": stream})
        self.too_large = len(body) > self._max_bytes
        self.is_cut = not self.too_large and self._length() not in (None, len(body))
        return bytes(body)

    async def _go_on(self, event: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"requestId": event["requestId"]}
        is_reply = "responseStatusCode" in event or "responseErrorReason" in event
        if self._own_headers and not is_reply and self._is_at_home(event["request"]["url"]):
            headers = {**event["request"]["headers"], **self._own_headers}
            answer["headers"] = [{"name": name, "value": value} for name, value in headers.items()]
        await self.session.send("Fetch.continueRequest", answer)

    async def _stay(self, event: dict[str, Any]) -> None:
        """Answer that there is nothing: a browser then keeps the page that it has."""
        answer = {"requestId": event["requestId"], "responseCode": 204}
        await self.session.send("Fetch.fulfillRequest", answer)

    async def _fail(self, event: dict[str, Any], reason: str) -> None:
        answer = {"requestId": event["requestId"], "errorReason": reason}
        await self.session.send("Fetch.failRequest", answer)

    def _is_at_home(self, url: str) -> bool:
        return url.startswith(f"{self._url.origin}/")


def _shows_end(body: bytes) -> bool:
    end = body[-END_BYTES:].lower()
    return b"</html" in end or b"</body" in end


def _bytes_of(piece: Mapping[str, Any]) -> bytes:
    data: str = piece["data"]
    return base64.b64decode(data) if piece.get("base64Encoded") else data.encode()


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _disposition(headers: Mapping[str, str]) -> str:
    return headers.get("Content-Disposition", "").lower()
