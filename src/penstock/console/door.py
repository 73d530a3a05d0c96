"""Signing in and out, the static files, and what there is at paths where nothing is."""

from http import HTTPStatus
from pathlib import Path

from fastapi import Request, Response
from fastapi.responses import FileResponse

from penstock.console.pages import ROOT, Ask, Console, View, go
from penstock.console.sessions import COOKIE, Door, Visitor
from penstock.console.settings import ConsoleSettings
from penstock.web.errors import NotFound

STATIC = Path(__file__).with_name("static")
FILES = {"console.css": "text/css", "console.js": "text/javascript", "icon.svg": "image/svg+xml"}


def add_door(console: Console, settings: ConsoleSettings) -> None:
    """Let people in and out."""
    door = Door(console.clock)

    async def ask(request: Request) -> Response:
        return console.render(_form(request), None, request)

    async def sign_in(request: Request) -> Response:
        address = request.client.host if request.client else ""
        if seconds := door.wait(address):
            said = f"Too many keys were tried from here: wait {seconds:.0f} s"
            view = _form(request, said, HTTPStatus.TOO_MANY_REQUESTS)
            response = console.render(view, None, request)
            response.headers["Retry-After"] = str(round(seconds) + 1)
            return response
        door.tried(address)
        async with request.form() as fields:
            secret, to = fields.get("key", ""), fields.get("to", ROOT)
        visitor = await console.sessions.begin(secret.strip()) if isinstance(secret, str) else None
        if visitor is None:
            said = "This is no key of this service, or one of a single workspace"
            view = _form(request, said, HTTPStatus.UNAUTHORIZED, str(to))
            return console.render(view, None, request)
        door.opened(address)
        await console.sessions.end(request.cookies.get(COOKIE, ""))
        return _welcome(request, visitor, str(to), settings)

    async def sign_out(request: Request) -> Response:
        visitor = await console.visitor_of(request)
        async with request.form() as fields:
            if visitor and not visitor.sent(str(fields.get("csrf", ""))):
                return go(ROOT)
        if visitor:
            await console.sessions.end(visitor.token)
        response = go(f"{ROOT}/sign-in")
        response.delete_cookie(COOKIE, path=ROOT, httponly=True, samesite="strict")
        return response

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in FILES:
            raise NotFound("There is no such file")
        headers = {"Cache-Control": "max-age=300", "X-Content-Type-Options": "nosniff"}
        return FileResponse(STATIC / name, media_type=FILES[name], headers=headers)

    console.route("/sign-in", "GET", ask)
    console.route("/sign-in", "POST", sign_in)
    console.route("/sign-out", "POST", sign_out)
    console.route("/static/{name}", "GET", static)


def add_nowhere(console: Console) -> None:
    """Answer where there is nothing; to be added last."""

    @console.router.get("/")
    async def begin() -> Response:
        return go(ROOT)

    @console.page("/{rest:path}")
    async def nowhere(ask: Ask) -> View | Response:
        if not ask.path["rest"]:
            return go(ROOT)
        raise NotFound("There is no such page")


def _form(request: Request, problem: str = "", status: int = 200, to: str = "") -> View:
    wanted = to or request.query_params.get("to", ROOT)
    return View("sign_in.html", {"problem": problem, "to": wanted}, status)


def _welcome(request: Request, visitor: Visitor, to: str, settings: ConsoleSettings) -> Response:
    # A path that begins like this stays with us, whatever follows.
    is_ours = to.startswith((f"{ROOT}/", f"{ROOT}?")) and "\\" not in to
    response = go(to if is_ours else ROOT)
    response.set_cookie(
        COOKIE,
        visitor.token,
        max_age=round(settings.session_hours * 3600),
        path=ROOT,
        httponly=True,
        samesite="strict",
        secure=_is_encrypted(request),
    )
    return response


def _is_encrypted(request: Request) -> bool:
    """Whether the browser speaks TLS, with us or with a proxy before us."""
    forwarded = request.headers.get("x-forwarded-proto", "")
    return request.url.scheme == "https" or forwarded.partition(",")[0].strip() == "https"
