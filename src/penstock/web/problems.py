"""Every error as an envelope, whoever raised it."""

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match

from penstock.core.errors import StoreError
from penstock.core.log import get_logger
from penstock.store.schema import storable
from penstock.web.envelope import problem, refuse
from penstock.web.errors import ApiError, InvalidRequest, Unavailable

MOST_FIELDS = 50
LONGEST = 300
#: Pydantic's words before those of a validator of ours.
OUR_OWN = "Value error, "


def handle_problems(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Let an application answer errors in envelopes."""

    @app.exception_handler(ApiError)
    async def _refused(request: Request, error: ApiError) -> Response:
        del request
        return refuse(error)

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        del request
        return refuse(InvalidRequest(field_problems(error.errors())))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        headers = dict(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(sorted(_methods_at(request, routes)))
        return problem(error.status_code, _phrase(error), headers=headers)

    @app.exception_handler(Exception)
    async def _fault(request: Request, error: Exception) -> Response:
        # It goes on to the edge, which logs it.
        del request, error
        return problem(HTTPStatus.INTERNAL_SERVER_ERROR, ApiError.message)

    @app.exception_handler(StoreError)
    async def _store(request: Request, error: StoreError) -> Response:
        del request
        get_logger().error("the store is in trouble", error=str(error))
        # It may have been lost after it was told to commit.
        unsure = {"unsure": True}
        return refuse(Unavailable("The store does not answer", retry_after=5, meta=unsure))


def _methods_at(request: Request, routes: Sequence[BaseRoute]) -> set[str]:
    """What a path can be asked with; the framework looks at one route only."""
    found: set[str] = set()
    for route in routes:
        match, _ = route.matches(request.scope)
        if match is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return found


def field_problems(errors: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """What is wrong with which field; never what was sent in it."""
    found = []
    for error in errors:
        where = ".".join(storable(str(part)) for part in error["loc"])
        message = storable(error["msg"]).removeprefix(OUR_OWN)
        found.append({"field": where[:LONGEST], "message": message[:LONGEST]})
        if len(found) == MOST_FIELDS:
            break
    return found


def _phrase(error: HTTPException) -> str:
    try:
        return HTTPStatus(error.status_code).phrase
    except ValueError:
        return "Error"
