"""Files that somebody else wrote, and streams: what is answered without an envelope."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import orjson
from fastapi import Response
from fastapi.responses import StreamingResponse

#: As the OpenAPI document describes them.
BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
PAGE: dict[str, Any] = {"application/octet-stream": BINARY}
_TEXT = {"type": "string"}
EVENT_STREAM: dict[str, Any] = {
    "text/event-stream": {
        "schema": {"type": "object", "properties": {"id": _TEXT, "event": _TEXT, "data": _TEXT}}
    }
}
#: It must not run in the origin of this API.
HARMLESS = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
}


def foreign_page(data: bytes, name: str) -> Response:
    """A page as it was, to be kept and not shown."""
    headers = {**HARMLESS, "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type="application/octet-stream", headers=headers)


def event(name: str, data: Mapping[str, Any], event_id: str = "") -> bytes:
    """A server-sent event."""
    identity = f"id: {event_id}\n".encode() if event_id else b""
    return identity + b"event: " + name.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"


def event_stream(events: AsyncIterator[bytes]) -> Response:
    """Events as they come."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)
