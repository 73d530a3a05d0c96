"""How errors are described in the OpenAPI document."""

from http import HTTPStatus
from typing import Any

from penstock.web.envelope import ErrorResponse

#: Of every endpoint that wants a key.
USUAL = (401, 403, 422, 429, 500, 503)
#: More of those that take something on.
ACCEPTED = (400, 409, 413)
_RETRY_AFTER = {
    "Retry-After": {
        "description": "Seconds until it is worth a try.",
        "schema": {"type": "integer"},
    }
}
_TOO_MANY, _FAULT, _UNAVAILABLE = 429, 500, 503


def answers(*more: int) -> dict[int | str, dict[str, Any]]:
    """The errors that an endpoint may answer."""
    return {status: _answer(status) for status in sorted({*USUAL, *more})}


def _answer(status: int) -> dict[str, Any]:
    phrase = HTTPStatus(status).phrase
    example = {"success": False, "data": None, "error": phrase, "meta": None}
    content: dict[str, Any] = {"example": example}
    described: dict[str, Any] = {
        "description": phrase,
        "content": {"application/json": content},
    }
    # A model is prepared anew wherever it is named: one status brings it, the others refer to it.
    if status == _FAULT:
        described["model"] = ErrorResponse
    else:
        content["schema"] = {"$ref": f"#/components/schemas/{ErrorResponse.__name__}"}
    if status in (_TOO_MANY, _UNAVAILABLE):
        described["headers"] = _RETRY_AFTER
    return described
