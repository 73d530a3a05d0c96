"""Pages of the console: shown to who is signed in, changed by who may, live where they say so.

A view is a function from what was asked for to a `View`. A template that has a block `live` is
rendered again every few seconds while somebody looks, and that block is sent if it changed.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.routing import Route

from penstock.console.audit import Audit
from penstock.console.filters import FILTERS
from penstock.console.sessions import COOKIE, Note, Sessions, Visitor
from penstock.console.settings import ConsoleSettings
from penstock.core.clock import Clock
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.web.errors import ApiError, Forbidden, Unavailable
from penstock.web.files import event, event_stream

ROOT = "/console"
TEMPLATES = Path(__file__).with_name("templates")
MACROS = ("badge", "figure", "when", "act", "more", "empty", "waiting_groups")
STREAM = "_stream"
NAVIGATION = (
    ("", "Overview"),
    ("/monitor", "Monitor"),
    ("/scrape", "Scrape"),
    ("/stream", "Stream"),
    ("/catalog", "Catalog"),
    ("/live", "Live"),
    ("/domains", "Domains"),
    ("/proxies", "Proxies"),
    ("/events", "Events"),
    ("/audit", "Audit"),
    ("/settings", "Settings"),
)
#: A page that has nothing new says so after so many looks.
QUIET_LOOKS = 10
#: Of a number that somebody asks for.
DIGITS = 9
#: The log has the rest.
FAULT = "Something went wrong on our side: the log says what"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Ask:
    """What was asked for: parts of the path, the query, and by whom."""

    request: Request
    visitor: Visitor

    @property
    def path(self) -> Mapping[str, str]:
        """The parts of the path that stand for something."""
        return self.request.path_params

    def get(self, name: str, default: str = "") -> str:
        """A value of the query."""
        return self.request.query_params.get(name, default).strip()

    def number(self, name: str, default: int, most: int) -> int:
        """A number of the query, within bounds."""
        text = self.get(name)
        return min(int(text), most) if text.isdecimal() and len(text) <= DIGITS else default


@dataclass(frozen=True, slots=True)
class Form:
    """What was sent, by whom, and with which parts of the path."""

    request: Request
    visitor: Visitor
    fields: FormData

    @property
    def path(self) -> Mapping[str, str]:
        """The parts of the path that stand for something."""
        return self.request.path_params

    def get(self, name: str, default: str = "") -> str:
        """A field."""
        value = self.fields.get(name, default)
        return value.strip() if isinstance(value, str) else default

    def all(self, name: str) -> list[str]:
        """All values of a field, such as boxes that are ticked."""
        return [value for value in self.fields.getlist(name) if isinstance(value, str)]

    async def file(self, name: str) -> bytes:
        """A file that was sent; empty if there is none."""
        value = self.fields.get(name)
        return await value.read() if isinstance(value, UploadFile) else b""


@dataclass(frozen=True, slots=True)
class View:
    """A template and what it shows."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True)
class Done:
    """Something was changed: what to whom, what to tell the visitor, and where to go on."""

    to: str
    says: str
    action: str
    subject: str
    detail: Mapping[str, Any] = field(default_factory=dict)


Show = Callable[[Ask], Awaitable[View | Response]]
Act = Callable[[Form], Awaitable[Done | View]]
Answer = Callable[[Request, Visitor], Awaitable[Response]]


class Console:
    """Registers views and actions on a router."""

    def __init__(
        self,
        sessions: Sessions,
        audit: Audit,
        settings: ConsoleSettings,
        clock: Clock,
        is_stopping: Callable[[], bool],
    ) -> None:
        self.router = APIRouter(include_in_schema=False)
        self.sessions = sessions
        self.audit = audit
        self.clock = clock
        self._settings = settings
        self._is_stopping = is_stopping
        self._templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= FILTERS
        self._templates.globals |= {"now": self._now, "root": ROOT, "navigation": NAVIGATION}
        # Everywhere, also where one block of a template is rendered alone.
        macros = self._templates.get_template("macros.html").module
        self._templates.globals |= {name: getattr(macros, name) for name in MACROS}

    def page(self, path: str) -> Callable[[Show], Show]:
        """Show a view at a path below the console's."""

        def register(show: Show) -> Show:
            async def answer(request: Request, visitor: Visitor) -> Response:
                ask = Ask(request, visitor)
                if request.query_params.get(STREAM):
                    return event_stream(self._look_again(show, ask))
                return self.render(await show(ask), visitor, request)

            self._add(path, "GET", answer)
            return show

        return register

    def action(self, path: str) -> Callable[[Act], Act]:
        """Change something with a form at a path below the console's: for admins alone."""

        def register(act: Act) -> Act:
            async def answer(request: Request, visitor: Visitor) -> Response:
                return await self._change(act, request, visitor)

            self._add(path, "POST", answer)
            return act

        return register

    def _add(self, path: str, method: str, answer: Answer) -> None:
        """Answer who is signed in; whatever goes wrong is said in a page, too."""

        async def handle(request: Request) -> Response:
            visitor = await self.visitor_of(request)
            if visitor is None:
                return sign_in_first(request)
            return await self._in_words(partial(answer, request, visitor), visitor, request)

        self.route(path, method, handle)

    def route(
        self, path: str, method: str, answer: Callable[[Request], Awaitable[Response]]
    ) -> None:
        """Answer at a path, whoever asks; whatever goes wrong is said in a page."""

        async def handle(request: Request) -> Response:
            return await self._in_words(partial(answer, request), None, request)

        # Nothing is taken from what was asked but by us: it is no business of FastAPI's.
        found = Route(ROOT + path, handle, methods=[method])
        found.methods = {method}
        self.router.routes.append(found)

    async def _in_words(
        self, answer: Callable[[], Awaitable[Response]], visitor: Visitor | None, request: Request
    ) -> Response:
        try:
            return await answer()
        except ApiError as error:
            return self.trouble(error, visitor, request)
        except PenstockError as error:
            return self.trouble(Unavailable(str(error)), visitor, request)
        except HTTPException:
            raise
        except Exception:
            get_logger().exception("page failed", method=request.method, path=request.url.path)
            return self.trouble(ApiError(FAULT), visitor, request)

    async def visitor_of(self, request: Request) -> Visitor | None:
        """Who asks, if signed in."""
        token = request.cookies.get(COOKIE, "")
        # A page that is left open and keeps itself up to date is nobody who does something.
        is_active = STREAM not in request.query_params
        return await self.sessions.find(token, is_active=is_active) if token else None

    async def _change(self, act: Act, request: Request, visitor: Visitor) -> Response:
        try:
            async with request.form(max_files=1, max_fields=2000) as fields:
                form = Form(request, visitor, fields)
                if not visitor.sent(form.get("csrf")):
                    raise Forbidden("This form is too old or not ours: load the page again")
                if not visitor.may_change:
                    raise Forbidden("This key may look, and not change: sign in with an admin key")
                found = await act(form)
        except ApiError as error:
            if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR or _back(request) is None:
                return self.trouble(error, visitor, request)
            self.sessions.say(visitor, Note("problem", str(error)))
            return go(_back(request) or ROOT)
        except PenstockError as error:
            self.sessions.say(visitor, Note("problem", str(error)))
            return go(_back(request) or ROOT)
        if isinstance(found, View):
            return self.render(found, visitor, request)
        await self.audit.note(visitor.key.name, found.action, found.subject, found.detail)
        self.sessions.say(visitor, Note("done", found.says))
        return go(found.to)

    def render(self, found: View | Response, visitor: Visitor | None, request: Request) -> Response:
        """A view as a page."""
        if isinstance(found, Response):
            return found
        values = {**self._common(visitor, request), **found.values}
        values["note"] = self.sessions.said(visitor) if visitor else None
        html = self._templates.get_template(found.template).render(values)
        return HTMLResponse(html, status_code=found.status, headers=HEADERS)

    def trouble(self, error: ApiError, visitor: Visitor | None, request: Request) -> Response:
        """Why there is no page."""
        view = View("trouble.html", {"title": str(error)}, error.status)
        response = self.render(view, visitor, request)
        response.headers.update(error.headers)
        return response

    def _common(self, visitor: Visitor | None, request: Request) -> dict[str, Any]:
        here = request.url.path
        query = [pair for pair in request.query_params.multi_items() if pair[0] != STREAM]
        return {
            "visitor": visitor,
            "csrf": visitor.csrf if visitor else "",
            "may_change": bool(visitor and visitor.may_change),
            "here": here,
            "stream": f"{here}?{urlencode([*query, (STREAM, '1')])}",
            "query": dict(query),
        }

    async def _look_again(self, show: Show, ask: Ask) -> AsyncIterator[bytes]:
        """The live part of a page, whenever it is another; over when the session is."""
        shown, quiet = "", 0
        while not self._is_stopping():
            try:
                found = await show(ask)
            except PenstockError:
                return
            if not isinstance(found, View):
                return
            html = self._live_part(found, ask)
            if html != shown:
                shown, quiet = html, 0
                yield event("live", {"html": html})
            elif (quiet := quiet + 1) >= QUIET_LOOKS:
                quiet = 0
                yield b": still here\n\n"
            await self.clock.sleep(self._settings.refresh_seconds)
            if await self.visitor_of(ask.request) is None:
                return

    def _live_part(self, found: View, ask: Ask) -> str:
        template = self._templates.get_template(found.template)
        block = template.blocks.get("live")
        if block is None:
            return ""
        values = {**self._common(ask.visitor, ask.request), **found.values, "note": None}
        return "".join(block(template.new_context(values)))

    def _now(self) -> int:
        return int(self.clock.now().timestamp() * 1000)


def sign_in_first(request: Request) -> Response:
    """Off to the door, and back here afterwards."""
    if request.query_params.get(STREAM):
        return Response(status_code=HTTPStatus.NO_CONTENT)
    to = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    wanted = to if request.method == "GET" else (_back(request) or ROOT)
    return go(f"{ROOT}/sign-in?to={quote(wanted, safe='')}")


def _back(request: Request) -> str | None:
    """Where a form was sent from: a path of the console, whatever the browser says."""
    came = urlsplit(request.headers.get("referer", ""))
    is_ours = came.netloc == request.url.netloc and came.path.startswith(ROOT)
    return came._replace(scheme="", netloc="", fragment="").geturl() if is_ours else None


def go(to: str) -> Response:
    """Off to another page."""
    return RedirectResponse(to, HTTPStatus.SEE_OTHER.value, HEADERS)
