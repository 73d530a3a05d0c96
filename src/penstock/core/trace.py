"""Trace ids, in the form of the W3C `traceparent` header, from a request to its last event."""

import secrets


def new_trace() -> str:
    """A trace that begins here."""
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"


def trace_id(traceparent: str) -> str:
    """The part that all steps of one trace share; empty if there is none."""
    return traceparent[3:35]
