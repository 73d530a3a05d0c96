"""The envelope of every answer under /api/v1: success, data, error, meta."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import orjson
from fastapi import Response
from pydantic import BaseModel, Field

from penstock.web.errors import ApiError

T = TypeVar("T")
FIRST_ERROR = 400


class ApiResponse(BaseModel, Generic[T]):
    """An answer with data."""

    success: bool
    data: T | None = None
    error: str | None = None
    meta: dict[str, Any] | None = None


class FieldProblem(BaseModel):
    """What is wrong with one field of a request."""

    field: str
    message: str


class ErrorResponse(BaseModel):
    """An answer without data; `meta.errors` names fields where there are some to blame."""

    success: bool = Field(False, json_schema_extra={"const": False})
    data: None = None
    error: str
    meta: dict[str, Any] | None = None


def envelope(status: int, data: Any, error: str | None, meta: Mapping[str, Any] | None) -> bytes:
    """The bytes of an answer."""
    body = {"success": status < FIRST_ERROR, "data": data, "error": error, "meta": meta}
    return orjson.dumps(body)


def answer(
    data: Any,
    *,
    status: int = 200,
    meta: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Data in its envelope."""
    return Response(
        envelope(status, data, None, meta),
        status_code=status,
        headers=dict(headers or {}),
        media_type="application/json",
    )


def refuse(error: ApiError) -> Response:
    """An error in its envelope."""
    return problem(error.status, str(error), error.meta, error.headers)


def problem(
    status: int,
    error: str,
    meta: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A status of 400 or more in its envelope."""
    return Response(
        envelope(status, None, error, meta),
        status_code=status,
        headers=dict(headers or {}),
        media_type="application/json",
    )
