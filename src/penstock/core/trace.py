"""Trace ids, in the form of the W3C `traceparent` header, from a request to its last event."""

import re
import secrets

_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def new_trace() -> str:
    """A trace that begins here."""
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"


def trace_of(header: str | None) -> str:
    """The trace that a caller named, or a new one if it named none that is valid."""
    return header if header and _TRACEPARENT.fullmatch(header) else new_trace()


def trace_id(traceparent: str) -> str:
    """The part that all steps of one trace share; empty if there is none."""
    return traceparent[3:35]
