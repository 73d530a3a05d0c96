"""Server-sent events: what a browser or a client reads line by line from an answer that goes on."""

from collections.abc import Mapping
from typing import Any

import orjson

#: A sign of life between events.
STILL_HERE = b": still here\n\n"


def sent_event(name: str, data: Mapping[str, Any], event_id: str = "") -> bytes:
    """An event; one with an id can be resumed from."""
    identity = f"id: {event_id}\n".encode() if event_id else b""
    return identity + b"event: " + name.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"
