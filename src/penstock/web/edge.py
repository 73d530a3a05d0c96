"""The edge of the API: every request gets an id, bounds, a log line, and an answer."""

import re
import uuid
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from penstock.core.clock import Clock
from penstock.core.log import get_logger
from penstock.core.metrics import Metrics
from penstock.web.envelope import problem, refuse
from penstock.web.errors import ApiError, BodyTooLarge, InvalidRequest
from penstock.web.settings import ApiSettings

REQUEST_ID = "X-Request-ID"
#: One that never ends is matched too: nothing is looked at twice, whatever somebody sends.
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.S)
_BRACKETS = re.compile(rb"[\[\]{}]")


class Edge:
    """Wraps the application; nothing gets in unbounded, and no exception gets out."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: ApiSettings,
        clock: Clock,
        metrics: Metrics,
        new_request_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._app = app
        self._settings = settings
        self._clock = clock
        self._metrics = metrics
        self._new_request_id = new_request_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = self._new_request_id()
        with bound_contextvars(request_id=request_id):
            await self._answer(scope, receive, _Marked(send, request_id))

    async def _answer(self, scope: Scope, receive: Receive, send: "_Marked") -> None:
        began = self._clock.monotonic()
        try:
            body = await self._read(scope, receive)
            await self._app(scope, body, send)
        except ApiError as error:
            await refuse(error)(scope, receive, send)
        except Exception:
            get_logger().exception("request failed", method=scope["method"], path=scope["path"])
            if not send.status:
                await problem(500, ApiError.message)(scope, receive, send)
        finally:
            self._note(scope, send.status, self._clock.monotonic() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        self._metrics.requested(scope["method"], route, status, seconds)
        get_logger().info(
            "request",
            method=scope["method"],
            path=scope["path"],
            status=status,
            duration_ms=round(seconds * 1000),
        )

    async def _read(self, scope: Scope, receive: Receive) -> Receive:
        """Take in the whole body, within bounds, and hand it on."""
        most = self._settings.max_body_bytes
        length = Headers(scope=scope).get("content-length", "")
        if length.isdigit() and int(length) > most:
            raise BodyTooLarge
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return _replay(message, receive)
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > most:
                raise BodyTooLarge
        _check_depth(bytes(body), self._settings.max_json_depth)
        return _replay({"type": "http.request", "body": bytes(body), "more_body": False}, receive)


class _Marked:
    """Puts the request id in the headers of an answer, and remembers its status."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)[REQUEST_ID] = self._request_id
        await self._send(message)


def _replay(first: Message, receive: Receive) -> Receive:
    """A `receive` that gives one message back before it goes on."""
    left = [first]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again


def _check_depth(body: bytes, most: int) -> None:
    """Refuse JSON that is nested deeper than anything we take."""
    if body.count(b"[") + body.count(b"{") <= most:
        return
    depth = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub(b"", body)):
        depth += 1 if bracket in b"[{" else -1
        if depth > most:
            raise InvalidRequest(
                [{"field": "body", "message": f"nested deeper than {most} levels"}]
            )
